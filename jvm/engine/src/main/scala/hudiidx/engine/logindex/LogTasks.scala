package hudiidx.engine.logindex

import hudiidx.slice.LogReaders
import hudiidx.log._
import hudiidx.logindex._
import hudiidx.manifest.PartitionKey
import hudiidx.storage.{RandomReader, Storage}
import hudiidx.store.{IndexFile, IndexStore}
import hudiidx.sync.{IndexState, TableAccess, TaskEngine}
import hudiidx.table.{FileGroup, FileSlice, TableConfig, TableMergeRules}
import hudiidx.{DamagedTable, Log, UnsupportedTable}

/** Log files of one file group that are to be read.
  *
  * @param files with their sizes, in log order
  * @param known blocks of them that have a tail kept already
  */
private[logindex] final case class LogWork(group: FileGroup, files: Vector[(String, Long)], known: Set[BlockPlace]) {
  def bytes: Long = files.iterator.map(_._2).sum
}

private[logindex] object LogWork {

  /** The slice's log files that hold rows, as far as `wanted`. */
  def of(slice: FileSlice, known: Set[BlockPlace], wanted: String => Boolean): LogWork = LogWork(
    FileGroup(slice.partitionPath, slice.fileId),
    slice.dataLogFiles.map(f => f.fileName -> f.sizeBytes).filter(f => wanted(f._1)),
    known
  )

  /** In the order of the keys of log index files. */
  def sorted(works: Iterable[LogWork]): Vector[LogWork] = {
    val byKey = works.map(w => LogIndexFile.keyOf(w.group) -> w).toArray
    java.util.Arrays
      .sort(byKey, (a: (Array[Byte], LogWork), b: (Array[Byte], LogWork)) => PartitionKey.Order.compare(a._1, b._1))
    byKey.iterator.map(_._2).toVector
  }
}

/** The tasks that read logs. Made here, so that they carry what they need and nothing else. */
private[logindex] object LogTasks {
  private val log = Log.of("hudiidx.engine.logindex.LogTasks")
  private val PerSlot = 3

  /** Writes the tails of the blocks that have none, at most one file for each share of the logs.
    *
    * @param shares works in the order of keys
    */
  def write(engine: TaskEngine, state: IndexState, shares: Vector[Vector[LogWork]]): Vector[IndexFile] =
    if (shares.isEmpty) Vector.empty
    else {
      var done = 0
      def tell(places: Seq[Int]): Unit = {
        done += places.size
        state.show(done.toDouble / shares.size)
      }
      engine
        .runShowing(
          s"read logs of ${shares.map(_.size).sum} file slices",
          shares,
          tell
        )(writing(state.table.tablePath, state.table.config, state.store.dir, state.instant))
        .flatten
    }

  /** Shares of about the same bytes, in order.
    *
    * @param leastBytes of a share
    */
  def cut(works: Vector[LogWork], slots: Int, leastBytes: Long): Vector[Vector[LogWork]] = {
    val usual = math.max(leastBytes, works.map(_.bytes).sum / (slots * PerSlot) + 1)
    val shares = Vector.newBuilder[Vector[LogWork]]
    var share = Vector.empty[LogWork]
    var bytes = 0L
    works.foreach { w =>
      share :+= w
      bytes += w.bytes
      if (bytes >= usual) {
        shares += share
        share = Vector.empty
        bytes = 0L
      }
    }
    if (share.nonEmpty) shares += share
    shares.result()
  }

  private def writing(
      tablePath: String,
      config: TableConfig,
      dir: String,
      instant: String
  ): (TableAccess, Vector[LogWork]) => Option[IndexFile] = { (access, share) =>
    val store = new IndexStore(access.storage, dir)
    val indexer = new BlockIndexer(TableMergeRules.of(config), LogReaders.all)
    var blocks = 0
    // A name of its own for each time that a task runs.
    val file = store.write(LogIndex.fileName(instant), LogIndex.Kind) { out =>
      blocks = 0
      val writer = new LogIndexFileWriter(out)
      share.foreach { work =>
        val folder = Storage.join(tablePath, work.group.partitionPath)
        writer.group(work.group) { slice =>
          work.files.foreach { case (name, _) =>
            blocks += read(access.storage, Storage.join(folder, name), work.known, indexer, slice)
          }
        }
      }
      writer.finish()
    }
    if (blocks > 0) Some(file)
    else {
      store.delete(file)
      None
    }
  }

  /** Blocks added. What cannot be read has no tail, so readers of the table come upon it themselves. */
  private def read(
      storage: Storage,
      path: String,
      known: Set[BlockPlace],
      indexer: BlockIndexer,
      slice: KeptSliceWriter
  ): Int = passingOver(path, 0) {
    val reader = SliceLog.open(storage, path)
    try
      LogFile.blocks(reader).map(CountedBlock(path, _)).filterNot(b => known(BlockPlace.of(b))).count { block =>
        indexer.lacksTail(reader, block) && add(reader, block, indexer, slice)
      }
    finally reader.close()
  }

  private def add(reader: RandomReader, block: CountedBlock, indexer: BlockIndexer, slice: KeptSliceWriter): Boolean = {
    val tail = passingOver(s"${reader.path}, block at offset ${block.block.offset}", None: Option[KeptTail]) {
      Some(indexer.tail(reader, block))
    }
    tail.foreach(slice.add)
    tail.isDefined
  }

  private def passingOver[A](what: String, orElse: A)(body: => A): A =
    try body
    catch {
      case e @ (_: DamagedTable | _: UnsupportedTable) =>
        log.warn(s"$what: not in the log index: ${e.getMessage}")
        orElse
    }
}
