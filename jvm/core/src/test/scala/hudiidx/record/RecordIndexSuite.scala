package hudiidx.record

import hudiidx.hfile.Codec
import hudiidx.record.page.EntryFlag
import org.scalacheck.{Gen, Shrink}
import org.scalatest.funsuite.AnyFunSuite
import org.scalatestplus.scalacheck.ScalaCheckPropertyChecks

/** The record index against a plain map. */
class RecordIndexSuite extends AnyFunSuite with ScalaCheckPropertyChecks {

  /** Each try writes an index: a failing one shrank for a quarter of an hour, and to values that are never drawn. */
  private implicit def dontShrink[A]: Shrink[A] = Shrink.shrinkAny

  private val change: Gen[(String, Int, Int)] =
    Gen.zip(KeyGen.string, Gen.choose(0, 4), Gen.frequency(3 -> Gen.const(0), 1 -> Gen.choose(0, 65535)))

  private val shape: Gen[RecordShape] =
    Gen.oneOf(
      RecordModel.Tiny,
      RecordShape(1, 64, Codec.None),
      RecordShape(50, 1024, Codec.Zstd(1)),
      RecordShape.Default
    )

  /** Changes of one update: adds of any keys and removes of some that are there; a mapping comes once. */
  private def changes(
      adds: Seq[(String, Int, Int)],
      known: Seq[String],
      removes: Seq[Int]
  ): Seq[(String, Int, Int, Int)] = {
    val removed = removes.filter(_ => known.nonEmpty).map(r => (known(r % known.size), r % 5, 0, EntryFlag.Remove))
    val added = adds.map { case (k, o, s) => (k, o, s, if (s % 7 == 6) EntryFlag.Doubt else 0) }
    (added ++ removed).map(c => (c._1, c._2) -> c).toMap.values.toVector
  }

  test("lookups and scans give what a map gives, through deltas, merges, splits and any number of groups") {
    forAll(
      Gen.listOf(change),
      Gen.listOfN(6, Gen.zip(Gen.listOf(change), Gen.listOf(Gen.choose(0, 1000)))),
      Gen.zip(Gen.choose(1, 9), shape, Gen.oneOf(1L, 2000L, 1L << 40), Gen.oneOf(6000L, 30000L, 1L << 30)),
      Gen.listOf(KeyGen.string),
      minSuccessful(25)
    ) { case (start, updates, (groups, layout, budget, target), absent) =>
      val model = new RecordModel(layout, RecordPlan(target, deltaPercent = 400, maxDeltas = 2), groups)
      try {
        model.create(changes(start, Vector.empty, Vector.empty), budget)
        model.check(absent)
        updates.zipWithIndex.foreach { case ((adds, removes), i) =>
          model.update(changes(adds, model.truth.keys.toVector.sorted, removes))
          if (i % 2 == 1) model.check(absent)
        }
        assert(model.groups.forall(_.deltas.size <= 2))
      } finally model.delete()
    }
  }

  test("one key with thousands of mappings, over many pages and in base and deltas, is found whole") {
    val model = new RecordModel(RecordModel.Tiny, RecordPlan(deltaPercent = 1000000), 2)
    try {
      val keys =
        Vector("same", "a" * 300 + "1", "a" * 300 + "2", "a" * 300, "7b3f0c9e-0000-4000-8000-000000000001", "12")
      model.create(for (k <- keys; o <- 0 until 700) yield (k, o, 0, 0), 20000)
      model.update(for (k <- keys; o <- 0 until 900 by 3) yield (k, o, 1, if (o % 2 == 0) EntryFlag.Remove else 0))
      model.update(for (k <- keys; o <- 600 until 1000 by 5) yield (k, o, 0, 0))
      model.check(Vector("sam", "samf", "a" * 299, "a" * 301, "11", "13"))
    } finally model.delete()
  }

  test("file groups that no reader sees leave with the next base") {
    val model = new RecordModel(RecordModel.Tiny, RecordPlan(targetBytes = 1L << 30, deltaPercent = 1), 1)
    try {
      model.create((0 until 100).map(i => (s"k$i", i % 4, 0, 0)), 1 << 20)
      model.update(Seq(("new", 1, 0, 0)), isLive = _ != 2)
      model.truth = model.truth.map { case (k, v) => k -> (v - 2) }
      assert(model.groups.map(_.deltas.size) === Vector(0))
      model.check(Vector("k2"))
    } finally model.delete()
  }

  test("an input that is read twice, or by a killed task before, adds nothing") {
    val model = new RecordModel(RecordModel.Tiny, RecordPlan(), 3)
    try {
      val some = (0 until 200).map(i => (s"k${i % 50}", i % 7, i % 3, if (i % 11 == 0) EntryFlag.Doubt else 0))
      val once = some.groupBy(c => (c._1, c._2)).values.map { same =>
        (same.head._1, same.head._2, same.map(_._3).max, same.map(_._4).reduce(_ | _))
      }
      val paths = model.runs(some, 1000) ++ model.runs(some.reverse, 5000)
      model.groups = model.groups.zipWithIndex.map { case (g, i) =>
        val open = paths.map(p => () => model.storage.open(p.toString))
        g.copy(base = Some(model.writer.baseOfRuns(g.range, i, open).file))
      }
      model.truth = once.groupBy(_._1).map { case (k, all) =>
        k -> all.map(c => c._2 -> ((c._3, c._4 == EntryFlag.Doubt))).toMap
      }
      model.check(Vector("k50"))
    } finally model.delete()
  }

  test("a split leaves the other groups' files alone, and no lookup opens more than a group's few files") {
    val model = new RecordModel(RecordModel.Tiny, RecordPlan(targetBytes = 20000), 4)
    try {
      model.create((0 until 400).map(i => (s"${i * 977}", 0, 0, 0)), 1 << 20)
      val before = model.groups
      val (lower, upper) = model.writer.split(before(1), (_, _) => true)
      model.groups = before.patch(1, Vector(lower, upper).map(w => HashGroup(w.range, Some(w.file), Vector.empty)), 1)
      assert(model.groups.flatMap(_.files).toSet -- before.flatMap(_.files) === Set(lower.file, upper.file))
      assert(lower.stats.entries > 0 && upper.stats.entries > 0)
      model.check(Vector("1"))
      val index = model.open()
      try {
        index.lookup(Seq("977"))
        assert((index.counters.filesOpened, index.counters.groupsOpened, index.counters.hits) === ((1L, 1L, 1L)))
        index.lookup(Seq("977", "978"))
        assert((index.counters.keys, index.counters.misses) === ((3L, 1L)))
      } finally index.close()
    } finally model.delete()
  }

  test("a key that is there costs one block and one page") {
    val model = new RecordModel(RecordShape(20, 100, Codec.None), RecordPlan(), 1)
    try {
      val random = new java.util.Random(3)
      val keys = Vector.fill(2000)(new java.util.UUID(random.nextLong(), random.nextLong()).toString)
      model.create(keys.map((_, 0, 0, 0)), 1 << 20)
      val cache = new hudiidx.hfile.BlockCache
      val index = model.open(cache)
      try {
        index.lookup(Seq("1"))
        keys.take(200).foreach { k =>
          val (blocks, pages) = (cache.counters.hits + cache.counters.misses, index.counters.pagesRead)
          assert(index.lookup(Seq(k)).ordinals.length === 1)
          // At the end of a page the next one is looked at too: it might have more of the key.
          val more = index.counters.pagesRead - pages
          assert(more === 1 || more === 2)
          assert(cache.counters.hits + cache.counters.misses - blocks === more)
        }
        assert(index.counters.pagesRead <= 200 * 1.15)
      } finally index.close()
    } finally model.delete()
  }
}
