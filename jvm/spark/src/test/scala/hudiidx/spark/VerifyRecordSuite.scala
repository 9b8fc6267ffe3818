package hudiidx.spark

import java.nio.file.{Files, Paths, StandardCopyOption}

import com.fasterxml.jackson.databind.{JsonNode, ObjectMapper}
import hudiidx.engine.Tables
import hudiidx.engine.record.RecordPart
import hudiidx.spark.api.HudiIdxApi
import hudiidx.sync._
import hudiidx.sync.build.Indexer
import hudiidx.{Fixtures, IndexNotFound}
import org.apache.hadoop.conf.Configuration

/** The comparison of record keys as tasks of Spark, and its JSON. */
class VerifyRecordSuite extends SparkSuite {
  private val access = Tables.access(new Configuration())

  private def api(table: String): HudiIdxApi = new HudiIdxApi(spark, table, new java.util.HashMap[String, String])

  private def verified(table: String, samples: Int, scratch: String = null): JsonNode =
    new ObjectMapper().readTree(api(table).verifyParts(record = true, columns = false, samples, scratch))

  private def create(table: String): Unit = {
    val part = new RecordPart(SparkEngine.of(spark), RecordOptions(mode = Some("global"), fileGroups = Some(3)))
    new Indexer(access, table, IndexOptions(), LocalScanner, Vector(part)).create(): Unit
  }

  test("tasks compare record keys with the index and with Hudi's own: the same mappings, and nothing is left behind") {
    val table = Fixtures.copy("v9-mor-part")
    create(table)
    val before = Fixtures.filesBelow(table)
    val scratch = Fixtures.newFolder("scratch").toString
    val found = verified(table, 5, scratch)
    assert(found.path("ok").asBoolean, found)
    assert(found.path("record").path("keys").asLong === 387)
    assert(found.path("record").path("mappings").asLong === 387)
    assert(found.path("stock_record_index").path("equal").asLong === 387)
    assert(Fixtures.filesBelow(table) === before)
    assert(Fixtures.filesBelow(scratch) === Vector.empty)
  }

  test("differences are counted in full and told up to the number asked for") {
    val table = Fixtures.copy("v9-cow-part")
    create(table)
    val snapshot = TableSnapshot.open(access, table, IndexOptions(enabled = false))
    val Vector(one, other) = snapshot.view.latestBaseFiles("sf") ++ snapshot.view.latestBaseFiles("nyc")
    snapshot.close()
    Files.copy(
      Paths.get(table, other.partitionPath, other.fileName),
      Paths.get(table, one.partitionPath, one.fileName),
      StandardCopyOption.REPLACE_EXISTING
    )
    val record = verified(table, 2).path("record")
    assert(!record.path("ok").asBoolean)
    assert(record.path("counts").path("MAPPING_MISSING").asLong > 2)
    assert(record.path("counts").path("MAPPING_EXTRA").asLong > 2)
    assert(record.path("samples").size === 4)
    record.path("samples").forEach { s =>
      assert(s.path("file_id").asText === one.fileId)
      assert(Seq("key", "detail", "cause").forall(s.path(_).asText.nonEmpty))
    }
  }

  test("without a record index, or without any, the call says so") {
    val table = Fixtures.copy("v9-cow-part")
    intercept[IndexNotFound](verified(table, 5))
    new Indexer(access, table, IndexOptions()).create()
    intercept[IndexNotFound](verified(table, 5))
  }
}
