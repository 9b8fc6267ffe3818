package hudiidx.engine.record

import hudiidx.sync._
import org.scalatest.funsuite.AnyFunSuite

/** File groups that were written and then replaced, both before the index was brought up: an update takes nothing in of what
  * nobody sees. Whoever sees them later, or asks for the time between, has their keys all the same.
  */
class RecordRevivalSuite extends AnyFunSuite {
  import RecordPartSuite._

  private val all = (0 to 40).map(n => s"k$n").toVector
  private val always = 10000

  for {
    windowDays <- Vector(None, Some(3))
    between <- Vector(true, false)
    nights <- Vector(0, 2)
  } test(s"window $windowDays, an update between write and replacement $between, $nights nights between deeds") {
    val table = new KeyedTable
    table.write(Seq(KeyWrite("a", -1, log = false, all.take(12), 0)))
    indexer(table.path, RecordOptions(Some("global"), windowDays = windowDays)).create()
    table.sleep(nights)
    table.write(Seq(KeyWrite("a", 0, log = false, Vector("k14", "k15"), 0, updates = 2)))
    val (written, asWritten) = (TableContext.load(access, table.path).newestInstant, table.truthOf(always))
    if (between) indexer(table.path).update()
    table.sleep(if (nights > 0) 1 else 0)
    table.replace("a", Vector("k35", "k26"))
    indexer(table.path).update()
    def found(asOf: Option[String] = None) = lookup(table.path, all, asOf, indexed)
    assert(found() === table.truthOf(windowDays.getOrElse(always)), "replaced")
    if (windowDays.isEmpty) assert(found(Some(written)) === asWritten, "as of the write")
    table.sleep(nights)
    table.rollback()
    assert(found() === table.truthOf(windowDays.getOrElse(always)), "rolled back, the index behind")
    indexer(table.path).update()
    assert(found() === table.truthOf(windowDays.getOrElse(always)), "rolled back")
    val verified =
      new RecordVerifier(new LocalEngine(access)).verify(TableContext.load(access, table.path), IndexOptions())
    assert(verified.ok, verified.samples)
  }
}
