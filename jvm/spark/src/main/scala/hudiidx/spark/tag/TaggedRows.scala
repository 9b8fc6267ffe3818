package hudiidx.spark.tag

import java.util.Arrays

import hudiidx.record.{Locations, PackedKeys}
import hudiidx.spark.read.KeyColumnsOf
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{
  Attribute,
  Expression,
  GenericInternalRow,
  JoinedRow,
  UnsafeProjection,
  UnsafeRow
}
import org.apache.spark.sql.execution.metric.SQLMetric
import org.apache.spark.sql.types.DataType
import org.apache.spark.unsafe.types.UTF8String

/** How rows are read and written; sent to tasks.
  *
  *  @param partition bound to the rows: only locations in this partition path count; None: all do
  */
final case class RowForm(
    key: KeyColumnsOf,
    partition: Option[Expression],
    input: Array[DataType],
    output: Seq[Attribute]
)

/** Rows with the locations of their keys behind them: one row for each location, one with nulls where there is none. Rows are
  * looked up in batches, in their order.
  *
  *  @param locate finds keys
  *  @param done   called behind each batch
  */
final class TaggedRows(
    rows: Iterator[InternalRow],
    form: RowForm,
    locate: PackedKeys => Locations,
    counts: RowCounts,
    done: () => Unit
) extends Iterator[InternalRow] {
  private val keys = form.key.readers().toArray
  private val keep = UnsafeProjection.create(form.input)
  private val write = UnsafeProjection.create(form.output, form.output)
  private val joined = new JoinedRow
  private val batch = new RowBatch
  private var tags: Array[InternalRow] = TaggedRows.NoRows
  private var locations: Locations = _
  private var paths: Array[UTF8String] = Array.empty

  // The current row of the batch, and the next of its locations.
  private var row = -1
  private var first = 0
  private var at = 0
  private var end = 0
  private var emitted = true

  override def hasNext: Boolean = {
    while (emitted && (row + 1 < batch.size || fill())) {
      row += 1
      start()
    }
    !emitted
  }

  override def next(): InternalRow = {
    if (!hasNext) throw new NoSuchElementException("no more rows")
    val tag = if (at < end) tags(locations.places(at)) else TaggedRows.Absent
    val out = write(joined(batch.rows(row), tag))
    at = nextCounting(at + 1)
    emitted = at >= end
    out
  }

  /** Moves to the first location of the row that counts. */
  private def start(): Unit = {
    emitted = false
    first = locations.starts(batch.firstKey(row))
    end = locations.starts(batch.firstKey(row + 1))
    at = nextCounting(first)
    if (batch.firstKey(row) < batch.firstKey(row + 1)) counts.key(at < end)
  }

  /** The next location from `from` on that is in the row's partition, and was not one of another key of the row. */
  private def nextCounting(from: Int): Int = {
    var i = from
    if (form.partition.isDefined && i < end) {
      val wanted = form.partition.get.eval(batch.rows(row))
      while (i < end && (isRepeated(i) || !paths(locations.places(i)).equals(wanted))) i += 1
    } else while (i < end && isRepeated(i)) i += 1
    i
  }

  private def isRepeated(i: Int): Boolean = keys.length > 1 && {
    var earlier = first
    while (earlier < i && locations.places(earlier) != locations.places(i)) earlier += 1
    earlier < i
  }

  private def fill(): Boolean = rows.hasNext && {
    batch.clear()
    while (rows.hasNext && !batch.isFull) {
      val kept = rows.next() match {
        case u: UnsafeRow => u.copy()
        case other        => keep(other).copy()
      }
      batch.add(kept)
      keys.foreach(key => if (key.read(kept)) batch.addKey(key.bytes, key.length))
    }
    locations = locate(batch.keys)
    tags = locations.groups.iterator.map { g =>
      new GenericInternalRow(Array[Any](text(g.partitionPath), text(g.fileId), text(g.instantTime))): InternalRow
    }.toArray
    paths = tags.map(_.getUTF8String(0))
    row = -1
    done()
    true
  }

  private def text(value: String): UTF8String = UTF8String.fromString(value)
}

private object TaggedRows {
  val NoRows: Array[InternalRow] = Array.empty
  val Absent: InternalRow = new GenericInternalRow(3)
}

/** Rows that are looked up together, with their keys packed. */
final private class RowBatch {
  val rows: Array[UnsafeRow] = new Array[UnsafeRow](RowBatch.Rows)

  /** Place of each row's first key; a row's keys end where the next one's begin. */
  val firstKey: Array[Int] = new Array[Int](RowBatch.Rows + 1)
  private var starts = new Array[Int](RowBatch.Rows + 1)
  private var packed = new Array[Byte](1 << 16)
  private var n = 0
  private var count = 0
  private var held = 0L

  def size: Int = n

  def isFull: Boolean = n == RowBatch.Rows || held >= RowBatch.Bytes

  def clear(): Unit = {
    Arrays.fill(rows.asInstanceOf[Array[AnyRef]], 0, n, null)
    n = 0
    count = 0
    held = 0
  }

  def add(row: UnsafeRow): Unit = {
    rows(n) = row
    n += 1
    firstKey(n) = count
    held += row.getSizeInBytes
  }

  /** Of the row added last. */
  def addKey(key: Array[Byte], length: Int): Unit = {
    val from = starts(count)
    if (count + 1 == starts.length) starts = Arrays.copyOf(starts, starts.length * 2)
    if (from + length > packed.length) packed = Arrays.copyOf(packed, math.max(packed.length * 2, from + length))
    System.arraycopy(key, 0, packed, from, length)
    starts(count + 1) = from + length
    count += 1
    firstKey(n) = count
    held += length
  }

  def keys: PackedKeys = new PackedKeys(packed, Arrays.copyOf(starts, count + 1))
}

private object RowBatch {

  /** A batch is as many rows as make lookups cheap, and holds no more than some megabytes. */
  val Rows: Int = 1 << 18
  val Bytes: Long = 32L << 20
}

/** Counts of rows' keys. */
final case class RowCounts(keys: SQLMetric, hits: SQLMetric, misses: SQLMetric) {
  def key(found: Boolean): Unit = {
    keys += 1
    if (found) hits += 1 else misses += 1
  }
}
