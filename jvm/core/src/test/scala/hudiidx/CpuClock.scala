package hudiidx

import java.lang.management.ManagementFactory

/** Time that this thread spent computing: unlike wall time it does not depend on what else the machine does. */
object CpuClock {
  private val threads = ManagementFactory.getThreadMXBean

  /** Milliseconds of processor time that `body` took in this thread. */
  def millis(body: => Any): Long = {
    val start = threads.getCurrentThreadCpuTime
    body: Unit
    (threads.getCurrentThreadCpuTime - start) / 1000000
  }
}
