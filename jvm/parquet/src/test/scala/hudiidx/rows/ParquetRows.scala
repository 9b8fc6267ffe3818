package hudiidx.rows

import scala.collection.JavaConverters._

import hudiidx.parquet.ParquetBlockRows.guarded
import hudiidx.parquet.TimestampLabels
import org.apache.avro.Schema
import org.apache.parquet.ParquetReadOptions
import org.apache.parquet.hadoop.ParquetFileReader
import org.apache.parquet.io.api.{GroupConverter, RecordMaterializer}
import org.apache.parquet.io.{ColumnIOFactory, InputFile, RecordReader}
import org.apache.parquet.schema.MessageType

/** What batches are held against: rows of a Parquet file as [[ParquetBatches]] has them, but one by one, by the record reader of
  * Parquet's own.
  *
  * @param wanted names and types as the table has them
  * @param floatsByText see [[Conversion]]
  * @param range  from the first byte, until before the last
  * @param labels the table's schema, by which units of timestamps are repaired; None: they are as the file says
  */
private[hudiidx] final class ParquetRows(
    file: InputFile,
    path: String,
    wanted: ValueType.Struct,
    floatsByText: Boolean,
    range: Option[(Long, Long)],
    labels: Option[Schema] = None
) extends AutoCloseable {
  private val reader = guarded(path)(ParquetFileReader.open(file, ParquetRows.options(range)))
  private val schema = {
    val stored = reader.getFileMetaData.getSchema
    labels.fold(stored)(TimestampLabels.repaired(stored, _))
  }
  private val own = guarded(path)(ParquetTypes.struct(schema, path))
  private val places = wanted.fields.map(f => ParquetRows.find(own, f.name, wanted)).toArray
  private val read = places.filter(_ >= 0).distinct.sorted
  private val conversion = new Conversion(floatsByText, defaults = false, path)
  private val convert: Array[Any => Any] = places.zip(wanted.fields).map { case (at, to) =>
    if (at < 0) null else conversion.of(own.fields(at).valueType, to.valueType, to.name)
  }
  private val projection = new MessageType(schema.getName, read.toVector.map(i => schema.getType(i)).asJava)
  private val materializer = new ParquetRowMaterializer(projection, read.map(own.fields(_).valueType), path)
  private val at = places.map(p => read.indexOf(p))
  private var records: RecordReader[Array[Any]] = _
  private var left = 0L
  private var done = 0L
  private val total = reader.getRecordCount

  // Without columns rows are only counted.
  if (read.isEmpty) left = total else reader.setRequestedSchema(projection)

  /** Share of the rows that were read. */
  def progress: Float = if (total == 0) 1f else done.toFloat / total

  def present(column: Int): Boolean = places(column) >= 0

  /** The next row; null behind the last. */
  def next(): Array[Any] = guarded(path) {
    while (left == 0 && done < total) openGroup()
    if (left == 0) null
    else {
      left -= 1
      done += 1
      if (read.isEmpty) new Array[Any](places.length) else row(records.read())
    }
  }

  private def row(values: Array[Any]): Array[Any] = {
    val made = new Array[Any](places.length)
    var i = 0
    while (i < places.length) {
      if (at(i) >= 0) made(i) = convert(i)(values(at(i)))
      i += 1
    }
    made
  }

  private def openGroup(): Unit = {
    val pages = reader.readNextRowGroup()
    left = pages.getRowCount
    val io = new ColumnIOFactory(reader.getFileMetaData.getCreatedBy).getColumnIO(projection)
    records = io.getRecordReader(pages, materializer)
  }

  override def close(): Unit = reader.close()
}

private object ParquetRows {

  private def options(range: Option[(Long, Long)]): ParquetReadOptions = {
    val builder = ParquetReadOptions.builder()
    range.foreach { case (from, until) => builder.withRange(from, until) }
    builder.build()
  }

  /** Place of the file's field for a column: of exactly its name, else of one that differs in case and is no other column's. */
  private def find(own: ValueType.Struct, name: String, wanted: ValueType.Struct): Int = {
    val at = own.indexOf(name)
    if (at < 0 || own.fields(at).name == name || !wanted.fields.exists(_.name == own.fields(at).name)) at else -1
  }
}

/** Gathers the fields of a row; null for those that are missing. */
private[rows] final class ParquetRowMaterializer(projection: MessageType, types: Array[ValueType], path: String)
    extends RecordMaterializer[Array[Any]] {
  private var row: Array[Any] = _
  private val root = new ParquetStruct(projection, types, path, made => row = made)

  override def getCurrentRecord: Array[Any] = row
  override def getRootConverter: GroupConverter = root
}
