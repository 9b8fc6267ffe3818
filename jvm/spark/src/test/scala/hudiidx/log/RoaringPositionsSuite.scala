package hudiidx.log

import java.io.{ByteArrayOutputStream, DataOutputStream}

import org.roaringbitmap.longlong.Roaring64NavigableMap
import org.scalacheck.Gen
import org.scalatest.funsuite.AnyFunSuite
import org.scalatestplus.scalacheck.ScalaCheckPropertyChecks

/** Positions as the Roaring project's own code writes them: arrays, bitmaps and runs of every size. */
final class RoaringPositionsSuite extends AnyFunSuite with ScalaCheckPropertyChecks {

  private val ranges: Gen[Vector[Long]] = for {
    start <- Gen.oneOf(Gen.choose(0L, 200000L), Gen.choose(0L, 1L << 30))
    length <- Gen.oneOf(Gen.choose(1, 50), Gen.choose(4000, 20000))
    step <- Gen.oneOf(1, 1, 2, 7, 70000)
  } yield Vector.tabulate(if (step > 1000) 20 else length)(i => start + i.toLong * step)

  test("what Roaring writes is read, optimised for runs or not") {
    forAll(
      Gen.listOf(ranges).map(_.take(5).flatten.toVector.distinct.sorted),
      Gen.oneOf(true, false),
      minSuccessful(60)
    ) { (positions, runs) =>
      val bitmap = new Roaring64NavigableMap
      positions.foreach(p => bitmap.addLong(p))
      if (runs) bitmap.runOptimize(): Unit
      val out = new ByteArrayOutputStream
      bitmap.serializePortable(new DataOutputStream(out))
      assert(RecordPositions.decode(out.toByteArray, "f").toVector === positions)
    }
  }
}
