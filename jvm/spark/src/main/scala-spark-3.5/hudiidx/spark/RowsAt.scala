package hudiidx.spark

import java.util.{Arrays, Collections, PrimitiveIterator}
import java.util.stream.IntStream

import scala.collection.JavaConverters._

import org.apache.hadoop.conf.Configuration
import org.apache.parquet.HadoopReadOptions
import org.apache.parquet.column.page.PageReadStore
import org.apache.parquet.hadoop.ParquetFileReader
import org.apache.parquet.hadoop.api.InitContext
import org.apache.parquet.hadoop.metadata.{FileMetaData, ParquetMetadata}
import org.apache.parquet.hadoop.util.HadoopInputFile
import org.apache.parquet.internal.column.columnindex.OffsetIndex
import org.apache.parquet.internal.filter2.columnindex.RowRanges
import org.apache.parquet.io.{ColumnIOFactory, RecordReader}
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.util.DateTimeUtils
import org.apache.spark.sql.connector.read.PartitionReader
import org.apache.spark.sql.execution.datasources.parquet.{ParquetOptions, ParquetReadSupport}
import org.apache.spark.sql.execution.datasources.{DataSourceUtils, PartitionedFile}
import org.apache.spark.sql.execution.vectorized.WritableColumnVector
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.types.StructType
import org.apache.spark.sql.vectorized.{ColumnVector, ColumnarBatch}

/** Some rows of Parquet files, told by their numbers: of each column only the pages that hold them are read. Spark's own
  * reader of batches cannot be told rows, its row reader can.
  *
  * @param conf    of a reader of the columns `data`
  * @param options of the same
  */
final private[spark] class RowsAt(
    conf: Configuration,
    sqlConf: SQLConf,
    options: ParquetOptions,
    data: StructType,
    partition: StructType
) {

  /** None where all rows must be read: in a file whose columns do not tell where their pages are (Parquet before 1.11), and
    * where the last row of a row group is wanted.
    *
    * @param numbers of the rows, ascending
    */
  def read(file: PartitionedFile, numbers: Array[Int]): Option[PartitionReader[ColumnarBatch]] = {
    val path = file.toPath
    val options = HadoopReadOptions.builder(conf, path).build()
    val opened = ParquetFileReader.open(HadoopInputFile.fromPath(path, conf), options)
    if (RowsAt.tellsPages(opened.getFooter) && !RowsAt.haveLast(opened.getFooter, numbers))
      Some(new BatchesOfRows(rows(opened, numbers), data, partition, file.partitionValues))
    else {
      opened.close()
      None
    }
  }

  private def rows(file: ParquetFileReader, numbers: Array[Int]): RowGroupsAt = {
    val meta = file.getFooter.getFileMetaData
    val support = supportFor(meta)
    val keyValues = meta.getKeyValueMetaData
    val sets = keyValues.asScala.map { case (k, v) => k -> Collections.singleton(v) }.asJava
    val context = support.init(new InitContext(conf, sets, meta.getSchema))
    val io = new ColumnIOFactory(meta.getCreatedBy).getColumnIO(context.getRequestedSchema, meta.getSchema, true)
    val materializer = support.prepareForRead(conf, keyValues, meta.getSchema, context)
    file.setRequestedSchema(context.getRequestedSchema)
    new RowGroupsAt(file, numbers, pages => io.getRecordReader(pages, materializer))
  }

  /** As Spark's reader factory makes it. */
  private def supportFor(meta: FileMetaData): ParquetReadSupport = {
    val written: String => String = meta.getKeyValueMetaData.get(_)
    val isForeign = meta.getCreatedBy == null || !meta.getCreatedBy.startsWith("parquet-mr")
    val zone =
      if (sqlConf.isParquetINT96TimestampConversion && isForeign)
        Some(DateTimeUtils.getZoneId(conf.get(SQLConf.SESSION_LOCAL_TIMEZONE.key)))
      else None
    new ParquetReadSupport(
      zone,
      false,
      DataSourceUtils.datetimeRebaseSpec(written, options.datetimeRebaseModeInRead),
      DataSourceUtils.int96RebaseSpec(written, options.int96RebaseModeInRead)
    )
  }
}

private object RowsAt {

  private def haveLast(footer: ParquetMetadata, numbers: Array[Int]): Boolean = {
    val ends = footer.getBlocks.asScala.scanLeft(0L)(_ + _.getRowCount).tail
    ends.exists(end => Arrays.binarySearch(numbers, (end - 1).toInt) >= 0)
  }

  private def tellsPages(footer: ParquetMetadata): Boolean =
    footer.getBlocks.asScala.forall(_.getColumns.asScala.forall(_.getOffsetIndexReference != null))
}

/** Walks the rows with these numbers through the row groups that hold them. */
final private class RowGroupsAt(
    file: ParquetFileReader,
    numbers: Array[Int],
    open: PageReadStore => RecordReader[InternalRow]
) extends AutoCloseable {
  private var group = 0
  private var firstRow = 0L // of that group
  private var given = 0
  private var until = 0 // rows of the groups opened so far
  private var records: RecordReader[InternalRow] = _

  /** The next row, good until the next call; null behind the last. */
  def next(): InternalRow =
    if (given == numbers.length) null
    else {
      while (given == until) openNext()
      given += 1
      records.read()
    }

  private def openNext(): Unit = {
    require(group < file.getRowGroups.size, s"row ${numbers(given)} is behind the last one of the file")
    val count = file.getRowGroups.get(group).getRowCount
    while (until < numbers.length && numbers(until) < firstRow + count) until += 1
    if (until > given) {
      // Parquet takes a column for read to its end once it has the number of the last row, though that may stand in a later page.
      // So the row behind it is asked for too, and never read.
      val inGroup = Array.tabulate(until - given)(i => numbers(given + i) - firstRow)
      records = open(file.readFilteredRowGroup(group, RowGroupsAt.ranges(inGroup :+ (inGroup.last + 1), count)))
    }
    firstRow += count
    group += 1
  }

  override def close(): Unit = file.close()
}

private object RowGroupsAt {

  /** Parquet makes ranges out of pages alone, so each row is shown to it as a page. */
  private def ranges(rows: Array[Long], count: Long): RowRanges = {
    val pages: PrimitiveIterator.OfInt = IntStream.range(0, rows.length).iterator()
    RowRanges.create(count, pages, new PagesOfOneRow(rows))
  }
}

final private class PagesOfOneRow(rows: Array[Long]) extends OffsetIndex {
  override def getPageCount: Int = rows.length
  override def getFirstRowIndex(page: Int): Long = rows(page)
  override def getLastRowIndex(page: Int, rowCount: Long): Long = rows(page)
  override def getOffset(page: Int): Long = throw new UnsupportedOperationException("a row has no place of its own")
  override def getCompressedPageSize(page: Int): Int =
    throw new UnsupportedOperationException("a row has no size of its own")
}

/** Rows as batches of the columns `data` and, behind them, constants. A batch is good until the next. */
final private class BatchesOfRows(rows: RowGroupsAt, data: StructType, constants: StructType, values: InternalRow)
    extends PartitionReader[ColumnarBatch] {
  private val converter = SparkInternals.rowConverter(data)
  private val vectors: Array[WritableColumnVector] = Shims.vectors(BatchesOfRows.Rows, data)
  private var batch: ColumnarBatch = _

  override def next(): Boolean = {
    vectors.foreach(_.reset())
    var count = 0
    var row = rows.next()
    while (row != null) {
      converter.accept(row, vectors)
      count += 1
      row = if (count < BatchesOfRows.Rows) rows.next() else null
    }
    val all = vectors.map(v => v: ColumnVector) ++ Shims.constants(values, constants, count)
    batch = new ColumnarBatch(all, count)
    count > 0
  }

  override def get(): ColumnarBatch = batch

  override def close(): Unit =
    try rows.close()
    finally vectors.foreach(_.close())
}

private object BatchesOfRows {
  private val Rows = 1024
}
