package hudiidx.storage

import org.scalacheck.Gen
import org.scalatest.funsuite.AnyFunSuite
import org.scalatestplus.scalacheck.ScalaCheckPropertyChecks

/** How calls of a store that is far are counted. */
class FarCallsSuite extends AnyFunSuite with ScalaCheckPropertyChecks {
  private val interval = for {
    began <- Gen.choose(0L, 50L)
    length <- Gen.choose(0L, 20L)
  } yield (began, began + length)

  test("in a row are the most calls of which none overlaps another") {
    forAll(Gen.listOf(interval).map(_.take(9).toVector)) { calls =>
      def isRow(some: Vector[(Long, Long)]): Boolean = {
        val sorted = some.sorted
        sorted.zip(sorted.drop(1)).forall { case (a, b) => b._1 >= a._2 }
      }
      val most = (0 until (1 << calls.size)).map { set =>
        val some = calls.zipWithIndex.collect { case (call, i) if (set >> i & 1) == 1 => call }
        if (isRow(some)) some.size else 0
      }
      assert(FarCalls.inARow(calls) === most.max)
    }
  }

  test(
    "calls are heard in the thread that listens and in those that make calls for it, once each, and nobody hears others'"
  ) {
    def told(deed: => Unit): Unit = FarCalls.told(this, 0)(deed)
    def call(): Unit = told(told(Thread.sleep(2)))
    def elsewhere(calls: Seq[() => Unit]): Unit = {
      val threads = calls.map(c => new Thread(() => c()))
      threads.foreach(_.start())
      threads.foreach(_.join())
    }
    call()
    val ((_, inner), outer) = FarCalls.of {
      call()
      val found = FarCalls.of {
        (1 to 3).foreach(_ => call())
        elsewhere(Seq.fill(4)(FarCalls.heardHere(() => call())))
        elsewhere(Seq(() => call()))
      }
      call()
      found
    }
    assert(inner.all === 7 && inner.inARow >= 4 && inner.inARow <= 7)
    assert(outer.all === 9 && outer.inARow === inner.inARow + 2)
    assert(FarCalls.of(())._2 === FarCalls.None)
    assert(inner.and(outer) === FarCalls(16, inner.inARow + outer.inARow, 0))
  }

  test("a call that fails is heard, and so is the next") {
    val (failed, calls) = FarCalls.of {
      val found = scala.util.Try(FarCalls.told(this, 0)(throw new java.io.IOException("no")))
      FarCalls.told(this, 0)(())
      found.isFailure
    }
    assert(failed && calls === FarCalls(2, 2, 0))
  }

  test("refused requests are those since the first call, of each store, also where calls are made at the same time") {
    var (one, other) = (10L, 20L)
    val (_, calls) = FarCalls.of {
      FarCalls.told("one", one)(FarCalls.heardHere(() => FarCalls.told("one", one)(one += 1))())
      FarCalls.told("other", other)(other += 5)
      FarCalls.told("one", one)(one += 2)
    }
    assert(calls === FarCalls(3, 3, 8))
    assert(calls.text === "3 calls of the store, 3 in a row, which refused 8 requests since it was asked too much")
    assert(FarCalls.None.text === "" && FarCalls(2, 1, 0).text === "2 calls of the store, 1 in a row")
  }
}
