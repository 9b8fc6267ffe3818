package hudiidx.column

import java.nio.ByteBuffer
import java.nio.charset.StandardCharsets.UTF_8
import java.util.Base64

/** The bloom filter of record keys that Hudi writes into footers of base files. Format notes §9.2.
  *
  *  @param probes bits that a key sets
  *  @param size   bits of the filter
  *  @param bits   of all its rows together, lowest of each byte first
  */
private[hudiidx] final class HudiBloom private (probes: Int, size: Int, private val bits: Array[Byte]) {

  /** A bloom record of it, folded to the size that keeps the share of false positives: docs/format.md, "Bloom record". None if no
    * size does.
    */
  def record(falsePositives: Double): Option[Array[Byte]] = {
    val fill = math.pow(falsePositives, 1.0 / probes)
    // Of the places that fall together some are set by several bits.
    val unset = math.log1p(-math.max(1, count(bits)).toDouble / size)
    val wanted = math.ceil(size * unset / math.log1p(-fill) / 64)
    Iterator
      .iterate(wanted)(_ * 1.02 + 1)
      .takeWhile(_ * 64 < size)
      .map(w => folded(w.toInt))
      .take(HudiBloom.Tries)
      .++(Iterator(whole))
      .find(folded => count(folded) <= fill * folded.length * 8)
      .map(HudiBloom.record(probes, size, _))
  }

  private def whole: Array[Byte] = java.util.Arrays.copyOf(bits, (size + 63) / 64 * 8)

  private def mayHave(key: String): Boolean =
    HudiBloom.hasKey(ByteBuffer.wrap(bits), 0, bits.length * 8, size, probes, key.getBytes(UTF_8))

  /** Bit i of the filter becomes bit i modulo the new size: what was there still is. */
  private def folded(words: Int): Array[Byte] = {
    val out = new Array[Byte](words * 8)
    var i = 0
    while (i < size) {
      if ((bits(i >>> 3) & (1 << (i & 7))) != 0) {
        val to = i % (words * 64)
        out(to >>> 3) = (out(to >>> 3) | (1 << (to & 7))).toByte
      }
      i += 1
    }
    out
  }

  private def or(other: HudiBloom): HudiBloom =
    new HudiBloom(probes, size, bits.indices.map(i => (bits(i) | other.bits(i)).toByte).toArray)

  private def count(bytes: Array[Byte]): Int = {
    var n = 0
    bytes.foreach(b => n += Integer.bitCount(b & 0xff))
    n
  }
}

private[hudiidx] object HudiBloom {

  /** Keys of a footer's metadata. */
  val FilterKeys: Vector[String] = Vector("org.apache.hudi.bloomfilter", "com.uber.hoodie.bloomfilter")
  val TypeKey = "hoodie_bloom_filter_type_code"
  private val EndKeys = Vector("hoodie_min_record_key", "hoodie_max_record_key")
  private val Simple = "SIMPLE"
  private val Dynamic = "DYNAMIC_V0"

  private[column] val RecordVersion = 2
  private[column] val RecordHead = 12
  private val HeaderBytes = 13
  private val Current = -1
  private val Murmur = 1
  private val Tries = 6
  private val MostRows = 10000

  /** None for a footer without a filter, for one in a form that is not known, and for one that does not have the keys that the
    * footer itself tells of.
    */
  def of(footer: String => Option[String]): Option[HudiBloom] =
    read(footer).filter(f => EndKeys.flatMap(k => footer(k)).forall(f.mayHave) && f.count(f.bits) > 0)

  private def read(footer: String => Option[String]): Option[HudiBloom] = for {
    text <- FilterKeys.flatMap(k => footer(k)).headOption
    bytes <- decoded(text)
    filter <- footer(TypeKey).getOrElse(Simple) match {
      case Simple  => whole(bytes)(simple(_, None))
      case Dynamic => whole(bytes)(dynamic)
      case _       => None
    }
  } yield filter

  /** None also where bytes are left: it is another form than the footer says. */
  private def whole(bytes: Array[Byte])(read: ByteBuffer => Option[HudiBloom]): Option[HudiBloom] = {
    val in = ByteBuffer.wrap(bytes)
    read(in).filter(_ => !in.hasRemaining)
  }

  private def decoded(text: String): Option[Array[Byte]] =
    try Some(Base64.getDecoder.decode(text))
    catch { case _: IllegalArgumentException => None }

  /** Probes and size; None for old forms with another hash. */
  private def header(in: ByteBuffer): Option[(Int, Int)] =
    if (in.remaining < HeaderBytes || in.getInt() != Current) None
    else {
      val probes = in.getInt()
      val isMurmur = in.get() == Murmur
      val size = in.getInt()
      if (isMurmur && probes > 0 && probes <= Byte.MaxValue && size > 0 && size <= Int.MaxValue - 64)
        Some((probes, size))
      else None
    }

  /** @param of what the filter must be like */
  private def simple(in: ByteBuffer, of: Option[(Int, Int)]): Option[HudiBloom] = header(in).flatMap {
    case (probes, size) =>
      val length = (size + 7) / 8
      if (in.remaining < length || of.exists(_ != ((probes, size)))) None
      else {
        val bits = new Array[Byte](length)
        in.get(bits)
        Some(new HudiBloom(probes, size, bits))
      }
  }

  /** A key is in one of the rows; that it is in all of them together is true then too. */
  private def dynamic(in: ByteBuffer): Option[HudiBloom] = header(in).filter(_ => in.remaining >= 12).flatMap { of =>
    in.getInt()
    in.getInt()
    val rows = in.getInt()
    if (rows <= 0 || rows > MostRows) None
    else {
      val found = Vector.fill(rows)(simple(in, Some(of)))
      if (found.exists(_.isEmpty)) None else Some(found.flatten.reduce(_ or _))
    }
  }

  private def record(probes: Int, size: Int, bits: Array[Byte]): Array[Byte] = {
    val out = ByteBuffer.allocate(RecordHead + bits.length).order(java.nio.ByteOrder.LITTLE_ENDIAN)
    out.put(RecordVersion.toByte).put(0.toByte).put(probes.toByte).put(0.toByte)
    out.putInt(bits.length / 8).putInt(size).put(bits)
    out.array
  }

  private val M = 0x5bd1e995

  /** Hudi's own: bytes after the last whole word are taken from the key's end, with their signs. */
  private[column] def hash(key: Array[Byte], seed: Int): Int = {
    val whole = key.length & ~3
    var h = seed ^ key.length
    var i = 0
    while (i < whole) {
      var k = (key(i) & 0xff) | (key(i + 1) & 0xff) << 8 | (key(i + 2) & 0xff) << 16 | (key(i + 3) & 0xff) << 24
      k *= M
      k = (k ^ (k >>> 24)) * M
      h = (h * M) ^ k
      i += 4
    }
    val left = key.length - whole
    if (left > 0) {
      if (left >= 3) h ^= key(key.length - 3) << 16
      if (left >= 2) h ^= key(key.length - 2) << 8
      h = (h ^ key(key.length - 1)) * M
    }
    h = (h ^ (h >>> 13)) * M
    h ^ (h >>> 15)
  }

  /** False only if none of the keys was put in; true for a record that is not understood. */
  private[column] def hasAny(record: ByteBuffer, keys: Array[Array[Byte]]): Boolean = {
    val at = record.position()
    val in = record.duplicate().order(java.nio.ByteOrder.LITTLE_ENDIAN)
    val words = if (record.remaining < RecordHead) -1 else in.getInt(at + 4)
    val size = if (words > 0) in.getInt(at + 8) else -1
    val probes = if (words > 0) record.get(at + 2).toInt else -1
    val isWhole =
      words > 0 && words <= Int.MaxValue / 64 && size > 0 && probes > 0 && record.remaining == RecordHead + words * 8
    !isWhole || keys.exists(hasKey(record, at + RecordHead, words * 64, size, probes, _))
  }

  private def hasKey(record: ByteBuffer, from: Int, bits: Int, size: Int, probes: Int, key: Array[Byte]): Boolean = {
    var h = 0
    var p = 0
    var all = true
    while (all && p < probes) {
      h = hash(key, h)
      val bit = math.abs(h % size) % bits
      all = (record.get(from + (bit >>> 3)) & (1 << (bit & 7))) != 0
      p += 1
    }
    all
  }
}
