package hudiidx.spark

import java.nio.file.{Files, Paths}

import com.fasterxml.jackson.databind.ObjectMapper
import hudiidx.Fixtures
import hudiidx.spark.api.HudiIdxApi
import org.apache.spark.sql.DataFrame

/** Filters on record keys read the file groups that the record index names, and give the same rows whatever its state. */
final class KeyFilterSuite extends SparkSuite {
  private val off = ReadPushdowns.RecordKeys -> "false"

  private def api(table: String): HudiIdxApi =
    new HudiIdxApi(spark, table, java.util.Map.of("hudiidx.record.mode", "partitioned"))

  private def rows(frame: DataFrame): Vector[String] = frame.collect().map(_.toString).toVector.sorted

  private def plan(frame: DataFrame): String = frame.queryExecution.executedPlan.toString

  private def keysOf(table: String): Vector[String] =
    read(table).selectExpr("_hoodie_record_key").distinct().collect().map(_.getString(0)).toVector.sorted

  Vector("v6-cow-part", "v8-cow-complex", "v9-cow-part", "v9-moved-mor", "v9-dup-keys", "v6-mor-part", "v9-mor-part")
    .foreach { name =>
      test(s"$name: rows of some keys are the same by the record index and without it") {
        val table = Fixtures.copy(name)
        api(table).create()
        val keys = keysOf(table)
        val some = Vector(keys.head, keys(keys.length / 2), keys.last, "absent")
        val literals = some.map(k => "'" + k.replace("'", "\\'") + "'")
        Vector(s"_hoodie_record_key in (${literals.mkString(", ")})", s"_hoodie_record_key = ${literals.head}")
          .foreach { where =>
            val found = read(table).where(where)
            assert(rows(found) === rows(read(table, off).where(where)))
            assert(plan(found).contains(" record keys in ") && rows(found).nonEmpty)
          }
      }
    }

  test("other files may be gone, and the key field of a plain key serves as well") {
    val table = Fixtures.copy("v9-cow-part")
    api(table).create()
    val row = read(table).selectExpr("_hoodie_record_key", "_hoodie_file_name").head()
    val field = hudiidx.table.TableConfig.read(hudiidx.storage.LocalStorage, table).recordKeyFields.head
    val whole = rows(read(table).where(s"$field = '${row.getString(0)}'"))
    Fixtures
      .filesBelow(table)
      .filter(f => f.endsWith(".parquet") && !f.startsWith(".hoodie/"))
      .filterNot(_.endsWith("/" + row.getString(1)))
      .foreach(f => Files.delete(Paths.get(table, f)))
    assert(rows(read(table).where(s"$field = '${row.getString(0)}'")) === whole)
    assert(rows(read(table).where(s"_hoodie_record_key in ('${row.getString(0)}', 'absent')")) === whole)
    assert(whole.length === 1)
  }

  test("values of other columns are not taken for keys, alone and beside a key: hudi-10955") {
    val table = Fixtures.copy("v9-cow-part")
    api(table).create()
    val row = read(table).selectExpr("_hoodie_record_key", "city").head()
    val others = s"city in ('${row.getString(1)}', '${row.getString(0)}')"
    Vector(others, s"$others and _hoodie_record_key = '${row.getString(0)}'", s"$others or n = 7").foreach { where =>
      val found = rows(read(table).where(where))
      assert(found.nonEmpty && found === rows(read(table, off).where(where)), where)
    }
    assert(plan(read(table).where(others)).contains("no filter asks for record keys"))
  }

  test("as of earlier instants the rows are those of a scan") {
    val name = "v9-archived-cow"
    val table = Fixtures.copy(name)
    api(table).create()
    val keys = keysOf(table).take(3).map(k => s"'$k'").mkString(", ")
    Fixtures.json(name).get("time_travel").forEach { point =>
      if (point.has("count")) {
        val asOf = "as.of.instant" -> point.get("as_of").asText
        def some(o: (String, String)*): Vector[String] =
          rows(read(table, o :+ asOf: _*).where(s"_hoodie_record_key in ($keys)"))
        assert(some() === some(off))
      }
    }
  }

  test("an index that lags reads the file groups that it does not know too") {
    val table = Fixtures.copy("v9-moved-cow")
    val timeline = Paths.get(table, ".hoodie", "timeline")
    // The index is made as if the last commit had not happened.
    val last = Fixtures.filesBelow(timeline.toString).filter(f => f.matches("\\d+_\\d+\\.commit")).max
    val aside = Files.createTempDirectory("aside").resolve(last)
    Files.move(timeline.resolve(last), aside)
    api(table).create()
    Files.move(aside, timeline.resolve(last))
    keysOf(table).grouped(97).map(_.head).foreach { key =>
      val where = s"_hoodie_record_key = '$key'"
      assert(rows(read(table).where(where)) === rows(read(table, off).where(where)))
    }
    assert(
      plan(read(table).where("_hoodie_record_key = 'k'")).contains("that the index has not taken in"),
      plan(read(table).where("_hoodie_record_key = 'k'"))
    )
  }

  test("explain tells stages and reasons as a document") {
    val table = Fixtures.copy("v9-cow-part")
    val index = api(table)
    index.create()
    val byKeyFrame = read(table).where("_hoodie_record_key = 'k'").select("city")
    val countedFrame = read(table).groupBy("city").count().select("city")
    val told = new ObjectMapper().readTree(index.explain(byKeyFrame.union(countedFrame)).toString)
    assert(told.size === 2)
    val (byKey, counted) = (told.get(0), told.get(1))
    assert(byKey.get("index_version").asLong === 1 && byKey.get("record_keys").get("keys").asInt === 1)
    assert(byKey.get("files_kept").asInt === 0 && byKey.get("answered").asText === "rows")
    assert(byKey.get("why_not").get(0).get("index").asText === "partitions")
    assert(counted.get("partitions").get("total").asInt === 4)
  }

  test("where the index cannot say, the plan tells why") {
    val table = Fixtures.copy("v9-cow-part")
    assert(plan(read(table).where("_hoodie_record_key = 'k'")).contains("the table has no record index"))
    assert(plan(read(table)).contains("no filter asks for record keys"))
    new HudiIdxApi(spark, table, java.util.Map.of("hudiidx.record.mode", "global", "hudiidx.record.window.days", "1"))
      .create()
    assert(plan(read(table).where("_hoodie_record_key = 'k'")).contains("window"))
    assert(plan(read(table, off).where("_hoodie_record_key = 'k'")).contains("hudiidx.read.record.keys is false"))
  }
}
