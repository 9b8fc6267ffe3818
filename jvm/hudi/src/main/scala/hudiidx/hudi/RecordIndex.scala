package hudiidx.hudi

import hudiidx.InvalidOption
import hudiidx.record.RecordLocation
import hudiidx.sync.IndexOptions
import org.apache.hudi.client.WriteStatus
import org.apache.hudi.common.data.HoodieData
import org.apache.hudi.common.engine.HoodieEngineContext
import org.apache.hudi.common.model.{HoodieKey, HoodieRecord, HoodieRecordGlobalLocation, HoodieRecordLocation}
import org.apache.hudi.common.util.{Option => HudiOption}
import org.apache.hudi.common.util.collection.Pair
import org.apache.hudi.config.HoodieWriteConfig
import org.apache.hudi.data.{HoodieJavaPairRDD, HoodieJavaRDD}
import org.apache.hudi.index.{HoodieIndex, HoodieIndexUtils}
import org.apache.hudi.table.HoodieTable
import org.apache.spark.TaskContext
import org.apache.spark.api.java.JavaPairRDD
import org.apache.spark.rdd.RDD
import org.apache.spark.sql.SparkSession

/** Stock Hudi's writers tag through hudiidx: `hoodie.index.class=hudiidx.hudi.RecordIndex`. One class for Hudi 0.15.0 to
  * 1.2.0: what happens to a record whose location is known is left to Hudi's own functions, so that a table comes out as with
  * its own global (RECORD_INDEX) or non-global (SIMPLE) indexes. Options: [[WriterOptions]].
  */
final class RecordIndex(config: HoodieWriteConfig) extends HoodieIndex[Object, Object](config) {
  // Tasks make indexes of their own, by the settings of the driver's.
  private val isTask = TaskContext.get() != null
  if (!isTask) TablePropertyOptions.refuse(SparkSession.builder.getOrCreate(), config.getBasePath)
  private val options = WriterOptions.of(config.getProps)

  private val logInserts =
    if (isTask) options.logInserts.getOrElse(false)
    else {
      val spark = SparkSession.builder.getOrCreate()
      val holds = LogInserts.settled(spark, config.getBasePath, options)(RecordIndex.check(options, _))
      config.setValue(WriterOptions.LogInserts, holds.toString)
      holds
    }

  override def tagLocation[R](
      records: HoodieData[HoodieRecord[R]],
      context: HoodieEngineContext,
      table: HoodieTable[_, _, _, _]
  ): HoodieData[HoodieRecord[R]] = {
    val spark = SparkSession.builder.getOrCreate()
    options.updateIndex(spark, config.getBasePath)
    val locator = KeyLocator.open(spark, config.getBasePath, IndexOptions.of(options.index))
    options.requireWindow(locator.windowDays, config.getBasePath)
    val located = locator.locate(RecordIndex.keys(records))
    RecordIndex.catchUp(table)
    if (options.global) {
      val moves = options.movesPartition && table.isPartitioned
      HoodieIndexUtils.tagGlobalLocationBackToRecords(
        records,
        RecordIndex.globalLocations(located),
        locator.mayBeDeleted,
        moves,
        config,
        table
      )
    } else RecordIndex.tagInPartition(records, located)
  }

  /** Nothing: Hudi calls this before its commit. [[SyncCallback]] or the next tagging brings the index up. */
  override def updateLocation(
      statuses: HoodieData[WriteStatus],
      context: HoodieEngineContext,
      table: HoodieTable[_, _, _, _]
  ): HoodieData[WriteStatus] = statuses

  /** Nothing to undo: the index knows completed instants only. */
  override def rollbackCommit(instantTime: String): Boolean = true

  override def isGlobal: Boolean = options.global

  override def canIndexLogFiles: Boolean = logInserts

  /** The writer need not keep the keys that it wrote: the index reads them from the files. */
  override def isImplicitWithStorage: Boolean = true
}

private object RecordIndex {

  /** Reads stored records for a move in Hudi 0.15.0; it takes for granted that a file slice has a base file. */
  private val BaseFileReadHandle = "org/apache/hudi/io/HoodieMergedReadHandle.class"

  /** Raises InvalidOption for what this Hudi cannot do. */
  def check(options: WriterOptions, logInserts: Boolean): Unit = {
    val needsBaseFiles = classOf[HoodieIndex[_, _]].getClassLoader.getResource(BaseFileReadHandle) != null
    if (needsBaseFiles && logInserts && options.global && options.movesPartition)
      throw new InvalidOption(
        s"${WriterOptions.LogInserts} and ${WriterOptions.MovesPartition}: this version of Hudi cannot move a record that " +
          "has never been in a base file; set one of them to false, or write with Hudi 1.1"
      )
  }

  def keys[R](records: HoodieData[HoodieRecord[R]]): RDD[String] =
    HoodieJavaRDD.getJavaRDD(records).rdd.map(_.getRecordKey)

  def globalLocations(located: RDD[RecordLocation]): HoodieJavaPairRDD[String, HoodieRecordGlobalLocation] =
    HoodieJavaPairRDD.of(JavaPairRDD.fromRDD(located.map { l =>
      (l.key, new HoodieRecordGlobalLocation(l.partitionPath, l.instantTime, l.fileId))
    }))

  /** A record is tagged with every location of its key in its own partition. */
  def tagInPartition[R](
      records: HoodieData[HoodieRecord[R]],
      located: RDD[RecordLocation]
  ): HoodieData[HoodieRecord[R]] = {
    val locations = HoodieJavaPairRDD.of(JavaPairRDD.fromRDD(located.map { l =>
      (new HoodieKey(l.key, l.partitionPath), new HoodieRecordLocation(l.instantTime, l.fileId))
    }))
    records
      .mapToPair[HoodieKey, HoodieRecord[R]](r => Pair.of(r.getKey, r))
      .leftOuterJoin(locations)
      .values()
      .map[HoodieRecord[R]](tagged(_))
  }

  private def tagged[R](found: Pair[HoodieRecord[R], HudiOption[HoodieRecordLocation]]): HoodieRecord[R] =
    HoodieIndexUtils.tagAsNewRecordIfNeeded(found.getLeft, found.getRight)

  /** The locations may know of a commit that another writer made since this one opened its table: its files must be known. */
  def catchUp(table: HoodieTable[_, _, _, _]): Unit = {
    val known = completed(table)
    table.getMetaClient.reloadActiveTimeline(): Unit
    if (completed(table) != known) table.getHoodieView.sync()
  }

  private def completed(table: HoodieTable[_, _, _, _]): String =
    table.getMetaClient.getCommitsTimeline.filterCompletedInstants.getTimelineHash
}
