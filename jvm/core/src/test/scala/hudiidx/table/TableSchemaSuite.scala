package hudiidx.table

import com.fasterxml.jackson.databind.{JsonNode, ObjectMapper}
import hudiidx.storage.{CountingStorage, LocalStorage}
import hudiidx.timeline.{InstantContents, TimelineReader}
import hudiidx.{AvroSchemas, DamagedTable, Fixtures}
import java.nio.file.Files
import org.apache.avro.Schema
import org.scalatest.funsuite.AnyFunSuite

class TableSchemaSuite extends AnyFunSuite {

  private def schemaOf(name: String, asOf: Option[String] = None): Option[Schema] =
    FixtureSchemas.avroOf(name, asOf = asOf)

  private def columns(schema: Schema): Vector[String] = {
    val fields = schema.getFields
    (0 until fields.size).map(fields.get(_).name).toVector
  }

  private def stockColumns(schema: JsonNode): Vector[String] = {
    val fields = schema.get("fields")
    (0 until fields.size).map(fields.get(_).get("name").asText).toVector
  }

  test("columns of every fixture table equal those of stock Hudi's rows") {
    var compared = 0
    for (name <- Fixtures.good; stock = Fixtures.json(name).get("schema") if stock != null && stock.has("fields")) {
      // Spark moves partition columns to the end.
      assert(schemaOf(name).map(columns(_).sorted) === Some(stockColumns(stock).sorted), name)
      compared += 1
    }
    assert(compared > 50)
  }

  test("meta columns stand in front, and not at all with virtual keys") {
    assert(columns(schemaOf("v9-cow-part").get).take(5) === TableSchema.MetaColumns)
    assert(columns(schemaOf("v6-virtual-mor").get).intersect(TableSchema.MetaColumns) === Vector.empty)
  }

  test("a schema that has meta columns gets them once, and keeps other names that begin alike") {
    val meta = TableSchema.MetaColumns.map(n => s"""{"name":"$n","type":["null","string"]}""")
    val fields = (meta :+ """{"name":"_hoodie_is_deleted","type":"boolean"}""" :+ """{"name":"a","type":"int"}""")
    val json = s"""{"type":"record","name":"r","fields":[${fields.mkString(",")}]}"""
    val got = columns(new Schema.Parser().parse(TableSchema.withMetaColumns(json, populated = true, "f")))
    assert(got === TableSchema.MetaColumns ++ Vector("_hoodie_is_deleted", "a"))
    val without = columns(new Schema.Parser().parse(TableSchema.withMetaColumns(json, populated = false, "f")))
    assert(without === Vector("_hoodie_is_deleted", "a"))
  }

  test("an older instant gives the schema of its time") {
    for (name <- Seq("v6-cow-evolution", "v9-mor-evolution")) {
      val path = Fixtures.table(name)
      val config = TableConfig.read(LocalStorage, path)
      val timeline =
        TimelineReader.read(
          LocalStorage,
          config.timelineDir(path),
          config.timelineLayout,
          config.timelineZone,
          config.timelineFolder
        )
      val first = timeline.completedWrites.head.requestedTime
      val before = columns(schemaOf(name, Some(first)).get)
      val after = columns(schemaOf(name).get)
      assert(before.size < after.size && before.toSet.subsetOf(after.toSet), name)
      // Before the first write stock shows no rows, of the table's columns.
      assert(schemaOf(name, Some("0")).map(columns) === Some(after), name)
      // Also where a CREATE TABLE told other columns.
      val created = config.copy(properties = config.properties + ("hoodie.table.create.schema" -> Created))
      val contents = new InstantContents(LocalStorage, config.timelineDir(path))
      val files = new ColumnsOfFiles(LocalStorage, path, FooterNames)
      val found = TableSchema.latest(timeline, contents, created, Some("0"), files)
      assert(found.map(s => columns(TableSchema.parse(s.avroJson, s.file))) === Some(after), name)
    }
  }

  private val Created = """{"type":"record","name":"r","fields":[{"name":"id","type":"string"}]}"""

  test("normally one commit and the end of one data file are read") {
    val storage = new CountingStorage(LocalStorage)
    FixtureSchemas.avroOf("v9-cow-part", storage)
    assert(storage.counts.readAll === 1L && storage.counts.open === 1L)
  }

  test("a table without commits has its create schema, or none") {
    assert(columns(schemaOf("v9-props-only").get) === TableSchema.MetaColumns ++ Vector("id", "n", "ts", "city"))
    val path = Fixtures.table("v9-props-only")
    val config = TableConfig.read(LocalStorage, path)
    val bare = config.copy(properties = config.properties - "hoodie.table.create.schema")
    val timeline =
      TimelineReader.read(LocalStorage, config.timelineDir(path), 2, config.timelineZone, config.timelineFolder)
    val contents = new InstantContents(LocalStorage, config.timelineDir(path))
    assert(
      TableSchema.latest(timeline, contents, bare, None, new ColumnsOfFiles(LocalStorage, path, FooterNames)) === None
    )
  }

  test("a schema that is no Avro record is damage that names its file") {
    for (bad <- Seq("{", "[]", "\"string\"", "{\"type\":\"record\"}", "")) {
      val error = intercept[DamagedTable](TableSchema.withMetaColumns(bad, populated = true, "t/1.commit"))
      assert(error.getMessage.startsWith("t/1.commit: "), bad)
    }
    assert(new ObjectMapper().readTree(TableSchema.withMetaColumns("{\"fields\":[]}", populated = false, "f")).isObject)
  }

  /** Columns of a table of version 9 whose commits are (requested, completed, columns). */
  private def columnsOf(commits: (Int, Int, String)*): Vector[String] = {
    val folder = Fixtures.newFolder("overlapping")
    val timeline = Files.createDirectories(folder.resolve(".hoodie/timeline"))
    commits.foreach { case (requested, completed, names) =>
      val fields = names.split(" ").map(n => s"""{\\"name\\":\\"$n\\",\\"type\\":\\"int\\"}""").mkString(",")
      val schema = s"""{\\"type\\":\\"record\\",\\"name\\":\\"r\\",\\"fields\\":[$fields]}"""
      val file = f"202601010000$requested%05d_202601010000$completed%05d.deltacommit"
      Files.writeString(
        timeline.resolve(file),
        s"""{"operationType":"UPSERT","partitionToWriteStats":{},"extraMetadata":{"schema":"$schema"}}"""
      )
    }
    val config =
      TableConfig.of(folder.toString, Map("hoodie.table.version" -> "9", "hoodie.timeline.layout.version" -> "2"))
    val read = TimelineReader.read(LocalStorage, timeline.toString, 2, config.timelineZone, config.timelineFolder)
    val contents = new InstantContents(LocalStorage, timeline.toString)
    val files = new ColumnsOfFiles(LocalStorage, folder.toString, FooterNames)
    TableSchema
      .latest(read, contents, config, None, files)
      .toVector
      .flatMap(s => columns(AvroSchemas.parse(s.avroJson)))
  }.filterNot(TableSchema.isMeta)

  test("writes that overlapped the latest one in time did not see it: their columns are there too") {
    assert(columnsOf((1, 2, "a"), (3, 9, "a x"), (4, 5, "a b")) === Vector("a", "b", "x"))
    assert(columnsOf((1, 2, "a"), (4, 9, "a x"), (3, 5, "a b")) === Vector("a", "x", "b"))
    // A column that a later write left out is gone.
    assert(columnsOf((1, 2, "a x"), (3, 5, "a b")) === Vector("a", "b"))
    assert(columnsOf((1, 2, "a"), (3, 9, "a x"), (4, 5, "a b"), (10, 11, "a c")) === Vector("a", "c"))
  }
}
