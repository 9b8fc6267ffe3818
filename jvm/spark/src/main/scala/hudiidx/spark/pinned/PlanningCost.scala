package hudiidx.spark.pinned

import hudiidx.storage.FarCalls

/** What planning took so far: time, and calls of the table's store where that is far. */
final case class PlanningCost(millis: Long, calls: FarCalls) {
  def and(later: PlanningCost): PlanningCost = PlanningCost(millis + later.millis, calls.and(later.calls))

  def text: String = {
    val asked = if (calls.all == 0) "" else s", by ${calls.text}"
    s"planned in $millis ms$asked"
  }
}

object PlanningCost {
  val None: PlanningCost = PlanningCost(0L, FarCalls.None)

  /** What `work` gives, and took. */
  def of[A](work: => A): (A, PlanningCost) = {
    val from = System.nanoTime()
    val (done, calls) = FarCalls.of(work)
    (done, PlanningCost((System.nanoTime() - from) / 1000000, calls))
  }
}
