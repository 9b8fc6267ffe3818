package hudiidx.spark

import java.nio.file.{Files, Paths}

import com.fasterxml.jackson.databind.ObjectMapper
import hudiidx.record.PackedKeys
import hudiidx.spark.api.HudiIdxApi
import hudiidx.spark.options.ReadPushdowns
import hudiidx.storage.LocalStorage
import hudiidx.table.{PropertiesFile, TableConfig}
import hudiidx.{Fixtures, HudiIdxException}
import org.apache.spark.sql.DataFrame
import org.apache.spark.sql.functions.{broadcast, expr}

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
    val field = TableConfig.read(LocalStorage, table).recordKeyFields.head
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

  /** The table's properties, as if another writer had made its keys. */
  private def set(table: String, properties: (String, String)*): Unit =
    PropertiesFile.update(LocalStorage, table) { found =>
      found -- Seq("hoodie.table.keygenerator.type", "hoodie.table.keygenerator.class") ++ properties
    }

  test("keys that a class of one's own makes, or nobody names, are no values: h35 of id 5 is found by both") {
    val table = Fixtures.newFolder("own-keys").resolve("t").toString
    val all = spark.range(20).selectExpr("concat('h', id * 7) AS hk", "cast(id AS string) AS id", "1L AS ts")
    val options = Map("hoodie.table.name" -> "t", "hoodie.datasource.write.recordkey.field" -> "hk")
    all.write.format("hudiidx").options(options).mode("append").save(table)
    new HudiIdxApi(spark, table, java.util.Map.of("hudiidx.record.mode", "global")).create()
    val few = spark.range(5, 7).selectExpr("cast(id AS string) AS k")
    def ids(frame: DataFrame): Vector[String] = frame.select("id").collect().map(_.getString(0)).toVector.sorted
    Vector(
      "hoodie.table.keygenerator.class" -> "com.acme.SimpleKeyGenerator",
      "hoodie.table.keygenerator.type" -> "USER_PROVIDED",
      "hoodie.table.recordkey.fields" -> ""
    ).foreach { case (property, value) =>
      set(table, "hoodie.table.recordkey.fields" -> "id", property -> value)
      val index = api(table)
      assert(ids(read(table).where("id = '5'")) === Vector("5"), property)
      assert(ids(read(table).where("id in ('5', '7', 'h35')")) === Vector("5", "7"), property)
      assert(ids(read(table).join(broadcast(few), expr("id = k"))) === Vector("5", "6"), property)
      assert(ids(read(table).where("_hoodie_record_key = 'h35'")) === Vector("5"), property)
      assert(ids(index.lookupRows(PackedKeys.encode(Seq("h35", "5")), null, null)) === Vector("5"), property)
      val why = if (value.isEmpty) "names no key fields" else value
      val told = if (value.isEmpty) "no filter asks for record keys" else value
      assert(plan(read(table).where("id = '5'")).contains(told), plan(read(table).where("id = '5'")))
      val refused =
        intercept[HudiIdxException](index.tagLocation(few, java.util.Arrays.asList("k"), false, null).collect())
      assert(refused.getMessage.contains(why), property)
    }
  }

  test("keys of a generator that formats partitions by times are their fields' values") {
    val table = Fixtures.copy("v9-cow-part")
    val key = keysOf(table).head
    set(table, "hoodie.table.keygenerator.type" -> "TIMESTAMP")
    api(table).create()
    val field = TableConfig.read(LocalStorage, table).recordKeyFields.head
    val found = read(table).where(s"$field = '$key'")
    assert(rows(found).length === 1 && rows(found) === rows(read(table, off).where(s"$field = '$key'")))
    assert(plan(found).contains(" record keys in "))
  }
}
