package hudiidx.spark

import hudiidx.spark.pinned.PinnedTable
import org.apache.spark.sql.connector.catalog.Table

/** A table as of one moment. Spark 4.1 reads a cached table instead of one of the same name and id: with the moment in the id a
  * cache serves until the next commit, whoever makes it, as it does on the other lines.
  */
trait PinnedState extends Table {
  def pinned: PinnedTable

  final override def id(): String = pinned.stateId
}
