package hudiidx.sync

import java.io.IOException
import java.time.{Clock, Instant, ZoneId, ZoneOffset}
import java.util.concurrent.{ExecutorService, Executors, Semaphore}
import scala.collection.mutable
import scala.util.Random
import scala.util.control.ControlThrowable

/** The process of an actor ends: whatever it was about to do is not done. */
private final class Killed extends ControlThrowable

/** The time of a simulation: each step takes a minute. */
final class SimulatedClock extends Clock {
  var steps = 0L
  override def millis(): Long = SimulatedClock.Start + steps * SimulatedClock.StepMillis
  override def instant(): Instant = Instant.ofEpochMilli(millis())
  override def getZone: ZoneId = ZoneOffset.UTC
  override def withZone(zone: ZoneId): Clock = this
}

object SimulatedClock {
  val StepMillis = 60000L
  private val Start = 1767225600000L
}

/** Actors of which one takes one step at a time, a call of the storage, in an order that a seed decides. Each has a thread, and
  * only the one whose turn it is runs, so that they share what they like without locks. Who has taken a step wakes who is next.
  *
  * @param switching how likely another actor's step comes next
  * @param recording steps are kept: they are not needed unless a schedule is run again
  */
final class Simulation(random: Random, switching: Double, recording: Boolean) {
  val clock = new SimulatedClock
  val files = new MemoryFiles(clock)
  private val done = new Semaphore(0)
  private val alive = mutable.ArrayBuffer.empty[Actor]
  private val taken = Vector.newBuilder[String]
  private var failure = Option.empty[AssertionError]

  /** Actors that were killed, and calls that had a fault. */
  var killed, faults = 0L

  /** Steps that all actors took: who, which call, where; none unless they are recorded. */
  def steps: Vector[String] = taken.result()

  /** What nobody else sees the steps of. */
  val storage: SteppedStorage = new SteppedStorage(files, AtOnce)

  /** @param killAt    the step that it does not take any more
    * @param faultRate how likely a call of it fails, before or after it took effect
    */
  def actor(name: String, killAt: Int = Int.MaxValue, faultRate: Double = 0)(work: SteppedStorage => Unit): Unit =
    alive += new Actor(name, killAt, faultRate, work)

  /** Until all actors are done or dead. What the first of them failed by is raised, with its name. */
  def run(): Unit = {
    wake(alive(random.nextInt(alive.size)))
    done.acquire()
    failure.foreach(throw _)
  }

  private def wake(actor: Actor): Unit =
    if (actor.isStarted) actor.turn.release()
    else {
      actor.isStarted = true
      Simulation.threads.execute(actor)
    }

  private final class Actor(val name: String, killAt: Int, faultRate: Double, work: SteppedStorage => Unit)
      extends Runnable
      with CallOrder {
    val turn = new Semaphore(0)
    var isStarted = false
    private var count = 0

    override def run(): Unit = {
      try work(new SteppedStorage(files, this))
      catch {
        case _: Killed    => killed += 1
        case e: Throwable => if (failure.isEmpty) failure = Some(new AssertionError(s"$name: $e", e))
      }
      alive -= this
      if (alive.isEmpty) done.release() else wake(alive(random.nextInt(alive.size)))
    }

    override def call[A](verb: String, path: String)(effect: => A): A = {
      step(verb, path)
      if (faultRate == 0 || random.nextDouble() >= faultRate) effect
      else {
        faults += 1
        val before = random.nextBoolean()
        if (recording) taken += s"$name: fault ${if (before) "before" else "after"} $verb $path"
        if (!before) effect: Unit
        throw new IOException(s"$verb $path: the store failed")
      }
    }

    private def step(verb: String, path: String): Unit = {
      count += 1
      clock.steps += 1
      if (recording) taken += s"$name: $verb $path"
      if (count >= killAt) throw new Killed
      if (random.nextDouble() < switching) {
        val next = alive(random.nextInt(alive.size))
        if (next ne this) {
          wake(next)
          turn.acquire()
        }
      }
    }
  }
}

object Simulation {

  /** Kept, since a schedule lasts not much longer than making its threads would. */
  private val threads: ExecutorService = Executors.newCachedThreadPool { (r: Runnable) =>
    val thread = new Thread(r, "actor")
    thread.setDaemon(true)
    thread
  }
}
