package hudiidx.spark.write.group

import hudiidx.DamagedTable
import hudiidx.bytes.PackedOutput
import hudiidx.log.CountedBlock
import hudiidx.logindex.LogLookup
import hudiidx.spark.rows.AvroEncoder
import hudiidx.storage.Storage
import hudiidx.table._
import hudiidx.write._
import hudiidx.write.format.{EarlierFilters, LogFileWriter, PartitionMetafile, WrittenFile}
import org.apache.avro.Schema
import org.apache.spark.sql.catalyst.InternalRow

/** Writes log files of one task: one to a file group.
  *
  * @param token of this try of the task, in the names of files
  */
final class GroupLogs(write: GroupWrite, numbers: SequenceNumbers, token: String) {
  private val storage: Storage = write.table.context.storage
  private val config = write.table.config
  private val tablePath = write.table.path
  private val markers = new Markers(storage, tablePath, config.format, write.instant)
  private val records = new LogRecords(write, numbers)

  /** @param rows at least one that is written */
  def write(target: TargetGroup, rows: GroupRows): WrittenFile = {
    PartitionMetafile.ensure(storage, tablePath, write.table.config, target.partitionPath, write.instant)
    val folder = Storage.join(tablePath, target.partitionPath) + "/"
    val blocks = target.slice.fold(Vector.empty[CountedBlock])(blocksOf)
    target.read.foreach { read =>
      PositionedLogs.requireSameByKey(write.table, read, if (target.planned.isEmpty) blocks else blocksOf(read))
    }
    val earlier = earlierFilters(blocks, folder)
    val sliceInstant = target.slice.fold(write.instant)(_.baseInstantTime)
    val named = if (!config.format.logsOfOneWrite) target.slice.fold(write.instant)(_.instantOfLogs) else write.instant
    val first =
      if (!config.format.logsOfOneWrite) target.slice.fold(1)(s => (0 +: s.logFiles.map(_.version)).max + 1) else 1
    // Only what a writer left that failed before can have a name: with the next version none has. A log of one write bears its instant
    // and the token of one of its tasks.
    def isFree(name: String) = config.format.logsOfOneWrite || !storage.isThere(folder + name)
    val (name, version) = Iterator
      .from(first)
      .map(v => FileName.render(target.fileId, named, token, FileKind.Log, v) -> v)
      .find { case (n, _) => isFree(n) }
      .get
    file(target, rows, name, version, sliceInstant, earlier)
  }

  private def file(
      target: TargetGroup,
      rows: GroupRows,
      name: String,
      version: Int,
      sliceInstant: String,
      earlier: EarlierFilters
  ): WrittenFile = {
    val counts = new RowCounts
    var size = 0L
    markers.write(write.writer, target.partitionPath, name) { out =>
      val log =
        new LogFileWriter(out, name, target.partitionPath, write.instant, write.blockSchema, earlier, write.blockBytes)
      val names = new MetaNames(target)
      while (write.skipIdle(rows)) records.add(rows.next(), log, names, counts)
      log.finish()
      size = log.written
    }
    WrittenFile(
      target.partitionPath,
      target.fileId,
      name,
      version,
      sliceInstant,
      target.slice.flatMap(_.baseFile).fold("")(_.fileName),
      target.slice.fold(Vector.empty[String])(_.logFiles.map(_.fileName)),
      target.slice.isEmpty,
      size,
      counts.inserts,
      counts.updates,
      counts.deletes
    )
  }

  /** A log that cannot be read gets no filters from its past: the new blocks then answer for themselves. */
  private def blocksOf(slice: FileSlice): Vector[CountedBlock] =
    try PositionedLogs.blocks(write.table, slice)
    catch { case _: DamagedTable => Vector.empty }

  private def earlierFilters(blocks: Vector[CountedBlock], folder: String): EarlierFilters =
    if (blocks.isEmpty) EarlierFilters.None
    else
      try {
        val lookup = new LogLookup(storage, blocks)
        EarlierFilters(lookup.chain(folder), lookup.load(folder))
      } catch { case _: DamagedTable => EarlierFilters.None }
}

final private[write] class RowCounts {
  var inserts, updates, deletes = 0L
}

/** Partition path and file id as the records of a group have them. */
final private[write] class MetaNames(target: TargetGroup) {
  val partitionPath: Array[Byte] = target.partitionPath.getBytes("UTF-8")
  val fileId: Array[Byte] = target.fileId.getBytes("UTF-8")
}

/** Puts rows into logs. */
final private[write] class LogRecords(write: GroupWrite, numbers: SequenceNumbers) {
  private val encode = AvroEncoder.record(new Schema.Parser().parse(write.dataSchema), write.struct, write.table.path)
  private val datum = new PackedOutput(1 << 12)
  private val instantBytes = write.instant.getBytes("UTF-8")

  def add(row: InternalRow, log: LogFileWriter, names: MetaNames, counts: RowCounts): Unit = {
    val key = row.getUTF8String(RowForm.Key).getBytes
    if (write.isDelete(row)) {
      log.delete(key, write.loggedOrderingOf(row))
      counts.deletes += 1
    } else {
      record(row, key, names)
      log.add(key, key.length, datum.array, datum.size)
      if (row.getBoolean(RowForm.IsKnown)) counts.updates += 1 else counts.inserts += 1
    }
  }

  /** The record in `datum`: the meta columns, then the others. */
  private def record(row: InternalRow, key: Array[Byte], names: MetaNames): Unit = {
    datum.clear()
    meta(instantBytes)
    meta(numbers.next().getBytes("UTF-8"))
    meta(key)
    meta(names.partitionPath)
    meta(names.fileId)
    encode(row.getStruct(RowForm.Columns, write.struct.length), datum)
  }

  /** The second member of a union with null. */
  private def meta(text: Array[Byte]): Unit = {
    datum.zigzag(1L)
    AvroEncoder.sized(datum, text)
  }
}
