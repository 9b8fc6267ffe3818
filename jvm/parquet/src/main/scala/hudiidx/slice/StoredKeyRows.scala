package hudiidx.slice

import java.util.{Arrays, Comparator, PrimitiveIterator}
import java.util.stream.IntStream

import scala.collection.JavaConverters._

import hudiidx.bytes.Bytes
import hudiidx.parquet.{BaseFileKeys, BytesColumn}
import hudiidx.record.PackedKeys
import org.apache.parquet.column.page.PageReadStore
import org.apache.parquet.hadoop.ParquetFileReader
import org.apache.parquet.hadoop.metadata.{BlockMetaData, ColumnChunkMetaData, ColumnPath, ParquetMetadata}
import org.apache.parquet.internal.column.columnindex.ColumnIndex
import org.apache.parquet.internal.filter2.columnindex.RowRanges
import org.apache.parquet.schema.MessageType
import org.apache.parquet.schema.PrimitiveType.PrimitiveTypeName

/** Rows of a base file.
  *
  * @param numbers of the rows, ascending
  * @param keys    each one's stored record key, UTF-8
  */
final case class KeyedRows(numbers: Array[Int], keys: Array[Array[Byte]])

private final class FoundKeys {
  private val numbers = IntStream.builder()
  private val keys = Array.newBuilder[Array[Byte]]

  def add(row: Int, key: Array[Byte]): Unit = {
    numbers.add(row)
    keys += key
  }

  def result(): KeyedRows = KeyedRows(numbers.build().toArray, keys.result())
}

/** Finds the rows of a base file that bear wanted record keys (`_hoodie_record_key`). Only the pages of that column are read
  * whose bounds have room for a wanted key.
  */
object StoredKeyRows {

  /** False where rows may have another key than the one that is stored, or have none: null, or no such column. Also where a
    * file does not tell its pages' places (Parquet before 1.11).
    */
  def hasKeyStatistics(footer: ParquetMetadata): Boolean =
    rowCount(footer) <= Int.MaxValue && footer.getBlocks.asScala.forall(keyChunk(_).exists(isWhole))

  private def isWhole(chunk: ColumnChunkMetaData): Boolean =
    chunk.getPrimitiveType.getPrimitiveTypeName == PrimitiveTypeName.BINARY && chunk.getOffsetIndexReference != null &&
      chunk.getStatistics != null && chunk.getStatistics.isNumNullsSet && chunk.getStatistics.getNumNulls == 0

  /** True if `column`, a text that the table's record keys are made of, looks as if it held the keys as they are stored, by
    * its bounds and sizes: Parquet's writer makes the same bytes of both but for null marks, where only one may be null.
    */
  def areKeys(footer: ParquetMetadata, column: String): Boolean = {
    val schema = footer.getFileMetaData.getSchema
    schema.containsPath(Array(column)) && footer.getBlocks.asScala.forall(block =>
      (keyChunk(block), chunk(block, column)) match {
        case (Some(keys), Some(values)) =>
          val slack = if (levels(schema, column) == levels(schema, BaseFileKeys.KeyColumn)) 0.0 else NullMarks
          isWhole(keys) && isWhole(values) && isAlike(keys, values, slack)
        case _ => false
      }
    )
  }

  // Of a page of values these are 8 bytes.
  private val NullMarks = 0.005

  private def levels(schema: MessageType, column: String): Int =
    schema.getColumnDescription(Array(column)).getMaxDefinitionLevel

  private def isAlike(a: ColumnChunkMetaData, b: ColumnChunkMetaData, slack: Double): Boolean = {
    def near(x: Long, y: Long): Boolean = math.abs(x - y) <= slack * math.min(x, y)
    near(a.getTotalSize, b.getTotalSize) && near(a.getTotalUncompressedSize, b.getTotalUncompressedSize) &&
    a.getValueCount == b.getValueCount && Vector(a, b).forall(_.getStatistics.hasNonNullValue) &&
    Arrays.equals(a.getStatistics.getMinBytes, b.getStatistics.getMinBytes) &&
    Arrays.equals(a.getStatistics.getMaxBytes, b.getStatistics.getMaxBytes)
  }

  def rowCount(footer: ParquetMetadata): Long = footer.getBlocks.asScala.iterator.map(_.getRowCount).sum

  /** The rows that have wanted keys. DamagedTable if the file cannot be decoded.
    *
    * @param file   with a footer of which `hasKeyStatistics` holds
    */
  def find(file: ParquetFileReader, keys: PackedKeys): KeyedRows = BaseFileKeys.guarded(file.getFile) {
    val wanted = new WantedKeys(keys)
    val sorted =
      Array.tabulate(keys.count)(i => Arrays.copyOfRange(keys.bytes, keys.from(i), keys.from(i) + keys.length(i)))
    Arrays.sort(sorted, order)
    val found = new FoundKeys
    val schema = projection(file.getFooter.getFileMetaData.getSchema)
    file.setRequestedSchema(schema)
    var firstRow = 0L
    (0 until file.getRowGroups.size).foreach { group =>
      val block = file.getRowGroups.get(group)
      val pages = pagesOf(file, group, block, sorted)
      if (pages != null) walk(pages, schema, firstRow, wanted, found)
      firstRow += block.getRowCount
    }
    found.result()
  }

  private def walk(
      pages: PageReadStore,
      schema: MessageType,
      firstRow: Long,
      wanted: WantedKeys,
      found: FoundKeys
  ): Unit = {
    val descriptor = schema.getColumnDescription(Array(BaseFileKeys.KeyColumn))
    val column = new BytesColumn(pages.getPageReader(descriptor), descriptor)
    val numbers: PrimitiveIterator.OfLong =
      pages.getRowIndexes.orElseGet(() => java.util.stream.LongStream.range(0, pages.getRowCount).iterator())
    while (numbers.hasNext) {
      column.next()
      val row = numbers.nextLong()
      if (wanted.has(column.bytes, column.from, column.length))
        found.add((firstRow + row).toInt, Arrays.copyOfRange(column.bytes, column.from, column.from + column.length))
    }
    pages match {
      case closeable: AutoCloseable => closeable.close()
      case _                        => ()
    }
  }

  /** The pages of a row group that may hold wanted keys; null if none does. */
  private def pagesOf(
      file: ParquetFileReader,
      group: Int,
      block: BlockMetaData,
      sorted: Array[Array[Byte]]
  ): PageReadStore = {
    val path = ColumnPath.get(BaseFileKeys.KeyColumn)
    val index = file.readColumnIndex(keyChunk(block).get)
    if (index == null) file.readRowGroup(group)
    else {
      val pages = mayHold(index, sorted)
      if (pages.isEmpty) null
      else {
        val places = file.getColumnIndexStore(group).getOffsetIndex(path)
        file.readFilteredRowGroup(group, RowRanges.create(block.getRowCount, Arrays.stream(pages).iterator(), places))
      }
    }
  }

  private def mayHold(index: ColumnIndex, sorted: Array[Array[Byte]]): Array[Int] = {
    val (least, most) = (index.getMinValues, index.getMaxValues)
    (0 until index.getNullPages.size).filter { page =>
      // The first wanted key that is not below the page's least value.
      val at = Arrays.binarySearch(sorted, Bytes.ofBuffer(least.get(page).duplicate()), order)
      val first = if (at < 0) -at - 1 else at
      !index.getNullPages.get(page) && first < sorted.length &&
      order.compare(sorted(first), Bytes.ofBuffer(most.get(page).duplicate())) <= 0
    }.toArray
  }

  private def keyChunk(block: BlockMetaData): Option[ColumnChunkMetaData] = chunk(block, BaseFileKeys.KeyColumn)

  private def chunk(block: BlockMetaData, column: String): Option[ColumnChunkMetaData] =
    block.getColumns.asScala.find(_.getPath.equals(ColumnPath.get(column)))

  private def projection(schema: MessageType): MessageType =
    new MessageType(schema.getName, schema.getFields.get(schema.getFieldIndex(BaseFileKeys.KeyColumn)))

  /** Unsigned bytes, as Parquet orders texts. */
  private val order: Comparator[Array[Byte]] = (a, b) => Arrays.compareUnsigned(a, b)
}
