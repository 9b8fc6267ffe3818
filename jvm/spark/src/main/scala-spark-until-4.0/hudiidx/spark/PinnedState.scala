package hudiidx.spark

import hudiidx.spark.pinned.PinnedTable
import org.apache.spark.sql.connector.catalog.Table

/** A table as of one moment. What Spark caches is told from it by `equals` alone. */
trait PinnedState extends Table {
  def pinned: PinnedTable
}
