package hudiidx.storage

import java.util.concurrent.ConcurrentHashMap

import scala.collection.JavaConverters._

/** Calls of stores that are far.
  *
  *  @param all       how many
  *  @param inARow    the most of them of which each began when the one before it had ended: what somebody waits for
  *  @param throttled so often the store refused a request meanwhile, since it was asked too much (503); its client asks again
  */
final case class FarCalls(all: Int, inARow: Int, throttled: Long) {
  def and(later: FarCalls): FarCalls =
    FarCalls(all + later.all, inARow + later.inARow, throttled + later.throttled)

  /** Empty where there was none. */
  def text: String = {
    val refused = if (throttled == 0) "" else s", which refused $throttled requests since it was asked too much"
    if (all == 0) "" else s"$all calls of the store, $inARow in a row$refused"
  }

  /** In the order of the fields. */
  def values: Vector[Long] = Vector(all.toLong, inARow.toLong, throttled)
}

object FarCalls {
  val None: FarCalls = FarCalls(0, 0, 0)

  private val listening = new ThreadLocal[Listener]

  /** When calls began and ended, in nanoseconds, and how often each store had refused requests at first, and in the end. */
  private final class Listener(outer: Listener) {
    private var heard = Vector.empty[(Long, Long)]
    private val refused = new ConcurrentHashMap[AnyRef, (Long, Long)]

    def hasRefused(store: AnyRef, count: Long): Unit = {
      refused.merge(store, (count, count), (a, b) => (a._1, math.max(a._2, b._2)))
      if (outer != null) outer.hasRefused(store, count)
    }

    def add(began: Long, ended: Long): Unit = {
      synchronized(heard :+= (began -> ended))
      if (outer != null) outer.add(began, ended)
    }

    def calls: FarCalls = synchronized {
      FarCalls(heard.size, FarCalls.inARow(heard), refused.values.asScala.map { case (from, to) => to - from }.sum)
    }
  }

  private[storage] def inARow(calls: Vector[(Long, Long)]): Int =
    calls
      .sortBy { case (began, ended) => (ended, began) }
      .foldLeft((0, Long.MinValue)) { case ((count, free), (began, ended)) =>
        if (began >= free) (count + 1, ended) else (count, free)
      }
      ._1

  /** What `deed` gives, and the calls that it makes in this thread, and in those in which others are made at the same time. */
  def of[A](deed: => A): (A, FarCalls) = {
    val listener = new Listener(listening.get)
    val found = heardBy(listener)(deed)
    (found, listener.calls)
  }

  /** A call, told to who listens. Those that it makes in turn are part of it.
    *
    *  @param store   one and the same for calls of a store
    *  @param refused how often the store has refused a request since it was asked too much
    */
  private[hudiidx] def told[A](store: AnyRef, refused: => Long)(call: => A): A = {
    val listener = listening.get
    if (listener == null) call
    else {
      listener.hasRefused(store, refused)
      val began = System.nanoTime()
      try heardBy(null)(call)
      finally {
        listener.add(began, System.nanoTime())
        listener.hasRefused(store, refused)
      }
    }
  }

  /** The same, made by another thread, for who listens here. */
  private[hudiidx] def heardHere[A](call: () => A): () => A = {
    val listener = listening.get
    if (listener == null) call else () => heardBy(listener)(call())
  }

  private def heardBy[A](listener: Listener)(deed: => A): A = {
    val before = listening.get
    listening.set(listener)
    try deed
    finally if (before == null) listening.remove() else listening.set(before)
  }
}
