package hudiidx.report

import hudiidx.store.ScanRecord
import org.scalatest.funsuite.AnyFunSuite

/** Histograms, the largest few, and scans by their shape. */
class TallySuite extends AnyFunSuite {

  test("each number falls into one bin, and bins follow one another") {
    val numbers = Vector(0L, 1L, 2L, 3L, 4L, 7L, 8L, 1000L, Long.MaxValue)
    val histogram = new Histogram
    numbers.foreach(histogram.add)
    numbers.foreach(n => assert(histogram.bins.count(b => b.from <= n && n <= b.last) === 1, n))
    histogram.bins.foreach(b => assert(b.count === numbers.count(n => b.from <= n && n <= b.last)))
    histogram.bins.zip(histogram.bins.tail).foreach { case (a, b) => assert(a.last + 1 === b.from) }
    assert(new Histogram().bins === Vector.empty)
  }

  test("the largest few are those of a sort") {
    val r = new scala.util.Random(5)
    for (_ <- 1 to 50) {
      val numbers = Vector.fill(r.nextInt(40))(r.nextInt(1000).toLong)
      val top = new Top[Long](10)(identity)
      numbers.foreach(top.add)
      assert(top.all === numbers.sorted.reverse.take(10))
    }
  }

  private def record(filters: String*): ScanRecord =
    ScanRecord(7, "", filters, Map("filesKept" -> filters.length.toLong, "indexFallbacks" -> 0L))

  test("scans that differ in values alone are of one shape") {
    val facts = ScanFacts.of(
      Vector(
        record("(qty > 3)", "(qty IS NOT NULL)"),
        record("(qty > 40)", "(qty IS NOT NULL)"),
        record("(city = 'it\\'s 4')"),
        record("(city = 'a (b) 3')"),
        record("(day = DATE '2026-01-03')"),
        record("(id IN ('a', 'b', 'c'))"),
        record("(id IN ('z', 'y'))"),
        record("(col1 > -1.5D)"),
        record(s"(long = '${"x" * 100000}')"),
        record("(long = 'cut off"),
        record("(`2 it's` = 1)")
      )
    )
    assert(
      facts.shapes.map(s => s.filters -> s.scans).toMap === Map(
        "(qty > ?)" -> 2,
        "(city = ?)" -> 2,
        "(day = ?)" -> 1,
        "(id IN (?, …))" -> 2,
        "(col1 > ?)" -> 1,
        "(long = ?)" -> 1,
        "(long = ?" -> 1,
        "(`2 it's` = ?)" -> 1
      )
    )
    assert(facts.scans === 11 && facts.shapes.find(_.filters == "(qty > ?)").exists(_.filesKept == 2.0))
  }

  test("a column is named as a whole word, in backquotes too") {
    val facts =
      ScanFacts.of(Vector(record("(fare > 3)"), record("(`fare` > 3)"), record("(fares > 3)"), record("(x.fare > 3)")))
    assert(facts.naming("fare") === 2 && facts.naming("fares") === 1 && facts.naming("x.fare") === 1)
    assert(facts.naming("far") === 0)
  }
}
