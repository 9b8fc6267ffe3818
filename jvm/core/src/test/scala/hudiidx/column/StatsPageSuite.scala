package hudiidx.column

import hudiidx.column.segment.{FileBits, StatsPage}
import org.scalacheck.Gen
import org.scalatest.funsuite.AnyFunSuite
import org.scalatestplus.scalacheck.ScalaCheckPropertyChecks

class StatsPageSuite extends AnyFunSuite with ScalaCheckPropertyChecks {
  implicit override val generatorDrivenConfig: PropertyCheckConfiguration =
    PropertyCheckConfiguration(minSuccessful = 300)

  private val page: Gen[(ColumnType, Vector[Long], Vector[ColumnStats])] = for {
    columnType <- ColumnGen.columnType
    n <- Gen.choose(0, 40)
    rows <- Gen.listOfN(n, Gen.choose(-1L, 1000L))
    stats <- Gen.sequence[Vector[ColumnStats], ColumnStats](rows.map(ColumnGen.stats(columnType, _)))
  } yield (columnType, rows.toVector, stats)

  test("a page gives back the statistics that were put in") {
    forAll(page) { case (columnType, rows, stats) =>
      val bytes = StatsPage.encode(columnType, stats.toArray, rows.toArray)
      val decoded = StatsPage.decode(columnType, bytes, rows.toArray)
      assert((0 until decoded.count).map(decoded.stats) === stats)
    }
  }

  test("a page marks the files that their statistics allow, and no others") {
    val cases = for {
      p <- page
      set <- Gen.frequency(8 -> ColumnGen.valueSet(p._1).map(Option(_)), 1 -> Gen.const(Option.empty[ValueSet]))
      nulls <- Gen.prob(0.3)
      noValue <- Gen.prob(0.5)
    } yield (p, LeafTest(nulls, set, noValue && set.exists(_.isEmpty)))
    forAll(cases) { case ((columnType, rows, stats), test) =>
      val bytes = StatsPage.encode(columnType, stats.toArray, rows.toArray)
      Seq(rows.toArray, null).foreach { known =>
        val bits = new FileBits(stats.size + 5)
        StatsPage.decode(columnType, bytes, known).mark(test, bits, 5)
        stats.indices.foreach { i =>
          assert(bits.get(5 + i) === test.mightMatch(stats(i)), s"file $i: ${stats(i)}")
        }
        assert(bits.countSet(0, 5) === 0)
      }
    }
  }

  test("a page that is cut is refused, and never read past its end") {
    forAll(page) { case (columnType, rows, stats) =>
      val bytes = StatsPage.encode(columnType, stats.toArray, rows.toArray)
      bytes.indices.filter(n => n < 20 || n % 13 == 0).foreach { n =>
        try {
          val decoded = StatsPage.decode(columnType, bytes.take(n), rows.toArray)
          fail(s"$n of ${bytes.length} bytes gave ${decoded.count} files")
        } catch { case _: IllegalArgumentException | _: IndexOutOfBoundsException => () }
      }
    }
  }

  test("what is known of two files together holds for each") {
    forAll(
      ColumnGen.columnType.flatMap(t =>
        Gen.zip(Gen.const(t), ColumnGen.stats(t, 9), ColumnGen.stats(t, 9), ColumnGen.valueSet(t))
      )
    ) { case (_, a, b, set) =>
      val both = a.union(b)
      assert(a.union(ColumnStats.Empty) === a && ColumnStats.Empty.union(a) === a)
      Seq(LeafTest(nulls = false, Some(set)), LeafTest(nulls = true, Some(set))).foreach { test =>
        assert(!(test.mightMatch(a) || test.mightMatch(b)) || test.mightMatch(both))
      }
    }
  }
}
