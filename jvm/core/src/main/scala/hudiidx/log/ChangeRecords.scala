package hudiidx.log

import scala.collection.JavaConverters._

import hudiidx.bytes.ByteCursor
import hudiidx.storage.{CloseableIterator, RandomReader, Storage}
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

/** The records of a `.cdc` file, one block after another. Format notes §6.8. DamagedTable from all calls if it cannot be
  * understood, UnsupportedTable if its images cannot be read as rows of the table.
  */
final class ChangeRecords private (reader: RandomReader, table: Schema, columns: ImageColumns)
    extends CloseableIterator[ChangeRecord] {
  private val blocks = LogFile.blocks(reader)
  private var block = Iterator.empty: Iterator[ChangeRecord]

  override def hasNext: Boolean = {
    while (!block.hasNext && blocks.hasNext) block = recordsOf(blocks.next())
    block.hasNext
  }

  override def next(): ChangeRecord =
    if (hasNext) block.next() else throw new NoSuchElementException(s"${reader.path} has no more records")

  override def close(): Unit = reader.close()

  private def recordsOf(block: LogBlock): Iterator[ChangeRecord] = {
    if (block.kind != LogBlockKind.CdcData)
      throw new DamagedTable(
        s"${reader.path}: no change-data block at offset ${block.offset}; restore the file, or begin after its commit"
      )
    val written = AvroFieldPlan.parse(
      block.schema.getOrElse(
        throw new DamagedTable(s"${reader.path}: change-data block without a schema; restore the file")
      ),
      reader.path
    )
    guarded(new BlockOfChanges(block, written))
  }

  private final class BlockOfChanges(block: LogBlock, written: Schema) extends Iterator[ChangeRecord] {
    // Avro's own reader takes the memory that a length asks for before it looks whether there are so many bytes.
    private val skip = new AvroSkips(looksInside = true).of(written)
    private val records = new AvroRecords(reader, block)
    private val datums = new GenericDatumReader[GenericRecord](written)
    private val shown = ChangeRecords.imageIn(written).fold[Any => Any](identity)(columns.of(_, table))
    private var isAhead = false

    override def hasNext: Boolean = {
      if (!isAhead) isAhead = guarded(records.next())
      isAhead
    }

    override def next(): ChangeRecord = {
      if (!hasNext) throw new NoSuchElementException(s"${reader.path} has no more records in this block")
      isAhead = false
      guarded {
        val (bytes, from, until) = (records.bytes, records.offset, records.offset + records.length)
        skip.run(new ByteCursor(bytes, from, until, reader.path, block.contentOffset, new DamagedTable(_)))
        val decoder = DecoderFactory.get().binaryDecoder(bytes, from, records.length, null)
        ChangeRecords.recordOf(datums.read(null, decoder), shown)
      }
    }
  }

  private def guarded[A](body: => A): A =
    try body
    catch {
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

object ChangeRecords {
  private val Op = "op"
  private val Ops = Vector("i", "u", "d").toSet
  private val Key = "record_key"
  private val Before = "before"
  private val After = "after"

  /** Opens a `.cdc` file; DamagedTable if it is gone or cut.
    *
    * @param columns      the table's Avro schema without meta columns, JSON: that of images
    * @param floatsByText see `Widening.float64`
    * @param leastBytes   what its writer left in it
    */
  def open(storage: Storage, file: String, columns: String, floatsByText: Boolean, leastBytes: Long): ChangeRecords = {
    val table = AvroFieldPlan.parse(columns, file)
    val reader = SliceLog.open(storage, file)
    try {
      if (reader.sizeBytes < leastBytes)
        throw new DamagedTable(
          s"$file: has ${reader.sizeBytes} bytes, and its commit wrote $leastBytes; restore the file, or begin after that commit"
        )
      new ChangeRecords(reader, table, new ImageColumns(floatsByText))
    } catch {
      case e: Throwable =>
        reader.close()
        throw e
    }
  }

  private def recordOf(record: GenericRecord, shown: Any => Any): ChangeRecord = {
    val op = String.valueOf(record.get(Op))
    if (!Ops(op))
      throw new IllegalArgumentException(s"unknown operation '${op.take(20)}'; expected one of: ${Ops.mkString(", ")}")
    def has(field: String) = record.getSchema.getField(field) != null
    def image(field: String) =
      if (has(field)) Some(GenericData.get().toString(Option(record.get(field)).map(shown).orNull)) else None
    ChangeRecord(
      op,
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
