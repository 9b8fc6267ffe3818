package hudiidx.write

import hudiidx.{Causes, Elapsed, HudiIdxException, WriteFailed}
import hudiidx.storage.Lease
import java.io.{IOException, InterruptedIOException}
import java.net.SocketTimeoutException
import java.nio.channels.ClosedByInterruptException
import java.util.Locale

/** What ended a write, as an error of ours: the one place where failures of stores and disks, in the driver or in a task, become one. */
object FailedWrite {
  val NothingCounts = "nothing of it counts, and the next write removes what is left of it"
  val PlanStays = "nothing of it counts, and its plan stays"

  /** Where the writer could not take it back: others do that no earlier. */
  def nothingCountsAfter(lease: Lease): String =
    s"nothing of it counts; the first write after ${Elapsed.text(lease.termMillis)} removes what is left of it, an earlier one may be a " +
      "conflict"

  /** `body` is a part of a write; where a store or a disk fails in it that is a WriteFailed.
    *
    * @param what began and failed
    * @param left what becomes of it
    */
  def typed[A](tablePath: String, what: String, left: String = NothingCounts)(body: => A): A =
    try body
    catch { case e: Throwable => throw of(e, tablePath, what, left) }

  /** Errors of ours stay as they are, however deep Spark wraps them; so do interruptions, by which Spark ends streams, and what is
    * no I/O error.
    */
  def of(e: Throwable, tablePath: String, what: String, left: String): Throwable = {
    val causes = Causes.of(e)
    val isKnown = causes.exists(c => c.isInstanceOf[HudiIdxException] || isInterruption(c))
    causes.collectFirst { case io: IOException if !isKnown => io }.fold(e) { io =>
      val remedy = if (causes.exists(isFull)) "make room there" else "fix that"
      new WriteFailed(s"$tablePath: $what failed (${reason(io, causes.last)}); $left; $remedy, then try again", e)
    }
  }

  private def reason(io: IOException, last: Throwable): String = {
    val text = if (Causes.isReason(io.toString)) io.toString else io.getClass.getName
    Option(last.getMessage).filter(m => Causes.isReason(m) && !text.contains(m)).fold(text)(m => s"$text: $m")
  }

  private def isInterruption(e: Throwable): Boolean = e match {
    case _: SocketTimeoutException                                                           => false
    case _: InterruptedException | _: InterruptedIOException | _: ClosedByInterruptException => true
    case _                                                                                   => false
  }

  /** Disks, HDFS and its quotas say it by these. */
  private def isFull(e: Throwable): Boolean = {
    val text = e.toString.toLowerCase(Locale.ROOT)
    Full.exists(text.contains(_))
  }

  private val Full =
    Vector("no space left", "not enough space", "quota exceeded", "quotaexceeded", "minreplication nodes")
}
