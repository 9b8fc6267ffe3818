package hudiidx.engine

import hudiidx.hfile.BlockCache
import hudiidx.storage.LocalStorage
import hudiidx.sync._
import hudiidx.sync.build.Indexer
import hudiidx.table.StockAnswers
import hudiidx.{DamagedTable, Fixtures}
import java.nio.file.{Files, Path, Paths, StandardCopyOption}
import org.scalatest.funsuite.AnyFunSuite

/** Damage to a table's own files, with and without an index that was made before it. Listings through such an index are
  *  those of the undamaged table; whatever has to look at the damage says so.
  */
class DamagedFixtureSuite extends AnyFunSuite {
  private val strict = IndexOptions(strict = true, source = "listing")
  private val unlisted = strict.copy(enabled = false)

  for (name <- Fixtures.damaged("commit-file")) {
    test(
      s"$name: without an index, or with one that is behind it, the error names the commit file"
    ) {
      val damaged = new Damaged(name)
      assert(failure(damaged.path, unlisted).startsWith(damaged.file.toString))
      assert(createFailure(damaged.path).startsWith(damaged.file.toString))
      assert(IndexInfo.of(access, damaged.path, strict).state === IndexInfo.Absent)
      val aside = damaged.file.resolveSibling("aside")
      Files.move(damaged.file, aside)
      indexer(damaged.path).create()
      Files.move(aside, damaged.file)
      assert(IndexInfo.of(access, damaged.path, strict).state === IndexInfo.Lagging)
      assert(failure(damaged.path, strict).startsWith(damaged.file.toString))
      val e = intercept[DamagedTable](indexer(damaged.path).update())
      assert(e.getMessage.startsWith(damaged.file.toString))
    }

    test(s"$name: an index that has taken the commit in answers as before the damage") {
      val damaged = new Damaged(name)
      damaged.repair()
      indexer(damaged.path).create()
      damaged.harm()
      compareWithStock(damaged)
      assert(IndexInfo.of(access, damaged.path, strict).state === IndexInfo.Ready)
      assert(!indexer(damaged.path).update().published)
      assert(createFailure(damaged.path).startsWith(damaged.file.toString))
      compareWithStock(damaged)
    }
  }

  for (name <- Fixtures.damaged("missing-base", "truncated-log", "zero-log"))
    test(
      s"$name: listing and create name the file; an index made before still lists it, and verify tells"
    ) {
      val damaged = new Damaged(name)
      assert(failure(damaged.path, unlisted).startsWith(damaged.file.toString))
      assert(createFailure(damaged.path).startsWith(damaged.file.toString))
      damaged.repair()
      indexer(damaged.path).create()
      damaged.harm()
      compareWithStock(damaged)
      assert(createFailure(damaged.path).startsWith(damaged.file.toString))
      compareWithStock(damaged)
      val expected = if (name.endsWith("missing-base")) DifferenceKind.FileExtra else DifferenceKind.SizeDiffers
      val found = verify(damaged)
      assert(found.map(d => (d.kind, d.file)) === Vector(expected -> damaged.file.getFileName.toString))
    }

  for (version <- Seq("v6", "v9")) {
    test(s"$version: garbage in a commit file is an error that names it, whatever the garbage") {
      val name = s"$version-no-mdt-cow"
      val table = Fixtures.copy(name)
      val commit = Fixtures.filesBelow(table).filter(_.endsWith(".commit")).last
      val file = Paths.get(table, commit)
      val whole = Files.readAllBytes(file)
      indexer(table).create()
      Seq(Array[Byte](0), "{}x".getBytes, whole.reverse, Array.fill(5000)(-1.toByte), whole.drop(1)).foreach { bad =>
        Files.write(file, bad)
        assert(failure(table, unlisted).startsWith(file.toString))
        val snapshot = TableSnapshot.open(access, table, strict)
        try StockAnswers.compare(name, snapshot.source, snapshot.view)
        finally snapshot.close()
      }
    }
  }

  private def access: TableAccess = Tables.access(LocalStorage, new BlockCache(4 << 20))

  private def indexer(table: String): Indexer = new Indexer(access, table, strict)

  private def createFailure(table: String): String = intercept[DamagedTable](indexer(table).create()).getMessage

  /** Message of the error that reading everything ends with. */
  private def failure(table: String, options: IndexOptions): String = intercept[DamagedTable] {
    val snapshot = TableSnapshot.open(access, table, options)
    try snapshot.view.partitions.foreach(p => snapshot.view.latestMergedFileSlices(p))
    finally snapshot.close()
  }.getMessage

  /** Differences of the index and the bare listing of each partition, which takes what is there for given. */
  private def verify(damaged: Damaged): Vector[Difference] = {
    val snapshot = TableSnapshot.open(access, damaged.path, strict)
    try {
      val listing = TableSnapshot.listingOf(snapshot.table, snapshot.viewTimeline)
      snapshot.source.partitions.flatMap(p => Verifier.files(p, snapshot.source.files(p), listing.lister.list(p)))
    } finally snapshot.close()
  }

  private def compareWithStock(damaged: Damaged): Unit = {
    val snapshot = TableSnapshot.open(access, damaged.path, strict)
    try StockAnswers.compare(damaged.madeFrom, snapshot.source, snapshot.view)
    finally snapshot.close()
  }

  /** A copy of a damaged fixture, whose damaged file can be exchanged with the one of the table it was made from. */
  private final class Damaged(name: String) {
    private val json = Fixtures.json(name)
    val madeFrom: String = json.get("made_from").asText
    private val relative = json.get("damage").get("file").asText
    val path: String = Fixtures.copy(name)
    val file: Path = Paths.get(path, relative)

    def repair(): Unit = exchange(Paths.get(Fixtures.table(madeFrom), relative))

    def harm(): Unit = exchange(Paths.get(Fixtures.table(name), relative))

    private def exchange(from: Path): Unit =
      if (Files.exists(from))
        Files.copy(from, file, StandardCopyOption.REPLACE_EXISTING, StandardCopyOption.COPY_ATTRIBUTES): Unit
      else Files.delete(file)
  }
}
