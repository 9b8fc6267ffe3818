package hudiidx.spark.prune

import java.nio.file.{Files, Path, Paths}

import com.fasterxml.jackson.databind.ObjectMapper
import hudiidx.TestSettings.{isLong, seed}
import hudiidx.spark.api.HudiIdxApi
import hudiidx.spark.options.ReadPushdowns
import hudiidx.{DamagedIndex, Figures, Fixtures}
import org.apache.spark.sql.functions.broadcast
import org.apache.spark.sql.DataFrame
import org.scalacheck.Gen
import org.scalacheck.rng.Seed

/** Filters on indexed columns leave files out, and give the same rows whatever the index's state. */
final class ColumnPruningSuite extends SkippingSuite {

  private def api(table: String): HudiIdxApi =
    new HudiIdxApi(spark, table, java.util.Map.of("hudiidx.columns", "*"))

  private def indexed(name: String): String = {
    val table = Fixtures.copy(name)
    api(table).create()
    table
  }

  private def some(name: String, n: Int): Vector[String] = {
    val gen = TablePredicates.of(read(Fixtures.table(name)))
    (0 until (if (isLong) n * 20 else n)).toVector.map(i => gen.pureApply(Gen.Parameters.default, Seed(seed + i)))
  }

  Fixtures
    .sampled(
      this,
      Vector(
        "v6-cow-types",
        "v9-mor-types",
        "v8-cow-complex",
        "v9-cow-evolution",
        "v6-mor-evolution",
        "v9-mor-part",
        "v6-virtual-mor",
        "v9-mor-log-only",
        "v9-partial-updates",
        "v9-mor-ordering"
      ),
      oneOf = 2
    )
    .foreach { name =>
      test(s"$name: rows of random filters are the same with the column index and without it") {
        info(s"HUDIIDX_TEST_SEED=$seed")
        val table = indexed(name)
        var left = 0
        some(name, 7).foreach { where =>
          withClue(s"seed $seed, $where: ") {
            val found = read(table).where(where)
            left += skipped(found)
            assert(rows(found) === rows(read(table, off).where(where)))
          }
        }
        info(s"$left partitions and files left out")
      }
    }

  /** A filter that one file group alone has rows for. */
  private def narrow(table: String): String = s"n = ${read(table, off).selectExpr("max(n)").head().getLong(0)}"

  Vector("v9-cow-part", "v9-mor-part", "v6-mor-part").foreach { name =>
    test(s"$name: files that the column index leaves out are not needed") {
      info(s"HUDIIDX_TEST_SEED=$seed")
      val table = indexed(name)
      assert(skipped(read(table).where(narrow(table))) > 0)
      val random = some(name, 30).iterator.filter(w => skipped(read(table).where(w)) > 0)
      val wanted = narrow(table) +: random.take(2).toVector
      wanted.foreach { where =>
        withClue(s"seed $seed, $where: ") {
          val whole = rows(read(table, off).where(where))
          val other = indexed(name)
          val kept = scanOf(read(other).where(where)).get.slices.flatMap { s =>
            s.baseFile.map(_.fileName) ++ s.logFiles.map(_.fileName)
          }.toSet
          dataFiles(other).filterNot(f => kept(f.getFileName.toString)).foreach(f => Files.delete(f))
          assert(rows(read(other).where(where)) === whole)
        }
      }
    }
  }

  Vector("v9-cow-part", "v6-mor-types", "v9-mor-part", "v8-cow-complex").foreach { name =>
    test(s"$name: what explain says of random filters adds up, and what left nothing out has a reason") {
      info(s"HUDIIDX_TEST_SEED=$seed")
      val table = indexed(name)
      val total = planned(read(table, off)).get
      some(name, 7).foreach(where => withClue(s"seed $seed, $where: ")(assertExplained(table, where, total)))
    }
  }

  private def assertExplained(table: String, where: String, total: Int): Unit = {
    val frame = read(table).where(where)
    planned(frame).foreach { kept =>
      val told = new ObjectMapper().readTree(api(table).explain(frame).toString).get(0)
      val (left, columns) = (told.get("files_left"), told.get("columns"))
      val stages = Vector("partitions", "record_keys", "bounds", "blooms").map(left.get(_).asInt)
      assert(told.get("files_total").asInt === total && stages === stages.sorted.reverse && stages.head <= total)
      assert(stages.last === kept && told.get("files_kept").asInt === kept)
      assert(columns.get("files_skipped").asInt === stages(1) - kept)
      columns.get("parts").forEach { p =>
        assert(p.get("files").asInt + p.get("partitions").asInt > 0 || !p.get("why_not").isNull, p)
      }
      if (stages(1) == kept) assert(!columns.get("why_not").isNull || columns.get("parts").size > 0, columns)
      Figures.add("accounts of what a filter left out, held against its plan", 1)
    }
  }

  /** Files that a scan reads. */
  private def planned(frame: DataFrame): Option[Int] =
    scanOf(frame).map(_.slices.map(s => s.baseFile.size + s.logFiles.size).sum)

  private def dataFiles(table: String): Vector[Path] = Fixtures
    .filesBelow(table)
    .filter(f => !f.startsWith(".hoodie/") && (f.endsWith(".parquet") || f.contains(".log.")))
    .map(f => Paths.get(table, f))

  test("as of earlier instants, and for files that the index has not taken in, rows are those of a scan") {
    val table = Fixtures.copy("v9-moved-cow")
    val timeline = Paths.get(table, ".hoodie", "timeline")
    val last = Fixtures.filesBelow(timeline.toString).filter(f => f.matches("\\d+_\\d+\\.commit")).max
    val aside = Files.createTempDirectory("aside").resolve(last)
    Files.move(timeline.resolve(last), aside)
    api(table).create()
    Files.move(aside, timeline.resolve(last))
    some("v9-moved-cow", 4).foreach { where =>
      Vector(Vector.empty, Vector("as.of.instant" -> last.take(17))).foreach { at =>
        assert(
          rows(read(table, at: _*).where(where)) === rows(read(table, at :+ off: _*).where(where)),
          s"seed $seed, $where"
        )
      }
    }
  }

  test("a column file that is cut, or gone, costs no rows: one warning, in strict mode an error") {
    Vector[Path => Unit](f => Files.delete(f), f => Files.write(f, Files.readAllBytes(f).dropRight(9))).foreach {
      harm =>
        val table = indexed("v9-cow-part")
        val where = narrow(table)
        val folder = Paths.get(table, ".hoodie", "hudiidx")
        Fixtures.filesBelow(folder.toString).filter(_.contains("column_stats")).foreach(f => harm(folder.resolve(f)))
        assert(rows(read(table).where(where)) === rows(read(table, off).where(where)))
        assert(scanOf(read(table).where(where)).get.facts.columns.whyNot.exists(_.contains("DAMAGED_COLUMN_INDEX")))
        intercept[DamagedIndex](read(table, "hudiidx.index.strict" -> "true").where(where).collect())
    }
  }

  test("values that a join finds leave files out by their columns") {
    val table = indexed("v9-cow-part")
    val small = read(table, off).where(narrow(table)).select("n")
    def joined(options: (String, String)*): DataFrame =
      read(table, options: _*).join(broadcast(small), "n")
    assert(rows(joined()).nonEmpty && rows(joined()) === rows(joined(off)))
  }

  /** Case in others' trackers, table, filter on what is within lists and maps, or beside them. */
  Vector(
    ("hudi-5804, trino-17899", "v9-cow-types", "c_map['fix'] > 1 OR element_at(c_map, 'k0') = 30"),
    ("hudi-5804", "v9-cow-types", "get(c_arr, 0) IS NOT NULL OR get(get(c_nested, 0).q.m, 0) = 1"),
    ("hudi-5804", "v9-mor-types", "exists(c_nested, x -> x.p >= 30) AND c_struct IS NOT NULL"),
    ("hudi-19645, hudi-18376", "v9-cow-evolution", "note IS NULL AND qty < 10"),
    ("hudi-19645, hudi-18376", "v6-mor-evolution", "note IS NULL AND qty < 10"),
    ("hudi-11021", "v9-cow-types", "upper(coalesce(c_allnull, 'q')) = 'Q' AND year(c_date) IS NOT NULL")
  ).foreach { case (reported, name, where) =>
    test(s"$reported: $name has all rows of $where") {
      val table = indexed(name)
      val whole = rows(read(table, off).where(where))
      assert(whole.nonEmpty && rows(read(table).where(where)) === whole)
    }
  }

  test("explain tells which columns left what out, and why others did not") {
    val table = indexed("v9-cow-part")
    val where = narrow(table)
    val told = new ObjectMapper().readTree(api(table).explain(read(table).where(where)).toString)
    val columns = told.get(0).get("columns")
    assert(columns.get("files_skipped").asInt + columns.get("partitions_skipped").asInt > 0)
    assert(columns.get("parts").size > 0)
    // Files of partitions that were left out whole count too.
    val left = told.get(0).get("files_left")
    val stages = Vector("partitions", "record_keys", "bounds", "blooms").map(left.get(_).asInt)
    val total = read(table, "view" -> "latest_base_files").count()
    assert(told.get(0).get("files_total").asInt === total && stages.head === total)
    assert(stages === stages.sorted.reverse && stages.last === told.get(0).get("files_kept").asInt)
    assert(columns.get("files_skipped").asInt === total - stages.last && stages.last === 1)
    assert(told.get(0).get("files_in_index").asInt > total)
    val without = new ObjectMapper().readTree(api(table).explain(read(table, off).where(where)).toString)
    assert(without.get(0).get("columns").get("why_not").asText.contains(ReadPushdowns.ColumnStats))
  }

  test("explain tells what bounds and what blooms left, and the scan's description what each stage did") {
    val table = Fixtures.copy("v9-cow-part")
    val indexes = new java.util.HashMap[String, String]
    indexes.put("hudiidx.columns", "n")
    indexes.put("hudiidx.bloom.columns", "rider")
    indexes.put("hudiidx.record.mode", "global")
    val api = new HudiIdxApi(spark, table, indexes)
    api.create()
    val frame = read(table).where("n >= 0 and rider = 'nobody' and city <> 'sf'")
    val told = new ObjectMapper().readTree(api.explain(frame).toString).get(0)
    val left = told.get("files_left")
    assert(left.get("bounds").asInt === 3 && left.get("blooms").asInt === 0 && left.get("partitions").asInt === 3)
    val text = scanOf(frame).get.description()
    Vector(
      "as of ",
      "index version 1",
      "partitions 3 of 4",
      "record keys not looked up (no filter asks",
      "files by bounds",
      "3 by blooms or values",
      "files kept 0 of ",
      "in the index"
    ).foreach(part => assert(text.contains(part)))
    val unhelpful = scanOf(read(table).where("n >= 0 and length(rider) > 3")).get.description()
    assert(unhelpful.contains("length"))
  }
}
