package hudiidx.hudi

import java.nio.charset.StandardCharsets.UTF_8

import scala.collection.mutable

import hudiidx.hadoop.{KeySink, SliceKeys, SliceKeysOptions}
import hudiidx.log.MergeMode
import hudiidx.record.RecordLocation
import hudiidx.spark.SharedTable
import hudiidx.table.{FileSlice, TableLogRules}
import org.apache.spark.rdd.RDD

/** Without a record index: tasks read the live keys of every slice, base and log files alike, and join them with the keys
  * asked for, as Hudi's own GLOBAL_SIMPLE does with base files. A task holds the keys of one slice.
  */
private[hudi] final class SliceScan(table: SharedTable) extends KeyLocator {

  override def mayBeDeleted: Boolean = TableLogRules.of(table.config).mode == MergeMode.Custom

  override def locate(keys: RDD[String]): RDD[RecordLocation] = {
    val scanned = table
    val tasks = math.max(keys.getNumPartitions, keys.sparkContext.defaultParallelism)
    val slices = keys.sparkContext
      .parallelize(table.view.partitions, tasks)
      .flatMap(scanned.view.latestMergedFileSlices(_))
      .repartition(tasks)
    val live = slices.mapPartitions(SliceScan.located(scanned, _)).keyBy(_.key)
    live.join(keys.distinct().map(k => (k, ()))).map { case (_, (location, _)) => location }
  }
}

private[hudi] object SliceScan {

  private def located(table: SharedTable, slices: Iterator[FileSlice]): Iterator[RecordLocation] = {
    val blocks = TableLogRules.blocks(table.config, table.snapshot.viewTimeline, None)
    val reader = new SliceKeys(table.context.storage, table.path, table.config, blocks, SliceKeysOptions())
    slices.flatMap { slice =>
      val found = new Distinct
      reader.live(slice)(found)
      found.keys.iterator.map(RecordLocation(_, slice.partitionPath, slice.fileId, slice.baseInstantTime))
    }
  }

  private final class Distinct extends KeySink {
    val keys = mutable.HashSet.empty[String]

    override def add(bytes: Array[Byte], from: Int, length: Int, day: Int, mayBeDeleted: Boolean): Unit =
      keys += new String(bytes, from, length, UTF_8)

    override def remove(bytes: Array[Byte], from: Int, length: Int): Unit = ()
  }
}
