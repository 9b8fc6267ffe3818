package hudiidx.spark

import hudiidx.hadoop.{HadoopStorage, TableHistory}
import hudiidx.storage.Storage
import hudiidx.table._
import hudiidx.timeline._
import org.apache.hadoop.fs.Path
import org.apache.spark.broadcast.Broadcast
import org.apache.spark.sql.SparkSession
import org.apache.spark.util.SerializableConfiguration

/** A table's files at one moment, on the driver and in tasks alike: what is sent is the pinned timeline; each process
  * opens the files for itself.
  *
  *  @param path the base path, qualified
  */
final class SharedTable private (
    val path: String,
    val config: TableConfig,
    instants: Vector[Instant],
    conf: Broadcast[SerializableConfiguration]
) extends Serializable {

  @transient lazy val storage: Storage = new HadoopStorage(conf.value.value)

  @transient lazy val timeline: ActiveTimeline =
    new ActiveTimeline(config.timelineDir(path), config.timelineLayout, instants)

  @transient lazy val contents: InstantContents = new InstantContents(storage, timeline.dir)

  @transient lazy val view: FileSystemView = {
    val history = TableHistory.of(storage, path, config)
    val source = new ListedSource(storage, path, timeline, contents)
    val compactions =
      for (i <- timeline.pending(Action.Compaction); g <- contents.compactionPlan(i))
        yield FileGroup(g.partitionPath, g.fileId) -> i.requestedTime
    val plans = PendingPlans(compactions.toMap, Map.empty)
    new FileSystemView(
      source,
      ViewTimeline(timeline, config.version, config.isMergeOnRead, plans, history.completionTime)
    )
  }

  def indexVersion: Option[Long] = None
  def overlaidInstants: Int = 0
  def fallback: Option[(String, String)] = None
}

object SharedTable {

  def open(spark: SparkSession, path: String, options: ReadOptions): SharedTable = {
    val hadoop = spark.sessionState.newHadoopConf()
    val raw = new Path(path)
    val base = raw.getFileSystem(hadoop).makeQualified(raw).toString.stripSuffix("/")
    val storage = new HadoopStorage(hadoop)
    val config = TableConfig.read(storage, base)
    val timeline = TimelineReader.read(storage, config.timelineDir(base), config.timelineLayout, config.timelineZone)
    new SharedTable(
      base,
      config,
      timeline.instants,
      spark.sparkContext.broadcast(new SerializableConfiguration(hadoop))
    )
  }
}

/** Files by listing the table's folders. */
final private class ListedSource(storage: Storage, base: String, timeline: ActiveTimeline, contents: InstantContents)
    extends FileSource {
  private val replaced: Map[(String, String), String] = {
    val all = for {
      i <- timeline.completed if i.action == Action.ReplaceCommit
      (partition, ids) <- contents.commit(i).replacedFileIds.toVector
      id <- ids
    } yield (partition, id) -> i.requestedTime
    all.toMap
  }

  override lazy val partitions: Vector[String] = walk("").sorted

  private def walk(path: String): Vector[String] = {
    val found = storage.list(Storage.join(base, path))
    if (found.exists(_.name.startsWith(".hoodie_partition_metadata"))) Vector(path)
    else {
      val folders = found.filter(f => f.isDirectory && f.name != TableConfig.HoodieFolder)
      folders.flatMap(f => walk(if (path.isEmpty) f.name else path + "/" + f.name))
    }
  }

  override def files(partitionPath: String): Array[FileEntry] = {
    val found = storage.list(Storage.join(base, partitionPath)).filterNot(_.isDirectory)
    found
      .flatMap(f => FileName.parse(partitionPath, f.name, f.sizeBytes))
      .filter(f => (!f.isBase && config6) || timeline.isCommitted(f.instantTime))
      .map(f => f.copy(replacedAt = replaced.get((f.partitionPath, f.fileId))))
      .toArray
  }

  private def config6: Boolean = timeline.layout == 1
}
