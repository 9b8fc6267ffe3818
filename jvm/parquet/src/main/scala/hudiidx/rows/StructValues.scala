package hudiidx.rows

import java.math.{BigDecimal, BigInteger}
import java.util.Arrays

/** Decimals of one scale.
  *
  * @param unscaled as `LongValues`, or as `BytesValues` that hold two's complements, the highest byte first
  */
private[hudiidx] final class DecimalValues(val scale: Int, val unscaled: ColumnValues) extends ColumnValues {

  def apply(at: Int): BigDecimal = unscaled match {
    case longs: LongValues  => BigDecimal.valueOf(longs(at), scale)
    case bytes: BytesValues => new BigDecimal(new BigInteger(bytes.values, bytes.from(at), bytes.length(at)), scale)
    case other              => throw new IllegalStateException(other.getClass.getName)
  }

  /** What was added to `unscaled` counts from now on. */
  private[rows] def endValue(): Unit = end(isThere = true)

  override def bytes: Long = unscaled.bytes
  override protected def reserve(more: Int): Unit = ()
  override protected def put(value: Any): Unit = {
    val number = value.asInstanceOf[BigDecimal].unscaledValue
    unscaled match {
      case longs: LongValues => longs.append(number.longValueExact)
      case other             => other.add(number.toByteArray)
    }
  }
  override protected def putNull(): Unit = unscaled.addNull()
  override protected def get(at: Int): Any = apply(at)
  override protected def copy(from: ColumnValues, first: Int, values: Int): Unit =
    unscaled.addAll(from.asInstanceOf[DecimalValues].unscaled, first, values)
}

/** Structs: the value at `i` has the `i`-th of each field; null in each where the struct is. */
private[hudiidx] final class StructValues(val fields: Array[ColumnValues]) extends ColumnValues {

  /** The fields' last values are a struct's, or nulls in place of one. */
  private[rows] def endStruct(isThere: Boolean): Unit = end(isThere)

  /** The same structs with other fields. */
  private[rows] def withFields(made: Array[ColumnValues]): StructValues = new StructValues(made).share(this)

  override def bytes: Long = fields.iterator.map(_.bytes).sum
  override protected def reserve(more: Int): Unit = ()
  override protected def put(value: Any): Unit = {
    val from = value.asInstanceOf[Array[Any]]
    var i = 0
    while (i < fields.length) {
      fields(i).add(from(i))
      i += 1
    }
  }
  override protected def putNull(): Unit = fields.foreach(_.addNull())
  override protected def get(at: Int): Any = fields.map(_.value(at))
  override protected def copy(from: ColumnValues, first: Int, values: Int): Unit = {
    val other = from.asInstanceOf[StructValues]
    var i = 0
    while (i < fields.length) {
      fields(i).addAll(other.fields(i), first, values)
      i += 1
    }
  }
}

/** Lists: the value at `i` has the items from `offsets(i)` until `offsets(i + 1)`; none for a null. */
private[hudiidx] final class ListValues private (val items: ColumnValues, private var ends: Array[Int])
    extends ColumnValues {

  def this(items: ColumnValues, capacity: Int) = this(items, new Array[Int](capacity + 1))

  def offsets: Array[Int] = ends
  def from(at: Int): Int = ends(at)
  def length(at: Int): Int = ends(at + 1) - ends(at)

  /** The items that were added since the last value are the next one's. */
  private[rows] def endList(isThere: Boolean): Unit = {
    reserve(1)
    ends(count + 1) = items.count
    end(isThere)
  }

  /** The same lists with other items, as many. */
  private[rows] def withItems(made: ColumnValues): ListValues = new ListValues(made, ends).share(this)

  override def bytes: Long = 4L * count + items.bytes
  override protected def reserve(more: Int): Unit =
    if (more > ends.length - 1 - count) ends = Arrays.copyOf(ends, ColumnValues.longer(ends.length, count + 1L + more))
  override protected def put(value: Any): Unit = {
    value.asInstanceOf[Array[Any]].foreach(items.add)
    ends(count + 1) = items.count
  }
  override protected def putNull(): Unit = ends(count + 1) = ends(count)
  override protected def get(at: Int): Any = Array.tabulate[Any](length(at))(i => items.value(from(at) + i))
  override protected def copy(from: ColumnValues, first: Int, values: Int): Unit = {
    val other = from.asInstanceOf[ListValues]
    val start = other.ends(first)
    items.addAll(other.items, start, other.ends(first + values) - start)
    val shift = ends(count) - start
    var i = 1
    while (i <= values) {
      ends(count + i) = other.ends(first + i) + shift
      i += 1
    }
  }
}

/** Nulls alone. */
private[hudiidx] final class NoValues extends ColumnValues {
  override def bytes: Long = 0L
  override protected def reserve(more: Int): Unit = ()
  override protected def put(value: Any): Unit = throw new IllegalArgumentException(s"$value for a null")
  override protected def putNull(): Unit = ()
  override protected def get(at: Int): Any = null
  override protected def copy(from: ColumnValues, first: Int, values: Int): Unit = ()
}
