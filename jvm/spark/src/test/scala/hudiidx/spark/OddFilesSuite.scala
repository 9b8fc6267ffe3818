package hudiidx.spark

import java.io.RandomAccessFile
import java.nio.file.attribute.FileTime
import java.nio.file.{Files, Path, Paths}

import scala.concurrent.ExecutionContext.Implicits.global
import scala.concurrent.duration._
import scala.concurrent.{Await, Future}
import scala.util.Try

import hudiidx.spark.api.HudiIdxApi
import hudiidx.{Causes, Fixtures, HudiIdxException}
import org.apache.spark.sql.DataFrame

/** Pipes, and files of any size of which nothing is on the disk, in the place of a table's and its index's: whoever may write to the
  * folder makes them for nothing. Nobody waits for a pipe or takes the memory for such a file, and an index is no reason why rows
  * are not read.
  */
final class OddFilesSuite extends SparkSuite {
  private def api(table: String) = new HudiIdxApi(spark, table, new java.util.HashMap[String, String]())

  /** More than an array has, and what the process's memory does not have, though an array would. */
  private val sizes = Seq(3L << 30, Runtime.getRuntime.maxMemory / 2)

  private val harms: Seq[(String, Path => Unit)] =
    sizes.map(n => s"$n bytes" -> (enlarge(_: Path, n))) :+ ("a pipe" -> (pipe(_)))

  private def pipe(file: Path): Unit = {
    Files.deleteIfExists(file)
    // Java would wait at it to set its time.
    for (command <- Seq(Seq("mkfifo"), Seq("touch", "-d", "@0")))
      assert(new ProcessBuilder(command :+ file.toString: _*).start().waitFor() === 0)
  }

  private def enlarge(file: Path, bytes: Long): Unit = {
    Files.deleteIfExists(file)
    val made = new RandomAccessFile(file.toFile, "rw")
    try made.setLength(bytes)
    finally made.close()
    // Its writer is taken for dead, and what it left is looked at.
    Files.setLastModifiedTime(file, FileTime.fromMillis(0)): Unit
  }

  private def firstBelow(folder: Path)(is: String => Boolean): Path = {
    val all = Files.walk(folder)
    try all.filter(f => is(f.getFileName.toString)).sorted().findFirst().get()
    finally all.close()
  }

  private val files: Seq[(String, Path => Path)] = Seq(
    "properties" -> (_.resolve(".hoodie/hoodie.properties")),
    "an instant" -> (t => firstBelow(t.resolve(".hoodie/timeline"))(_.endsWith("commit"))),
    "the mark of a partition" -> (t => firstBelow(t.resolve("lima"))(_ == ".hoodie_partition_metadata")),
    "the archive's version" -> (_.resolve(".hoodie/timeline/history/_version_")),
    "a manifest of the archive" -> (_.resolve(".hoodie/timeline/history/manifest_9")),
    "the record of a write" -> (_.resolve(".hoodie/.heartbeat/20260101000000000.1")),
    "the lock" -> (_.resolve(".hoodie/lock"))
  )

  /** Rows to write, which no file has to be read for any more. */
  private def some(table: String): DataFrame = {
    val all = read(table)
    val own = all.drop(all.columns.filter(_.startsWith("_hoodie")): _*).limit(1)
    spark.createDataFrame(own.collectAsList(), own.schema)
  }

  for ((what, of) <- files)
    test(s"$what of any size, or a pipe, costs no memory or time: rows, or an error of ours that names the file") {
      for ((odd, harm) <- harms) {
        val table = Fixtures.copy("v9-mor-part")
        val (right, rows) = (read(table).count(), some(table))
        val file = of(Paths.get(table))
        Files.createDirectories(file.getParent)
        harm(file)
        val deeds = Seq[(String, () => Any)](
          "read" -> (() => assert(read(table).count() === right)),
          "create" -> (() => api(table).create()),
          "report" -> (() => api(table).report()),
          "write" -> (() => rows.write.format("hudiidx").mode("append").save(table))
        )
        for ((deed, run) <- deeds) withClue(s"$deed with $odd: ")(Try(inTime(run())).failed.foreach { e =>
          val ours = Causes.of(e).collectFirst { case found: HudiIdxException => found.getMessage }
          if (!ours.exists(_.contains(file.getFileName.toString))) fail(s"not ours: $e", e)
        })
      }
    }

  private def inTime[A](work: => A): A = Await.result(Future(work), 2.minutes)

  test(
    "an index version of any size, or a pipe, is a damaged one: the table is listed, and the next update makes another"
  ) {
    for ((odd, harm) <- harms) withClue(s"$odd: ") {
      val table = Fixtures.copy("v9-mor-part")
      val right = Answer.of(read(table)).checksum
      api(table).create()
      val versions = Paths.get(table, ".hoodie/hudiidx/versions")
      harm(firstBelow(versions)(_.endsWith(".json")))
      assert(inTime(Answer.of(read(table)).checksum) === right)
      assert(Seq("too many to read at once", "no regular file").exists(inTime(api(table).info()).contains(_)))
      inTime(api(table).update())
      assert(Answer.of(read(table, "hudiidx.index.strict" -> "true")).checksum === right)
    }
  }
}
