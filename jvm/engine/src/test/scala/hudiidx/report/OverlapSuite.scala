package hudiidx.report

import hudiidx.column.Bounds.{LongRange, NoValues, TextRange, Unknown}
import hudiidx.column.{Bounds, ColumnType}
import org.scalatest.funsuite.AnyFunSuite

import scala.util.Random

/** How far bounds keep slices apart, held against counting slice by slice. */
class OverlapSuite extends AnyFunSuite {
  private def texts(low: String, high: String): Bounds =
    TextRange(low.getBytes("UTF-8"), if (high == null) null else high.getBytes("UTF-8"), exact = false)

  private def overlap(bounds: Bounds*): Overlap = Overlap.of(ColumnType.Int64, bounds.toArray)

  private def random(seed: Int): Array[Bounds] = {
    val r = new Random(seed)
    Array.fill(1 + r.nextInt(90)) {
      r.nextInt(12) match {
        case 0 => Unknown
        case 1 => NoValues
        case _ =>
          val low = r.nextInt(40).toLong
          LongRange(low, low + r.nextInt(12), exact = true)
      }
    }
  }

  /** Eight values of each range, in the middles of its eighths. */
  private def asked(ranges: Array[LongRange]): Vector[Double] =
    ranges.toVector.flatMap(r => (0 until 8).map(n => r.min + (r.max - r.min) * (2 * n + 1) / 16.0)).sorted

  test("a query for a value reads the slices that a look at each of them finds") {
    for (seed <- 1 to 200) {
      val bounds = random(seed)
      val ranges = bounds.collect { case r: LongRange => r }
      val unknown = bounds.count(_ == Unknown)
      def reading(value: Double): Int = unknown + ranges.count(r => r.min <= value && value <= r.max)
      val values = asked(ranges)
      val found = overlap(bounds: _*)
      val mean = if (values.isEmpty) unknown.toDouble else values.map(reading(_).toDouble).sum / values.size
      assert(math.abs(found.skippedOfOne - (1 - mean / bounds.length)) < 1e-9, s"seed $seed")
      val ends = ranges.toVector.flatMap(r => Vector(r.min, r.max))
      assert(found.deepest === (if (ends.isEmpty) unknown else ends.map(e => reading(e.toDouble)).max), s"seed $seed")
      assert(
        (found.slices, found.unknown, found.empty) ===
          ((bounds.length, unknown, bounds.count(_ == NoValues)))
      )
    }
  }

  test("a query for a tenth of the values reads the slices that meet it") {
    for (seed <- 1 to 100) {
      val bounds = random(seed)
      val ranges = bounds.collect { case r: LongRange => r }
      val values = asked(ranges)
      if (values.nonEmpty) {
        val width = math.max(1, (values.length * 0.1).round.toInt)
        val read = (0 until 19).map { w =>
          val from = (values.length - width) * w / 18
          val (low, high) = (values(from), values(from + width - 1))
          ranges.count(r => r.min <= high && r.max >= low) + bounds.count(_ == Unknown)
        }
        val expected = math.max(0.0, 1 - read.sum / 19.0 / bounds.length)
        assert(math.abs(overlap(bounds: _*).skippedOfTenth - expected) < 1e-9, s"seed $seed")
      }
    }
  }

  test("sorted slices are a line in the picture, mixed ones a square") {
    val sorted = overlap(Vector.tabulate(64)(i => LongRange(i * 10L, i * 10L + 9, exact = true)): _*)
    assert(sorted.grid.length === Overlap.Side && sorted.grid.forall(_.length === Overlap.Side))
    sorted.grid.zipWithIndex.foreach { case (row, at) =>
      assert(row.indices.filter(row(_) != '0') === Vector(at))
    }
    assert(sorted.skippedOfOne === 1 - 1.0 / 64)
    val mixed = overlap(Vector.fill(64)(LongRange(0, 99, exact = true)): _*)
    assert(mixed.grid.forall(_.forall(_ == '9')) && mixed.skippedOfOne === 0.0 && mixed.deepest === 64)
  }

  test("slices whose bounds differ at the ends alone are mixed, whatever the type") {
    val r = new Random(11)
    val longs = Vector.fill(300)(LongRange(r.nextInt(50).toLong, 950L + r.nextInt(50), exact = true))
    assert(overlap(longs: _*).skippedOfOne < 0.05)
    val strings = longs.map(x => texts(f"rider-${x.min}%03d", f"rider-${x.max}%03d"))
    assert(Overlap.of(ColumnType.Text, strings.toArray).skippedOfOne < 0.1)
    val doubles = longs.map(x => LongRange(ColumnType.ofDouble(x.min.toDouble), ColumnType.ofDouble(x.max / 1.0), true))
    val found = Overlap.of(ColumnType.Float64, doubles.toArray[Bounds])
    assert(found.skippedOfOne === overlap(longs: _*).skippedOfOne && found.grid === overlap(longs: _*).grid)
  }

  test("texts are compared as bytes, and a range without an upper end reaches as far as any") {
    val bytes = Overlap.of(ColumnType.Text, Array(texts("a", "b"), texts("z", "é")))
    assert(bytes.skippedOfOne === 0.5 && bytes.deepest === 1)
    val open = Overlap.of(ColumnType.Text, Array(texts("a", "b"), texts("b", null), texts("x", "y")))
    assert(open.deepest === 2 && open.grid.length === 3)
    assert(open.grid(1).dropWhile(_ == '0').forall(_ == '9'))
  }

  test("values that are no number, or without end, are above all or at the ends, and nothing else") {
    def of(low: Double, high: Double) = LongRange(ColumnType.ofDouble(low), ColumnType.ofDouble(high), exact = true)
    val odd = Array[Bounds](of(1, 2), of(3, Double.NaN), of(Double.NegativeInfinity, 4), of(5, Double.PositiveInfinity))
    val found = Overlap.of(ColumnType.Float64, odd)
    assert(found.skippedOfOne >= 0 && found.skippedOfOne <= 1 && found.grid.length === 4)
  }

  test("nothing known skips nothing, and no values are skipped by all") {
    assert(overlap(Vector.fill(5)(Unknown): _*).skippedOfOne === 0.0)
    assert(overlap(Vector.fill(5)(NoValues): _*).skippedOfOne === 1.0)
    assert(overlap().grid === Vector.empty)
  }
}
