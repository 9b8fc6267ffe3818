package hudiidx.log

import scala.collection.JavaConverters._

import hudiidx.bytes.ByteCursor
import hudiidx.storage.{RandomReader, Storage}
import hudiidx.{DamagedTable, HudiIdxException, ImageColumns, UnsupportedTable}
import org.apache.avro.generic.{GenericData, GenericDatumReader, GenericRecord}
import org.apache.avro.io.DecoderFactory
import org.apache.avro.{AvroTypeException, Schema}

/** What a writer kept of one change. Images are texts as Avro writes records, which stock Hudi shows; the text `null` is for
  * none.
  *
  * @param key    None where both images are kept
  * @param before None where the writer keeps no such images
  * @param after  the same
  */
final case class ChangeRecord(op: String, key: Option[String], before: Option[String], after: Option[String])

/** Change-data blocks. Format notes §6.8. */
object ChangeRecords {
  private val Op = "op"
  private val Key = "record_key"
  private val Before = "before"
  private val After = "after"

  /** Hands over the records of a `.cdc` file. DamagedTable if it is gone or cannot be understood, UnsupportedTable if its images
    * cannot be read as rows of the table.
    *
    * @param columns      the table's Avro schema without meta columns, JSON: that of images
    * @param floatsByText see `Widening.float64`
    */
  def foreach(storage: Storage, file: String, columns: String, floatsByText: Boolean)(
      use: ChangeRecord => Unit
  ): Unit = {
    val table = AvroFieldPlan.parse(columns, file)
    SliceLog.reading(storage, file) { reader =>
      LogFile.blocks(reader).foreach { block =>
        if (block.kind != LogBlockKind.CdcData)
          throw new DamagedTable(
            s"$file: no change-data block at offset ${block.offset}; restore the file, or begin after its commit"
          )
        read(reader, block, table, new ImageColumns(floatsByText))(use)
      }
    }
  }

  private def read(reader: RandomReader, block: LogBlock, table: Schema, columns: ImageColumns)(
      use: ChangeRecord => Unit
  ): Unit = {
    val written = AvroFieldPlan.parse(
      block.schema.getOrElse(
        throw new DamagedTable(s"${reader.path}: change-data block without a schema; restore the file")
      ),
      reader.path
    )
    // Avro's own reader takes the memory that a length asks for before it looks whether there are so many bytes.
    val skip = new AvroSkips(looksInside = true).of(written)
    val records = new AvroRecords(reader, block)
    try {
      val datums = new GenericDatumReader[GenericRecord](written)
      val shown = imageIn(written).fold[Any => Any](identity)(columns.of(_, table))
      while (records.next()) {
        val (bytes, from, until) = (records.bytes, records.offset, records.offset + records.length)
        skip.run(new ByteCursor(bytes, from, until, reader.path, block.contentOffset, new DamagedTable(_)))
        use(recordOf(datums.read(null, DecoderFactory.get().binaryDecoder(bytes, from, records.length, null)), shown))
      }
    } catch {
      case e: HudiIdxException  => throw e
      case e: AvroTypeException =>
        throw new UnsupportedTable(
          s"${reader.path}: its images cannot be read with the table's columns (${e.getMessage}); begin after its commit",
          e
        )
      case e @ (_: java.io.IOException | _: RuntimeException) =>
        throw new DamagedTable(s"${reader.path}: change-data records cannot be decoded ($e); restore the file", e)
    }
  }

  private def recordOf(record: GenericRecord, shown: Any => Any): ChangeRecord = {
    def has(field: String) = record.getSchema.getField(field) != null
    def image(field: String) =
      if (has(field)) Some(GenericData.get().toString(Option(record.get(field)).map(shown).orNull)) else None
    ChangeRecord(
      String.valueOf(record.get(Op)),
      if (has(Key)) Option(record.get(Key)).map(_.toString) else None,
      image(Before),
      image(After)
    )
  }

  private def imageIn(written: Schema): Option[Schema] = Option(written.getField(Before)).flatMap { f =>
    val types = if (f.schema.getType == Schema.Type.UNION) f.schema.getTypes.asScala.toVector else Vector(f.schema)
    types.find(_.getType == Schema.Type.RECORD)
  }
}
