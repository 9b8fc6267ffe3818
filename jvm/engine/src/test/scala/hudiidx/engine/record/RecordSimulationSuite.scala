package hudiidx.engine.record

import hudiidx.Figures
import hudiidx.engine.Tables
import hudiidx.parquet.{ParquetLayout, ParquetTables}
import hudiidx.hfile.BlockCache
import hudiidx.log.{LogBlocks, LogHeaderKey}
import hudiidx.record.PackedKeys
import hudiidx.sync._
import org.apache.avro.generic.{GenericData, GenericRecord}
import org.apache.parquet.column.ParquetProperties.WriterVersion
import org.apache.parquet.example.data.Group
import org.apache.parquet.hadoop.metadata.CompressionCodecName
import org.scalatest.Assertions
import scala.util.Random

/** As SimulationSuite, with a record index, of files that hold rows; each reader looks for all keys, too. Of HUDIIDX_SCHEDULES
  * schedules it takes a tenth.
  */
final class RecordSimulationSuite extends Schedules {
  override protected def kind: SimulatedKind = KeysToo
  private val schedules = sys.env.get("HUDIIDX_SCHEDULES").fold(200)(n => math.max(1, n.toInt / 10))

  test("in any order of steps readers find every key where it was, and no other") {
    val seen = runAll(schedules)
    Figures.add("keys looked up in them", seen.keys)
    assert(schedules < 200 || (seen.keys > schedules && seen.killed > 0 && seen.faults > 0))
  }

  test("a seed gives the same steps again")(sameAgain(20))
}

private object KeysToo extends SimulatedKind with Assertions {
  override val contents: SimulatedContents = new SimulatedContents {
    override def base(rows: Vector[(String, String)]): Array[Byte] =
      ParquetTables.bytes(KeyedTable.schemaOf(0), Layout, rows.map { case (key, time) => rowOf(key, time) _ })

    override def log(instant: String, upserts: Vector[String], deletes: Vector[String]): Array[Byte] = {
      val header = Seq(LogHeaderKey.InstantTime -> instant)
      def records = upserts.map { key =>
        val r = new GenericData.Record(KeyedTable.AvroSchema)
        r.put("_hoodie_commit_time", instant)
        r.put("_hoodie_record_key", key)
        r: GenericRecord
      }
      val written =
        if (upserts.isEmpty) Array.emptyByteArray else LogBlocks.avro(header, KeyedTable.AvroSchema, records)
      written ++ LogBlocks.deletes(header, deletes.map(_ -> None))
    }
  }

  override def accessOf(storage: SteppedStorage): TableAccess = Tables.access(storage, new BlockCache(1 << 20))

  override def parts(access: TableAccess, random: Random): Vector[IndexPart] =
    Vector(new RecordPart(new LocalEngine(access), RecordOptions(mode = Some("global"), fileGroups = Some(2))))

  /** Laws 3 and 7. */
  override def lookUp(
      access: TableAccess,
      path: String,
      strict: Boolean,
      truths: => Seq[SimulatedTruth]
  ): KeysSeen = {
    val asked = SimulatedTable.Keys ++ Absent
    val lookup =
      RecordLookup.open(TableContext.load(access, path), IndexOptions(strict = strict), None, new LocalEngine(access))
    try {
      val packed = PackedKeys.of(asked)
      val answer = lookup.answer(packed)
      val found = answer.locations.records(packed)
      assert(found.distinct.size === found.size)
      assert(
        truths.exists(_.locations == found.toSet),
        s"keys were found where they never were in this time: ${answer.use}"
      )
      assert(answer.use.indexVersion.isDefined === answer.use.fallback.isEmpty)
      assert(!strict || (answer.use.indexVersion.isDefined && answer.use.slicesRead + answer.use.slicesKept == 0))
      KeysSeen(asked.size.toLong, answer.use.fallback)
    } finally lookup.close()
  }

  private def rowOf(key: String, time: String)(row: Group): Unit = {
    row.add("_hoodie_commit_time", time)
    row.add("_hoodie_record_key", key)
  }

  private val Absent = Vector("", "0", "key 1", "key 33", "ffffffff-ffff-4fff-8fff-ffffffffffff")
  private val Layout =
    ParquetLayout(CompressionCodecName.UNCOMPRESSED, WriterVersion.PARQUET_1_0, dictionary = false, 1 << 12, 1 << 16)
}
