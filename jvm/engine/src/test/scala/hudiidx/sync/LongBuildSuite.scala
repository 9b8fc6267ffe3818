package hudiidx.sync

import hudiidx.DamagedIndex
import hudiidx.store.{IndexFile, IndexVersion, Retention}
import hudiidx.sync.build.{Indexer, SyncResult}
import org.scalatest.funsuite.AnyFunSuite
import scala.util.Random

/** Making an index takes longer than files stay that no version names. */
final class LongBuildSuite extends AnyFunSuite {
  private val minutes = 100L
  private val options = IndexOptions(retention = Retention(1, 0, minutes * SimulatedClock.StepMillis))

  /** Takes its time, then does something. */
  private final class SlowPart(clock: SimulatedClock, and: () => Unit) extends IndexPart {
    override def owns(file: IndexFile): Boolean = false
    override def owns(property: String): Boolean = false
    override def isIn(version: IndexVersion): Boolean = false
    override def build(state: IndexState, before: Option[IndexVersion]): PartFiles = {
      clock.steps += minutes
      and()
      PartFiles.None
    }
    override def update(state: IndexState, before: IndexVersion, unseen: Vector[UnseenInstant]): PartFiles =
      PartFiles.None
  }

  private def create(others: Indexer => Unit): (Indexer, SyncResult) = {
    val clock = new SimulatedClock
    val storage = new SteppedStorage(new MemoryFiles(clock), AtOnce)
    val table = new SimulatedTable(new Random(1), storage, SimulatedContents.Sized)
    table.write(storage, "a")
    def indexer(parts: IndexPart*) =
      new Indexer(IndexerSuite.accessOf(storage), table.path, options, LocalScanner, parts.toVector, clock)
    val first = indexer()
    first.create()
    first -> indexer(new SlowPart(clock, () => others(first))).create()
  }

  test("a version whose files went away before it was published is not published, and the one before stays") {
    var inForce = 0L
    val e = intercept[DamagedIndex](create { other =>
      inForce = other.update().version.number
      assert(other.expire().nonEmpty)
    })
    assert(e.getMessage.contains(IndexOptions.OrphanMinutes))
    assert(inForce === 1)
  }

  test("one that took long and has its files is published") {
    val (other, result) = create(_ => ())
    assert(result.version.number === 2 && other.update().version === result.version)
  }
}
