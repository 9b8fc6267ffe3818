package hudiidx.hudi

import hudiidx.log.MergeMode
import hudiidx.record.RecordLocation
import hudiidx.spark.pinned.{SharedRecords, SharedTable}
import hudiidx.spark.options.TagStrategy
import hudiidx.spark.tag.TagLocation
import hudiidx.sync.IndexOptions
import hudiidx.table.TableMergeRules
import org.apache.spark.rdd.RDD
import org.apache.spark.sql.{Encoders, SparkSession}

/** Finds record keys in one table as of its newest completed instant, by the record index and by the files of those file
  * groups that it does not know; without a record index by all files. Opened on the driver for one write.
  */
private[hudi] final class KeyLocator(spark: SparkSession, table: SharedTable, records: SharedRecords) {

  /** A location may belong to a deleted record (custom payloads decide at reading time): the writer has to look. */
  def mayBeDeleted: Boolean = TableMergeRules.of(table.config).mode == MergeMode.Custom

  /** Days of the index's window, if it has one. */
  def windowDays: Option[Int] = records.moment.windowDays

  /** Every location of each key once, however often `keys` names it; keys without a location are left out. */
  def locate(keys: RDD[String]): RDD[RecordLocation] = {
    val asked = spark.createDataset(keys.distinct())(Encoders.STRING).toDF(KeyLocator.Key)
    val tagged =
      TagLocation.tag(asked, records, Vector(KeyLocator.Key), isText = true, partition = None, TagStrategy.Auto)
    tagged.rdd.flatMap { row =>
      if (row.isNullAt(1)) None
      else Some(RecordLocation(row.getString(0), row.getString(1), row.getString(2), row.getString(3)))
    }
  }
}

private[hudi] object KeyLocator {
  // Not the name of a key field: what the column holds are whole record keys.
  private val Key = "_hoodie_record_key"

  def open(spark: SparkSession, tablePath: String, options: IndexOptions): KeyLocator = {
    val table = SharedTable.open(spark, tablePath, options)
    new KeyLocator(spark, table, SharedRecords.of(table, options, None))
  }
}
