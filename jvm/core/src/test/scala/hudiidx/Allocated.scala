package hudiidx

import java.lang.management.ManagementFactory

/** Bytes of the heap that this thread has asked for since it began, freed ones too. */
object Allocated {
  private val threads = ManagementFactory.getThreadMXBean.asInstanceOf[com.sun.management.ThreadMXBean]

  def bytes(): Long = threads.getThreadAllocatedBytes(Thread.currentThread.getId)
}
