package hudiidx.table.listing

import hudiidx.DamagedTable
import hudiidx.hfile.{BlockCache, HFileReader}
import hudiidx.log.{BlockQueue, LogBlock, LogBlockKind, LogFile => BlockReader}
import hudiidx.storage.{RandomReader, Storage, UnreadableFile}
import hudiidx.table.{
  DataFiles,
  FileEntry,
  FileGroup,
  FileName,
  FileSlice,
  FileSource,
  FileSystemView,
  PendingPlans,
  TableConfig,
  ViewTimeline
}
import hudiidx.timeline.{Action, ActiveTimeline, Instant, InstantContents, TimelineHistory, TimelineReader}
import java.nio.charset.StandardCharsets.UTF_8
import scala.util.control.NonFatal

/** Hudi's own metadata table of a table: finds what of its partitions `files` and `record_index` counts now. Format notes
  * §10.
  */
object MetadataTable {

  /** DamagedTable if the file is gone, or what lies in its place is none.
    *
    * @param instead what else there is to do, for errors
    */
  private[listing] def opened(storage: Storage, path: String, instead: String): RandomReader =
    try storage.open(path)
    catch {
      case e: java.nio.file.NoSuchFileException =>
        throw new DamagedTable(s"$path: file of the metadata table is gone; read it again$instead", e)
      case e: UnreadableFile =>
        throw new DamagedTable(s"${e.getMessage}; rebuild the metadata table with Hudi$instead", e)
    }
  private[listing] val Folder = ".hoodie/metadata"
  val FilesPartition = "files"
  private[table] val RecordIndexPartition = "record_index"
  private val InitInstantPrefix = "00000000000000"
  private val FileChanging =
    Set(Action.Commit, Action.DeltaCommit, Action.ReplaceCommit, Action.Clean, Action.Rollback, Action.Restore)

  /** None if the table has no metadata table that may be read (`hoodie.table.metadata.partitions` lists no `files`).
    * DamagedTable if there should be one and it cannot be read.
    *
    * @param timeline the data table's, read before this call: the answers are as of it
    * @param contents of the data table's timeline
    * @param history  the archived timeline of a table, the metadata table here. Without it one of version 8 or later whose
    *                 older log files were written by archived instants is not in step: their slices cannot be told
    */
  def open(
      storage: Storage,
      tablePath: String,
      config: TableConfig,
      timeline: ActiveTimeline,
      contents: InstantContents,
      cache: BlockCache = new BlockCache,
      history: (String, TableConfig) => TimelineHistory = (_, _) => TimelineHistory.Empty
  ): Option[MetadataTableListing] =
    if (!config.metadataPartitions.contains(FilesPartition)) None
    else
      Some(new MetadataTableOpener(storage, tablePath, timeline, contents, cache, history).open(DataFiles.of(config)))

  /** Hudi's own record index as it counts now; None if the table has none that may be read. Arguments and errors as `open`.
    */
  def recordIndex(
      storage: Storage,
      tablePath: String,
      config: TableConfig,
      timeline: ActiveTimeline,
      contents: InstantContents,
      cache: BlockCache = new BlockCache,
      history: (String, TableConfig) => TimelineHistory = (_, _) => TimelineHistory.Empty
  ): Option[StockRecordIndex] =
    if (!config.metadataPartitions.contains(RecordIndexPartition)) None
    else
      Some(
        new MetadataTableOpener(storage, tablePath, timeline, contents, cache, history)
          .recordIndex(DataFiles.of(config))
      )

  /** Where a record of partition `files` goes that is written now. The metadata table must be there; DamagedTable if it
    * cannot be understood. Arguments as `open`.
    */
  def filesGroup(
      storage: Storage,
      tablePath: String,
      timeline: ActiveTimeline,
      contents: InstantContents,
      history: (String, TableConfig) => TimelineHistory = (_, _) => TimelineHistory.Empty
  ): MetadataFileGroup =
    new MetadataTableOpener(storage, tablePath, timeline, contents, new BlockCache(0L), history).filesGroup()

  /** Base path of a table's metadata table. */
  def path(tablePath: String): String = Storage.join(tablePath, Folder)

  private final class MetadataTableOpener(
      storage: Storage,
      tablePath: String,
      timeline: ActiveTimeline,
      contents: InstantContents,
      cache: BlockCache,
      history: (String, TableConfig) => TimelineHistory
  ) {
    private val root = path(tablePath)
    private val ownConfig = TableConfig.read(storage, root)
    private val own =
      TimelineReader.read(
        storage,
        ownConfig.timelineDir(root),
        ownConfig.timelineLayout,
        ownConfig.timelineZone,
        ownConfig.timelineFolder
      )
    private val ownContents = new InstantContents(storage, own.dir, listed = own.file)
    private val archived = history(root, ownConfig)
    private val completedLater = new java.util.HashMap[String, Option[String]]()
    private val view = {
      val completions = ViewTimeline.withFileTimes(own, ownConfig, archivedCompletion(_))
      ViewTimeline(own, ownConfig.format, mergeOnRead = true, plans, completions)
    }
    private val valid = validInstants
    private val opened = Vector.newBuilder[AutoCloseable]

    private def archivedCompletion(instantTime: String): Option[String] =
      completedLater.computeIfAbsent(instantTime, t => archived.completionTime(t))

    private def plans: PendingPlans = PendingPlans(
      own
        .pending(Action.Compaction)
        .flatMap { i =>
          ownContents.compactionPlan(i).map(p => FileGroup(p.partitionPath, p.fileId) -> i.requestedTime)
        }
        .toMap,
      Map.empty
    )

    def open(known: DataFiles): MetadataTableListing =
      closingOnFailure {
        val files = new ListedPartition(FilesPartition)
        val layers = files.slices.flatMap(s => s.baseFile.map(b => baseLayer(b.fileName)).toVector ++ logLayers(s))
        val names = Some(new MetadataNames(tablePath, known, timeline, contents))
        val usable = files.areCertain && inStep(new MetadataTableListing(layers, false, names))
        new MetadataTableListing(layers, usable, names)
      }

    def recordIndex(known: DataFiles): StockRecordIndex =
      try {
        val isInStep = open(known).inStep
        val partition = new ListedPartition(RecordIndexPartition)
        val groups = partition.slices.map { slice =>
          val blocks = countedBlocks(RecordIndexPartition, slice)
          StockFileGroup(slice.fileId, slice.baseFile.map(_.fileName), blocks.map(b => StockLogBlock(b._1, b._3)))
        }
        // A log compaction's block stands behind younger ones; its place among them is not told here.
        val isPlain = !groups.exists(_.blocks.exists(_.block.isLogCompaction))
        StockRecordIndex(Storage.join(root, RecordIndexPartition), groups, isInStep && partition.areCertain && isPlain)
      } finally opened.result().foreach(_.close())

    def filesGroup(): MetadataFileGroup =
      try {
        val files = new ListedPartition(FilesPartition)
        files.latest match {
          case Vector(slice) => MetadataFileGroup(ownConfig, slice, schemaOf(files.slices.head))
          case other         =>
            throw new DamagedTable(
              s"$root: partition '$FilesPartition' has ${other.size} file groups instead of one; rebuild the metadata table"
            )
        }
      } finally opened.result().foreach(_.close())

    /** Of a slice's records: the base file's, or the newest log block's. */
    private def schemaOf(slice: FileSlice): String =
      slice.baseFile
        .map(b => baseLayer(b.fileName).writerSchema)
        .orElse(logLayers(slice).lastOption.map(_.writerSchema))
        .getOrElse(
          throw new DamagedTable(s"$root: partition '$FilesPartition' has no records; rebuild the metadata table")
        )

    private def closingOnFailure[A](body: => A): A =
      try body
      catch {
        case NonFatal(e) =>
          opened.result().foreach(_.close())
          throw e
      }

    /** One partition of the metadata table. */
    private final class ListedPartition(name: String) extends FileSource {
      private lazy val listed: Array[FileEntry] =
        storage
          .list(Storage.join(root, name))
          .filterNot(_.isDirectory)
          .flatMap(f => FileName.parse(name, f.name, f.sizeBytes))
          .filter(f => view.isCommitted(f.instantTime) || (view.slicesByName && !f.isBase))
          .toArray

      def partitions: Vector[String] = Vector(name)
      def files(partitionPath: String): Array[FileEntry] = listed

      lazy val slices: Vector[FileSlice] = new FileSystemView(this, view).latestMergedFileSlices(name)

      /** Behind a pending compaction the slices that begin there. */
      def latest: Vector[FileSlice] = new FileSystemView(this, view).latestFileSlices(name)

      def areCertain: Boolean = slices.nonEmpty && (view.slicesByName || {
        val bases = slices.map(s => s.fileId -> s.baseInstantTime).toMap
        listed.forall(f => f.isBase || bases.get(f.fileId).forall(isCertain(f.instantTime, _)))
      })

      /** A log file of an archived instant may belong to a later slice than its name says: only its completion tells. */
      private def isCertain(logTime: String, baseTime: String): Boolean =
        logTime >= baseTime || logTime.startsWith(InitInstantPrefix) || own.isCompletedWrite(logTime) ||
          archivedCompletion(logTime).isDefined
    }

    private def openFile(partition: String, name: String): RandomReader = {
      val path = Storage.join(Storage.join(root, partition), name)
      val reader = MetadataTable.opened(storage, path, instead = ", or list without it")
      opened += reader
      reader
    }

    private def layer(content: RandomReader, schema: Option[String], closing: AutoCloseable): MetadataLayer = {
      val hfile = HFileReader.open(content, cache, new DamagedTable(_))
      val own = hfile.fileInfo.get("schema").map(new String(_, UTF_8))
      val known = schema.orElse(own).getOrElse {
        throw new DamagedTable(
          s"${content.path}: HFile of the metadata table has no schema; rebuild the metadata table"
        )
      }
      new MetadataLayer(hfile, known, content.path, closing)
    }

    private def baseLayer(name: String): MetadataLayer = {
      val reader = openFile(FilesPartition, name)
      layer(reader, None, reader)
    }

    private def logLayers(slice: FileSlice): Vector[MetadataLayer] =
      countedBlocks(FilesPartition, slice).collect {
        case (_, reader, block) if block.kind == LogBlockKind.HFileData =>
          layer(BlockReader.contentReader(reader, block), block.schema, reader)
      }

    /** The valid blocks of a slice's log files, rolled-back ones taken out, in order: with the file's name and the file. */
    private def countedBlocks(partition: String, slice: FileSlice): Vector[(String, RandomReader, LogBlock)] = {
      val queue = new BlockQueue[(String, RandomReader, LogBlock)]
      slice.logFiles.foreach { file =>
        val reader = openFile(partition, file.fileName)
        BlockReader.blocks(reader).filter(counts(_)).foreach { block =>
          if (block.isRollback) queue.rollBack(block.targetInstantTime)
          else queue.add(block.instantTime, (file.fileName, reader, block))
        }
      }
      queue.left
    }

    private def counts(block: LogBlock): Boolean =
      block.kind != LogBlockKind.Corrupt && block.instantTime.exists { t =>
        val completed = !view.slicesByName || block.kind == LogBlockKind.Command || view.isCommitted(t)
        completed && (t.startsWith(InitInstantPrefix) || valid(t))
      }

    /** Instants whose blocks count: the metadata table runs ahead of the data table, so that its own completion says
      * nothing. What a completed rollback undid counts as well, since the rollback's own block comes after it.
      */
    private def validInstants: Set[String] = {
      val data = timeline.completed.map(_.requestedTime)
      val pending = timeline.instants.filterNot(_.isCompleted).map(_.requestedTime).toSet
      val ahead =
        own.completed.filter(i => i.action == Action.DeltaCommit && !pending(i.requestedTime)).map(_.requestedTime)
      val undoing = own.completed.filter(i => i.action == Action.Rollback || i.action == Action.Restore)
      (data ++ ahead ++ undone(timeline, contents) ++ undone(own, ownContents) ++ undoing.map(_.requestedTime)).toSet
    }

    private def undone(of: ActiveTimeline, from: InstantContents): Vector[String] =
      of.completed.filter(_.action == Action.Rollback).flatMap(from.rollback(_).commitsRolledBack) ++
        of.completed.filter(_.action == Action.Restore).flatMap(from.restore(_).removedInstants)

    /** True if nothing completed on the data table is missing here. Commits and cleans have a delta commit of their own
      * instant, from the first on that came after the metadata table was made (older ones were in the listing that it was
      * made from). What a rollback or restore undid must be gone here, or have such a delta commit behind it.
      */
    private def inStep(files: FileSource): Boolean = {
      val seen = own.completedWrites.map(_.requestedTime).filterNot(_.startsWith(InitInstantPrefix)).toSet
      def gone(undone: Vector[String]): Boolean = !undone.exists(seen)
      val changing = timeline.completed.filter(i => FileChanging(i.action))
      if (seen.isEmpty) madeFromAll(changing, files)
      else {
        val first = seen.min
        changing.forall { i =>
          seen(i.requestedTime) || i.requestedTime < first || (i.action match {
            case Action.Rollback => gone(contents.rollback(i).commitsRolledBack)
            case Action.Restore  => gone(contents.restore(i).removedInstants)
            case _               => false
          })
        }
      }
    }

    /** A metadata table that nobody wrote to since it was made: it holds all if it holds the instant that completed last,
      * for it is made from the files of instants that were complete before the listing began.
      */
    private def madeFromAll(changing: Vector[Instant], files: FileSource): Boolean = {
      val newestFirst = changing.sortBy(i => (i.completionTime.getOrElse(i.requestedTime), i.requestedTime)).reverse
      newestFirst.iterator.map(i => shows(i, files)).collectFirst { case Some(answer) => answer }.getOrElse(true)
    }

    /** Whether the files are as the instant left them; None if it did nothing to them. */
    private def shows(instant: Instant, files: FileSource): Option[Boolean] = instant.action match {
      case Action.Commit | Action.DeltaCommit | Action.ReplaceCommit =>
        val written = contents.commit(instant).writeStats.flatMap(s => s.fileName.map(s.partitionPath -> _))
        written.headOption.map { case (partition, name) => files.files(partition).exists(_.fileName == name) }
      case Action.Clean =>
        val deleted = for {
          (partition, cleaned) <- contents.clean(instant).partitions.toVector
          name <- cleaned.deletedFileNames
        } yield partition -> name
        deleted.headOption.map { case (partition, name) => !files.files(partition).exists(_.fileName == name) }
      case _ => Some(false)
    }
  }
}

/** The file group of the metadata table's partition `files`.
  *
  * @param config of the metadata table
  * @param slice  the newest
  * @param schema Avro JSON of its records
  */
final case class MetadataFileGroup(config: TableConfig, slice: FileSlice, schema: String)
