package hudiidx.spark

import java.io.{FileNotFoundException, IOException}

import scala.collection.JavaConverters._

import hudiidx.DamagedTable
import hudiidx.hadoop.{FoundRows, KeyColumns, SliceKeySource}
import hudiidx.spark.rows.{ColumnAdapter, RenamedColumns}
import hudiidx.storage.Storage
import hudiidx.table.{ColumnNames, FileName, TableNames}
import org.apache.parquet.hadoop.metadata.ParquetMetadata
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.connector.read.PartitionReader
import org.apache.spark.sql.execution.datasources.PartitionedFile
import org.apache.spark.sql.types.{StructField, StructType}
import org.apache.spark.sql.vectorized.{ColumnVector, ColumnarBatch}

/** Reads pieces of base files, and whole file slices that have logs, as the table's columns. A file whose own types are the
  * table's goes through Spark's reader untouched; any other is read with its own types and converted. Batches or rows: the
  * same for all files of a scan.
  *
  * @param merging for slices with logs; None if there are none
  * @param names   what columns are called in files, where they were renamed
  */
final class BaseFileReaderFactory(
    readers: Shims.ParquetReaders,
    floatsByText: Boolean,
    merging: Option[SliceReading],
    names: Option[TableNames]
) extends Shims.PieceReaderFactory(readers) {

  override def buildReader(file: PartitionedFile): PartitionReader[InternalRow] = {
    val whole = toEnd(file)
    if (SliceReading.hasLogs(file)) new RowsOfBatches(merged(whole))
    else
      adaptedColumns(whole).orElse(numbered) match {
        case None        => readers.rows(whole)
        case Some(types) => new RowsOfBatches(convert(whole, types)(_.batches(whole)))
      }
  }

  /** Only batches know where a row lies in its file. */
  private def numbered: Option[StructType] =
    if (readers.data.fieldNames.contains(ScanColumns.RowIndex)) Some(readers.data) else None

  override def buildColumnarReader(file: PartitionedFile): PartitionReader[ColumnarBatch] = {
    val whole = toEnd(file)
    if (SliceReading.hasLogs(file)) merged(whole)
    else {
      val footer = pieceFooter(whole)
      adapted(whole, readers.columnsOf(footer)) match {
        case None        => readers.batches(whole, footer)
        case Some(types) => convert(whole, types)(_.batches(whole, footer))
      }
    }
  }

  /** The rows of a slice with logs. Filters drop rows of its base file only where these stand for themselves and in the
    * table's own types; which of them the log has replaced is known by their numbers.
    */
  private def merged(file: PartitionedFile): PartitionReader[ColumnarBatch] = {
    mergingOf(file).read(file, readers.data, readers.partition, nullsOf(file)) { mayMix =>
      val footer = pieceFooter(file)
      adapted(file, readers.columnsOf(footer)) match {
        case None if !mayMix && readers.hasFilters && numbered.isEmpty =>
          BaseBatches.numbered(readers.withRowNumbers.batches(file, footer), readers.data.length)
        case types => BaseBatches.inOrder(convert(file, types.getOrElse(readers.data))(_.batches(file, footer)))
      }
    }
  }

  /** What the keys of a slice are read by, its log merged. */
  def keySource(file: PartitionedFile, storage: Storage, columns: KeyColumns): SliceKeySource =
    if (SliceReading.hasLogs(file)) mergingOf(file).keySource(file, columns)
    else SliceKeySource(storage, Some(file.filePath.toPath.toString), columns, None)

  /** The types to read a slice's base file with; None: the table's, or there is no base file. */
  def adaptedBase(file: PartitionedFile): Option[StructType] =
    if (SliceReading.hasBase(file)) adaptedColumns(toEnd(file)) else None

  /** Some rows of a slice, whatever filters the scan has.
    *
    * @param types of `adaptedBase`
    */
  def rows(file: PartitionedFile, found: FoundRows, types: Option[StructType]): PartitionReader[ColumnarBatch] = {
    val whole = toEnd(file)
    def batches: PartitionReader[ColumnarBatch] = types match {
      case None        => readers.rowsAt(whole, found.base)
      case Some(types) => convert(whole, types)(_.rowsAt(whole, found.base))
    }
    found.merged match {
      case None        => batches
      case Some(slice) =>
        mergingOf(file).rows(file, slice, readers.data, readers.partition, nullsOf(file), found.base.nonEmpty) { _ =>
          BaseBatches.at(batches, found.base)
        }
    }
  }

  private def mergingOf(file: PartitionedFile): SliceReading =
    merging.getOrElse(throw new IllegalStateException(s"${file.filePath}: a slice with logs in this scan"))

  /** The last piece of a file reaches to the file's end, whatever size was recorded: no row group is left out. */
  private def toEnd(file: PartitionedFile): PartitionedFile =
    if (file.start + file.length < file.fileSize) file else file.copy(length = Long.MaxValue - file.start)

  /** None if the file holds the columns as the table has them, or lacks them altogether. */
  private def adaptedColumns(file: PartitionedFile): Option[StructType] = adapted(file, columnsOf(file))

  /** @param columns the file's */
  private def adapted(file: PartitionedFile, columns: StructType): Option[StructType] = {
    val renamed = namesIn(file)
    val own = renamed.fold(columns)(RenamedColumns.toTable(columns, _))
    val types = StructType(readers.data.map { want =>
      own.find(have => sameName(want.name, have.name)) match {
        case None       => want
        case Some(have) => StructField(want.name, ColumnAdapter.readType(want.dataType, have.dataType, sameName))
      }
    })
    val isPlain = renamed.isEmpty && ColumnAdapter.sameShape(types, readers.data) && nullsOf(file).isEmpty
    if (isPlain) None else Some(types)
  }

  private def namesIn(file: PartitionedFile): Option[ColumnNames] =
    names.flatMap(all => BaseFileReaderFactory.instantOf(file).flatMap(all.of))

  def nullsOf(file: PartitionedFile): Vector[String] =
    Shims.note(file, BaseFileReaderFactory.NullColumns) match {
      case Some(names: Vector[_]) => names.map(_.toString)
      case _                      => Vector.empty
    }

  def sameName(a: String, b: String): Boolean = if (readers.caseSensitive) a == b else a.equalsIgnoreCase(b)

  private def columnsOf(file: PartitionedFile): StructType = footerOf(file)(readers.columnsOf(file))

  /** Read once for all that it tells. */
  private def pieceFooter(file: PartitionedFile): ParquetMetadata = footerOf(file)(readers.footerOfPiece(file))

  /** Rows of a whole file. */
  def rowCount(file: PartitionedFile): Long =
    footerOf(file)(readers.footer(file)).getBlocks.asScala.iterator.map(_.getRowCount).sum

  /** `read` reads the footer of the file: DamagedTable if it is gone or damaged, as Spark's settings have it. */
  def footerOf[A](file: PartitionedFile)(read: => A): A =
    try read
    catch {
      case e: FileNotFoundException if !readers.options.ignoreMissingFiles =>
        throw new DamagedTable(
          s"${file.filePath.toPath}: the base file is gone, though the table's timeline names it; if a clean has just " +
            "removed it read again, else restore it or roll the table back",
          e
        )
      case e @ (_: IOException | _: RuntimeException) if !isMissing(e) && !readers.options.ignoreCorruptFiles =>
        throw new DamagedTable(
          s"${file.filePath.toPath}: the base file is damaged or cut short, its footer cannot be read (${e.getMessage}); " +
            "restore it from a copy or roll the table back",
          e
        )
    }

  private def isMissing(e: Throwable): Boolean = e.isInstanceOf[FileNotFoundException]

  /** Filters are left out: they speak of the table's types and values, not of the file's. */
  private def convert(file: PartitionedFile, types: StructType)(
      open: Shims.ParquetReaders => PartitionReader[ColumnarBatch]
  ): PartitionReader[ColumnarBatch] = {
    val inFile = namesIn(file).fold(types)(RenamedColumns.toFile(types, columnsOf(file), _))
    new ConvertedBatches(open(readers.withColumns(inFile)), types, readers.data, nullsOf(file), floatsByText)
  }
}

object BaseFileReaderFactory {

  /** Note of a piece: names of columns that are null in all its rows, whatever the file holds. */
  val NullColumns = "null_columns"

  /** The instant in a base file's name. */
  private def instantOf(file: PartitionedFile): Option[String] =
    FileName.parse("", file.filePath.toPath.getName, 0L).map(_.instantTime)
}

/** Batches of type `from` (and more columns behind) as batches of type `to` (and the same columns behind), with nulls for
  * the columns named by `nulls`.
  */
final private class ConvertedBatches(
    batches: PartitionReader[ColumnarBatch],
    from: StructType,
    to: StructType,
    nulls: Vector[String],
    floatsByText: Boolean
) extends PartitionReader[ColumnarBatch] {

  override def next(): Boolean = batches.next()

  override def get(): ColumnarBatch = {
    val batch = batches.get()
    val columns = Array.tabulate[ColumnVector](batch.numCols) { i =>
      if (i >= to.length) batch.column(i)
      else if (nulls.contains(to(i).name)) ColumnAdapter.nulls(to(i).dataType)
      else ColumnAdapter.adapt(batch.column(i), from(i).dataType, to(i).dataType, floatsByText)
    }
    new ColumnarBatch(columns, batch.numRows)
  }

  override def close(): Unit = batches.close()
}

final private class RowsOfBatches(batches: PartitionReader[ColumnarBatch]) extends PartitionReader[InternalRow] {
  private var rows: java.util.Iterator[InternalRow] = java.util.Collections.emptyIterator()
  private var row: InternalRow = _

  override def next(): Boolean = {
    while (!rows.hasNext && batches.next()) rows = batches.get().rowIterator()
    val more = rows.hasNext
    if (more) row = rows.next()
    more
  }

  /** The same row until `next`. */
  override def get(): InternalRow = row

  override def close(): Unit = batches.close()
}
