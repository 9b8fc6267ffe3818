package hudiidx.hudi

import scala.collection.mutable

import hudiidx.UnsupportedTable
import hudiidx.record.RecordLocation
import hudiidx.spark.SharedTable
import hudiidx.sync.IndexOptions
import org.apache.spark.rdd.RDD
import org.apache.spark.sql.SparkSession

/** Without a record index: the keys of all live rows, base and log files alike, as stock Hudi's snapshot query gives them. */
private[hudi] final class SnapshotLocator(spark: SparkSession, tablePath: String, options: IndexOptions)
    extends KeyLocator {

  override def mayBeDeleted: Boolean = false

  override def locate(keys: RDD[String]): RDD[RecordLocation] = {
    val table = SharedTable.open(spark, tablePath, options)
    if (!table.config.populateMetaFields)
      throw new UnsupportedTable(
        s"$tablePath: rows do not say their record keys (hoodie.populate.meta.fields=false); use one of Hudi's own indexes"
      )
    if (table.timeline.completed.isEmpty) spark.sparkContext.emptyRDD
    else {
      val groups = SnapshotLocator.liveKeys(spark, tablePath)
      val wanted = keys.distinct().map(k => (k, ()))
      groups.join(wanted).mapPartitions { found =>
        val instants = new SliceInstants(table)
        found.map { case (key, ((partition, fileId, commitTime), _)) =>
          RecordLocation(key, partition, fileId, instants.of(partition, fileId).getOrElse(commitTime))
        }
      }
    }
  }
}

private[hudi] object SnapshotLocator {

  /** Key to (partition path, file id, commit time) of every row. */
  private def liveKeys(spark: SparkSession, tablePath: String): RDD[(String, (String, String, String))] = {
    val columns = Seq("_hoodie_record_key", "_hoodie_partition_path", "_hoodie_file_name", "_hoodie_commit_time")
    val rows = spark.read
      .format("hudi")
      .option("hoodie.datasource.query.type", "snapshot")
      .load(tablePath)
      .select(columns.head, columns.tail: _*)
    // The file's name is that of a base file, or the bare file id for a row from a log file.
    rows.rdd.map(r => (r.getString(0), (r.getString(1), r.getString(2).takeWhile(_ != '_'), r.getString(3))))
  }
}

/** Base instants of the slices that a snapshot query reads, partition by partition as they are asked for. */
private[hudi] final class SliceInstants(table: SharedTable) {
  private val partitions = mutable.HashMap.empty[String, Map[String, String]]

  /** None for a group that is newer than the table's pinned timeline. */
  def of(partitionPath: String, fileId: String): Option[String] =
    partitions
      .getOrElseUpdate(
        partitionPath,
        table.view.latestMergedFileSlices(partitionPath).map(s => s.fileId -> s.baseInstantTime).toMap
      )
      .get(fileId)
}
