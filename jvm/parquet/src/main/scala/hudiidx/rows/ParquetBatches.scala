package hudiidx.rows

import java.util.BitSet

import scala.collection.JavaConverters._

import hudiidx.parquet.ParquetBlockRows.guarded
import hudiidx.parquet.{FieldColumns, ParquetFiles, TimestampLabels}
import org.apache.avro.Schema
import org.apache.parquet.ParquetReadOptions
import org.apache.parquet.column.impl.ColumnReadStoreImpl
import org.apache.parquet.io.InputFile
import org.apache.parquet.schema.MessageType

/** Rows of a Parquet file, of all row groups or of those whose middle lies in a range of bytes, as batches of the wanted columns;
  * null for columns that the file lacks. No other column is read. DamagedTable if it cannot be read as Parquet. For one thread.
  *
  * @param wanted names and types as the table has them
  * @param floatsByText see [[Conversion]]
  * @param range  from the first byte, until before the last
  * @param labels the table's schema, by which units of timestamps are repaired; None: they are as the file says
  * @param limits of a batch, which ends with its row group too
  * @param dropped numbers of rows of the whole file that are left out
  */
private[hudiidx] final class ParquetBatches(
    file: InputFile,
    path: String,
    wanted: ValueType.Struct,
    floatsByText: Boolean,
    range: Option[(Long, Long)],
    labels: Option[Schema] = None,
    limits: BatchLimits = BatchLimits.Usual,
    dropped: BitSet = new BitSet
) extends Batches {
  private val reader = guarded(path)(ParquetFiles.open(file, path, ParquetBatches.options(range)))
  private val schema = orClosed {
    val stored = reader.getFileMetaData.getSchema
    labels.fold(stored)(TimestampLabels.repaired(stored, _))
  }
  private val own = orClosed(guarded(path)(ParquetTypes.struct(schema, path)))
  private val places = wanted.fields.map(f => ParquetBatches.find(own, f.name, wanted)).toArray
  private val read = places.filter(_ >= 0).distinct.sorted
  private val convert: Array[ColumnValues => ColumnValues] = orClosed {
    val conversion = new ColumnConversion(floatsByText, path)
    places.zip(wanted.fields).map { case (at, to) =>
      if (at < 0) null else conversion.of(own.fields(at).valueType, to.valueType, to.name)
    }
  }
  private val projection = new MessageType(schema.getName, read.toVector.map(i => schema.getType(i)).asJava)
  private val readBytes = new ReadBytes
  private val nodes =
    orClosed(guarded(path)(ParquetNode.of(projection, read.map(own.fields(_).valueType), path, readBytes)))
  private val (fixed, varying) = nodes.partition(_.isFixed)
  private val leaves = nodes.flatMap(_.leaves)
  private val nodeOf = places.map(p => read.indexOf(p))
  private var left = 0L
  private var done = 0L
  private val total = reader.getRecordCount
  private val isWhole = dropped.isEmpty

  // Without columns rows are only counted.
  if (read.isEmpty) left = total else reader.setRequestedSchema(projection)

  private def orClosed[A](made: => A): A =
    try made
    catch {
      case e: Throwable =>
        reader.close()
        throw e
    }

  override def progress: Float = if (total == 0) 1f else done.toFloat / total

  def present(column: Int): Boolean = places(column) >= 0

  override def next(): RowBatch = guarded(path) {
    var rows = 0
    while (rows == 0 && done < total) {
      while (left == 0 && done < total) openGroup()
      rows = fill(math.min(left, limits.rows.toLong).toInt)
      if (left == 0) leaves.foreach(_.requireEnd())
    }
    if (rows == 0) null else new RowBatch(rows, columns(rows))
  }

  /** Reads up to so many rows, and gives how many were not left out. Columns whose rows take any memory are read side by side,
    * and say when the batch is full.
    */
  private def fill(most: Int): Int = {
    nodes.foreach(_.begin(most))
    readBytes.sum = 0L
    var rows = 0
    if (varying.isEmpty) rows = most
    while (rows < most && readBytes.sum < limits.bytes) {
      readRow(varying, rows)
      rows += 1
    }
    fixed.foreach { column =>
      var i = 0
      while (i < rows) {
        if (isKept(i)) column.next() else column.skip()
        i += 1
      }
    }
    val kept = if (isWhole) rows else (0 until rows).count(isKept)
    left -= rows
    done += rows
    kept
  }

  private def readRow(columns: Array[ParquetNode], row: Int): Unit = {
    val keeps = isKept(row)
    var i = 0
    while (i < columns.length) {
      if (keeps) columns(i).next() else columns(i).skip()
      i += 1
    }
  }

  /** @param row behind those that were read */
  private def isKept(row: Int): Boolean = isWhole || !dropped.get((done + row).toInt)

  private def columns(rows: Int): Array[ColumnValues] = Array.tabulate(places.length) { i =>
    if (nodeOf(i) < 0) ColumnValues.nulls(wanted.fields(i).valueType, rows) else convert(i)(nodes(nodeOf(i)).values)
  }

  private def openGroup(): Unit = {
    val pages = reader.readNextRowGroup()
    left = pages.getRowCount
    val createdBy = reader.getFileMetaData.getCreatedBy
    val readers = new ColumnReadStoreImpl(pages, new FieldColumns.NoConverter(projection), projection, createdBy)
    leaves.foreach(_.bind(pages, readers))
  }

  override def close(): Unit = reader.close()
}

private object ParquetBatches {

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
