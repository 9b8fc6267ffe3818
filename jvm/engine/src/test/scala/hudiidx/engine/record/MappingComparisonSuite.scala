package hudiidx.engine.record

import java.util.BitSet

import hudiidx.Fixtures
import hudiidx.record._
import hudiidx.record.page.EntryFlag
import hudiidx.storage.LocalStorage
import org.scalacheck.Gen
import org.scalatest.funsuite.AnyFunSuite
import org.scalatestplus.scalacheck.ScalaCheckPropertyChecks

/** Counts of a comparison against plain sets. */
class MappingComparisonSuite extends AnyFunSuite with ScalaCheckPropertyChecks {
  import MappingComparisonSuite._

  test("counts by kind are those of plain sets, whatever keys, ordinals not compared, doubts and days there are") {
    forAll(mappings, mappings) { (table, index) =>
      val truth = table.filter(t => compared.get(t._1.ordinal))
      val known = index.filter(i => compared.get(i._1.ordinal))
      val found = pair(truth, index)(MappingComparison.ofTable(_, scope))
      def isOutside(day: Int) = day != 0 && day < firstDay
      val left = known.collect {
        case (m, marks) if isOutside(marks.day) && truth.get(m).exists(t => !isOutside(t.day)) => m
      }
      val both = truth.keySet.intersect(known.keySet) -- left
      val doubts = both.count(m => truth(m).doubt != known(m).doubt)
      assert(found.count(MappingComparison.Equal) === both.size.toLong - doubts)
      assert(found.count(MappingKind.DoubtDiffers) === doubts.toLong)
      val missing = (truth -- (known.keySet -- left)).filter(m => !isOutside(m._2.day))
      assert(found.count(MappingKind.Missing) === missing.size.toLong)
      assert(found.count(MappingKind.Extra) === (known.keySet -- truth.keySet).size.toLong)
      assert(found.keys === (truth.keySet ++ known.keySet).map(_.key).size.toLong)
      val sampled = found.samples.filter(_.kind == MappingKind.Missing).map(s => Mapping(s.key, s.ordinal))
      assert(sampled.size === math.min(missing.size, scope.mostSamples) && sampled.forall(missing.contains))
    }
  }

  test("against Hudi's own record index each mapping is counted once, under the reason that holds") {
    forAll(mappings, mappings) { (all, index) =>
      val stock = all.filter(t => compared.get(t._1.ordinal)).groupBy(_._1.key).map(_._2.head)
      val ours = index.filter(i => compared.get(i._1.ordinal)).keySet
      val found = pair(stock, index)(MappingComparison.ofStock(_, scope))
      assert(found.count(MappingComparison.Equal) === stock.keySet.intersect(ours).size.toLong)
      assert(found.count(StockDifference.KeyNotThere) === (stock.keySet -- ours).size.toLong)
      val equalKeys = stock.keySet.intersect(ours).map(_.key)
      val stockKeys = stock.keySet.map(_.key)
      val reasons = (ours -- stock.keySet).toVector.map { m =>
        if (equalKeys(m.key)) StockDifference.DuplicateKey
        else if (stockKeys(m.key)) StockDifference.OtherLocation
        else if (scope.withLogs.get(m.ordinal)) StockDifference.LogRecord
        else StockDifference.NotIndexed
      }
      StockDifference.OnlyInIndex.foreach(r => assert(found.count(r) === reasons.count(_ == r).toLong, r))
    }
  }

  test("tallies add up, with samples of each kind up to the most that are wanted") {
    val parts = (1 to 5).map { n =>
      val tally = new TallyBuilder(3)
      (1 to n).foreach(i => tally.add(s"kind ${i % 2}", s"key $n-$i", i))
      tally.result
    }
    val all = parts.foldLeft(Tally.Empty)(_.plus(_, 3))
    assert(all.count("kind 0") + all.count("kind 1") === 15)
    assert(all.samples.groupBy(_.kind).map { case (k, s) => k -> s.size } === Map("kind 0" -> 3, "kind 1" -> 3))
  }
}

object MappingComparisonSuite {
  final case class Mapping(key: String, ordinal: Int)
  final case class Marks(day: Int, doubt: Boolean)

  private val firstDay = 50
  private def bits(of: Int*): BitSet = {
    val set = new BitSet
    of.foreach(set.set(_))
    set
  }
  private val compared = bits(0, 1, 2, 5)
  private val scope = CompareScope(compared, bits(1, 5), 6, Vector.empty, Some(firstDay), mostSamples = 3)

  private val keys: Gen[String] = Gen.frequency(
    3 -> Gen.choose(0, 12).map(_.toString),
    2 -> Gen.oneOf("", "a", "ab", "k1", "k10", "\u00e4", "007"),
    1 -> Gen.choose(0, 3).map(n => f"00000000-0000-4000-8000-$n%012d")
  )

  private val mappings: Gen[Map[Mapping, Marks]] = Gen
    .listOf(for {
      key <- keys
      ordinal <- Gen.choose(0, 5)
      day <- Gen.oneOf(0, 10, 50, 90)
      doubt <- Gen.oneOf(true, false)
    } yield Mapping(key, ordinal) -> Marks(day, doubt))
    .map(_.toMap)

  private lazy val folder = Fixtures.newFolder("comparison").toString

  /** Both sides as sections of run files. */
  private def pair[A](first: Map[Mapping, Marks], second: Map[Mapping, Marks])(use: PairedKeys => A): A = {
    val readers = Vector("first" -> first, "second" -> second).map { case (name, entries) =>
      val path = s"$folder/$name"
      LocalStorage.delete(path)
      val builder = new RunBuilder(Vector(HashRange.All), 1 << 20, run => LocalStorage.write(path)(run.write(_)))
      entries.foreach { case (m, marks) =>
        val bytes = m.key.getBytes("UTF-8")
        builder.add(bytes, 0, bytes.length, m.ordinal, marks.day, if (marks.doubt) EntryFlag.Doubt else 0)
      }
      builder.flushRest()
      if (entries.isEmpty) None else Some(LocalStorage.open(path))
    }
    try {
      val cursors = readers.map(r => HashGroupMerge.runs(r.toVector.map(RunFile.open(_).section(0))))
      use(new PairedKeys(cursors(0), cursors(1), compared.get(_)))
    } finally readers.flatten.foreach(_.close())
  }
}
