package hudiidx.spark.plan

import hudiidx.spark.pinned.PinnedTable
import hudiidx.spark.read.SliceReading
import hudiidx.spark.shims.Shims
import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.connector.expressions.{Expression, Expressions}
import org.apache.spark.sql.connector.read.InputPartition
import org.apache.spark.sql.connector.read.partitioning.{KeyGroupedPartitioning, Partitioning}
import org.apache.spark.sql.execution.datasources.PartitionedFile
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.types.{StructField, StructType}

/** A scan whose input partitions each hold rows of one value of the partition columns, and say so: joins of tables that are
  * partitioned alike, and groupings by the partition columns, need no shuffle then.
  *
  *  @param columns the table's partition columns, in the order of the path
  */
final class PartitionGrouping private (columns: Vector[StructField], table: PinnedTable, partitions: Int) {

  def partitioning: Partitioning =
    new KeyGroupedPartitioning(columns.map(c => ColumnName.of(c.name): Expression).toArray, partitions)

  /** @param pieces whole file slices, with the partition path of each */
  def keyed(spark: SparkSession, pieces: Vector[(String, PartitionedFile)]): Array[InputPartition] = {
    val maxBytes = FilePlan.maxSplitBytes(spark, pieces.map(_._2))
    pieces
      .groupBy(_._1)
      .toVector
      .sortBy(_._1)
      .flatMap { case (path, all) =>
        FilePlan.packed(spark, all.map(_._2), maxBytes).map(Shims.keyed(_, key(path)))
      }
      .toArray[InputPartition]
  }

  private def key(partitionPath: String): InternalRow =
    InternalRow.fromSeq(table.schema.values.of(partitionPath).map(_.get))
}

object PartitionGrouping {

  /** None unless Spark is set to make use of it (`spark.sql.sources.v2.bucketing.enabled`, off by default before 4.1), paths decide
    * the values of all partition columns, and the scan has these columns. Spark then reads each value by one task:
    * where that would make the longest task much longer it is None too.
    */
  def of(
      spark: SparkSession,
      table: PinnedTable,
      spec: ScanSpec,
      plan: FilePlan,
      shown: StructType
  ): Option[PartitionGrouping] = {
    val conf = spark.sessionState.conf
    val columns = table.schema.partitionColumns
    val names = shown.fieldNames.toSet
    if (!conf.v2BucketingEnabled || columns.isEmpty || table.increment.isDefined || spec.limit.isDefined) None
    else if (!columns.forall(c => names(c.name) && table.columnsOfPath(c.name))) None
    else {
      val bytes = plan.slices.groupBy(_.partitionPath).map { case (_, s) => s.iterator.map(SliceReading.bytesOf).sum }
      if (isSpread(conf) || isBalanced(bytes.toVector, FilePlan.cores(spark), conf.filesMaxPartitionBytes))
        Some(new PartitionGrouping(columns, table, bytes.size))
      else None
    }
  }

  /** Spark may give one value's rows to several tasks. */
  private def isSpread(conf: SQLConf): Boolean =
    conf.v2BucketingPushPartValuesEnabled && conf.v2BucketingPartiallyClusteredDistributionEnabled

  /** No value has more bytes than a task usually reads, or than twice the share of a core. */
  private[spark] def isBalanced(bytes: Vector[Long], cores: Int, usualBytes: Long): Boolean =
    bytes.isEmpty || bytes.max <= math.max(usualBytes, 2 * bytes.sum / cores)
}

/** References to columns whose names may have any characters. */
private[spark] object ColumnName {
  def of(name: String): org.apache.spark.sql.connector.expressions.NamedReference =
    Expressions.column(hudiidx.Sql.quoted(name))
}
