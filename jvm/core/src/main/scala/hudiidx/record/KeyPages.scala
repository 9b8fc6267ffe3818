package hudiidx.record

import hudiidx.bytes.Bytes
import hudiidx.record.page.{DamagedPage, EntryPageBuilder, KeyCode, PageReader, ParsedKey}

/** One entry page: its bytes, and the code of its last key, cut. */
private[hudiidx] final case class KeyPage(lastCode: Array[Byte], bytes: Array[Byte])

/** @param min, max codes of the first and the last key, cut; empty if there are no keys */
private[hudiidx] final case class KeyPages(pages: Vector[KeyPage], min: Array[Byte], max: Array[Byte])

/** Sorts keys, each with a number, into entry pages for indexes that map keys to places of their own.
  *
  * @param maxEntries of a page
  */
private[hudiidx] final class KeyPagesBuilder(maxEntries: Int) {
  private val sorters = Vector(new KeySorter(false), new KeySorter(false), new KeySorter(true))
  private val key = new ParsedKey

  /** Takes a key's UTF-8 bytes, which are copied. */
  def add(bytes: Array[Byte], from: Int, length: Int, number: Int): Unit = {
    key.set(bytes, from, length)
    val value = EntryValue(0, number, 0, 0)
    if (key.kind == KeyCode.Text) sorters(2).addText(bytes, from, length, value)
    else sorters(key.kind - 1).addFixed(key.high, if (key.kind == KeyCode.Uuid) key.low else 0L, value)
  }

  /** In the order of key codes, then numbers. */
  def build(): KeyPages = {
    val entries = new SorterCursor(sorters, sorters.map(_.sort(1)), 0)
    val builder = new EntryPageBuilder(maxEntries)
    val pages = Vector.newBuilder[KeyPage]
    var min = Array.emptyByteArray
    var max = Array.emptyByteArray
    def flush(): Unit = if (builder.count > 0) {
      max = cutCode(builder, builder.count - 1)
      pages += KeyPage(max, builder.encode().toBytes)
    }
    while (entries.next()) {
      if (!builder.fits(entries, KeyPages.MostText)) flush()
      builder.add(entries, entries.ordinal, 0, 0)
      if (min.isEmpty) min = cutCode(builder, 0)
    }
    flush()
    KeyPages(pages.result(), min, max)
  }

  private def cutCode(builder: EntryPageBuilder, entry: Int): Array[Byte] = {
    val code = new Array[Byte](KeyPages.CodeBytes)
    java.util.Arrays.copyOf(code, builder.code(entry, code))
  }
}

private[hudiidx] object KeyPages {

  /** Codes are cut to so many bytes, as the cell keys of record files. */
  val CodeBytes = 128
  private[record] val MostText = 8 << 10
}

/** Searches pages of [[KeyPagesBuilder]]; one object for page after page, not for several threads. DamagedIndex for what is
  * no page.
  *
  * @param where names the pages in errors
  */
private[hudiidx] final class KeyPageSearch(where: => String) {
  private val reader = new PageReader
  private val key = new ParsedKey

  def open(page: Array[Byte], from: Int, length: Int): Unit = DamagedPage.guard(where)(reader.open(page, from, length))

  /** Calls `use` with the number of each entry of the key; true if the next page may have more of them. */
  def find(bytes: Array[Byte], from: Int, length: Int)(use: Int => Unit): Boolean = DamagedPage.guard(where) {
    key.set(bytes, from, length)
    val more = reader.search(key)
    var i = reader.first
    while (i < reader.until) {
      use(reader.ordinal(i))
      i += 1
    }
    more
  }
}

/** Keys with their codes in ascending order: entry `i` is key `at(i)` of `keys`. */
private[hudiidx] final class KeysByCode(val keys: PackedKeys) {
  private val codes = Array.tabulate(keys.count)(i => KeyCode.encode(keys.bytes, keys.from(i), keys.length(i)))
  private val order = Array.range(0, keys.count).sortWith((a, b) => Bytes.compare(codes(a), codes(b)) < 0)

  def count: Int = order.length
  def at(i: Int): Int = order(i)
  def code(i: Int): Array[Byte] = codes(order(i))
}
