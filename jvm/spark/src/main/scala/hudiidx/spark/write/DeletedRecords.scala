package hudiidx.spark.write

import hudiidx.{ShellCommand, WriteConflict}
import hudiidx.slice.LogReaders
import hudiidx.log._
import hudiidx.spark.pinned.SharedTable
import hudiidx.spark.shims.Shims
import hudiidx.storage.Storage
import hudiidx.table._
import org.apache.spark.rdd.RDD
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{GenericInternalRow, UnsafeProjection}
import org.apache.spark.sql.types.{StringType, StructField, StructType}
import org.apache.spark.sql.{DataFrame, SparkSession}
import org.apache.spark.unsafe.types.UTF8String

/** Records that a log deleted and whose row still stands in the base file below it: Hudi's indexes of base files take them for
  * there. If one comes again, its file group is written anew, so that no writer finds it in two places.
  *
  * @param slices with logs over a base file, those of pending compactions merged
  */
final private[write] class DeletedRecords(spark: SparkSession, table: SharedTable, slices: Vector[FileSlice]) {

  /** All of them, as `DeletedRecords.Columns`. */
  def frame: DataFrame = {
    val sent = spark.sparkContext.broadcast(table)
    val rows: RDD[InternalRow] = spark.sparkContext.parallelize(slices, slices.size).mapPartitions { mine =>
      val toRow = UnsafeProjection.create(DeletedRecords.Columns)
      mine.flatMap { slice =>
        val place = Array(slice.partitionPath, slice.fileId).map(UTF8String.fromString)
        DeletedRecords.keys(sent.value, slice).map { key =>
          toRow(new GenericInternalRow(Array[Any](UTF8String.fromBytes(key), place(0), place(1)))): InternalRow
        }
      }
    }
    Shims.rddFrame(spark, DeletedRecords.Columns, rows)
  }
}

private[write] object DeletedRecords {
  val Key = "deleted_key"
  val Partition = "deleted_partition"
  val FileId = "deleted_file"
  val Columns: StructType = StructType(Seq(Key, Partition, FileId).map(StructField(_, StringType)))

  /** Keys that the slice's log deletes, or may delete. */
  private def keys(table: SharedTable, slice: FileSlice): Iterator[Array[Byte]] = {
    val storage = table.context.storage
    val folder = Storage.join(table.path, slice.partitionPath)
    val written = slice.dataLogFiles.map(f => Storage.join(folder, f.fileName) -> f.sizeBytes)
    val counting = TableMergeRules.blocks(table.config, table.viewTimeline, None, table.damagedAsStock)
    val blocks = SliceLog.countedBlocks(storage, written.map(_._1), counting, written.toMap)
    val logged =
      LogKeys.of(storage, blocks, TableMergeRules.of(table.config), LogReaders.all, LogKeysOptions())
    try logged.filter(_.state != KeyState.Live).map(_.keyUtf8).toVector.iterator
    finally logged.close()
  }

  /** WriteConflict if one of these groups is planned to be compacted: before the compaction a writer finds the old row, and behind it
    * none.
    */
  def requireNotPlanned(groups: Iterable[FileGroup], plans: PendingPlans, path: String): Unit =
    groups.find(plans.compaction.contains).foreach { g =>
      throw new WriteConflict(
        s"$path: a record that was deleted from file group ${g.fileId} of partition '${g.partitionPath}' comes again while that is " +
          s"planned to be compacted (${plans.compaction(g)}); run the compaction (${ShellCommand("compact-table", Vector(path)).quoted}, or stock Hudi), " +
          "then write again"
      )
    }
}
