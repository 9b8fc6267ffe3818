package hudiidx.sync

import hudiidx.Figures
import hudiidx.TestSettings.seed
import java.util.stream.LongStream
import org.scalatest.funsuite.AnyFunSuite

/** Schedules of which each is its seed's alone.
  *
  * HUDIIDX_SCHEDULES: how many; HUDIIDX_TEST_SEED: the first seed; HUDIIDX_STEPS: how many of the last steps a failure tells.
  */
trait Schedules extends AnyFunSuite {
  protected def kind: SimulatedKind
  private val Last = sys.env.get("HUDIIDX_STEPS").fold(12)(_.toInt)
  protected val first: Long = seed & 0xffffffffL

  /** On all cores. One that fails is run again for its steps. */
  protected def runAll(schedules: Int): Seen = {
    val seen = new Seen
    LongStream.range(first, first + schedules).parallel().forEach { seed =>
      val mine = new Seen
      try {
        new SimulatedSchedule(seed, mine, kind).run()
        seen.synchronized(seen.add(mine))
      } catch {
        case e: Throwable =>
          val again = s"seed $seed; again by HUDIIDX_TEST_SEED=$seed HUDIIDX_SCHEDULES=1"
          fail(s"$again: ${e.getMessage}; last steps: ${stepsOf(seed).takeRight(Last).mkString("; ")}", e)
      }
    }
    info(s"$schedules schedules from seed $first; $seen")
    Figures.add("orders of steps simulated", schedules.toLong)
    Figures.add("steps of them", seen.steps)
    Figures.add("reads in them", seen.reads)
    Figures.add("accounts of reads in them", seen.reads)
    Figures.add("processes killed in them", seen.killed)
    Figures.add("faults of the store in them", seen.faults)
    seen
  }

  private def stepsOf(seed: Long): Vector[String] = {
    val schedule = new SimulatedSchedule(seed, new Seen, kind, recording = true)
    try schedule.run()
    catch { case _: Throwable => () }
    schedule.steps
  }

  protected def sameAgain(schedules: Int): Unit = (first until first + schedules).foreach { seed =>
    val (one, other) = (stepsOf(seed), stepsOf(seed))
    val same = one.zip(other).indexWhere { case (a, b) => a != b }
    assert(
      same < 0 && one.size == other.size,
      s"seed $seed, step $same of ${one.size}, ${other.size}: ${one.lift(same)}, ${other.lift(same)}"
    )
  }
}

/** Writers, a cleaner, indexers, readers and expiry of one table at once, step by step in orders that seeds decide, some of them
  * killed on the way, some with faults of the store.
  */
final class SimulationSuite extends Schedules {
  override protected def kind: SimulatedKind = FilesAlone
  private val schedules = sys.env.get("HUDIIDX_SCHEDULES").fold(800)(_.toInt)

  test("in any order of steps readers see what was committed, and the index ends in step") {
    val seen = runAll(schedules)
    // Else nothing was tried of what this is for.
    if (schedules >= 400)
      assert(
        seen.reads > schedules && seen.overlaid > 0 && seen.rebases > 0 && seen.killed > 0 && seen.listed > 0 && seen.faults > 0
      )
  }

  test("a seed gives the same steps again")(sameAgain(15))
}
