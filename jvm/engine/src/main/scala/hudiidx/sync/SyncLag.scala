package hudiidx.sync

import hudiidx.timeline.InstantTime

/** How long instants of a table have been complete without an index knowing them. */
private[sync] object SyncLag {

  /** Milliseconds from the first completion of these instants until `nowMillis`; None without any. Archived instants of
    * layout 1 count from their requested time: nothing else is known of them.
    */
  def millis(unseen: Vector[UnseenInstant], table: TableContext, nowMillis: Long): Option[Long] = {
    val zone = table.config.timelineZone
    unseen
      .flatMap(u =>
        table.timeline.completedMillis(u.instant, zone).orElse(InstantTime.toMillis(u.instant.requestedTime, zone))
      )
      .reduceOption(_ min _)
      .map(first => math.max(0L, nowMillis - first))
  }
}
