package hudiidx.hive

import java.nio.file.{Files, Path, Paths}

import hudiidx.storage.LocalStorage
import hudiidx.sync.IndexOptions
import hudiidx.sync.build.Indexer
import hudiidx.engine.{Tables, TimelineCut}
import hudiidx.table.PropertiesFile
import hudiidx.{Fixtures, HudiIdxException, NotAHudiTable, TestSettings}
import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.mapred.JobConf

/** One input format and one job over tables that follow one another under a path, and over one to which much happens. */
final class HiveLongLivedSuite extends HiveSuite {

  test("a reader that has read another table under the path reads the one that is there; splits of the other say so") {
    val place = Paths.get(Fixtures.newFolder("place").toString, "t").toString
    val format = new HudiIdxInputFormat
    val job = HiveTables.job(Seq(place))
    var before = Vector.empty[HudiIdxSplit]
    for (name <- Vector("v6-mor-part", "v9-mor-part", "v6-cow-part", "v8-cow-part"); isIndexed <- Seq(false, true)) {
      LocalStorage.delete(place)
      Files.move(Paths.get(Fixtures.copy(name)), Paths.get(place))
      if (isIndexed) new Indexer(Tables.access(new Configuration()), place, IndexOptions()).create()
      val stock = Fixtures.json(name).get("snapshot").get("count").asInt
      assert(HiveTables.rows(job, format = format).length === stock, name)
      before.foreach(s => intercept[HudiIdxException](HiveTables.rowsOf(s, job, format)))
      before =
        if (isIndexed) HiveTables.splits(job, format = format).map(_.asInstanceOf[HudiIdxSplit]) else Vector.empty
    }
  }

  /** Rows, sorted, of one reader that stays, of a new one, and of one without an index, which are the same. */
  private final class Readers(table: String) {
    private val format = new HudiIdxInputFormat
    private val job = HiveTables.job(Seq(table))
    private def texts(job: JobConf, format: HudiIdxInputFormat): Vector[String] =
      HiveTables.rows(job, format = format).map(_.mkString("|")).sorted

    def rows(): Vector[String] = texts(job, format)

    def agreed(what: String): Vector[String] = {
      val found = rows()
      assert(found === texts(HiveTables.job(Seq(table)), new HudiIdxInputFormat), what)
      val off = HiveTables.job(Seq(table), IndexOptions.Enabled -> "false")
      assert(found === texts(off, new HudiIdxInputFormat), what)
      assert(found.length === read(table).count(), what)
      found
    }
  }

  private def index(table: String): Unit =
    new Indexer(Tables.access(new Configuration()), table, IndexOptions()).create(): Unit

  private def aside(path: Path): Path = Files.move(path, Paths.get(s"$path-aside"))

  for (name <- TestSettings.some(3)(Vector("v9-mor-part", "v8-mor-part", "v6-mor-part")))
    test(
      s"$name: one reader lives through a restore, a timeline that moves, an index made anew, renames, no metadata"
    ) {
      val table = Paths.get(Fixtures.copy(name))
      val cut = new TimelineCut(table.toString)
      val stock = Fixtures.json(name).get("snapshot").get("count").asInt
      cut.showFirst(cut.size - 1)
      val readers = new Readers(table.toString)
      val before = readers.agreed("no index")
      index(table.toString)
      assert(readers.agreed("an index") === before)
      cut.showAll()
      val whole = readers.agreed("a write")
      assert(whole.length === stock && whole != before)
      // Files of what a restore rolls back may stay.
      cut.showFirst(cut.size - 1)
      assert(readers.agreed("a restore") === before)
      cut.showAll()
      LocalStorage.delete(table.resolve(".hoodie/hudiidx").toString)
      assert(readers.agreed("the index is dropped") === whole)
      index(table.toString)
      assert(readers.agreed("the index is made anew") === whole)
      val away = aside(table)
      intercept[NotAHudiTable](readers.rows())
      Files.move(away, table)
      assert(readers.agreed("renamed away and back") === whole)
      val metadata = aside(table.resolve(".hoodie/metadata"))
      PropertiesFile.update(LocalStorage, table.toString)(_ - "hoodie.table.metadata.partitions")
      assert(readers.agreed("no metadata table") === whole)
      Files.move(metadata, table.resolve(".hoodie/metadata"))
      assert(readers.agreed("a metadata table") === whole)
      if (!name.startsWith("v6")) moved(table, cut, readers, before, whole)
    }

  /** As stock Hudi's upgrade and downgrade move it; what stays behind changes no more. */
  private def moved(
      table: Path,
      cut: TimelineCut,
      readers: Readers,
      before: Vector[String],
      whole: Vector[String]
  ): Unit = {
    cut.showFirst(cut.size - 1)
    assert(readers.rows() === before)
    val to = Files.createDirectory(table.resolve(".hoodie/moved"))
    def instants: Vector[Path] =
      LocalStorage.list(table.resolve(".hoodie/timeline").toString).filterNot(_.isDirectory).map(f => Paths.get(f.path))
    val here = instants
    here.foreach(f => Files.copy(f, to.resolve(f.getFileName)))
    PropertiesFile.update(LocalStorage, table.toString)(_ + ("hoodie.timeline.path" -> "moved"))
    assert(readers.agreed("the timeline has moved") === before)
    cut.showAll()
    instants.filterNot(here.contains).foreach(f => Files.move(f, to.resolve(f.getFileName)))
    assert(readers.agreed("a write in the place that it moved to") === whole): Unit
  }
}
