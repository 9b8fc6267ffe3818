package hudiidx.write

import hudiidx.WriteConflict
import hudiidx.sync.TableContext
import hudiidx.table.{TableConfig, TableLogRules}

/** What was read of a table, as the ground of a write: every completed write of it must still be there, of the same table, or
  * rows go into the write that were taken back. Archived writes are still there.
  */
private[hudiidx] object WriteGround {

  /** WriteConflict that says to run again what was read on a ground that is gone.
    *
    * @param what that was at work
    */
  def requireStill(read: TableContext, now: TableContext, what: String): Unit = lost(read, now).foreach { why =>
    throw new WriteConflict(
      s"${now.tablePath}: $why while $what was at work, which has read what is there no more; run it again"
    )
  }

  /** None if all is there that was read. */
  def lost(read: TableContext, now: TableContext): Option[String] =
    changed(read.config, now.config).orElse {
      val there = now.timeline.completedWrites.map(_.requestedTime).toSet
      val gone = read.timeline.completedWrites.map(_.requestedTime).filterNot(there)
      gone.headOption.flatMap { first =>
        val archived = now.history.instantsFrom(first).map(_.requestedTime).toSet
        gone.find(!archived(_)).map(i => s"the write $i was taken back")
      }
    }

  /** A table may be made anew under the path, or get another version. */
  private def changed(read: TableConfig, now: TableConfig): Option[String] =
    if (nature(read) == nature(now)) None else Some("the table was made anew, or got another version,")

  private def nature(c: TableConfig): Vector[Any] = Vector(
    c.tableName,
    c.tableType,
    c.version,
    c.timelineZone,
    c.recordKeyFields,
    c.partitionFields,
    c.keyGenerator,
    TableLogRules.orderingFields(c),
    c.populateMetaFields,
    c.hiveStyle,
    c.urlEncode
  )
}
