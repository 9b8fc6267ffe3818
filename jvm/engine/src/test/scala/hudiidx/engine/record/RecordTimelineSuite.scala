package hudiidx.engine.record

import hudiidx.sync.{IndexInfo, IndexOptions, RecordOptions}
import org.scalacheck.{Gen, Shrink}
import org.scalatest.funsuite.AnyFunSuite
import org.scalatestplus.scalacheck.ScalaCheckPropertyChecks

/** The record index over tables that are written action by action; the truth is what was written. */
class RecordTimelineSuite extends AnyFunSuite with ScalaCheckPropertyChecks {
  import RecordPartSuite._

  private implicit def dontShrink[A]: Shrink[A] = Shrink.shrinkAny

  private sealed trait Deed
  private case class Write(plan: List[KeyWrite]) extends Deed
  private case class Replace(partition: String, keys: Vector[String]) extends Deed
  private case object Compact extends Deed
  private case object RollBack extends Deed
  private case object Update extends Deed
  private case object Look extends Deed

  private val key: Gen[String] = Gen.choose(0, 60).map { n =>
    if (n % 3 == 0) KeyedTable.uuid(n) else if (n % 3 == 1) n.toString else s"key $n"
  }
  private val keys = Gen.choose(0, 6).flatMap(Gen.listOfN(_, key)).map(_.toVector)
  private val partition = Gen.oneOf("a", "b")
  private val keyWrite = for {
    p <- partition
    group <- Gen.choose(-1, 2)
    log <- Gen.prob(0.4)
    inserts <- keys
    deletes <- Gen.frequency(2 -> Gen.const(0), 1 -> Gen.choose(1, 3))
  } yield KeyWrite(p, group, log, inserts, deletes)

  private val deed: Gen[Deed] = Gen.frequency(
    6 -> Gen.choose(1, 3).flatMap(Gen.listOfN(_, keyWrite)).map(Write(_)),
    1 -> Gen.const(Compact),
    1 -> Gen.const(RollBack),
    1 -> Gen.zip(partition, keys).map { case (p, k) => Replace(p, k) },
    3 -> Gen.const(Update),
    1 -> Gen.const(Look)
  )

  test("random timelines give the keys that were written, the index behind, updated step by step, and made anew") {
    forAll(Gen.choose(4, 12).flatMap(Gen.listOfN(_, deed)), minSuccessful(12)) { deeds =>
      val table = new KeyedTable
      table.write(Seq(KeyWrite("a", -1, log = false, Vector("1", "2", "key 2"), 0)))
      indexer(table.path, RecordOptions(Some("global"))).create()
      deeds.foreach {
        case Write(plan)   => table.write(plan)
        case Replace(p, k) => table.replace(p, k)
        case Compact       => table.compact()
        case RollBack      => table.rollback()
        case Update        => indexer(table.path).update(): Unit
        case Look          => check(table, indexed)
      }
      check(table, indexed)
      check(table, scanned)
      val version = indexer(table.path).update().version
      check(table, indexed)
      assert(IndexInfo.of(access, table.path, indexed).state === IndexInfo.Ready)
      assert(version.long("record.mappings") >= table.truth.size)
      indexer(table.path).create()
      check(table, indexed)
    }
  }

  private def check(table: KeyedTable, options: IndexOptions): Unit = {
    val asked = table.keys ++ absent(table.keys) ++ (0 to 60).map(n => s"key $n")
    assert(lookup(table.path, asked.distinct, None, options) === table.truth): Unit
  }
}
