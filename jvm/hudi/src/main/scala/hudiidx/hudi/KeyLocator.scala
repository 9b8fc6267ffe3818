package hudiidx.hudi

import hudiidx.record.RecordLocation
import hudiidx.spark.SharedTable
import hudiidx.sync.IndexOptions
import org.apache.spark.rdd.RDD
import org.apache.spark.sql.SparkSession

/** Finds record keys in one table as of its newest completed instant. Opened on the driver for one write. */
trait KeyLocator {

  /** Every location of each key once, however often `keys` names it; keys without a location are left out. */
  def locate(keys: RDD[String]): RDD[RecordLocation]

  /** A location may belong to a deleted record (custom payloads decide at reading time): the writer has to look. */
  def mayBeDeleted: Boolean
}

object KeyLocator {

  /** The best there is for the table: its rows can always be read. */
  def open(spark: SparkSession, tablePath: String, options: IndexOptions): KeyLocator =
    new SliceScan(SharedTable.open(spark, tablePath, options))
}
