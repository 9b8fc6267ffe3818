package hudiidx.rows

import java.io.IOException

import scala.collection.JavaConverters._
import scala.collection.mutable

import hudiidx.bytes.ByteCursor
import hudiidx.slice.{BlockOpener, BlockWalk}
import hudiidx.parquet.ReaderInputFile
import hudiidx.hfile.{BlockCache, HFileReader}
import hudiidx.log.{
  AvroFieldPlan,
  AvroRecordWalk,
  AvroRecords,
  AvroRecordsAt,
  AvroSkips,
  LogBlock,
  LogBlockKind,
  LogFile
}
import hudiidx.storage.RandomReader
import hudiidx.{DamagedTable, HudiIdxException, UnsupportedTable}
import org.apache.avro.Schema
import org.apache.avro.generic.{GenericDatumReader, IndexedRecord}
import org.apache.avro.io.{BinaryDecoder, DecoderFactory}

/** The rows of one data block of a log. */
private[hudiidx] abstract class LogBlockRows extends BlockWalk {

  /** Adds the current row's values of the wanted columns. */
  def addTo(rows: BatchBuilder): Unit
}

/** Opens data blocks as rows of the same columns. Keeps what it compiles for each schema. For one thread.
  *
  * @param wanted  columns, with names, types and defaults as the table has them
  * @param table   the table's schema
  * @param floatsByText as the table's format has it
  */
private[hudiidx] final class LogRows(wanted: ValueType.Struct, table: Schema, floatsByText: Boolean)
    extends BlockOpener[LogBlockRows] {
  private val compiled = mutable.HashMap.empty[String, AvroRows]

  override def open(reader: RandomReader, block: LogBlock, records: Option[Array[Int]]): LogBlockRows =
    block.kind match {
      case LogBlockKind.AvroData =>
        val walk = records.fold[AvroRecordWalk](new AvroRecords(reader, block))(new AvroRecordsAt(reader, block, _))
        new AvroBlockRows(walk, avroRows(reader.path, block))
      case LogBlockKind.HFileData   => new HFileBlockRows(reader, block, avroRows(reader.path, block))
      case LogBlockKind.ParquetData =>
        val content = LogFile.contentReader(reader, block)
        val file = new ReaderInputFile(content)
        new ParquetBlockRows(new ParquetBatches(file, content.path, wanted, floatsByText, None))
      case other =>
        throw new UnsupportedTable(s"${reader.path}: a block of kind $other at offset ${block.offset} holds no rows")
    }

  private def avroRows(path: String, block: LogBlock): AvroRows = {
    val json = block.schema.getOrElse(
      throw new DamagedTable(s"$path: log block without a schema at offset ${block.offset}; restore the file")
    )
    compiled.getOrElseUpdate(json, new AvroRows(AvroFieldPlan.parse(json, path), wanted, table, floatsByText, path))
  }
}

/** Makes rows of the Avro data of one writer's schema; what is not wanted is skipped. */
private[hudiidx] final class AvroRows(
    writer: Schema,
    wanted: ValueType.Struct,
    table: Schema,
    floatsByText: Boolean,
    where: String
) {
  if (writer.getType != Schema.Type.RECORD)
    throw new DamagedTable(s"$where: schema is of type ${writer.getType}, not a record; restore the file")
  private val values = new AvroValues(where)
  private val conversion = new Conversion(floatsByText, defaults = true, where)
  private val own = wanted.fields.map(f => find(f.name)).toArray
  private val projection = projected(own.filter(_ != null).distinct.sortBy(_.pos).toVector)
  private val reader = new GenericDatumReader[IndexedRecord](writer, projection)
  private val skip = new AvroSkips(looksInside = true).of(writer)
  private val places = own.map(f => if (f == null) -1 else projection.getField(f.name).pos)
  private val convert: Array[Any => Any] = own.zip(wanted.fields).map { case (from, to) =>
    if (from == null) null
    else {
      val known = table.getField(to.name)
      val value = values.of(from.schema, if (known == null) null else known.schema)
      conversion.of(value.valueType, to.valueType, to.name).compose(value.plain)
    }
  }
  private var decoder: BinaryDecoder = _
  private var last: IndexedRecord = _

  def present(column: Int): Boolean = places(column) >= 0

  /** Adds a row. DamagedTable, with file and offset, if the datum of `length` bytes at the cursor does not fit its schema. */
  def addTo(rows: BatchBuilder, in: ByteCursor, length: Int): Unit = {
    val from = in.position
    try {
      // Avro's reader takes the memory that a length asks for before it looks whether there are so many bytes.
      skip.run(in)
      if (in.position > from + length) in.fail(s"record of $length bytes is longer by its schema")
      in.moveTo(from)
      decoder = DecoderFactory.get.binaryDecoder(in.bytes, from, length, decoder)
      last = reader.read(last, decoder)
      if (!decoder.isEnd) in.fail(s"record of $length bytes is shorter by its schema, the log is damaged; it stands")
      rows.add(Array.tabulate[Any](places.length) { i =>
        if (places(i) < 0) wanted.fields(i).default else convert(i)(last.get(places(i)))
      })
    } catch {
      case e: HudiIdxException                        => throw e
      case e @ (_: IOException | _: RuntimeException) =>
        throw new DamagedTable(
          s"${in.file}: record of $length bytes at offset ${in.offset} cannot be decoded ($e); restore the file",
          e
        )
    }
  }

  /** A field of exactly the column's name goes first. */
  private def find(name: String): Schema.Field = {
    val exact = writer.getField(name)
    if (exact != null) exact
    else writer.getFields.asScala.find(f => f.name.equalsIgnoreCase(name) && isNoOthers(f.name)).orNull
  }

  private def isNoOthers(name: String): Boolean = !wanted.fields.exists(_.name == name)

  private def projected(fields: Vector[Schema.Field]): Schema = {
    val copies = fields.map(f => new Schema.Field(f.name, f.schema, null, null.asInstanceOf[Object]))
    Schema.createRecord(writer.getName, null, writer.getNamespace, false, copies.asJava)
  }
}

/** Rows of an Avro block, or some of them (format notes §6.3). */
private final class AvroBlockRows(records: AvroRecordWalk, rows: AvroRows) extends LogBlockRows {
  override def next(): Boolean = records.next()
  override def addTo(to: BatchBuilder): Unit = rows.addTo(to, records.cursor, records.length)
  override def present(column: Int): Boolean = rows.present(column)
  override def close(): Unit = ()
}

/** Rows of an HFile block: the values of its cells are Avro data (format notes §6.4). */
private final class HFileBlockRows(reader: RandomReader, block: LogBlock, rows: AvroRows) extends LogBlockRows {
  private val content = LogFile.contentReader(reader, block)
  private val cells = HFileReader.open(content, new BlockCache(0L), new DamagedTable(_)).scan()

  override def next(): Boolean = cells.next()

  override def addTo(to: BatchBuilder): Unit = {
    val end = cells.valueOffset + cells.valueLength
    // The cell's place in the log file is not known once its block is decompressed.
    val in = new ByteCursor(cells.valueBytes, cells.valueOffset, end, content.path, 0L, new DamagedTable(_))
    rows.addTo(to, in, cells.valueLength)
  }

  override def present(column: Int): Boolean = rows.present(column)
  override def close(): Unit = ()
}

/** Rows of a Parquet block, whose content is a whole Parquet file (format notes §6.4). */
private final class ParquetBlockRows(rows: ParquetBatches) extends LogBlockRows {
  private var batch: RowBatch = _
  private var at = -1

  override def next(): Boolean = {
    at += 1
    if (batch == null || at >= batch.rows) {
      batch = rows.next()
      at = 0
    }
    batch != null
  }

  override def addTo(to: BatchBuilder): Unit = to.addAll(batch, at, 1)
  override def present(column: Int): Boolean = rows.present(column)
  override def close(): Unit = rows.close()
}
