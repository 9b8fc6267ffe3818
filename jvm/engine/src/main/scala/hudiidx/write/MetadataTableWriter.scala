package hudiidx.write

import hudiidx.storage.Storage
import hudiidx.sync.TableContext
import hudiidx.table._
import hudiidx.table.listing.{MetadataFileGroup, MetadataTable}
import hudiidx.timeline._
import hudiidx.write.format.{BytesPiece, CommitContent, CompletedFiles, CompletedWrite, LogBlockWriter, WrittenFile}
import hudiidx.{DamagedTable, Log, NotAHudiTable, WriteConflict}

/** A data file that an instant added, let grow or deleted.
  *
  * @param partitionPath empty for a table that is not partitioned
  * @param sizeBytes     of the whole file; None: it is gone
  */
final case class FileChange(partitionPath: String, fileName: String, sizeBytes: Option[Long])

/** Keeps Hudi's own metadata table in step with instants that hudiidx completes: partition `files` as stock Hudi does. Where it has
  * others that would have to know of the instant too, it goes whole, so that nobody asks them for what they have not seen. Stock
  * Hudi makes it anew with its next write. Format notes §10.
  *
  * Who completes an instant calls `commit` when all its files are there, just before; who rolls one back calls `undo` while
  * the instant is still pending. In between the metadata table is ahead, and nobody counts what it has of a pending instant.
  */
object MetadataTableWriter {
  private val log = Log.of(classOf[OpenWrite])
  private val SecondaryIndex = "secondary_index_"
  private val Inflight = s".${Action.DeltaCommit}.inflight"
  private val Requested = s".${Action.DeltaCommit}.requested"

  val RecordIndex = "record_index"

  /** Nothing happens to a table without a metadata table. One that cannot be understood is taken away. WriteConflict if a
    * part of it is being built: who does that skips instants that it finds in the metadata table.
    *
    * @param table     its instants as they are now; properties are read again
    * @param changes   all that the instant did to files
    * @param keepsKeys each record stays as it is, in its file group: what maps keys stays true
    * @param before    what is to hold before anything is done; it raises an error where it does not
    * @return true if there is a metadata table, or was
    */
  def commit(
      table: TableContext,
      instant: String,
      changes: Vector[FileChange],
      keepsKeys: Boolean,
      before: () => Unit = () => ()
  ): Boolean = {
    val (storage, path) = (table.storage, table.tablePath)
    table.timeline.pending(Action.Indexing).headOption.foreach(i => throw PendingWrites.isAtWork(path, i))
    val (config, _) = Storage.both(storage, path)(TableConfig.read(storage, path), before())
    if (config.timelineDir(path) != table.timeline.dir)
      throw new WriteConflict(s"$path: the table was made anew during the write $instant; write again")
    keepInStep(table, instant, changes, config, notKept(config, keepsKeys))
    config.metadataPartitions.nonEmpty || config.inflightMetadataPartitions.nonEmpty
  }

  private def keepInStep(
      table: TableContext,
      instant: String,
      changes: Vector[FileChange],
      config: TableConfig,
      others: Vector[String]
  ): Unit = {
    val (storage, path) = (table.storage, table.tablePath)
    if (config.metadataPartitions.contains(MetadataTable.FilesPartition))
      try {
        if (others.nonEmpty) remove(storage, path, reason(others))
        else {
          val group = filesGroup(table)
          append(storage, path, group, instant, FilesRecords.content(group.schema, changes), changes.size)
        }
      } catch { case e @ (_: NotAHudiTable | _: DamagedTable) => remove(storage, path, e.getMessage) }
    else if (config.inflightMetadataPartitions.nonEmpty) remove(storage, path, "it was never finished")
  }

  /** Partitions that would hold no more. Taken out alone, stock Hudi would make them anew out of all files that `files` names. Where
    * it cleans or rolls back first, those that it has just removed are among them, and it goes no further; without `files` it lists
    * what is there.
    */
  private def notKept(config: TableConfig, keepsKeys: Boolean): Vector[String] = {
    def isTrue(partition: String): Boolean = partition == MetadataTable.FilesPartition ||
      (keepsKeys && (partition == RecordIndex || partition.startsWith(SecondaryIndex)))
    val others = config.metadataPartitions.filterNot(isTrue) ++ config.inflightMetadataPartitions
    others.distinct.sorted
  }

  private def reason(others: Vector[String]): String = {
    val kept = s"this writer does not keep its partitions ${others.mkString(", ")}"
    if (!others.contains(RecordIndex)) kept
    else
      s"$kept; compact before a write of stock Hudi 1.1 with RECORD_LEVEL_INDEX, which would insert again keys that are deleted in logs"
  }

  private def filesGroup(table: TableContext): MetadataFileGroup = MetadataTable.filesGroup(
    table.storage,
    table.tablePath,
    table.timeline,
    table.contents,
    table.access.histories.open(table.storage, _, _)
  )

  /** The whole metadata table goes, as it does when stock Hudi writes with `hoodie.metadata.enable=false`. */
  private def remove(storage: Storage, tablePath: String, why: String): Unit = {
    log.warn(
      "{}: Hudi's metadata table is taken away ({}); stock Hudi makes it anew with its next write",
      tablePath,
      why: Any
    )
    // Properties first: a folder that nobody reads may be there.
    PropertiesFile.update(storage, tablePath)(
      _ + (TableConfig.MetadataPartitions -> "") + (TableConfig.InflightMetadataPartitions -> "")
    )
    storage.delete(MetadataTable.path(tablePath)): Unit
  }

  /** A deltacommit of one log file. Its inflight file has the file's name, by which `undo` finds it. */
  private def append(
      storage: Storage,
      tablePath: String,
      group: MetadataFileGroup,
      instant: String,
      records: Vector[BytesPiece],
      changed: Int
  ): Unit = {
    val root = MetadataTable.path(tablePath)
    val dir = group.config.timelineDir(root)
    if (!storage.publish(s"$dir/$instant$Requested", Array.emptyByteArray)) throw taken(tablePath, instant)
    val block = LogBlockWriter.block(hudiidx.log.LogBlockKind.HFileData, instant, group.schema, records)
    val file = newFile(storage, root, group, instant, block.length.toLong, changed)
    val content =
      CommitContent.of(CompletedWrite("UPSERT_PREPPED", group.schema, Vector(file)), group.config.format, instant)
    storage.publish(s"$dir/$instant$Inflight", content)
    if (!storage.publish(s"$root/${file.path}", block)) throw taken(tablePath, instant)
    val done = CompletedFiles.path(
      dir,
      group.config,
      instant,
      Action.DeltaCommit,
      InstantTime.next(instant, System.currentTimeMillis(), group.config.timelineZone)
    )
    if (!storage.publish(done, content)) throw taken(tablePath, instant)
  }

  private def newFile(
      storage: Storage,
      root: String,
      group: MetadataFileGroup,
      instant: String,
      bytes: Long,
      changed: Int
  ): WrittenFile = {
    val slice = group.slice
    val byName = !group.config.format.logsOfOneWrite
    val named = if (byName) slice.instantOfLogs else instant
    val first = if (byName) (0 +: slice.logFiles.map(_.version)).max + 1 else 1
    // What a failed write left may have the name.
    val (name, version) = Iterator
      .from(first)
      .map(v => FileName.render(slice.fileId, named, "0-0-0", FileKind.Log, v) -> v)
      .find { case (n, _) => !storage.isThere(s"$root/${MetadataTable.FilesPartition}/$n") }
      .get
    WrittenFile(
      MetadataTable.FilesPartition,
      slice.fileId,
      name,
      version,
      slice.baseInstantTime,
      slice.baseFile.fold("")(_.fileName),
      slice.logFiles.map(_.fileName),
      isNewGroup = false,
      bytes,
      inserts = 0,
      updates = changed.toLong,
      deletes = 0
    )
  }

  private def taken(tablePath: String, instant: String): WriteConflict = new WriteConflict(
    s"$tablePath: another writer did the same step of $instant in Hudi's metadata table; write again, and let one writer at a " +
      "time write"
  )

  /** Takes away what `commit` did for an instant that is still pending. Each step may be the last one of a process: the next
    * call does the rest. A metadata table taken away stays so.
    */
  def undo(storage: Storage, tablePath: String, instant: String): Unit = {
    val root = MetadataTable.path(tablePath)
    val config =
      try Some(TableConfig.read(storage, root, _ => ()))
      catch { case _: NotAHudiTable => None }
    config.foreach { c =>
      val dir = c.timelineDir(root)
      if (storage.isThere(s"$dir/$instant$Requested")) {
        val files = announced(storage, dir, instant).map(Storage.join(root, _))
        if (!c.format.logsOfOneWrite && files.exists(SharedLogs.hasOthers(storage, _, instant)))
          remove(
            storage,
            tablePath,
            s"stock Hudi has appended to what the write $instant, which is rolled back, put there"
          )
        else {
          CompletedFiles.of(storage, dir, c, instant, Action.DeltaCommit).foreach(f => storage.delete(f))
          files.foreach(f => storage.delete(f))
          Vector(Inflight, Requested).foreach(suffix => storage.delete(s"$dir/$instant$suffix"))
        }
      }
    }
  }

  /** Files of the partition that the inflight instant names; it is believed in nothing else. */
  private def announced(storage: Storage, dir: String, instant: String): Vector[String] =
    if (!storage.isThere(s"$dir/$instant$Inflight")) Vector.empty
    else {
      val inflight = Instant(instant, Action.DeltaCommit, InstantState.Inflight, None, s"$instant$Inflight")
      val named = new InstantContents(storage, dir).commit(inflight).writeStats.flatMap(_.path)
      named.filter(f => f.startsWith(s"${MetadataTable.FilesPartition}/") && !Storage.leaves(f))
    }
}
