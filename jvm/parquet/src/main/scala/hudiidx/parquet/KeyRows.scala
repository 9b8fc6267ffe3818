package hudiidx.parquet

import java.nio.charset.StandardCharsets.ISO_8859_1
import java.time.{DateTimeException, LocalDate}

import hudiidx.DamagedTable
import hudiidx.log.{OrderingValue, RecordKeyBuilder, RecordKeyForm}
import org.apache.parquet.column.page.PageReadStore
import org.apache.parquet.schema.MessageType

/** Walks the rows of row groups: after `next` gave true the row's key is `length` bytes of `bytes` from `from` on, until the
  * next call. Keys are UTF-8, in the order of the file. Errors as [[BaseFileKeys]].
  */
final class KeyRows private[hudiidx] (groups: Vector[RowGroup], open: RowGroup => KeyRowGroup, path: String)
    extends AutoCloseable {
  private var group: KeyRowGroup = _
  private var nextGroup = 0
  private var left = 0L
  private var rowNumber = -1L

  /** Moves to the next row; false behind the last. */
  def next(): Boolean = BaseFileKeys.guarded(path) {
    while (left == 0 && nextGroup < groups.size) openNext()
    if (left == 0) false
    else {
      left -= 1
      rowNumber += 1
      if (!group.next()) throw new DamagedTable(s"$path: row $rowNumber has no record key; restore the file")
      true
    }
  }

  /** Moves to the next row that one of these instants wrote; false if there is none left. Needs commit times. */
  def nextOf(instants: Set[String]): Boolean = {
    var more = next()
    while (more && !isOf(instants)) more = next()
    more
  }

  def bytes: Array[Byte] = group.bytes
  def from: Int = group.from
  def length: Int = group.length

  /** Number of the current row in the file, from 0. */
  def row: Long = rowNumber

  /** `_hoodie_commit_time` of the current row; null where the file has none. */
  def commitTime: String = group.commitTime

  /** The day of that instant, in days since 1970-01-01; 0 for none, and for instants that are no date (bootstraps). */
  def commitDay: Int = group.commitDay

  /** The row's ordering value, by the ordering fields asked for; Default where the row or the file has none. */
  def ordering: OrderingValue = group.ordering

  /** True if one of these instants wrote the current row. */
  def isOf(instants: Set[String]): Boolean = group.isOf(instants)

  private def openNext(): Unit = {
    close()
    val at = groups(nextGroup)
    nextGroup += 1
    group = open(at)
    left = at.rows
    rowNumber = at.firstRow - 1
  }

  override def close(): Unit = if (group != null) group.close()
}

/** Which columns a row group is read with. */
private[hudiidx] final case class KeyRowLayout(
    storedKeys: Boolean,
    commitTimes: Boolean,
    form: Option[RecordKeyForm],
    ordering: Vector[String]
)

/** The columns of one row group, in step. */
private[hudiidx] final class KeyRowGroup(
    pages: PageReadStore,
    schema: MessageType,
    createdBy: String,
    layout: KeyRowLayout
) {
  private val keys: BytesColumn = if (layout.storedKeys) bytesColumn(BaseFileKeys.KeyColumn) else null
  private val commits: ColumnOfCommitTimes =
    if (layout.commitTimes) new ColumnOfCommitTimes(bytesColumn(BaseFileKeys.CommitTimeColumn)) else null
  private val columns = new FieldColumns(pages, schema, createdBy)
  private val builder: RecordKeyBuilder = layout.form.map(new RecordKeyBuilder(_)).orNull
  private val fields: Array[FieldColumn] = layout.form.fold(Vector.empty[String])(_.fields).map(columns.of).toArray
  private val orderingColumns: Array[FieldColumn] =
    layout.ordering.map(columns.of).toArray
  private var made = false

  private def bytesColumn(name: String): BytesColumn = {
    val descriptor = schema.getColumnDescription(Array(name))
    new BytesColumn(pages.getPageReader(descriptor), descriptor)
  }

  /** False if the row has no key, though keys are asked for. */
  def next(): Boolean = {
    if (commits != null) commits.next()
    if (orderingColumns.length > 0) step(orderingColumns)
    if (keys != null) keys.next()
    if (builder != null) nextMade() else keys == null || !keys.isNull
  }

  private def nextMade(): Boolean = {
    step(fields)
    made = keys == null || keys.isNull
    !made || {
      builder.start()
      var i = 0
      while (i < fields.length) {
        fields(i).put(builder)
        i += 1
      }
      builder.isKey
    }
  }

  private def step(columns: Array[FieldColumn]): Unit = {
    var i = 0
    while (i < columns.length) {
      if (columns(i) != null) columns(i).next()
      i += 1
    }
  }

  def bytes: Array[Byte] = if (made) builder.bytes else keys.bytes
  def from: Int = if (made) 0 else keys.from
  def length: Int = if (made) builder.length else keys.length

  def commitTime: String = if (commits == null) null else commits.time
  def commitDay: Int = if (commits == null) 0 else commits.day
  def isOf(instants: Set[String]): Boolean = commits != null && commits.isOf(instants)

  def ordering: OrderingValue =
    OrderingValue.ofSeveral(orderingColumns.toVector.map(c => if (c == null) OrderingValue.Default else c.ordering))

  def close(): Unit = pages match {
    case closeable: AutoCloseable => closeable.close()
    case _                        => ()
  }
}

/** Commit times of rows. They are few in a file and mostly follow one another, so each is made into a text, a day and a
  * verdict once: by its number in the dictionary, else as long as it stays the same.
  */
private final class ColumnOfCommitTimes(column: BytesColumn) {
  private val times = new Array[String](column.dictionarySize)
  private var last: String = _
  private var lastDay = 0
  private var lastInstants: Set[String] = _
  private var lastIsOf = false

  def next(): Unit = column.next()

  def time: String = {
    if (column.isNull) null
    else {
      val id = column.id
      if (id < 0) remembered()
      else {
        if (times(id) == null) times(id) = text()
        times(id)
      }
    }
  }

  private var plain: String = _
  private var plainBytes: Array[Byte] = Array.emptyByteArray

  private def remembered(): String = {
    val (from, until) = (column.from, column.from + column.length)
    if (plain == null || !java.util.Arrays.equals(column.bytes, from, until, plainBytes, 0, plainBytes.length)) {
      plain = text()
      plainBytes = java.util.Arrays.copyOfRange(column.bytes, from, until)
    }
    plain
  }

  private def text(): String = new String(column.bytes, column.from, column.length, ISO_8859_1)

  def day: Int = {
    refresh()
    lastDay
  }

  def isOf(instants: Set[String]): Boolean = {
    val now = time
    if ((now ne last) || (instants ne lastInstants)) {
      refresh()
      lastInstants = instants
      lastIsOf = now != null && instants(now)
    }
    lastIsOf
  }

  private def refresh(): Unit = {
    val now = time
    if (now ne last) {
      last = now
      lastDay = CommitDay.of(now)
      lastInstants = null
    }
  }
}

/** Days of instants. */
object CommitDay {

  /** Day of an instant time (`yyyyMMdd...`) in days since 1970-01-01; 0 for null and for what is no date. */
  def of(instantTime: String): Int =
    if (instantTime == null || instantTime.length < 8 || !instantTime.take(8).forall(c => c >= '0' && c <= '9')) 0
    else {
      def number(from: Int, until: Int) = instantTime.substring(from, until).toInt
      try LocalDate.of(number(0, 4), number(4, 6), number(6, 8)).toEpochDay.toInt
      catch { case _: DateTimeException => 0 }
    }
}
