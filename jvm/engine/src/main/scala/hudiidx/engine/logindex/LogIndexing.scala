package hudiidx.engine.logindex

import hudiidx.column.segment.SegmentPlan
import hudiidx.logindex._
import hudiidx.storage.Storage
import hudiidx.store.{IndexFile, IndexVersion}
import hudiidx.sync._
import hudiidx.table.{FileGroup, FileSlice}

/** Makes the log index of a table as it stands, and brings one up to it. */
private[logindex] final class LogIndexing(engine: TaskEngine, state: IndexState, shareBytes: Long) {
  private val store = state.store
  private val live = new LiveLogsOfView(state)

  def whole(): PartFiles = {
    val works = state.view.partitions.iterator.flatMap(p =>
      state.view.latestMergedFileSlices(p).map(LogWork.of(_, Set.empty, _ => true))
    )
    val written = write(LogWork.sorted(works.filter(_.files.nonEmpty).toVector))
    val files = joined(written)
    PartFiles(files, LogIndexing.Properties, leftovers(written, files))
  }

  /** DamagedIndex if a file of the part is gone or cut, or one that is needed cannot be read. */
  def updated(before: IndexVersion, unseen: Vector[UnseenInstant]): PartFiles = {
    val index = LogIndex.open(store, before, state.table.access.cache)
    try {
      val effects = new InstantEffects
      unseen.foreach(u => effects.take(u.instant, u.content))
      effects.resolveSizes(state.table.storage, state.table.tablePath)
      val works = Vector.newBuilder[LogWork]
      var endsSlices = false
      effects.changes.inKeyOrder.forEachRemaining { change =>
        endsSlices ||= change.touchesExisting || change.addedEntries.exists(_.isBase)
        val added = change.addedEntries.filterNot(_.isBase).map(_.fileName).toSet
        if (added.nonEmpty) works ++= newLogs(change.partitionPath, added, index)
      }
      val written = write(LogWork.sorted(works.result()))
      val old = before.files.filter(_.kind == LogIndex.Kind)
      val kept = if (endsSlices) living(old) else old
      val files = settled(kept ++ written)
      PartFiles(files, LogIndexing.Properties, leftovers(written, files))
    } finally index.close()
  }

  private def newLogs(partition: String, added: Set[String], index: LogIndex): Vector[LogWork] =
    state.view
      .latestMergedFileSlices(partition)
      .filter(_.logFiles.exists(f => added(f.fileName)))
      .map(s => LogWork.of(s, index.kept(FileGroup(s.partitionPath, s.fileId)).places, added))
      .filter(_.files.nonEmpty)

  private def write(works: Vector[LogWork]): Vector[IndexFile] =
    LogTasks.write(engine, state, LogTasks.cut(works, engine.parallelism, shareBytes))

  /** What tasks wrote side by side, in few files. */
  private def joined(files: Vector[IndexFile]): Vector[IndexFile] = {
    var groups = Vector.empty[Vector[IndexFile]]
    files.foreach { f =>
      if (groups.nonEmpty && groups.last.map(_.sizeBytes).sum + f.sizeBytes <= LogIndexing.FullBytes)
        groups = groups.init :+ (groups.last :+ f)
      else groups :+= Vector(f)
    }
    groups.flatMap(merged)
  }

  /** Of the files of before those of which something is live; of which less than half is, it alone. */
  private def living(files: Vector[IndexFile]): Vector[IndexFile] = files.flatMap { f =>
    val (living, all) = opened(Vector(f))(o => LogIndexMerge.liveBytes(o.head, live))
    if (living == 0) Vector.empty else if (living < all / 2) rewritten(Vector(f)) else Vector(f)
  }

  /** Files after an update: as many are merged as leave few, but for those that are full. */
  private def settled(files: Vector[IndexFile]): Vector[IndexFile] = {
    val (full, others) = files.partition(_.sizeBytes >= LogIndexing.FullBytes)
    SegmentPlan.mergeFrom(others.map(_.sizeBytes)) match {
      case Some(place) => full ++ others.take(place) ++ merged(others.drop(place))
      case None        => files
    }
  }

  private def merged(files: Vector[IndexFile]): Vector[IndexFile] = if (files.size < 2) files else rewritten(files)

  private def rewritten(files: Vector[IndexFile]): Vector[IndexFile] = opened(files) { inputs =>
    var blocks = 0
    val file = store.write(LogIndex.fileName(state.instant), LogIndex.Kind) { out =>
      val writer = new LogIndexFileWriter(out)
      blocks = LogIndexMerge.write(inputs, live, writer)
      writer.finish()
    }
    if (blocks > 0) Vector(file)
    else {
      store.delete(file)
      Vector.empty
    }
  }

  private def opened[A](files: Vector[IndexFile])(use: Vector[LogIndexFile] => A): A = {
    val readers = files.map(store.openWhole)
    try use(readers.map(LogIndexFile.open(_, state.table.access.cache)))
    finally readers.foreach(_.close())
  }

  private def leftovers(written: Vector[IndexFile], files: Vector[IndexFile]): Vector[String] =
    written.filterNot(files.contains).map(f => Storage.join(store.dir, f.name))
}

private object LogIndexing {

  /** A file of so many bytes is merged no more unless most of it is dead. */
  val FullBytes: Long = 1L << 30

  private val Properties = Map(LogIndex.Property -> "true")
}

/** The log files of the latest slices. Holds those of one partition. */
private final class LiveLogsOfView(state: IndexState) extends LiveLogs {
  private var partition: String = _
  private var names = Map.empty[String, Set[String]]

  override def of(group: FileGroup): Set[String] = {
    if (group.partitionPath != partition) {
      names = state.view
        .latestMergedFileSlices(group.partitionPath)
        .map((s: FileSlice) => s.fileId -> s.dataLogFiles.map(_.fileName).toSet)
        .toMap
      partition = group.partitionPath
    }
    names.getOrElse(group.fileId, Set.empty)
  }
}
