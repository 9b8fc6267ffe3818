package hudiidx

import hudiidx.store.{Coverage, InstantId}
import org.scalatest.funsuite.AnyFunSuite

/** Names of one hash code, of which Scala's maps and sets take the square in time. */
class HashSpreadSuite extends AnyFunSuite {
  import HashSpreadSuite._

  test("ever so many names are taken, but no more than a hundred of one hash code beyond the first thousand") {
    assert(HashSpread.isEven((1 to 200000).iterator.map(n => s"city=$n")))
    assert(HashSpread.isEven(ofOneHash(1100).iterator))
    assert(!HashSpread.isEven(ofOneHash(1101).iterator))
  }

  test("an index version's instants of one hash code are told apart in time") {
    val ids = ofOneHash(60000).map(InstantId(_, "commit"))
    val took = CpuClock.millis {
      val coverage = Coverage("~", ids, Vector.empty)
      assert(ids.forall(!coverage.covers(_)) && coverage.covers(InstantId("other", "commit")))
    }
    assert(took < 5000)
  }
}

object HashSpreadSuite {

  /** Texts with one `String.hashCode`: pairs of letters that count the same, in any order. */
  def ofOneHash(count: Int): Vector[String] =
    Vector.tabulate(count)(n => (0 until 17).map(bit => if ((n >> bit & 1) == 0) "Aa" else "BB").mkString)
}
