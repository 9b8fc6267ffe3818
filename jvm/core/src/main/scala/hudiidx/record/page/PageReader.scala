package hudiidx.record.page

import hudiidx.bytes.{Bytes, PackedInput, PackedInts}
import java.nio.ByteBuffer

/** Searches an entry page where it stands; one object serves page after page. Not safe for several threads.
  * A malformed page raises IllegalArgumentException or IndexOutOfBoundsException.
  */
private[record] final class PageReader {
  private val monotone = new MonotoneReader
  private val lows, ordinals, flags, stamps, lengths = new ColumnReader
  private var form = 0
  private var n = 0
  private var like = 0 // version and variant that all UUIDs share
  private var bytes: Array[Byte] = _
  private var words: ByteBuffer = _
  private var prefixAt = 0
  private var prefixLength = 0
  private var suffixAt = 0
  private var ends = Array.emptyIntArray // of suffixes, from suffixAt; made by the first search of texts
  private val pattern = new PatternReader
  private val last = new ParsedKey // of texts of a pattern; without a text until it is asked for

  /** Entries equal to the key searched: from `first` until `until`. */
  var first = 0
  var until = 0

  def count: Int = n

  def kind: Int =
    if (form == EntryPage.Numbers) KeyCode.Number
    else if (form == EntryPage.Uuids || form == EntryPage.LikeUuids) KeyCode.Uuid
    else KeyCode.Text

  def open(page: Array[Byte], from: Int, length: Int): Unit = {
    if (bytes ne page) {
      bytes = page
      words = PackedInts.words(page)
    }
    val in = new PackedInput(page, from, from + length)
    val version = in.byte()
    require(
      version >= EntryPage.EarliestVersion && version <= EntryPage.Version,
      s"page version $version, this hudiidx reads ${EntryPage.EarliestVersion} to ${EntryPage.Version}"
    )
    form = in.byte()
    val size = in.varint()
    require(size >= 1 && size <= EntryPage.MaxEntries, s"page of $size entries")
    n = size.toInt
    openKeys(in)
    requireTexts(length)
    ordinals.open(in, words, n)
    flags.open(in, words, n)
    stamps.open(in, words, n)
    require(in.remaining == 0, s"${in.remaining} bytes after the page")
  }

  private def openKeys(in: PackedInput): Unit = form match {
    case EntryPage.Numbers                     => monotone.open(in, words, n)
    case EntryPage.Uuids | EntryPage.LikeUuids =>
      if (form == EntryPage.LikeUuids) like = in.byte()
      monotone.open(in, words, n)
      lows.open(in, words, n)
    case EntryPage.Texts | EntryPage.DigitTexts | EntryPage.PatternTexts =>
      prefixLength = in.count(8)
      prefixAt = in.skip(prefixLength)
      if (form == EntryPage.Texts) {
        lengths.open(in, words, n)
        suffixAt = in.index
        makeEnds(in.remaining)
        in.skip(ends(n - 1))
      } else {
        if (form == EntryPage.PatternTexts) pattern.open(in, bytes, prefixAt, prefixLength)
        else pattern.openDigits(bytes, prefixAt, prefixLength, in.byte())
        monotone.open(in, words, n)
        last.textLength = -1
      }
    case other => throw new IllegalArgumentException(s"key form $other")
  }

  /** Texts share a prefix that is stored once: many entries of a long one would fill any memory. */
  private def requireTexts(length: Int): Unit = if (kind == KeyCode.Text) {
    val most = if (form == EntryPage.Texts) prefixLength else pattern.maxLength
    val room = math.max(PageReader.FreeTexts, PageReader.TextsPerByte * length)
    require(n.toLong * most <= room, s"$n texts of $most bytes in a page of $length")
  }

  private def makeEnds(limit: Int): Unit = {
    if (ends.length < n) ends = new Array[Int](n)
    var end = 0L
    var i = 0
    while (i < n) {
      val length = lengths(i)
      require(length >= 0 && length <= limit - end, s"text $i has length $length")
      end += length
      ends(i) = end.toInt
      i += 1
    }
  }

  def ordinal(i: Int): Int = ordinals(i).toInt
  def flag(i: Int): Int = flags(i).toInt
  def stamp(i: Int): Int = stamps(i).toInt

  /** Finds the entries of a key. True if the key is not below the page's last one, so that the next page may have more of
    * it or have it at all.
    */
  def search(key: KeyParts): Boolean =
    if (key.kind != kind) {
      first = if (key.kind < kind) 0 else n
      until = first
      key.kind > kind
    } else {
      form match {
        case EntryPage.Numbers                             => searchMonotone(key.high)
        case EntryPage.Texts                               => searchTexts(key)
        case EntryPage.PatternTexts | EntryPage.DigitTexts => searchPattern(key)
        case _                                             => searchUuids(key)
      }
      until == n
    }

  private def searchMonotone(value: Long): Unit = {
    monotone.search(value)
    first = monotone.first
    until = monotone.until
  }

  private def searchUuids(key: KeyParts): Unit =
    if (form == EntryPage.LikeUuids && !sharesLike(key)) unlikeUuid(key)
    else {
      val likely = form == EntryPage.LikeUuids
      searchMonotone(if (likely) EntryPage.dropVersion(key.high) else key.high)
      val low = if (likely) EntryPage.dropVariant(key.low) else key.low
      var from = first
      var to = until
      while (to - from > 8) {
        val middle = (from + to) >>> 1
        if (java.lang.Long.compareUnsigned(lows(middle), low) < 0) from = middle + 1 else to = middle
      }
      while (from < until && java.lang.Long.compareUnsigned(lows(from), low) < 0) from += 1
      first = from
      while (from < until && lows(from) == low) from += 1
      until = from
    }

  private def sharesLike(key: KeyParts): Boolean =
    EntryPage.versionOf(key.high) == like >> 2 && EntryPage.variantOf(key.low) == (like & 3)

  /** A UUID of another version or variant than all of the page: only whether it is above the last one is asked. */
  private def unlikeUuid(key: KeyParts): Unit = {
    val lastHigh = EntryPage.addVersion(monotone.last, like >> 2)
    val lastLow = EntryPage.addVariant(lows(n - 1), like & 3)
    val order = java.lang.Long.compareUnsigned(key.high, lastHigh)
    absent(isAbove = order > 0 || (order == 0 && java.lang.Long.compareUnsigned(key.low, lastLow) > 0))
  }

  private def absent(isAbove: Boolean): Unit = {
    first = if (isAbove) n else 0
    until = first
  }

  /** Order of a text against the prefix that all keys share; 0 if the text begins with it. */
  private def comparePrefix(key: KeyParts): Int = {
    val length = math.min(prefixLength, key.textLength)
    val order = Bytes.compare(key.text, key.textFrom, length, bytes, prefixAt, length)
    if (order != 0) order else if (key.textLength < prefixLength) -1 else 0
  }

  private def searchTexts(key: KeyParts): Unit = {
    val order = comparePrefix(key)
    if (order != 0) first = if (order < 0) 0 else n
    else {
      var low = 0
      var high = n
      while (low < high) {
        val middle = (low + high) >>> 1
        if (compareSuffix(middle, key) < 0) low = middle + 1 else high = middle
      }
      first = low
    }
    until = first
    if (order == 0) while (until < n && compareSuffix(until, key) == 0) until += 1
  }

  private def suffixStart(i: Int): Int = if (i == 0) 0 else ends(i - 1)

  private def compareSuffix(i: Int, key: KeyParts): Int = {
    val from = suffixStart(i)
    val rest = key.textLength - prefixLength
    Bytes.compare(bytes, suffixAt + from, ends(i) - from, key.text, key.textFrom + prefixLength, rest)
  }

  private def searchPattern(key: KeyParts): Unit =
    if (pattern.find(key)) searchMonotone(pattern.number)
    else {
      if (last.textLength < 0) {
        if (last.text.length < pattern.maxLength) last.text = new Array[Byte](pattern.maxLength)
        last.textLength = pattern.render(monotone.last, last.text, 0)
      }
      absent(isAbove = KeyParts.compare(key, last) > 0)
    }

  /** All entries, in order. */
  def decode(out: EntryColumns): Unit = {
    out.reset(n, kind)
    form match {
      case EntryPage.Numbers                     => monotone.decode(out.high)
      case EntryPage.Uuids | EntryPage.LikeUuids => decodeUuids(out)
      case EntryPage.Texts                       => decodeTexts(out)
      case _                                     => decodePattern(out)
    }
    var i = 0
    while (i < n) {
      out.ordinals(i) = ordinal(i)
      out.flags(i) = flag(i)
      out.stamps(i) = stamp(i)
      i += 1
    }
  }

  private def decodeUuids(out: EntryColumns): Unit = {
    monotone.decode(out.high)
    val likely = form == EntryPage.LikeUuids
    var i = 0
    while (i < n) {
      val low = lows(i)
      out.low(i) = if (likely) EntryPage.addVariant(low, like & 3) else low
      if (likely) out.high(i) = EntryPage.addVersion(out.high(i), like >> 2)
      i += 1
    }
  }

  private def decodeTexts(out: EntryColumns): Unit = {
    val texts = out.room(Math.addExact(Math.multiplyExact(n, prefixLength), ends(n - 1)))
    var at = 0
    var i = 0
    while (i < n) {
      System.arraycopy(bytes, prefixAt, texts, at, prefixLength)
      val length = ends(i) - suffixStart(i)
      System.arraycopy(bytes, suffixAt + suffixStart(i), texts, at + prefixLength, length)
      at += prefixLength + length
      out.ends(i) = at
      i += 1
    }
  }

  private def decodePattern(out: EntryColumns): Unit = {
    monotone.decode(out.high)
    val texts = out.room(Math.multiplyExact(n, pattern.maxLength))
    var at = 0
    var i = 0
    while (i < n) {
      at = pattern.render(out.high(i), texts, at)
      out.ends(i) = at
      i += 1
    }
  }
}

private[record] object PageReader {

  /** Bytes of texts that any page may hold, and for each of its own. */
  private val FreeTexts = 64L << 20
  private val TextsPerByte = 1024L
}

/** Entries of one page, decoded; the arrays are used again for the next page. */
private[record] final class EntryColumns {
  var count = 0
  var kind = 0
  var high, low = Array.emptyLongArray
  var ordinals, flags, stamps, ends = Array.emptyIntArray
  var texts = Array.emptyByteArray

  def reset(n: Int, keyKind: Int): Unit = {
    count = n
    kind = keyKind
    if (high.length < n) {
      high = new Array[Long](n)
      low = new Array[Long](n)
      ordinals = new Array[Int](n)
      flags = new Array[Int](n)
      stamps = new Array[Int](n)
      ends = new Array[Int](n)
    }
  }

  /** The array for texts, at least this long. */
  def room(bytes: Int): Array[Byte] = {
    if (texts.length < bytes) texts = new Array[Byte](bytes)
    texts
  }
}
