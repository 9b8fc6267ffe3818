package hudiidx.spark

import java.nio.charset.StandardCharsets.UTF_8
import java.nio.file.{Files, Paths, StandardOpenOption}

import hudiidx.spark.api.HudiIdxApi
import hudiidx.spark.options.ReadOptions
import hudiidx.spark.pinned.PinnedTable
import hudiidx.spark.read.FileSliceSplit
import hudiidx.table.{BaseFile, FileSlice}
import hudiidx.{Causes, DamagedTable, Fixtures, InvalidOption, NotAHudiTable, TestSettings, UnsupportedTable}
import org.apache.spark.sql.types.StructType

/** Tables whose rows cannot be read are refused by name, before any row is. */
final class RefusedTablesSuite extends SparkSuite with EveryCall {

  /** A copy of a table whose properties have a line more. */
  private def withProperty(line: String): String = {
    val table = Fixtures.copy("v9-cow-part")
    append(line, table)
    table
  }

  private def append(line: String, table: String): Unit = {
    val file = Paths.get(table, ".hoodie", "hoodie.properties")
    Files.write(file, s"$line\n".getBytes(UTF_8), StandardOpenOption.APPEND): Unit
  }

  private def refused(table: String): String = intercept[UnsupportedTable](read(table).collect()).getMessage

  test("schemas with types that Spark or Java has not, by the commit that has them") {
    def withColumn(column: String): String = {
      val table = Fixtures.copy("v6-cow-part")
      CommitSchemas.change(table)(_.replaceFirst("\"fields\":\\[", s"""\"fields\":[$column,"""))
      table
    }
    val newest = Fixtures.filesBelow(Fixtures.table("v6-cow-part") + "/.hoodie").filter(_.matches("\\d+\\.commit")).max
    def by(message: String) = assert(message.contains(s".hoodie/$newest: "), message)
    val decimal = """{"name":"q","type":{"type":"bytes","logicalType":"decimal","precision":1000000000,"scale":5}}"""
    val itself =
      """{"name":"q","type":["null",{"type":"record","name":"R","fields":[{"name":"r","type":["null","R"]}]}]}"""
    Vector(decimal -> "decimal of 1000000000 digits", itself -> "contains itself").foreach { case (column, what) =>
      val message = refused(withColumn(column))
      assert(message.contains(what))
      by(message)
    }
    val fixed = """{"name":"q","type":{"type":"fixed","name":"f","size":2147483647}}"""
    val deep = s"""{"name":"q","type":${"""{"type":"array","items":""" * 300}"int"${"}" * 300}}"""
    Vector(fixed, deep).foreach { column =>
      val table = withColumn(column)
      by(intercept[DamagedTable](read(table).collect()).getMessage)
    }
  }

  for (name <- Seq("v6-cow-part", "v9-cow-part", "v9-mor-part"))
    test(
      s"$name: a column without nulls that files lack is told with the file where it is read, other columns have their rows"
    ) {
      def some(table: String) = read(table).select("id", "fare").collect().map(_.toString).sorted.toVector
      val before = some(Fixtures.table(name))
      Vector("\"int\",\"default\":5", "\"string\"", """{"type":"array","items":"int"},"default":[]""").foreach { what =>
        val changed = Fixtures.copy(name)
        CommitSchemas.change(changed)(_.replaceFirst("\"fields\":\\[", s"""\"fields\":[{"name":"x","type":$what},"""))
        Vector("*", "x", "id, x").foreach { columns =>
          val thrown = intercept[Exception](read(changed).selectExpr(columns.split(", "): _*).collect())
          val message = Causes.ours(thrown).getOrElse(fail("no typed error", thrown)).getMessage
          assert(message.contains(".parquet: the table's schema has column x without nulls"), what)
        }
        assert(some(changed) === before)
      }
    }

  test("base files that are not Parquet, by the table's properties") {
    Vector("ORC", "HFILE").foreach { format =>
      val message = refused(withProperty(s"hoodie.table.base.file.format=$format"))
      assert(message.contains(format) && message.contains("hoodie.properties"))
    }
  }

  test("base files that are not Parquet, where each file has a format of its own") {
    Vector(".orc", ".hfile").foreach { extension =>
      val table = Fixtures.copy("v9-cow-part")
      val name =
        read(table, "view" -> "latest_base_files").where("partition_path = 'sf'").head().getAs[String]("file_name")
      val file = BaseFile("sf", "f", "20260101000000000", name.stripSuffix(".parquet") + extension, 7)
      val slice = FileSlice("sf", "f", file.instantTime, Some(file), Vector.empty)
      val pinned = PinnedTable.open(spark, table, ReadOptions.of(Map.empty, Map.empty))
      val message =
        intercept[UnsupportedTable](FileSliceSplit.whole(slice, pinned, new StructType, new StructType)).getMessage
      assert(message.contains(file.fileName))
    }
  }

  for (name <- Fixtures.Refused)
    test(s"$name: every call refuses the table of Lance files by its format, and none makes anything in it") {
      val table = Fixtures.copy(name)
      val key = Fixtures.json(name).get("key_location").get("rows").get(0).get(0).asText
      refuse(table, everyCall(table, key), "LANCE")
    }

  for (property <- RefusedTablesSuite.Properties)
    test(s"$property: every call refuses the table with one message, and none makes anything in it") {
      val (name, value) = property.splitAt(property.indexOf('='))
      val table = withProperty(property)
      val words = if (name.contains("scheme")) Seq(name) else Seq(value.drop(1))
      refuse(table, everyCall(table, "a"), words: _*)
    }

  for (property <- TestSettings.some(3)(RefusedTablesSuite.Properties))
    test(s"$property: an index that the table has stays as it is in every call, and a drop takes it away") {
      val table = Fixtures.copy("v9-cow-part")
      val key = Fixtures.json("v9-cow-part").get("key_location").get("rows").get(0).get(0).asText
      def api = new HudiIdxApi(spark, table, java.util.Map.of("hudiidx.record.mode", "global", "hudiidx.columns", "*"))
      api.create(): Unit
      api.addIndex("logs"): Unit
      append(property, table)
      refuse(table, everyCall(table, key))
      def index = Fixtures.filesBelow(s"$table/.hoodie").filter(_.startsWith("hudiidx/"))
      assert(index.nonEmpty)
      if (property.contains("version")) api.drop(): Unit
      else EveryStatement.session.sql(s"CALL system.drop_index(table => '$table')").collect(): Unit
      assert(index.isEmpty)
    }

  test("a path inside a table, and a pattern of such paths, with the table's base path") {
    val table = Fixtures.table("v9-cow-part")
    Vector("sf", "*", "*/*", ".hoodie/timeline").foreach { inside =>
      val message = intercept[NotAHudiTable](read(s"$table/$inside").collect()).getMessage
      assert(message.contains(s"inside the Hudi table") && message.contains(s"$table; give"), inside)
    }
    val above = Paths.get(table).getParent
    val message = intercept[NotAHudiTable](read(s"$above/*").collect()).getMessage
    assert(message.contains("nothing at this path"))
  }

  test("a schema of the user's") {
    val frame = spark.read.format("hudiidx").schema("id string").load(Fixtures.table("v9-cow-part"))
    assert(intercept[InvalidOption](frame.collect()).getMessage.startsWith("schema: a Hudi table has its own"))
  }

  test("bootstrapped tables") {
    assert(refused(withProperty("hoodie.bootstrap.base.path=/source")).contains("/source"))
  }

  test("formats other than Hudi's own") {
    assert(refused(withProperty("hoodie.table.format=iceberg")).contains("iceberg"))
  }

  test("tables whose keys were renamed, unless files are to be read by name") {
    val table = Fixtures.copy("v6-cow-part")
    val hoodie = Paths.get(table, ".hoodie")
    val last = Fixtures.filesBelow(hoodie.toString).filter(_.matches("\\d+\\.commit")).max
    val text = new String(Files.readAllBytes(hoodie.resolve(last)), UTF_8)
    // A commit of a table that keeps a history of columns says so.
    Files.write(
      hoodie.resolve(last),
      text.replace("\"schema\" :", "\"latest_schema\" : \"x\", \"schema\" :").getBytes(UTF_8)
    )
    val lost = intercept[DamagedTable](read(table).count()).getMessage
    assert(lost.contains(".hoodie/.schema is gone") && lost.contains(ReadOptions.SchemaOnRead))
    Files.createDirectories(hoodie.resolve(".schema"))
    val versions =
      Seq("id", "key").map(n => s"""{"fields":[{"id":6,"name":"$n","type":"string"}]}""").mkString(",")
    Files.write(
      hoodie.resolve(".schema/20260101000000000.schemacommit"),
      s"""{"schemas":[$versions]}""".getBytes(UTF_8)
    )
    assert(refused(table).contains("column id was renamed"))
    assert(read(table, ReadOptions.SchemaOnRead -> "false").count() > 0)
  }
}

object RefusedTablesSuite {

  /** Of tables that are not served. */
  val Properties: Vector[String] = Vector(
    "hoodie.table.version=10",
    "hoodie.table.format=iceberg",
    "hoodie.table.storage.layout=lsm_tree",
    "hoodie.table.base.file.format=LANCE",
    "hoodie.table.log.file.format=PARQUET",
    "hoodie.meta.fields.mode=COMMIT_TIME_ONLY",
    "hoodie.table.partitioning.scheme=x"
  )
}
