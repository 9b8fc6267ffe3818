package hudiidx.write

import hudiidx.WriteConflict
import hudiidx.sync.{PinnedInstantCheck, TableContext}
import hudiidx.table.{TableConfig, TableMergeRules}

/** What was read of a table, as the ground of a write: all of it must still be there, of the same table, or rows go into the
  * write that were rolled back.
  */
private[hudiidx] object WriteGround {

  /** WriteConflict that says to run again what was read on a ground that is gone.
    *
    * @param what that was at work
    */
  def requireStill(read: TableContext, now: TableContext, what: String): Unit = lost(read, now).foreach { why =>
    throw new WriteConflict(
      s"${now.tablePath}: $why; $what was at work meanwhile, and has read what is there no more: run it again"
    )
  }

  /** None if all is there that was read, and rows are written as they were then. */
  def lost(read: TableContext, now: TableContext): Option[String] =
    PinnedInstantCheck.changed(read, now).orElse {
      if (forms(read.config) == forms(now.config)) None
      else Some("the table was made anew with other keys or partitions")
    }

  private def forms(c: TableConfig): Vector[Any] = Vector(
    c.timelineZone,
    c.recordKeyFields,
    c.partitionFields,
    c.keyGenerator,
    TableMergeRules.orderingFields(c),
    c.populateMetaFields,
    c.hiveStyle,
    c.urlEncode,
    c.slashDates
  )
}
