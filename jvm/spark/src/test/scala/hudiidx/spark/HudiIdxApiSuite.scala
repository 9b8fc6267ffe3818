package hudiidx.spark

import java.nio.file.{Files, Paths}

import scala.collection.JavaConverters._

import com.fasterxml.jackson.databind.ObjectMapper
import hudiidx.engine.TimelineCut
import hudiidx.record.{PackedKeys, PackedLocations}
import hudiidx.spark.api.{AnswerPieces, HudiIdxApi}
import hudiidx.{Causes, DamagedTable, Fixtures, InvalidOption}

/** The record index through the calls that Python makes, its work done by Spark tasks. */
class HudiIdxApiSuite extends SparkSuite {
  private def api(table: String, options: (String, String)*): HudiIdxApi =
    new HudiIdxApi(spark, table, (options.toMap + ("hudiidx.index.strict" -> "true")).asJava)

  private def bytes(answer: AnyRef): Array[Byte] = answer match {
    case whole: Array[Byte]   => whole
    case pieces: AnswerPieces => (0 until pieces.count).toArray.flatMap(pieces.piece(_).asInstanceOf[Array[Byte]])
    case other                => fail(s"$other")
  }

  private def lookup(
      api: HudiIdxApi,
      keys: Vector[String],
      partition: String = null
  ): Vector[(String, String, String)] = {
    val answer = PackedLocations.decode(bytes(api.lookup(PackedKeys.encode(keys), partition, null)))
    answer.records(PackedKeys.of(keys)).map(l => (l.key, l.partitionPath, l.fileId)).sorted
  }

  /** Key, partition path and file id as stock Hudi has them. */
  private def stock(name: String): Vector[(String, String, String)] = {
    val told = Fixtures.json(name).path("key_location")
    told
      .path("rows")
      .elements
      .asScala
      .map { row =>
        val (partition, id) = (row.get(1).asInt, row.get(2).asInt)
        (row.get(0).asText, told.path("partitions").get(partition).asText, told.path("fileIds").get(id).asText)
      }
      .toVector
      .sorted
  }

  for (name <- Vector("v6-mor-part", "v8-cow-part", "v9-moved-mor"))
    test(s"$name: keys are where stock has them, through an index made by tasks, behind, and brought up by tasks") {
      val table = Fixtures.copy(name)
      val cut = new TimelineCut(table)
      val keys = stock(name).map(_._1).distinct :+ "absent"
      cut.showFirst(cut.size - 2)
      api(table, "hudiidx.record.mode" -> "global", "hudiidx.record.file.groups" -> "3").create()
      val kept = api(table)
      lookup(kept, keys.take(1))
      cut.showFirst(cut.size)
      assert(lookup(kept, keys) === stock(name))
      val done = new ObjectMapper().readTree(kept.update())
      assert(done.path("instants").size > 0 && done.path("lag_millis").asLong > 0)
      assert(new ObjectMapper().readTree(kept.update()).path("lag_millis").isNull)
      assert(lookup(kept, keys) === stock(name))
      val partition = stock(name).head._2
      assert(lookup(kept, keys, partition) === stock(name).filter(_._2 == partition))
    }

  test("an update whose tasks find a base file gone ends with an error that names it") {
    val table = Fixtures.copy("v9-moved-cow")
    val cut = new TimelineCut(table)
    cut.showFirst(cut.size - 1)
    api(table, "hudiidx.record.mode" -> "global").create()
    cut.showAll()
    Fixtures.filesBelow(table).filter(f => f.endsWith(".parquet") && !f.startsWith(".hoodie")).foreach { f =>
      Files.delete(Paths.get(table, f))
    }
    val error = Causes.ours(intercept[Exception](api(table).update())).get
    assert(error.isInstanceOf[DamagedTable] && error.getMessage.contains("base file is gone"))
  }

  test("parts are added and dropped by kind, and info tells of the record index") {
    val calls = api(Fixtures.copy("v9-cow-part"))
    def record() = new ObjectMapper().readTree(calls.info()).path("record")
    calls.create()
    assert(record().isNull)
    calls.addIndex("record")
    assert(record().path("mode").asText === "global")
    calls.dropIndex("record")
    assert(record().isNull)
    assert(intercept[InvalidOption](calls.addIndex("colour")).getMessage.contains("expected one of: record"))
    assert(intercept[InvalidOption](calls.dropIndex("colour")).getMessage.contains("expected one of: record"))
  }
}
