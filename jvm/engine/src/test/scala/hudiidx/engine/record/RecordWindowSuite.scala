package hudiidx.engine.record

import hudiidx.Fixtures
import hudiidx.engine.Tables
import hudiidx.hfile.BlockCache
import hudiidx.record.{PackedKeys, RecordLocation}
import hudiidx.storage.LocalStorage
import hudiidx.sync._
import hudiidx.sync.build.Indexer
import org.scalacheck.{Gen, Shrink}
import org.scalatest.funsuite.AnyFunSuite
import org.scalatestplus.scalacheck.ScalaCheckPropertyChecks

/** Record indexes of a window of days over tables of many days: what they find is what one made anew finds, and that is what
  * was written in these days.
  */
class RecordWindowSuite extends AnyFunSuite with ScalaCheckPropertyChecks {
  import RecordPartSuite._

  private implicit def dontShrink[A]: Shrink[A] = Shrink.shrinkAny

  private val days = 3
  private val window = RecordOptions(Some("global"), windowDays = Some(days))
  private val all = (0 to 40).map(n => s"k$n").toVector

  private sealed trait Deed
  private case class Write(plan: List[KeyWrite]) extends Deed
  private case class Replace(keys: Vector[String]) extends Deed
  private case object Compact extends Deed
  private case object RollBack extends Deed

  private val keys = Gen.choose(0, 5).flatMap(Gen.listOfN(_, Gen.oneOf(all))).map(_.toVector)
  private val keyWrite = for {
    p <- Gen.oneOf("a", "b")
    group <- Gen.choose(-1, 2)
    log <- Gen.prob(0.3)
    inserts <- Gen.frequency(1 -> Gen.const(Vector.empty[String]), 1 -> keys)
    deletes <- Gen.frequency(3 -> Gen.const(0), 1 -> Gen.choose(1, 2))
    updates <- Gen.choose(0, 4)
  } yield KeyWrite(p, group, log, inserts, deletes, updates)
  private val deed: Gen[Deed] = Gen.frequency(
    6 -> Gen.choose(1, 3).flatMap(Gen.listOfN(_, keyWrite)).map(Write(_)),
    1 -> Gen.const(Compact),
    1 -> Gen.const(RollBack),
    1 -> keys.map(Replace(_))
  )
  private val step: Gen[(Int, Deed, Boolean)] = Gen.zip(Gen.choose(0, 2), deed, Gen.prob(0.6))

  test("timelines of many days: behind, updated step by step and made anew, a window has the records of its days") {
    forAll(Gen.choose(5, 12).flatMap(Gen.listOfN(_, step)), minSuccessful(10)) { steps =>
      val table = new KeyedTable
      table.write(Seq(KeyWrite("a", -1, log = false, all.take(12), 0)))
      indexer(table.path, window).create()
      steps.foreach { case (nights, deed, updates) =>
        table.sleep(nights)
        deed match {
          case Write(plan) => table.write(plan)
          case Replace(k)  => table.replace("a", k)
          case Compact     => table.compact()
          case RollBack    => table.rollback()
        }
        assert(found(table) === table.truthOf(days), "behind")
        if (updates) indexer(table.path).update()
        assert(found(table) === table.truthOf(days))
        assert(anew(table) === table.truthOf(days), "made anew")
      }
      indexer(table.path).update()
      assert(found(table) === table.truthOf(days))
      val verified =
        new RecordVerifier(new LocalEngine(access)).verify(TableContext.load(access, table.path), IndexOptions())
      assert(verified.ok, verified.samples)
    }
  }

  private def found(table: KeyedTable): Set[RecordLocation] = lookup(table.path, all, None, indexed)

  private def anew(table: KeyedTable): Set[RecordLocation] = {
    val a = access
    val folder = IndexOptions(indexPath = Some(Fixtures.newFolder("anew").toString), strict = true)
    new Indexer(a, table.path, folder, LocalScanner, Vector(new RecordPart(new LocalEngine(a), window))).create()
    lookup(table.path, all, None, folder)
  }

  for (log <- Vector(false, true))
    test(s"an update brings a record back that had left the window, in a ${if (log) "log" else "base"} file") {
      val table = new KeyedTable
      table.write(Seq(KeyWrite("a", -1, log = false, all.take(6), 0)))
      indexer(table.path, window).create()
      table.sleep(days + 1)
      table.write(Seq(KeyWrite("b", -1, log = false, Vector("k9"), 0)))
      indexer(table.path).update()
      assert(found(table).map(_.key) === Set("k9"))
      table.write(Seq(KeyWrite("a", 0, log, Vector.empty, 0, updates = 2)))
      assert(found(table).map(_.key) === Set("k9", "k4", "k5"), "behind")
      indexer(table.path).update()
      assert(found(table).map(_.key) === Set("k9", "k4", "k5"))
      if (log) {
        table.compact()
        indexer(table.path).update()
        assert(found(table).map(_.key) === Set("k9", "k4", "k5"), "compacted")
      }
      assert(found(table) === table.truthOf(days))
    }

  test("what has left the window leaves the files with the next new base, and a lookup tells the window") {
    val table = new KeyedTable
    table.write(Seq(KeyWrite("a", -1, log = false, (1 to 500).map(KeyedTable.uuid).toVector, 0)))
    assert(indexer(table.path, window).create().version.long("record.mappings") === 500)
    table.sleep(days + 1)
    table.write(Seq(KeyWrite("b", -1, log = false, (1000 to 1300).map(KeyedTable.uuid).toVector, 0)))
    val after = indexer(table.path).update().version
    assert(after.long("record.mappings") === 301 && after.properties("record.window.days") === days.toString)
    val a = Tables.access(LocalStorage, new BlockCache(1 << 20))
    val lookups = new RecordLookups(a, table.path, indexed, new LocalEngine(a))
    val answer = lookups.locate(PackedKeys.of(Vector(KeyedTable.uuid(1), KeyedTable.uuid(1000))), None, None)
    assert((0 to 1).map(answer.locations.count) === Vector(0, 1) && answer.windowDays === Some(days))
    lookups.close()
  }
}
