package hudiidx.spark.write

import scala.collection.BufferedIterator

import hudiidx.DamagedTable
import hudiidx.bytes.PackedOutput
import hudiidx.log.{OrderingValue, SliceLog}
import hudiidx.logindex.LogLookup
import hudiidx.spark.SharedTable
import hudiidx.spark.rows.AvroEncoder
import hudiidx.storage.Storage
import hudiidx.table._
import hudiidx.write._
import org.apache.avro.Schema
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.Expression
import org.apache.spark.sql.types.StructType

/** What the tasks of a write need to know; sent to them.
  *
  * @param writer      of the heartbeat of the write
  * @param dataSchema  Avro JSON of the columns
  * @param blockSchema the same with meta columns
  * @param ordering    of a row of the columns
  * @param isDeleted   place of `_hoodie_is_deleted` among the columns; -1: there is none
  */
final case class LogWrite(
    table: SharedTable,
    instant: String,
    writer: String,
    groups: WriteGroups,
    dataSchema: String,
    blockSchema: String,
    struct: StructType,
    ordering: Option[Expression],
    isDeleted: Int,
    blockBytes: Int
) {

  /** Moves to the first row that is written; false if there is none. Deletes of keys that are nowhere are not. */
  private[write] def skipIdle(rows: GroupRows): Boolean = {
    while (rows.hasNext && isDelete(rows.head) && !rows.head.getBoolean(RowForm.IsKnown)) rows.next()
    rows.hasNext
  }

  private[write] def isDelete(row: InternalRow): Boolean = row.isNullAt(RowForm.Columns) || (isDeleted >= 0 && {
    val columns = row.getStruct(RowForm.Columns, struct.length)
    !columns.isNullAt(isDeleted) && columns.getBoolean(isDeleted)
  })
}

/** Values of `_hoodie_commit_seqno`, of one task. */
private[write] final class SequenceNumbers(instant: String, token: String) {
  private val prefix = s"${instant}_${token.takeWhile(_ != '-')}_"
  private var number = 0L

  def next(): String = {
    val text = prefix + number
    number += 1
    text
  }
}

/** A row on its way: group number, key, whether it has a location, and the columns; null where keys are to be deleted. */
private[write] object RowForm {
  val Group = 0
  val Key = 1
  val IsKnown = 2
  val Columns = 3
}

/** Writes log files of one task: of each file group that rows come for, one. Rows come sorted by group, key and ordering
  * value, and of those of one key the last is written.
  *
  * @param token of this try of the task, in the names of files
  */
final class GroupLogs(write: LogWrite, token: String) {
  private val storage: Storage = write.table.context.storage
  private val config = write.table.config
  private val tablePath = write.table.path
  private val markers = new Markers(storage, tablePath, config.version, write.instant)
  private val encode = AvroEncoder.record(new Schema.Parser().parse(write.dataSchema), write.struct, tablePath)
  private val datum = new PackedOutput(1 << 12)
  private val instantBytes = write.instant.getBytes("UTF-8")
  private val numbers = new SequenceNumbers(write.instant, token)

  def run(rows: Iterator[InternalRow]): Iterator[WrittenFile] =
    GroupRows.each(rows)((number, ofGroup) => group(write.groups.all(number), ofGroup))

  /** None if no row of the group has anything to write. */
  private def group(target: TargetGroup, rows: GroupRows): Option[WrittenFile] =
    if (!write.skipIdle(rows)) None
    else {
      PartitionMetafile.ensure(storage, tablePath, target.partitionPath, write.instant)
      val folder = Storage.join(tablePath, target.partitionPath) + "/"
      val earlier = target.slice.fold(EarlierFilters.None)(earlierFilters(_, folder))
      val sliceInstant = target.slice.fold(write.instant)(_.baseInstantTime)
      val named = if (config.timelineLayout == 1) sliceInstant else write.instant
      var version =
        if (config.timelineLayout == 1) target.slice.fold(1)(s => (0 +: s.logFiles.map(_.version)).max + 1) else 1
      var done: Option[WrittenFile] = None
      while (done.isEmpty) {
        val name = FileName.render(target.fileId, named, token, FileKind.Log, version)
        // Only what a writer left that failed before can have this name: with the next version none has.
        if (storage.status(folder + name).isDefined) version += 1
        else done = Some(file(target, rows, folder, name, version, sliceInstant, earlier))
      }
      done
    }

  private def file(
      target: TargetGroup,
      rows: GroupRows,
      folder: String,
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
      fill(log, rows, new MetaNames(target), counts)
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

  private def fill(log: LogFileWriter, rows: GroupRows, names: MetaNames, counts: RowCounts): Unit = {
    while (write.skipIdle(rows)) {
      val row = rows.next()
      val key = row.getUTF8String(RowForm.Key).getBytes
      if (write.isDelete(row)) {
        log.delete(key, if (row.isNullAt(RowForm.Columns)) OrderingValue.Default else orderingOf(row))
        counts.deletes += 1
      } else {
        record(row, key, names)
        log.add(key, key.length, datum.array, datum.size)
        if (row.getBoolean(RowForm.IsKnown)) counts.updates += 1 else counts.inserts += 1
      }
    }
    log.finish()
  }

  final private class RowCounts {
    var inserts, updates, deletes = 0L
  }

  /** Partition path and file id as the records of a group have them. */
  final private class MetaNames(target: TargetGroup) {
    val partitionPath: Array[Byte] = target.partitionPath.getBytes("UTF-8")
    val fileId: Array[Byte] = target.fileId.getBytes("UTF-8")
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

  private def orderingOf(row: InternalRow): OrderingValue = write.ordering.fold(OrderingValue.Default) { column =>
    OrderingOf.value(column.dataType, column.eval(row.getStruct(RowForm.Columns, write.struct.length)))
  }

  /** A log that cannot be read gets no filters from its past: the new blocks then answer for themselves. */
  private def earlierFilters(slice: FileSlice, folder: String): EarlierFilters =
    if (slice.logFiles.isEmpty) EarlierFilters.None
    else
      try {
        val rules = TableLogRules.blocks(config, write.table.viewTimeline, None)
        val lookup =
          new LogLookup(storage, SliceLog.countedBlocks(storage, slice.logFiles.map(folder + _.fileName), rules))
        EarlierFilters(lookup.chain(folder), lookup.load(folder))
      } catch { case _: DamagedTable => EarlierFilters.None }
}

private object GroupRows {

  /** What `use` makes of the groups that the rows come for, one after the other; told the group's number. */
  def each(rows: Iterator[InternalRow])(use: (Int, GroupRows) => Option[WrittenFile]): Iterator[WrittenFile] = {
    val ahead = rows.buffered
    val files = Vector.newBuilder[WrittenFile]
    while (ahead.hasNext) {
      val number = ahead.head.getInt(RowForm.Group)
      files ++= use(number, new GroupRows(ahead, number))
    }
    files.result().iterator
  }
}

/** The rows of one group, of each key the last. */
final private class GroupRows(all: BufferedIterator[InternalRow], number: Int) extends BufferedIterator[InternalRow] {
  private var next0: InternalRow = fetch()

  override def hasNext: Boolean = next0 != null

  override def head: InternalRow = next0

  override def next(): InternalRow = {
    val row = next0
    next0 = fetch()
    row
  }

  private def fetch(): InternalRow = {
    var last: InternalRow = null
    while (all.hasNext && isMore(last, all.head)) last = all.next().copy()
    last
  }

  private def isMore(last: InternalRow, row: InternalRow): Boolean = row.getInt(RowForm.Group) == number &&
    (last == null || last.getUTF8String(RowForm.Key) == row.getUTF8String(RowForm.Key))
}
