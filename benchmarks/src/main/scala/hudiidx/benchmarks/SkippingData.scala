package hudiidx.benchmarks

import hudiidx.column.Bounds
import hudiidx.column.ColumnStats
import hudiidx.column.ColumnType
import hudiidx.column.IndexKind
import hudiidx.column.IndexedColumn
import java.nio.charset.StandardCharsets.UTF_8
import java.util.SplittableRandom

/** Statistics as a table with very many columns has them (RFC-27: 1,288 files, 2,078 indexed columns), with ints, longs,
  * doubles and strings by turns, each of several usual forms. The same place gives the same statistics.
  */
final class SkippingData(val files: Int, val columns: Int, seed: Long) {
  import SkippingData._

  val rows: Array[Long] = Array.tabulate(files)(f => 400000L + random(-1, f).nextInt(200000))

  def fileName(f: Int): String = {
    val r = random(-2, f)
    val id =
      new java.util.UUID((r.nextLong() & ~0xf000L) | 0x4000L, (r.nextLong() & 0x3fffffffffffffffL) | Long.MinValue)
    s"$id-0_$f-12-${345 + f}_20260301120000000.parquet"
  }

  def sizeBytes(f: Int): Long = 150000000L + random(-3, f).nextInt(100000000)

  def column(c: Int): IndexedColumn =
    IndexedColumn(f"column_$c%04d", Types(c % Types.length), IndexKind.Range)

  def stats(c: Int, f: Int): ColumnStats = {
    val r = random(c, f)
    val nulls = if (c / Types.length % 3 == 0) r.nextInt(1000).toLong else 0L
    val bounds = Types(c % Types.length) match {
      case ColumnType.Int32   => ints(c, r)
      case ColumnType.Int64   => longs(c, f, r)
      case ColumnType.Float64 => doubles(c, r)
      case _                  => strings(c, f, r)
    }
    ColumnStats(rows(f), nulls, bounds)
  }

  private def form(c: Int): Int = c / Types.length % 4

  private def ints(c: Int, r: SplittableRandom): Bounds = form(c) match {
    case 0 => range(r.nextInt(5).toLong, 95L + r.nextInt(5)) // percentages
    case 1 => range(r.nextInt(10000).toLong, Int.MaxValue.toLong - r.nextInt(10000)) // hashes
    case 2 => range(1, 50L + r.nextInt(500)) // counters
    case _ =>
      val from = r.nextInt(1000000)
      range(from.toLong, from.toLong + r.nextInt(20000)) // ids that come in order
  }

  private def longs(c: Int, f: Int, r: SplittableRandom): Bounds = form(c) match {
    case 0 | 1 =>
      // A timestamp in microseconds, of which the clock gave milliseconds.
      val from = 1772323200000L + f / 16 * 3600000L + r.nextInt(60000)
      range(from * 1000, (from + 3500000 + r.nextInt(60000)) * 1000)
    case 2 => range(r.nextLong(1L << 40), Long.MaxValue - r.nextLong(1L << 50)) // random ids
    case _ =>
      val from = r.nextLong(1L << 45)
      range(from, from + r.nextLong(1L << 30))
  }

  private def doubles(c: Int, r: SplittableRandom): Bounds = form(c) match {
    case 0 | 1 => double(r.nextInt(500) / 100.0, 90 + r.nextInt(1000) / 100.0) // amounts
    case 2     => double(r.nextInt(3600000) / 1e6 - 180, 180 - r.nextInt(3600000) / 1e6) // degrees
    case _     => double(r.nextDouble() / 100, 1 - r.nextDouble() / 100) // shares
  }

  private def strings(c: Int, f: Int, r: SplittableRandom): Bounds = form(c) match {
    case 0 => text(Cities(r.nextInt(3)), Cities(Cities.length - 1 - r.nextInt(3)))
    case 1 =>
      val from = f * 1000 + r.nextInt(100)
      text(f"customer-$from%09d", f"customer-${from + 900}%09d")
    case 2 =>
      text(f"${r.nextInt(1 << 20)}%08x-${r.nextInt()}%08x", f"${~r.nextInt(1 << 20)}%08x-${r.nextInt()}%08x") // UUIDs
    case _ => text("A" + words(r), "the " + words(r))
  }

  private def words(r: SplittableRandom): String =
    Iterator.fill(2 + r.nextInt(5))(Words(r.nextInt(Words.length))).mkString(" ")

  private def random(c: Int, f: Int): SplittableRandom =
    new SplittableRandom(((seed * 1000003L + c) * 1000003L + f) * 0x9e3779b97f4a7c15L)

  private def range(min: Long, max: Long): Bounds = Bounds.LongRange(min, max, exact = true)

  private def double(min: Double, max: Double): Bounds = range(ColumnType.ofDouble(min), ColumnType.ofDouble(max))

  private def text(min: String, max: String): Bounds = {
    val (a, b) = (min.getBytes(UTF_8), max.getBytes(UTF_8))
    if (java.util.Arrays.compareUnsigned(a, b) <= 0) Bounds.TextRange(a, b, exact = true)
    else Bounds.TextRange(b, a, exact = true)
  }
}

object SkippingData {
  private val Types = Vector(ColumnType.Int32, ColumnType.Int64, ColumnType.Float64, ColumnType.Text)
  private val Cities = Vector("Aachen", "Aarhus", "Aberdeen", "Berlin", "Oslo", "Zagreb", "Zaragoza", "Zürich")
  private val Words = ("able about above accept across action active actual advice afraid again agency almost alone " +
    "amount animal answer anyone appeal around arrive artist aspect assume author autumn avenue").split(' ')
}
