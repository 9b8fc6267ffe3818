package hudiidx.parquet

import java.io.IOException
import java.nio.{ByteBuffer, ByteOrder}

import org.apache.parquet.column.page.{DataPage, DataPageV1, DataPageV2, DictionaryPage, PageReader}
import org.apache.parquet.column.{ColumnDescriptor, Encoding}

/** A top-level byte-array column of one row group, row by row. Made for reading millions of keys: pages are decoded where
  * they stand, a dictionary once, and no object is made for a value.
  */
private[hudiidx] final class BytesColumn(pages: PageReader, descriptor: ColumnDescriptor) {
  private val optional = descriptor.getMaxDefinitionLevel > 0
  private val dictionary: BytesDictionary = BytesColumn.dictionary(pages.readDictionaryPage())
  private var values: PageValues = _
  // Null for a page without nulls.
  private var levels: HybridRuns = _
  private var left = 0
  private var present = false

  /** Moves to the next row. */
  def next(): Unit = {
    while (left == 0) nextPage()
    left -= 1
    present = levels == null || levels.next() != 0
    if (present) values.next()
  }

  def isNull: Boolean = !present

  /** The current value, until the next call of `next`. */
  def bytes: Array[Byte] = values.bytes
  def from: Int = values.from
  def length: Int = values.length

  /** Number of the current value in `dictionary`; -1 if it does not come from there. */
  def id: Int = values.id

  /** Number of values in the dictionary; 0 without one. */
  def dictionarySize: Int = if (dictionary == null) 0 else dictionary.size

  private def nextPage(): Unit = pages.readPage() match {
    case null => throw new IOException(s"column ${descriptor.getPath.mkString(".")} has fewer rows than its row group")
    case page => open(page)
  }

  private def open(page: DataPage): Unit = {
    left = page.getValueCount
    page match {
      case v1: DataPageV1 =>
        val bytes = v1.getBytes.toByteArray
        var at = 0
        levels = null
        if (optional) {
          if (v1.getDlEncoding != Encoding.RLE)
            throw new IOException(s"definition levels of encoding ${v1.getDlEncoding} are not known")
          val size = ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN).getInt(0)
          PageValues.requireRange(bytes, 4, size)
          at = 4 + size
          if (!new HybridRuns(bytes, 4, at, 1).isOneRun(left, 1)) levels = new HybridRuns(bytes, 4, at, 1)
        }
        values = PageValues.of(v1.getValueEncoding, bytes, at, left, dictionary)
      case v2: DataPageV2 =>
        levels = null
        if (optional && v2.getNullCount > 0) {
          val bytes = v2.getDefinitionLevels.toByteArray
          levels = new HybridRuns(bytes, 0, bytes.length, 1)
        }
        val bytes = v2.getData.toByteArray
        values = PageValues.of(v2.getDataEncoding, bytes, 0, left - v2.getNullCount, dictionary)
      case other => throw new IOException(s"pages of ${other.getClass.getName} are not known")
    }
  }
}

private object BytesColumn {
  def dictionary(page: DictionaryPage): BytesDictionary =
    if (page == null) null
    else if (page.getEncoding == Encoding.PLAIN || page.getEncoding.usesDictionary)
      new BytesDictionary(page.getBytes.toByteArray, page.getDictionarySize)
    else throw new IOException(s"a dictionary of encoding ${page.getEncoding} is not known")
}
