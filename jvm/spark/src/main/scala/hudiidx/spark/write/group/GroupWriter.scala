package hudiidx.spark.write.group

import scala.collection.BufferedIterator

import hudiidx.log.OrderingValue
import hudiidx.spark.read.BaseFileReaderFactory
import hudiidx.spark.pinned.SharedTable
import hudiidx.spark.write.options.BaseFileOptions
import hudiidx.write.format.WrittenFile
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.Expression
import org.apache.spark.sql.types.StructType

/** What the tasks of a write need to know; sent to them.
  *
  * @param writer      of the heartbeat of the write
  * @param dataSchema  Avro JSON of the columns
  * @param blockSchema the same with meta columns
  * @param ordering    of a row of the columns
  * @param inMillis    the ordering value is a time of which files keep milliseconds
  * @param isDeleted   place of `_hoodie_is_deleted` among the columns; -1: there is none
  * @param keepsEach   of the rows of one key that go to a base file each is written, not the last alone
  * @param base        how base files are written
  * @param readers     of file slices that are written anew, as the rows of base files are; None if there are none
  */
final case class GroupWrite(
    table: SharedTable,
    instant: String,
    writer: String,
    groups: WriteGroups,
    dataSchema: String,
    blockSchema: String,
    struct: StructType,
    ordering: Option[Expression],
    inMillis: Boolean,
    isDeleted: Int,
    keepsEach: Boolean,
    blockBytes: Int,
    base: BaseFileOptions,
    readers: Option[BaseFileReaderFactory]
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

  /** The ordering value of a delete, as rows have it. */
  private[write] def orderingOf(row: InternalRow): OrderingValue =
    if (row.isNullAt(RowForm.Columns)) OrderingValue.Default
    else
      ordering.fold(OrderingValue.Default) { column =>
        OrderingOf.value(column.dataType, column.eval(row.getStruct(RowForm.Columns, struct.length)))
      }

  /** The same as a log has it. Of a time in milliseconds Hudi 0.15 compares what files have, from version 8 on Spark's readers compare
    * microseconds.
    */
  private[write] def loggedOrderingOf(row: InternalRow): OrderingValue = {
    val value = orderingOf(row)
    if (!inMillis || value.isDefault || table.config.format.logsOfOneWrite) value
    else OrderingValue.ofLong(Math.floorDiv(value.value.asInstanceOf[Long], 1000L))
  }
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

/** A row on its way: group number, key, whether it has a location, the columns, null where keys are to be deleted, and whether it deletes all
  * rows of its key, in a group that is written anew.
  */
private[write] object RowForm {
  val Group = 0
  val Key = 1
  val IsKnown = 2
  val Columns = 3
  val TakesEach = 4
}

/** Writes the files of one task: of each file group that rows come for, one. Rows come sorted by group, key and ordering
  * value, and of those of one key the last is written, unless each is kept. A log would give its readers one of them alone.
  *
  * @param token of this try of the task, in the names of files
  */
final class GroupWriter(write: GroupWrite, token: String) {
  private val numbers = new SequenceNumbers(write.instant, token)
  private val logs = new GroupLogs(write, numbers, token)
  private val bases = new GroupBaseFiles(write, numbers, token)
  private val rewrites = new GroupRewrites(write, bases, numbers, token)

  def run(rows: Iterator[InternalRow]): Iterator[WrittenFile] = GroupRows.each(rows, keepsEach) { (number, ofGroup) =>
    val target = write.groups.all(number)
    if (!write.skipIdle(ofGroup)) None
    else
      Some(target.files match {
        case GroupFiles.Log     => logs.write(target, ofGroup)
        case GroupFiles.NewBase => bases.write(target, ofGroup)
        case GroupFiles.Rewrite => rewrites.write(target, ofGroup)
      })
  }

  private def keepsEach(number: Int): Boolean = write.keepsEach && write.groups.all(number).files != GroupFiles.Log
}

private object GroupRows {

  /** What `use` makes of the groups that the rows come for, one after the other; told the group's number.
    *
    * @param keepsEach of a group, by its number: each row counts
    */
  def each(rows: Iterator[InternalRow], keepsEach: Int => Boolean)(
      use: (Int, GroupRows) => Option[WrittenFile]
  ): Iterator[WrittenFile] = {
    val ahead = rows.buffered
    val files = Vector.newBuilder[WrittenFile]
    while (ahead.hasNext) {
      val number = ahead.head.getInt(RowForm.Group)
      files ++= use(number, new GroupRows(ahead, number, keepsEach(number)))
    }
    files.result().iterator
  }
}

/** The rows of one group, of each key the last, unless each is kept. */
final private class GroupRows(all: BufferedIterator[InternalRow], number: Int, keepsEach: Boolean)
    extends BufferedIterator[InternalRow] {
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
    (last == null || !keepsEach && last.getUTF8String(RowForm.Key) == row.getUTF8String(RowForm.Key))
}
