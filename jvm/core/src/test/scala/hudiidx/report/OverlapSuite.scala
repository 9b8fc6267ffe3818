package hudiidx.report

import hudiidx.column.Bounds
import hudiidx.column.Bounds.{LongRange, NoValues, TextRange, Unknown}
import org.scalatest.funsuite.AnyFunSuite

import scala.util.Random

/** How far bounds keep slices apart, held against counting slice by slice. */
class OverlapSuite extends AnyFunSuite {
  private def texts(low: String, high: String): Bounds =
    TextRange(low.getBytes("UTF-8"), if (high == null) null else high.getBytes("UTF-8"), exact = false)

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

  test("a query for the end of a range reads the slices that a look at each of them finds") {
    for (seed <- 1 to 200) {
      val bounds = random(seed)
      val ranges = bounds.collect { case r: LongRange => r }
      val unknown = bounds.count(_ == Unknown)
      def reading(value: Long): Int = unknown + ranges.count(r => r.min <= value && value <= r.max)
      val ends = ranges.toVector.flatMap(r => Vector(r.min, r.max))
      val found = Overlap.of(bounds)
      val mean = if (ends.isEmpty) unknown.toDouble else ends.map(reading(_).toDouble).sum / ends.size
      assert(math.abs(found.skippedOfOne - (1 - mean / bounds.length)) < 1e-9, s"seed $seed")
      assert(found.deepest === (if (ends.isEmpty) unknown else ends.map(reading).max), s"seed $seed")
      assert(
        (found.slices, found.unknown, found.empty) ===
          ((bounds.length, unknown, bounds.count(_ == NoValues)))
      )
    }
  }

  test("a query for a tenth of the ends reads the slices that meet it") {
    for (seed <- 1 to 100) {
      val bounds = random(seed)
      val ranges = bounds.collect { case r: LongRange => r }
      val ends = ranges.flatMap(r => Array(r.min, r.max)).sorted
      if (ends.nonEmpty) {
        val width = math.max(1, (ends.length * 0.1).round.toInt)
        val read = (0 until 19).map { w =>
          val from = (ends.length - width) * w / 18
          val (low, high) = (ends(from), ends(from + width - 1))
          ranges.count(r => r.min <= high && r.max >= low) + bounds.count(_ == Unknown)
        }
        val expected = math.max(0.0, 1 - read.sum / 19.0 / bounds.length)
        assert(math.abs(Overlap.of(bounds).skippedOfTenth - expected) < 1e-9, s"seed $seed")
      }
    }
  }

  test("sorted slices are a line in the picture, mixed ones a square") {
    val sorted = Overlap.of(Array.tabulate(64)(i => LongRange(i * 10L, i * 10L + 9, exact = true)))
    assert(sorted.grid.length === Overlap.Side && sorted.grid.forall(_.length === Overlap.Side))
    sorted.grid.zipWithIndex.foreach { case (row, at) =>
      assert(row.indices.filter(row(_) != '0') === Vector(at))
    }
    assert(sorted.skippedOfOne === 1 - 1.0 / 64)
    val mixed = Overlap.of(Array.fill(64)(LongRange(0, 99, exact = true)))
    assert(mixed.grid.forall(_.forall(_ == '9')) && mixed.skippedOfOne === 0.0 && mixed.deepest === 64)
  }

  test("a mark stands in the picture wherever a slice of the row may hold a value of the column") {
    for (seed <- 1 to 60) {
      val r = new Random(seed)
      val ranges = Array.fill[LongRange](5 + r.nextInt(25)) {
        val low = r.nextInt(1000).toLong
        LongRange(low, low + r.nextInt(300), exact = true)
      }
      // Fewer slices than rows: each has its own.
      val ends = ranges.flatMap(x => Array(x.min, x.max)).distinct.sorted
      val grid = Overlap.of(ranges.map(x => x: Bounds)).grid
      val inOrder = ranges.sortBy(x => (x.min, x.max))
      assert(grid.length === ranges.length)
      if (ends.length <= Overlap.Side)
        grid.indices.foreach { row =>
          val marks = ends.map(e => if (inOrder(row).min <= e && e <= inOrder(row).max) '9' else '0').mkString
          assert(grid(row) === marks, s"seed $seed")
        }
      else assert(grid.forall(row => row.contains('9') && row.stripPrefix("0" * row.indexOf('9')).matches("9+0*")))
    }
  }

  test("texts are compared as bytes, and a range without an upper end reaches as far as any") {
    val bytes = Overlap.of(Array(texts("a", "b"), texts("z", "é")))
    assert(bytes.grid === Vector("9900", "0099"))
    val open = Overlap.of(Array(texts("a", "b"), texts("b", null), texts("x", "y")))
    assert(open.grid === Vector("9900", "0999", "0099"))
    assert(open.deepest === 2)
  }

  test("nothing known skips nothing, and no values are skipped by all") {
    assert(Overlap.of(Array.fill[Bounds](5)(Unknown)).skippedOfOne === 0.0)
    assert(Overlap.of(Array.fill[Bounds](5)(NoValues)).skippedOfOne === 1.0)
    assert(Overlap.of(Array.empty[Bounds]).grid === Vector.empty)
  }
}
