package hudiidx.column

import hudiidx.InvalidOption
import hudiidx.bytes.XxHash64
import java.nio.{ByteBuffer, ByteOrder}

/** Bloom filters over a column's values: rule out files for conditions that name values. docs/format.md, "Bloom record". */
object BloomKind extends IndexKind {
  override val name = "bloom"

  /** Option: share of absent values that a filter takes for present. */
  val FalsePositives = "fpp"
  val DefaultFalsePositives = 0.01

  override def creator(columns: Vector[IndexedColumn], options: Map[String, String]): IndexCreator = {
    if (columns.size != 1) throw new InvalidOption(s"a bloom filter is of one column, not of ${columns.map(_.path)}")
    new BloomCreator(columns.head.columnType.order, falsePositives(options))
  }

  def falsePositives(options: Map[String, String]): Double =
    options.get(FalsePositives).fold(DefaultFalsePositives) { text =>
      val value = scala.util.Try(text.toDouble).getOrElse(Double.NaN)
      if (value > 0 && value < 1) value
      else throw new InvalidOption(s"false positives of bloom filters are a share between 0 and 1, not $text")
    }

  override def test(columns: Vector[IndexedColumn], wanted: Vector[Option[LeafTest]]): Option[RecordTest] =
    wanted.headOption.flatten.flatMap { leaf =>
      leaf.values.flatMap(points(_, leaf.nulls))
    }

  /** Of a set that is a list of values. */
  private def points(set: ValueSet, nulls: Boolean): Option[BloomTest] = set match {
    case _ if !set.isPoints => None
    case s: ValueSet.Longs  => Some(new BloomTest(nulls, s.lows.map(Bloom.hash), None))
    case s: ValueSet.Texts  => Some(new BloomTest(nulls, s.lows.map(Bloom.hash), Some(s.lows)))
  }
}

private[column] object Bloom {
  val Version = 1

  /** The file has rows without a value. */
  val Nulls = 1
  val HeadBytes = 8

  def hash(value: Long): Long = {
    var h = value * 0x9e3779b97f4a7c15L
    h = (h ^ (h >>> 32)) * 0xd6e8feb86659fd93L
    h = (h ^ (h >>> 29)) * 0xbf58476d1ce4e5b9L
    h ^ (h >>> 32)
  }

  def hash(value: Array[Byte]): Long = XxHash64.hash(value, 0, value.length, 0L)

  def probes(falsePositives: Double): Int =
    math.max(1, math.min(30, math.round(-math.log(falsePositives) / math.log(2)).toInt))

  /** Bits that keep the share of false positives with so many probes, in whole words. */
  def bits(values: Int, falsePositives: Double): Int = {
    val k = probes(falsePositives)
    val perValue = -k / math.log(1 - math.pow(falsePositives, 1.0 / k))
    val bits = math.ceil(math.max(1, values) * perValue)
    math.min(MaxBits.toDouble, (math.ceil(bits / 64) * 64)).toInt
  }

  private val MaxBits = 1 << 30

  /** The bit of a probe: hashes run over the filter by multiplication, the next probe's hash is the one before and a step. */
  def bit(hash: Long, bits: Int): Int = ((hash >>> 32) * bits >>> 32).toInt

  def step(hash: Long): Long = (hash << 32) | (hash >>> 32) | 1L
}

private[column] final class BloomCreator(order: ValueOrder, falsePositives: Double) extends IndexCreator {
  private var hashes = new Array[Long](64)
  private var count = 0
  private var nulls = false

  override def add(row: ColumnValues): Unit =
    if (row.isNull(0)) nulls = true
    else {
      if (count == hashes.length) grow()
      hashes(count) = if (order == ValueOrder.Longs) Bloom.hash(row.long(0)) else Bloom.hash(row.text(0))
      count += 1
    }

  /** Values that are there more than once take no room of their own. */
  private def grow(): Unit = {
    distinct()
    if (count > hashes.length / 2) hashes = java.util.Arrays.copyOf(hashes, hashes.length * 2)
  }

  private def distinct(): Unit = {
    java.util.Arrays.sort(hashes, 0, count)
    var n = 0
    var i = 0
    while (i < count) {
      if (n == 0 || hashes(n - 1) != hashes(i)) {
        hashes(n) = hashes(i)
        n += 1
      }
      i += 1
    }
    count = n
  }

  override def finish(): Array[Byte] = {
    distinct()
    val bits = Bloom.bits(count, falsePositives)
    val probes = Bloom.probes(falsePositives)
    val words = new Array[Long](bits / 64)
    var i = 0
    while (i < count) {
      var h = hashes(i)
      val step = Bloom.step(h)
      var p = 0
      while (p < probes) {
        val bit = Bloom.bit(h, bits)
        words(bit >>> 6) |= 1L << (bit & 63)
        h += step
        p += 1
      }
      i += 1
    }
    val out = ByteBuffer.allocate(Bloom.HeadBytes + words.length * 8).order(ByteOrder.LITTLE_ENDIAN)
    out.put(Bloom.Version.toByte).put((if (nulls) Bloom.Nulls else 0).toByte).put(probes.toByte).put(0.toByte)
    out.putInt(words.length)
    words.foreach(w => out.putLong(w))
    out.array
  }
}

/** @param texts the values themselves, of order Texts */
private[column] final class BloomTest(nulls: Boolean, hashes: Array[Long], texts: Option[Array[Array[Byte]]])
    extends RecordTest {

  override def mightMatch(record: ByteBuffer): Boolean =
    if (record.hasRemaining && record.get(record.position()) == HudiBloom.RecordVersion)
      texts.forall(HudiBloom.hasAny(record, _))
    else
      BloomFilter.of(record).forall { filter =>
        (nulls && filter.hasNulls) || filter.hasAny(hashes)
      }
}

/** A bloom record, read where it stands. */
final class BloomFilter private (bytes: ByteBuffer, from: Int, bits: Int, probes: Int, val hasNulls: Boolean) {

  /** False only if no value of this hash was put in. */
  def mightHave(hash: Long): Boolean = {
    var h = hash
    val step = Bloom.step(h)
    var p = 0
    var all = true
    while (all && p < probes) {
      val bit = Bloom.bit(h, bits)
      all = (bytes.get(from + (bit >>> 3)) & (1 << (bit & 7))) != 0
      h += step
      p += 1
    }
    all
  }

  private[column] def hasAny(hashes: Array[Long]): Boolean = {
    var i = 0
    while (i < hashes.length && !mightHave(hashes(i))) i += 1
    i < hashes.length
  }
}

object BloomFilter {

  /** What `mightHave` takes for a value of order Longs. */
  def hash(value: Long): Long = Bloom.hash(value)

  /** Likewise for a value of order Texts. */
  def hash(value: Array[Byte]): Long = Bloom.hash(value)

  /** None for a record that is not understood: it may have everything. */
  def of(record: ByteBuffer): Option[BloomFilter] = {
    val at = record.position()
    if (record.remaining < Bloom.HeadBytes || record.get(at) != Bloom.Version) None
    else {
      val probes = record.get(at + 2).toInt
      val words = record.duplicate().order(ByteOrder.LITTLE_ENDIAN).getInt(at + 4)
      val whole =
        words > 0 && words <= Int.MaxValue / 64 && record.remaining == Bloom.HeadBytes + words * 8 && probes > 0
      if (!whole) None
      else
        Some(new BloomFilter(record, at + Bloom.HeadBytes, words * 64, probes, (record.get(at + 1) & Bloom.Nulls) != 0))
    }
  }
}
