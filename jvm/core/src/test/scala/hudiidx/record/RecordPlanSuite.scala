package hudiidx.record

import org.scalacheck.Gen
import org.scalatest.funsuite.AnyFunSuite
import org.scalatestplus.scalacheck.ScalaCheckPropertyChecks

class RecordPlanSuite extends AnyFunSuite with ScalaCheckPropertyChecks {
  private val plan = RecordPlan(targetBytes = 1000000)

  test("groups follow the expected size, and are not made tiny for the sake of tasks") {
    assert(RecordPlan().groups(0) === 1)
    assert(RecordPlan().groups(5000000) === 2)
    assert(RecordPlan().groups(5000000, least = 8) === 8)
    assert(RecordPlan().groups(1000, least = 8) === 1)
    assert(RecordPlan().groups(10000000000L) === 2236)
    assert(RecordPlan(targetBytes = 1).groups(Long.MaxValue) === HashRange.MaxGroups)
  }

  test("ranges tile the hash space for any number of groups, and go on doing so when they are split") {
    forAll(Gen.choose(1, HashRange.MaxGroups), Gen.long) { (n, hash) =>
      val ranges = HashRange.tile(n)
      assert(HashRange.tiles(ranges))
      val at = new HashRouter(ranges).groupOf(hash >>> 32)
      assert(ranges(at).contains(hash >>> 32))
      val (lower, upper) = ranges(at).split
      assert(HashRange.tiles(ranges.patch(at, Vector(lower, upper), 1)))
      assert(HashRange.ofName(ranges(at).name) === Some(ranges(at)))
    }
    assert(!HashRange.tiles(Vector(HashRange(0, 5), HashRange(7, HashRange.Last))))
    assert(HashRange.ofName("00000005-00000004") === None)
  }

  test("deltas stay few, and writing them costs a small multiple of what came") {
    forAll(Gen.choose(1, 300), Gen.choose(100000L, 900000L), Gen.long, minSuccessful(50)) { (updates, base, seed) =>
      val random = new java.util.Random(seed)
      var group = (base, Vector.empty[Long])
      var written, came = 0L
      (0 until updates).foreach { _ =>
        val size = 1L + random.nextInt(20000)
        came += size
        written += size
        group = (group._1, group._2 :+ size)
        plan.step(group._1, group._2, HashRange.All) match {
          case GroupStep.Keep              => ()
          case GroupStep.MergeDeltas(from) =>
            val merged = group._2.drop(from).sum
            written += merged
            group = (group._1, group._2.take(from) :+ merged)
          case GroupStep.NewBase =>
            written += group._1 + group._2.sum
            group = (group._1 + group._2.sum, Vector.empty)
          case GroupStep.Split =>
            written += group._1 + group._2.sum
            group = ((group._1 + group._2.sum) / 2, Vector.empty)
        }
        assert(group._2.size <= plan.maxDeltas)
        assert(group._2.sum * 100 < math.max(1, group._1) * plan.deltaPercent)
      }
      // Each byte that came: a few merges among deltas, and about five bytes of base.
      assert(written <= came * 12 + 20000L * 12)
    }
  }

  test("of a group that is rewritten at once no delta of any size would stay, of others a small one would") {
    forAll(Gen.choose(0L, 60000L), Gen.listOf(Gen.choose(4096L, 9000L)), Gen.choose(4096L, 1L << 30)) {
      (base, deltas, delta) =>
        val before = deltas.take(3).toVector
        def stays(plan: RecordPlan, bytes: Long) = plan.step(base, before :+ bytes, HashRange.All) match {
          case GroupStep.NewBase | GroupStep.Split => false
          case _                                   => true
        }
        if (plan.rewritesAtOnce(base, before, HashRange.All))
          assert(!stays(plan, delta) && !stays(plan.withoutSplits, delta))
        else assert(stays(plan.withoutSplits, 4096))
    }
  }

  test("a group is split at twice the target, neighbours merge below half of it, and what came out is left alone") {
    assert(plan.step(2000000, Vector.empty, HashRange.All) === GroupStep.Split)
    assert(plan.step(1999999, Vector.empty, HashRange.All) === GroupStep.Keep)
    assert(plan.step(1900000, Vector(100000L), HashRange.All) === GroupStep.Split)
    assert(plan.step(2000000, Vector.empty, HashRange(7, 7)) === GroupStep.Keep)
    assert(plan.merges(200000, 299999) && !plan.merges(250000, 250000))
    assert(!plan.merges(1000000, 1000000) && !plan.splits(499999, HashRange.All))
  }

  test("segments of the dictionary are merged until each is twice what came after it") {
    assert(plan.mergeSegments(Vector.empty) === None)
    assert(plan.mergeSegments(Vector(10L)) === None)
    assert(plan.mergeSegments(Vector(100L, 40L, 10L)) === None)
    assert(plan.mergeSegments(Vector(100L, 40L, 30L)) === Some(0))
    assert(plan.mergeSegments(Vector(1000L, 40L, 30L)) === Some(1))
  }

  test("neighbours become one below half the size, with one that is due, and as long as enough groups are left") {
    assert(plan.neighbours(Vector(100, 100, 100, 499700, 100), Set(1), 1) === Vector(0 to 2))
    assert(plan.neighbours(Vector(100, 100, 499900, 100), Set(3), 1) === Vector.empty)
    assert(plan.neighbours(Vector(100, 100, 100), Set.empty, 1) === Vector.empty)
    assert(plan.neighbours(Vector(100, 100, 100), Set(0, 1, 2), 2) === Vector(0 to 1))
    val sizes = Gen.choose(1, 40).flatMap(Gen.listOfN(_, Gen.choose(1L, 600000L))).map(_.toVector)
    forAll(sizes, Gen.long, Gen.choose(0, 10)) { (bytes, seed, least) =>
      val random = new java.util.Random(seed)
      val due = bytes.indices.filter(_ => random.nextBoolean()).toSet
      val runs = plan.neighbours(bytes, due, least)
      assert(runs.forall(r => r.size > 1 && r.exists(due) && r.map(bytes).sum < plan.targetBytes / 2))
      assert(runs.zip(runs.drop(1)).forall { case (a, b) => a.end < b.start })
      assert(runs.isEmpty || bytes.size - runs.map(_.size - 1).sum >= math.max(1, least))
    }
  }
}
