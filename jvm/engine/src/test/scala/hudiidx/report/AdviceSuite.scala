package hudiidx.report

import hudiidx.column.{ColumnExpression, ColumnPath, IndexSpec}
import hudiidx.engine.Tables
import hudiidx.hfile.BlockCache
import hudiidx.storage.LocalStorage
import hudiidx.store.{Coverage, IndexVersion, ScanRecord, TableIdentity}
import hudiidx.sync.IndexOptions
import hudiidx.{Fixtures, HostileNames, ShellCommandSuite}
import org.scalacheck.Gen
import org.scalacheck.rng.Seed
import org.scalatest.funsuite.AnyFunSuite

/** What advice tells to run is about the names that it was given for, whatever these are. */
class AdviceSuite extends AnyFunSuite {
  private val names: Vector[String] = (HostileNames.fixed ++ Vector.tabulate(100) { n =>
    HostileNames.any.pureApply(Gen.Parameters.default, Seed(n.toLong))
  }).filterNot(_.contains("://")).distinct

  private lazy val plain: TableReport = {
    val report = TableReport.of(
      Tables.access(LocalStorage, new BlockCache),
      Fixtures.copy("v9-cow-part"),
      IndexOptions()
    )
    val none = ScanRecord(1L, "", Vector("zz > 2"), Map.empty)
    report.copy(scans = ScanFacts.of(Vector.fill(20)(none)), bounds = report.bounds.copy(columns = Vector.empty))
  }

  private def advised(report: TableReport, kind: String, indexPath: String = "/i"): Vector[Advice] =
    new Advisor(report, Some(indexPath)).all.filter(_.kind == kind)

  /** What the command makes of a word that names a column, as `_columns.py` hands it on. */
  private def columnOf(word: String): String = IndexSpec.asked(s"range($word)", "range") match {
    case Vector(IndexSpec("range", Vector(path), options)) if options.isEmpty => path
    case other                                                                => fail(s"$word: $other")
  }

  test("commands name table, index folder and columns as they are named") {
    names.foreach { name =>
      val path = s"/data/$name"
      // No column of Hudi's begins so: what an index keeps of an expression does.
      val named = if (name.startsWith("=")) s"a$name" else name
      val specs = s"bloom(${ColumnPath.typed(ColumnPath.of(Seq(named)))})"
      val report = plain.copy(path = path, info = plain.info.copy(version = Some(version(specs))))
      val lines = advised(report, "drop_index", name).map(_.command)
      assert(lines.size === 1, specs)
      val words = ShellCommandSuite.wordsOf(lines, "C.UTF-8").head
      assert(words.take(2) === Vector("hudiidx", "drop-index"))
      assert(words.contains(path) && (words.contains(name) || words.contains(s"--index-path=$name")))
      val column = words(words.indexOf(path) + 1)
      assert(ColumnPath.parts(columnOf(column)) === Vector(named), lines)
      assert(!Set("record", "logs", "*")(column))
    }
  }

  test("a column that queries ask for is named as the command takes it, also one named as a part of the index") {
    names.foreach { name =>
      val asking = ScanRecord(1L, "", Vector("`" + name.replace("`", "``") + "` > 1"), Map.empty)
      val scans = ScanFacts.of(Vector.fill(20)(asking))
      val info = plain.info.copy(version = Some(version("")))
      val report = plain.copy(scans = scans, columns = Vector(name), info = info)
      val lines = advised(report, "add_index").map(_.command)
      assert(lines.size === 1, name)
      val words = ShellCommandSuite.wordsOf(lines, "C").head
      val column = words(words.indexOf(plain.path) + 1)
      assert(ColumnPath.parts(columnOf(column)) === Vector(name) && !Set("record", "logs", "*")(column), lines)
    }
  }

  test("expressions are named by SQL that means the same") {
    val text = ColumnExpression("date_format(`$(id)`, 'yyyy-MM')").path
    val report = plain.copy(info = plain.info.copy(version = Some(version(s"range($text)"))))
    val line = advised(report, "drop_index").map(_.command)
    val words = ShellCommandSuite.wordsOf(line, "C").head
    assert(words(3) === "date_format(`$(id)`, 'yyyy-MM')" && columnOf(words(3)) === text)
  }

  test("clustering is advised by columns that run_clustering takes, in texts that Spark reads as they were") {
    val spread = Overlap(100, 0, 0, 100, 0.0, 0.0, Vector.empty)
    def clustered(columns: Vector[String], bounds: Vector[String]) = {
      val facts = bounds.map(ColumnFacts(_, "bigint", "1", "2", spread))
      val info = plain.info.copy(version = Some(version(s"range(${bounds.mkString(",")})")))
      val scans = plain.scans.copy(scans = 0)
      val report = plain.copy(path = "/data/it's $" + "{x}", columns = columns, info = info, scans = scans)
      advised(report.copy(bounds = report.bounds.copy(columns = facts)), "cluster")
    }
    val one = clustered(Vector("fare", "addr"), Vector("fare", "addr.city"))
    assert(one.map(_.command) === Vector("CALL run_clustering(path => '/data/it\\'s \\u0024{x}', order => 'fare')"))
    assert(one.head.why.contains("spark.sql.parser.escapedStringLiterals"))
    for (
      (columns, bounds) <- Vector(
        Vector("addr") -> "addr.city",
        Vector("a,b") -> "`a,b`",
        Vector("a") -> "_hoodie_record_key"
      )
    ) {
      val none = clustered(columns, Vector(bounds))
      assert(none.map(_.command) === Vector("") && none.head.why.contains("run_clustering cannot sort by it"), bounds)
    }
  }

  test("where no command can name something the reason stands in its place") {
    val report = plain.copy(path = "/data/a\u0000b", info = plain.info.copy(state = "ABSENT"))
    val found = advised(report, "create")
    assert(found.map(_.command) === Vector("") && found.head.why.contains("no command line can hold '/data/a\\u0000b'"))
  }

  private def version(specs: String): IndexVersion =
    IndexVersion(
      1,
      TableIdentity("t", "COPY_ON_WRITE"),
      Coverage("", Vector.empty, Vector.empty),
      Vector.empty,
      Map(IndexSpec.Property -> specs),
      0L,
      "test"
    )
}
