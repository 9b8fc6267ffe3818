package hudiidx.spark.stream

import java.nio.ByteBuffer
import java.util.{HashSet => JSet}

import scala.collection.mutable

import hudiidx.DamagedTable
import hudiidx.slice.LogReaders
import hudiidx.log.{ChangeRecord, ChangeRecords, LogKeys, LogKeysOptions, SliceLog}
import hudiidx.merge.MergeRules
import hudiidx.spark.pinned.SharedTable
import hudiidx.spark.read.{BaseFileReaderFactory, FileSliceSplit, RecordKeyFilter}
import hudiidx.storage.{CloseableIterator, Storage}
import hudiidx.table._
import hudiidx.table.query.{Change, ChangeLogging, GroupChanges, SliceMoment}
import org.apache.spark.TaskContext
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.connector.read.PartitionReader
import org.apache.spark.sql.types.StructType
import org.apache.spark.sql.vectorized.ColumnarBatch
import org.apache.spark.unsafe.types.UTF8String

/** The changes of a file group.
  *
  * @param fixed values of columns that its files do not hold
  */
final private[spark] case class GroupWork(found: GroupChanges, fixed: Map[String, Any])

/** What tasks must know to tell changes; sent to them.
  *
  * @param columns as `readers` reads them
  * @param images  the table's Avro schema without meta columns, JSON
  */
final private[spark] case class ChangeReading(
    table: SharedTable,
    timeline: ViewTimeline,
    mergesAs11: Boolean,
    columns: StructType,
    images: String,
    logging: ChangeLogging,
    readers: BaseFileReaderFactory
) {
  private type Images = Map[ByteBuffer, Vector[String]]

  @transient private lazy val text = new ChangeText(columns)
  @transient private lazy val key = columns.fieldIndex(RecordKeyFilter.KeyColumn)
  private def storage: Storage = table.context.storage

  /** Rows of `ChangeData.Columns`. */
  def rows(work: GroupWork): Iterator[InternalRow] =
    runs(work.found.changes).iterator.flatMap(new RunOfChanges(work, _).rows)

  /** Changes in one slice's log follow one another: the rows after one are those before the next. */
  private def runs(changes: Vector[Change]): Vector[Vector[Change]] =
    changes.foldLeft(Vector.empty[Vector[Change]]) { (done, change) =>
      val slice = sliceOfLog(change)
      if (slice.isDefined && done.lastOption.exists(run => sliceOfLog(run.last) == slice))
        done.init :+ (done.last :+ change)
      else done :+ Vector(change)
    }

  private def sliceOfLog(change: Change): Option[FileSlice] = change match {
    case Change.Compared(_, Some(before), Some(after)) if before.slice == after.slice => Some(after.slice)
    case _                                                                            => None
  }

  final private class RunOfChanges(work: GroupWork, run: Vector[Change]) {
    private val folder = Storage.join(table.path, work.found.group.partitionPath)

    def rows: Iterator[InternalRow] = run.head match {
      case recorded: Change.Recorded             => this.recorded(recorded)
      case Change.Compared(instant, None, after) =>
        after.iterator.flatMap(imagesOf).map { case (_, image) => row("i", instant, null, image) }
      case Change.Compared(instant, before, None) =>
        before.iterator.flatMap(imagesOf).map { case (_, image) => row("d", instant, image, null) }
      case first @ Change.Compared(_, Some(before), _) if sliceOfLog(first).isDefined => inLog(before)
      case Change.Compared(instant, Some(before), Some(after))                        =>
        val (old, now) = (byKey(imagesOf(before)), byKey(imagesOf(after)))
        differences(instant, old, now, ChangeText.withoutFile)
    }

    /** Only of keys that the blocks touch are rows kept, before and after. */
    private def inLog(first: SliceMoment): Iterator[InternalRow] = {
      val keys = touched(first.slice, run.map(_.instant))
      def of(moment: SliceMoment) = byKey(imagesOf(moment).filter(i => keys.contains(i._1)))
      var (before, asOf) = (of(first), first.asOf)
      run.iterator.collect { case Change.Compared(instant, Some(earlier), Some(after)) =>
        // A commit between them may have been told before: its request came to the timeline earlier than theirs.
        if (isWrittenBetween(asOf, earlier.asOf)) before = of(earlier)
        asOf = after.asOf
        val now = of(after)
        val found = differences(instant, before, now, ChangeText.unlessOf(instant))
        before = now
        found
      }.flatten
    }

    private def isWrittenBetween(from: String, to: String): Boolean =
      table.timeline.completedWrites.exists(i => from < i.requestedTime && i.requestedTime <= to)

    private def touched(slice: FileSlice, instants: Vector[String]): JSet[ByteBuffer] = {
      val counting = TableMergeRules.blocks(table.config, timeline, instants.lastOption, table.damagedAsStock)
      val logs = slice.dataLogFiles.map(l => Storage.join(folder, l.fileName))
      val blocks = SliceLog.countedBlocks(storage, logs, counting)
      val rules = MergeRules.of(table.config, mergesAs11).log
      val found = LogKeys.touchedBy(instants.toSet, storage, blocks, rules, LogReaders.all, LogKeysOptions())
      val keys = new JSet[ByteBuffer]
      try found.foreach(k => keys.add(ByteBuffer.wrap(k.keyUtf8)))
      finally found.close()
      keys
    }

    /** Of rows of one key those that are on both sides are no change; the others are matched one by one. */
    private def differences(
        instant: String,
        before: Images,
        after: Images,
        sameness: String => String
    ): Iterator[InternalRow] =
      (before.keySet ++ after.keySet).iterator.flatMap { key =>
        val (old, now) = (before.getOrElse(key, Vector.empty), after.getOrElse(key, Vector.empty))
        val (left, come) = (ChangeText.without(old, now, sameness), ChangeText.without(now, old, sameness))
        left.map(Option(_)).zipAll(come.map(Option(_)), None, None).map {
          case (Some(b), Some(a)) => row("u", instant, b, a)
          case (b, a)             => row(if (a.isDefined) "i" else "d", instant, b.orNull, a.orNull)
        }
      }

    /** The records are read twice where images are looked up by their keys: a file's images may be larger than memory. */
    private def recorded(change: Change.Recorded): Iterator[InternalRow] = {
      val keys = new JSet[ByteBuffer]
      if (!logging.keepsBefore || !logging.keepsAfter)
        recordsOf(change).flatMap(_.key).foreach(k => keys.add(keyOf(k)))
      def of(moment: Option[SliceMoment]) = byKey(moment.iterator.flatMap(imagesOf).filter(i => keys.contains(i._1)))
      val (before, after) = (of(change.before), of(change.after))
      def image(record: ChangeRecord, in: Images) =
        record.key.flatMap(k => in.get(keyOf(k))).map(_.last).getOrElse(throw lostError(change, record))
      recordsOf(change).map { r =>
        val old = if (logging.keepsBefore) r.before.orNull else if (r.op == "i") null else image(r, before)
        val now = if (logging.keepsAfter) r.after.orNull else if (r.op == "d") null else image(r, after)
        row(r.op, change.instant, old, now)
      }
    }

    private def recordsOf(change: Change.Recorded): Iterator[ChangeRecord] = change.files.iterator.flatMap {
      case (file, bytes) =>
        val byText = table.config.format.imageFloatsByText
        new WhileInTask(ChangeRecords.open(storage, Storage.join(folder, file), images, byText, bytes))
    }

    private def lostError(change: Change.Recorded, record: ChangeRecord) = new DamagedTable(
      s"${Storage.join(folder, change.files.head._1)}: record ${record.key.getOrElse("without a key")} was changed by ${change.instant} " +
        s"(${record.op}), and the base files before and after do not have it; begin after that commit"
    )

    private def imagesOf(moment: SliceMoment): Iterator[(ByteBuffer, String)] = {
      val piece = FileSliceSplit.of(table.path, moment.slice, InternalRow.empty, work.fixed)
      val rows = readers.asOf(moment.asOf).buildColumnarReader(piece)
      new RowsOfReader(rows).map(r => ByteBuffer.wrap(r.getUTF8String(key).getBytes) -> text.of(r))
    }

    private def keyOf(key: String) = ByteBuffer.wrap(UTF8String.fromString(key).getBytes)

    private def byKey(images: Iterator[(ByteBuffer, String)]): Images = {
      val found = mutable.LinkedHashMap.empty[ByteBuffer, Vector[String]]
      images.foreach { case (key, image) => found.put(key, found.getOrElse(key, Vector.empty) :+ image) }
      found.toMap
    }

    private def row(op: String, instant: String, before: String, after: String): InternalRow = InternalRow(
      UTF8String.fromString(op),
      UTF8String.fromString(instant),
      UTF8String.fromString(before),
      UTF8String.fromString(after)
    )
  }
}

/** What is closed behind its last item, or when its task ends. */
final private class WhileInTask[A](items: CloseableIterator[A]) extends Iterator[A] {
  Option(TaskContext.get()).foreach(_.addTaskCompletionListener[Unit](_ => items.close()): Unit)

  override def hasNext: Boolean = items.hasNext || {
    items.close()
    false
  }

  override def next(): A = items.next()
}

/** The rows of batches, each good until the next one. The reader is closed behind the last of them, or when its task ends. */
final private class RowsOfReader(reader: PartitionReader[ColumnarBatch]) extends Iterator[InternalRow] {
  private var isOpen = true
  private var batch: java.util.Iterator[InternalRow] = java.util.Collections.emptyIterator()
  Option(TaskContext.get()).foreach(_.addTaskCompletionListener[Unit](_ => close()): Unit)

  override def hasNext: Boolean = {
    while (isOpen && !batch.hasNext) if (reader.next()) batch = reader.get().rowIterator() else close()
    isOpen
  }

  override def next(): InternalRow = {
    if (!hasNext) throw new NoSuchElementException("no more rows")
    batch.next()
  }

  private def close(): Unit = if (isOpen) {
    isOpen = false
    reader.close()
  }
}
