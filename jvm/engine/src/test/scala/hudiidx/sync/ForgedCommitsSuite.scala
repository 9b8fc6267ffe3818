package hudiidx.sync

import com.fasterxml.jackson.databind.ObjectMapper
import com.fasterxml.jackson.databind.node.ObjectNode
import hudiidx.DamagedTable
import hudiidx.storage.LocalStorage
import hudiidx.sync.build.Indexer
import java.nio.file.{Files, Path}
import org.scalatest.funsuite.AnyFunSuite

import scala.collection.JavaConverters._

/** What a commit says that is not so: an index that follows it has the files of a listing all the same. */
class ForgedCommitsSuite extends AnyFunSuite {
  import IndexerSuite._
  private val json = new ObjectMapper

  for (version <- Seq(6, 9)) {
    test(s"version $version: a commit that says it replaces file groups, and is no replacecommit, replaces none") {
      check(version) { (table, commit, _) =>
        val ids = table.files("a").keys.map(_.takeWhile(_ != '_')).toVector
        val replaced = commit.putObject("partitionToReplaceFileIds").putArray("a")
        ids.foreach(replaced.add)
      }
    }

    test(s"version $version: a commit that wrote rows to a file that it does not name is not followed by an index") {
      check(version) { (_, _, stat) =>
        stat.remove("path")
        stat.put("numWrites", 1): Unit
      }
    }

    test(s"version $version: a partition that lost the file which marks it is there, as commits wrote to it") {
      withTable(version) { table =>
        indexed(table)
        table.write(Seq(FakeWrite("b", -1, isLog = false, 10)), complete = true)
        Files.delete(table.dir.resolve("b/.hoodie_partition_metadata"))
        checkAgainstListing(accessOf(LocalStorage), table, IndexOptions())
        new Indexer(accessOf(LocalStorage), table.path, IndexOptions()).create()
        checkAgainstListing(accessOf(LocalStorage), table, IndexOptions(strict = true))
      }
    }

    test(s"version $version: a base file of which its commit says that it is empty has the bytes that it has") {
      check(version)((_, _, stat) => stat.put("fileSizeInBytes", 0L): Unit)
    }

    test(
      s"version $version: a base file that is far shorter than its commit says is damage, with an index and without"
    ) {
      withTable(version) { table =>
        indexed(table)
        forge(table)((_, stat) => stat.put("fileSizeInBytes", 1L << 47): Unit)
        for (enabled <- Seq(true, false)) {
          val said = intercept[DamagedTable] {
            val opened = TableSnapshot.open(accessOf(LocalStorage), table.path, IndexOptions(enabled = enabled))
            try opened.source.files("a")
            finally opened.close()
          }
          assert(said.getMessage.contains("the file has only 10 bytes, but instant"))
        }
      }
    }
  }

  /** Of a completed instant of a table, by its action: what it says is removed is there still. */
  private val removals: Vector[(String, String, (String, Vector[String], ObjectNode) => Unit)] = Vector(
    (
      "a clean that names files which readers see",
      "clean",
      (_, names, body) => {
        val partition = body.putObject("partitionMetadata").putObject("a")
        partition.put("isPartitionDeleted", false)
        val deleted = partition.putArray("deletePathPatterns")
        names.foreach(n => deleted.add(n))
      }
    ),
    (
      "a clean that says of a partition that it is gone",
      "clean",
      (_, _, body) =>
        body
          .putObject("partitionMetadata")
          .putObject("a")
          .put("isPartitionDeleted", true)
          .putArray("deletePathPatterns"): Unit
    ),
    (
      "a rollback of an unknown commit that names files of others",
      "rollback",
      (_, names, body) => rollback("20200101000000000", names, body)
    ),
    (
      "a rollback of a commit that is there",
      "rollback",
      (instant, names, body) => rollback(instant, names, body)
    )
  )

  private def rollback(instant: String, names: Vector[String], body: ObjectNode): Unit = {
    body.putArray("commitsRollback").add(instant)
    val partition = body.putObject("partitionMetadata").putObject("a")
    val deleted = partition.putArray("successDeleteFiles")
    names.foreach(n => deleted.add(s"file:/elsewhere/a/$n"))
    partition.putObject("logFilesFromFailedCommit")
    partition.putObject("rollbackLogFiles"): Unit
  }

  for (version <- Seq(6, 9); (what, action, write) <- removals; isUnseen <- Seq(false, true))
    test(
      s"version $version: $what takes no file from an index" + (if (isUnseen) ", not of a commit that it has not seen"
                                                                else "")
    ) {
      withTable(version) { table =>
        table.write(Seq(FakeWrite("a", -1, isLog = false, 10), FakeWrite("b", -1, isLog = false, 10)), complete = true)
        val access = accessOf(LocalStorage)
        if (isUnseen) indexed(table)
        val instant = table.write(Seq(FakeWrite("a", -1, isLog = false, 20)), complete = true)
        if (!isUnseen) new Indexer(access, table.path, IndexOptions()).create()
        val body = json.createObjectNode()
        write(instant, table.files("a").keys.toVector, body)
        table.complete(table.tick(), action, body)
        checkAgainstListing(access, table, IndexOptions())
        new Indexer(access, table.path, IndexOptions()).update()
        checkAgainstListing(access, table, IndexOptions(strict = true))
      }
    }

  /** The index after a commit, and after an update, has the files of a listing.
    *
    * @param change of the commit and its one write stat
    */
  private def check(version: Int)(change: (FakeTable, ObjectNode, ObjectNode) => Unit): Unit = withTable(version) {
    table =>
      indexed(table)
      val access = accessOf(LocalStorage)
      forge(table)(change(table, _, _))
      checkAgainstListing(access, table, IndexOptions())
      new Indexer(access, table.path, IndexOptions()).update()
      checkAgainstListing(access, table, IndexOptions(strict = true))
  }

  private def forge(table: FakeTable)(change: (ObjectNode, ObjectNode) => Unit): Unit = {
    val instant = table.write(Seq(FakeWrite("a", -1, isLog = false, 10)), complete = true)
    val file = commitFile(table, instant)
    val body = json.readTree(Files.readAllBytes(file)).asInstanceOf[ObjectNode]
    change(body, body.get("partitionToWriteStats").get("a").get(0).asInstanceOf[ObjectNode])
    Files.write(file, json.writeValueAsBytes(body)): Unit
  }

  private def commitFile(table: FakeTable, instant: String): Path = {
    val folder = if (table.version == 6) table.dir.resolve(".hoodie") else table.dir.resolve(".hoodie/timeline")
    val files = Files.list(folder)
    try
      files.iterator.asScala
        .find(f => f.getFileName.toString.startsWith(instant) && f.getFileName.toString.endsWith(".deltacommit"))
        .get
    finally files.close()
  }
}
