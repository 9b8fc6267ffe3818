package hudiidx.record.page

import hudiidx.bytes.{PackedInput, PackedInts, PackedOutput}
import java.nio.ByteBuffer

/** Pages of sorted entries of one key class, stored by column. docs/format.md, "Entry page". */
private[record] object EntryPage {
  val Version = 2

  /** Pages from this version on are read. */
  val EarliestVersion = 1

  /** Most entries of a page; a hostile count above is refused before anything is allocated. */
  val MaxEntries: Int = 1 << 16

  // How keys are stored.
  val Numbers = 1
  val Uuids = 2

  /** UUIDs that share version and variant. */
  val LikeUuids = 3
  val Texts = 4

  /** Texts in memory before a page, to the bytes of them that it may hold. */
  val MostTextPerRest = 8L

  /** Texts that are one prefix and equally many digits, in pages of version 1. */
  val DigitTexts = 5

  /** Texts of one pattern of digits and literals, see [[TextPattern]]. */
  val PatternTexts = 6

  def dropVersion(high: Long): Long = ((high >>> 16) << 12) | (high & 0xfff)
  def addVersion(packed: Long, version: Int): Long =
    ((packed >>> 12) << 16) | (version.toLong << 12) | (packed & 0xfff)
  def versionOf(high: Long): Int = ((high >>> 12) & 0xf).toInt
  private val VariantMask = 0x3fffffffffffffffL
  def dropVariant(low: Long): Long = low & VariantMask
  def addVariant(packed: Long, variant: Int): Long = (packed & VariantMask) | (variant.toLong << 62)
  def variantOf(low: Long): Int = (low >>> 62).toInt
}

/** Collects entries of one key class in ascending order and encodes them as a page. */
private[record] final class EntryPageBuilder(maxEntries: Int) {
  require(maxEntries >= 1 && maxEntries <= EntryPage.MaxEntries, s"pages of $maxEntries entries")
  private val high, low, ordinals, flags, stamps, scratch = new Array[Long](maxEntries)
  private val ends = new Array[Int](maxEntries)
  private var texts = new Array[Byte](1024)
  private var n = 0
  private var kind0 = 0
  private val out = new PackedOutput(1 << 14)
  private val pattern = new PatternBuilder(maxEntries)

  def count: Int = n
  def isFull: Boolean = n == maxEntries

  /** True if the page may take the key: it has room, the class is the same, and the bytes of texts behind what all begin with
    * are not more than `most`.
    */
  def fits(key: KeyParts, most: Int): Boolean =
    n == 0 || (n < maxEntries && kind0 == key.kind && (kind0 != KeyCode.Text || {
      val all = textBytes.toLong + key.textLength
      all <= EntryPage.MostTextPerRest * most && all - (n + 1L) * sharedWithFirst(key) <= most
    }))

  private def sharedWithFirst(key: KeyParts): Int = {
    val at =
      java.util.Arrays.mismatch(texts, 0, ends(0), key.text, key.textFrom, key.textFrom + key.textLength)
    if (at < 0) ends(0) else at
  }

  /** Class of the keys collected, 0 if there are none. */
  def kind: Int = if (n == 0) 0 else kind0

  /** Bytes of text collected. */
  def textBytes: Int = if (n == 0 || kind0 != KeyCode.Text) 0 else ends(n - 1)

  def add(key: KeyParts, ordinal: Int, flag: Int, stamp: Int): Unit = {
    kind0 = key.kind
    high(n) = key.high
    low(n) = key.low
    if (kind0 == KeyCode.Text) addText(key)
    ordinals(n) = ordinal.toLong
    flags(n) = flag.toLong
    stamps(n) = stamp.toLong
    n += 1
  }

  private def addText(key: KeyParts): Unit = {
    val start = if (n == 0) 0 else ends(n - 1)
    val end = Math.addExact(start, key.textLength)
    if (end > texts.length) texts = java.util.Arrays.copyOf(texts, math.max(end, texts.length * 2))
    System.arraycopy(key.text, key.textFrom, texts, start, key.textLength)
    ends(n) = end
  }

  /** The first bytes of the code of entry `i`'s key, as many as `code` takes; their number. */
  def code(i: Int, code: Array[Byte]): Int = {
    val key = new ParsedKey
    key.kind = kind0
    key.high = high(i)
    key.low = low(i)
    key.text = texts
    key.textFrom = start(i)
    key.textLength = ends(i) - key.textFrom
    KeyCode.write(key, code)
  }

  /** The page of what was collected, valid until the next call; the builder is empty again. */
  def encode(): PackedOutput = {
    out.clear()
    out.byte(EntryPage.Version)
    kind0 match {
      case KeyCode.Number => numbers()
      case KeyCode.Uuid   => uuids()
      case _              => textKeys()
    }
    out.column(ordinals, n)
    out.column(flags, n)
    out.column(stamps, n)
    n = 0
    out
  }

  private def head(form: Int): Unit = {
    out.byte(form)
    out.varint(n.toLong)
  }

  private def numbers(): Unit = {
    head(EntryPage.Numbers)
    MonotoneColumn.write(out, high, n)
  }

  private def uuids(): Unit = {
    val version = EntryPage.versionOf(high(0))
    val variant = EntryPage.variantOf(low(0))
    var alike = true
    var i = 1
    while (i < n && alike) {
      alike = EntryPage.versionOf(high(i)) == version && EntryPage.variantOf(low(i)) == variant
      i += 1
    }
    if (alike) {
      head(EntryPage.LikeUuids)
      out.byte(version << 2 | variant)
      i = 0
      while (i < n) {
        high(i) = EntryPage.dropVersion(high(i))
        low(i) = EntryPage.dropVariant(low(i))
        i += 1
      }
    } else head(EntryPage.Uuids)
    MonotoneColumn.write(out, high, n)
    out.column(low, n)
  }

  private def textKeys(): Unit = {
    val common = commonPrefix()
    if (pattern.find(texts, ends, n, common, scratch)) {
      head(EntryPage.PatternTexts)
      prefix(common)
      pattern.write(out, texts)
      MonotoneColumn.write(out, scratch, n)
    } else {
      head(EntryPage.Texts)
      prefix(common)
      var i = 0
      while (i < n) {
        scratch(i) = ends(i) - start(i) - common.toLong
        i += 1
      }
      out.column(scratch, n)
      i = 0
      while (i < n) {
        out.raw(texts, start(i) + common, ends(i) - start(i) - common)
        i += 1
      }
    }
  }

  private def prefix(length: Int): Unit = {
    out.varint(length.toLong)
    out.raw(texts, 0, length)
  }

  private def start(i: Int): Int = if (i == 0) 0 else ends(i - 1)

  /** Keys ascend, so what the first and the last share all share. */
  private def commonPrefix(): Int = {
    val from = start(n - 1)
    val at = java.util.Arrays.mismatch(texts, 0, ends(0), texts, from, ends(n - 1))
    if (at < 0) ends(0) else at
  }
}

/** A column of a page, read in place. */
private[record] final class ColumnReader {
  private var words: ByteBuffer = _
  private var at = 0
  private var width = 0
  private var min = 0L

  def open(in: PackedInput, buffer: ByteBuffer, n: Int): Unit = {
    words = buffer
    width = in.byte()
    require(width <= 64, s"column width $width")
    min = in.zigzag()
    at = in.skip(PackedInts.bytesFor(n, width))
  }

  def apply(i: Int): Long = if (width == 0) min else PackedInts.get(words, at, i, width) + min

  /** True if every value is `value`. */
  def isConstant(value: Long): Boolean = width == 0 && min == value
}
