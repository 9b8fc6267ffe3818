package hudiidx.spark

import hudiidx.record.PackedKeys
import hudiidx.spark.api.HudiIdxApi
import hudiidx.storage.LocalStorage
import hudiidx.table.TableConfig
import hudiidx.{Causes, Fixtures, UnsupportedTable}
import java.nio.file.{Files, Path, Paths}
import org.apache.spark.sql.streaming.{StreamingQuery, Trigger}
import scala.util.{Failure, Success, Try}

/** A table with an index becomes one of version 10, and later one of version 9 again. */
final class VersionTenSuite extends SparkSuite with EveryCall {

  private final class Table(name: String) {
    val path: String = Fixtures.copy(name)
    val key: String = Fixtures.json(name).get("key_location").get("rows").get(0).get(0).asText
    private val properties: Path = Paths.get(TableConfig.propertiesFile(path))
    private val text = Files.readString(properties)

    def becomes(version: Int): Unit =
      Files.writeString(properties, text.replace("table.version=9", s"table.version=$version")): Unit

    def files: Vector[(String, Int)] = Fixtures
      .filesBelow(path)
      .filterNot(_.endsWith("hoodie.properties"))
      .map(f => f -> LocalStorage.readAll(s"$path/$f").toVector.hashCode)
  }

  private val options: java.util.Map[String, String] =
    java.util.Map.of("hudiidx.record.mode", "global", "hudiidx.columns", "*")

  for (name <- Seq("v9-cow-part", "v9-mor-part"))
    test(s"$name: handles and every call refuse it, index and manifests stay, and all work again behind") {
      val table = new Table(name)
      val api = new HudiIdxApi(spark, table.path, options)
      val readOptimized = name.contains("-mor")
      api.create(): Unit
      api.exportSymlinks(null, readOptimized, true): Unit
      val frame = read(table.path)
      val held: Vector[Call] = Vector(
        "a lookup of the handle" -> (() => location(api, table.key)),
        "a view of the handle" -> (() => api.view("latest_file_slices", "sf", null).toString),
        "files of the handle" -> (() => api.prune("true", null).collect().map(_.toString).toSet)
      )
      val ofFrame: Vector[Call] = Vector(
        "the DataFrame" -> (() => frame.collect().map(_.toString).toSet),
        "a query of the DataFrame" -> (() => frame.where("_hoodie_record_key is not null").count()),
        "an aggregate of the DataFrame" -> (() => frame.groupBy().max("ts").collect().map(_.toString).toVector)
      )
      def answers = (held ++ ofFrame).map { case (what, call) => what -> call() }
      val before = answers
      val files = table.files
      table.becomes(10)
      val updates = Vector[Call](
        "update of the handle" -> (() => api.update()),
        "manifests of the handle" -> (() => api.exportSymlinks(null, readOptimized, true))
      )
      refuse(table.path, held ++ updates ++ everyCall(table.path, table.key), "version is 10")
      // A DataFrame has the rows of its moment, or none.
      for ((what, call) <- ofFrame) Try(call()) match {
        case Success(rows) => assert(before.contains(what -> rows))
        case Failure(e)    => assert(Causes.ours(e).exists(_.getMessage.contains("version is 10" + Refusal)), what)
      }
      assert(table.files === files)
      table.becomes(9)
      assert(answers === before && table.files === files)
      assert(api.update().contains("\"published\":false") && api.verify().contains("\"ok\":true"))
      assert(api.info().contains("READY"))
      Answer.expect(Fixtures.json(name).get("snapshot"), Answer.of(read(table.path)))
    }

  private def location(api: HudiIdxApi, key: String): Vector[Byte] =
    api.lookup(PackedKeys.encode(Seq(key)), null, null).asInstanceOf[Array[Byte]].toVector

  test("a stream refuses it, and goes on from its checkpoint behind") {
    val table = new Table("v9-cow-part")
    val folder = Fixtures.newFolder("stream")
    def start(): StreamingQuery = spark.readStream
      .format("hudiidx")
      .load(table.path)
      .writeStream
      .format("parquet")
      .option("checkpointLocation", folder.resolve("checkpoint").toString)
      .trigger(Trigger.ProcessingTime(0))
      .start(folder.resolve("rows").toString)
    val running = start()
    running.processAllAvailable()
    val rows = spark.read.parquet(folder.resolve("rows").toString).count()
    table.becomes(10)
    for (query <- Seq(() => running, () => start())) {
      val error = Causes.ours(intercept[Exception](query().awaitTermination(60000): Unit))
      assert(error.exists(e => e.isInstanceOf[UnsupportedTable] && e.getMessage.contains("version is 10" + Refusal)))
    }
    table.becomes(9)
    val again = start()
    try again.processAllAvailable()
    finally again.stop()
    assert(rows > 0 && spark.read.parquet(folder.resolve("rows").toString).count() === rows)
  }
}
