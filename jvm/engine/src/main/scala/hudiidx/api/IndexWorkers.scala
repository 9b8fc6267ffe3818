package hudiidx.api

import hudiidx.engine.Tables
import hudiidx.engine.column.ExpressionEngine
import hudiidx.sync._
import org.apache.hadoop.conf.Configuration

/** What an engine brings to the work on indexes. */
trait IndexWorkers {

  /** A path with its store's name, as [[hudiidx.engine.Tables.qualified]]. */
  def qualified(path: String): String

  /** What runs pieces of work. */
  def tasks: TaskEngine

  /** What looks for partitions. */
  def scanner: PartitionScanner

  /** What resolves and evaluates expressions of columns; None: there are none. */
  def expressions: Option[ExpressionEngine]

  /** Compares an index with a fresh listing, and the table that both are of. IndexNotFound if there is no index; one that cannot be used
    * is a difference.
    *
    *  @param options strict
    */
  def verified(tablePath: String, options: IndexOptions): (VerifyResult, TableContext)
}

/** All in this process, without SQL. */
final class LocalWorkers(access: TableAccess, conf: Configuration) extends IndexWorkers {
  override def qualified(path: String): String = Tables.qualified(path, conf)
  override def tasks: TaskEngine = new LocalEngine(access)
  override def scanner: PartitionScanner = LocalScanner
  override def expressions: Option[ExpressionEngine] = None

  override def verified(tablePath: String, options: IndexOptions): (VerifyResult, TableContext) = {
    val context = TableContext.load(access, tablePath)
    Verifier.orUnusable(compared(context, options)) -> context
  }

  private def compared(table: TableContext, options: IndexOptions): VerifyResult = {
    val indexed = TableSnapshot.of(table, options)
    try {
      val listing = TableSnapshot.listingOf(table, indexed.viewTimeline, damagedAsStock = options.damagedAsStock)
      Verifier.compare(indexed.source, StoredFiles.of(listing, scanner.folders))
    } finally indexed.close()
  }
}
