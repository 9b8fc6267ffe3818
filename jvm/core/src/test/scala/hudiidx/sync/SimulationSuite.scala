package hudiidx.sync

import hudiidx.TestSettings.seed
import hudiidx.{Figures, IndexNotFound}
import hudiidx.storage.Storage
import hudiidx.store.{IndexStore, Retention}
import java.util.stream.LongStream
import org.scalatest.funsuite.AnyFunSuite
import scala.util.Random

/** Writers, indexers, readers and expiry of one table at once, step by step in orders that seeds decide, some of them killed on
  * the way. HUDIIDX_SCHEDULES: how many orders (400); HUDIIDX_TEST_SEED: the first seed.
  */
final class SimulationSuite extends AnyFunSuite {
  private val schedules = sys.env.get("HUDIIDX_SCHEDULES").fold(400)(_.toInt)
  private val first = seed & 0xffffffffL

  test("in any order of steps readers see what was committed, and the index ends in step") {
    val seen = new Seen
    // On all cores: what a schedule does is its seed's alone.
    LongStream.range(first, first + schedules).parallel().forEach { seed =>
      val mine = new Seen
      val schedule = new OneSchedule(seed, mine)
      try {
        schedule.run()
        seen.synchronized(seen.add(mine))
      } catch {
        case e: Throwable =>
          val again = s"seed $seed; again by HUDIIDX_TEST_SEED=$seed HUDIIDX_SCHEDULES=1"
          fail(s"$again: ${e.getMessage}; last steps: ${schedule.steps.takeRight(12).mkString("; ")}", e)
      }
    }
    info(s"$schedules schedules from seed $first, ${seen.steps} steps; $seen")
    Figures.add("orders of steps simulated", schedules.toLong)
    Figures.add("steps of them", seen.steps)
    Figures.add("reads in them", seen.reads)
    // Else nothing was tried of what this is for.
    assert(seen.reads > schedules && seen.overlaid > 0 && seen.rebases > 0 && seen.killed > 0 && seen.listed > 0)
  }

  test("a seed gives the same steps again") {
    (first until first + 40).foreach { seed =>
      def steps() = {
        val schedule = new OneSchedule(seed, new Seen)
        schedule.run()
        schedule.steps
      }
      val (one, other) = (steps(), steps())
      val same = one.zip(other).indexWhere { case (a, b) => a != b }
      assert(
        same < 0 && one.size == other.size,
        s"seed $seed, step $same of ${one.size}, ${other.size}: ${one.lift(same)}, ${other.lift(same)}"
      )
    }
  }
}

/** What happened in all schedules. */
private final class Seen {
  var steps, reads, overlaid, listed, rebases, killed = 0L

  def add(other: Seen): Unit = {
    steps += other.steps
    reads += other.reads
    overlaid += other.overlaid
    listed += other.listed
    rebases += other.rebases
    killed += other.killed
  }

  override def toString: String =
    s"$reads reads, $overlaid of them with instants laid over the index, $listed without index; $rebases rebases, $killed killed"
}

private final class OneSchedule(seed: Long, seen: Seen) extends org.scalatest.Assertions {
  private val random = new Random(seed)
  private val simulation = new Simulation(random, Vector(1.0, 0.5, 0.1, 0.02)(random.nextInt(4)))
  private val table = new SimulatedTable(random, simulation.storage)
  private val options =
    IndexOptions(mergeMinFiles = random.nextInt(4), retention = Retention(1 + random.nextInt(2), 0, Day))
  private def Day: Long = 86400000L

  def run(): Unit = {
    if (random.nextInt(3) > 0) bringUp(simulation.storage)
    Seq("a", "b/c").foreach { partition =>
      simulation.actor(s"writer of $partition")(s =>
        (0 until 1 + random.nextInt(4)).foreach(_ => table.write(s, partition))
      )
    }
    (1 to 1 + random.nextInt(3)).foreach { i =>
      val killAt = if (random.nextInt(3) == 0) 1 + random.nextInt(80) else Int.MaxValue
      if (killAt < Int.MaxValue) seen.killed += 1
      simulation.actor(s"indexer $i", killAt)(s => (0 until 1 + random.nextInt(3)).foreach(_ => bringUp(s)))
    }
    (1 to 2).foreach(i => simulation.actor(s"reader $i")(s => (0 until 2).foreach(_ => read(s))))
    simulation.actor("expiry") { s =>
      try new Indexer(IndexerSuite.accessOf(s), table.path, options).expire(): Unit
      catch { case _: IndexNotFound => () }
    }
    simulation.run()
    seen.steps += simulation.steps.size
    atTheEnd()
  }

  /** What is chance, or time, in a name: a file's token, the start of what is being built. */
  def steps: Vector[String] =
    simulation.steps.map(_.replaceAll("\\.[0-9a-z]{10}\\.", ".token.").replaceAll("\\d{13}", "millis"))

  private def bringUp(storage: Storage): Unit = {
    val indexer = new Indexer(IndexerSuite.accessOf(storage), table.path, options)
    val result =
      try indexer.update()
      catch { case _: IndexNotFound => indexer.create() }
    seen.rebases += result.rebases
  }

  /** Laws 1 and 4: what a reader sees was so at some moment of its read. */
  private def read(storage: Storage): Unit = {
    val before = table.truths.size - 1
    val snapshot = TableSnapshot.open(IndexerSuite.accessOf(storage), table.path, IndexOptions())
    try {
      val found = latestFiles(snapshot)
      val use = snapshot.use
      assert(table.truths.drop(before).contains(found), s"a reader saw what never was in its time: $use")
      // An index that was made, or versions that were expired, since the timeline was read.
      val fine = Set(FallbackCode.NoIndex, FallbackCode.TimelineGap)
      assert(use.fallback.forall(f => fine(f.code)), s"a reader did without the index: ${use.fallback}")
      seen.reads += 1
      if (use.unseenInstants.nonEmpty) seen.overlaid += 1
      if (use.fallback.isDefined) seen.listed += 1
    } finally snapshot.close()
  }

  private def latestFiles(snapshot: TableSnapshot): Map[String, Set[String]] = snapshot.view.partitions
    .map(p => p -> snapshot.view.latestBaseFiles(p).map(_.fileName).toSet)
    .filter(_._2.nonEmpty)
    .toMap

  /** Laws 5 and 6: versions are whole, and one more update makes an index that is in step. */
  private def atTheEnd(): Unit = {
    val access = IndexerSuite.accessOf(simulation.storage)
    val store = new IndexStore(simulation.storage, options.indexDir(table.path))
    store.versionNumbers().map(store.read).foreach(v => v.files.foreach(f => store.openWhole(f).close()))
    bringUp(simulation.storage)
    val strict = IndexOptions(strict = true)
    // A killed create leaves its marker, which fades with time.
    assert(Set(IndexInfo.Ready, IndexInfo.Building)(IndexInfo.of(access, table.path, strict).state))
    val snapshot = TableSnapshot.open(access, table.path, strict)
    try assert(latestFiles(snapshot) === table.truths.last)
    finally snapshot.close()
  }
}
