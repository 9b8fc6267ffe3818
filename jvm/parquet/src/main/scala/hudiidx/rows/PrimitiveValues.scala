package hudiidx.rows

import java.util.Arrays

/** Values that are primitives of one size each, in one array. */
private[hudiidx] abstract class PrimitiveValues(bytesOfOne: Long) extends ColumnValues {

  /** The array, and its length. */
  protected def array: AnyRef
  protected def capacity: Int

  /** Gives the array another length, which is not less. */
  protected def grow(length: Int): Unit

  final override def bytes: Long = bytesOfOne * count
  final override protected def reserve(more: Int): Unit =
    if (more > capacity - count) grow(ColumnValues.longer(capacity, count.toLong + more))
  final override protected def putNull(): Unit = ()
  final override protected def copy(from: ColumnValues, first: Int, values: Int): Unit =
    System.arraycopy(from.asInstanceOf[PrimitiveValues].array, first, array, count, values)
}

private[hudiidx] final class BoolValues(room: Int) extends PrimitiveValues(1L) {
  private var own = new Array[Boolean](room)

  def values: Array[Boolean] = own
  def apply(at: Int): Boolean = own(at)

  def append(value: Boolean): Unit = {
    reserve(1)
    own(count) = value
    end(isThere = true)
  }

  override protected def array: AnyRef = own
  override protected def capacity: Int = own.length
  override protected def grow(length: Int): Unit = own = Arrays.copyOf(own, length)
  override protected def put(value: Any): Unit = own(count) = value.asInstanceOf[Boolean]
  override protected def get(at: Int): Any = Boolean.box(own(at))
}

private[hudiidx] final class IntValues(room: Int) extends PrimitiveValues(4L) {
  private var own = new Array[Int](room)

  def values: Array[Int] = own
  def apply(at: Int): Int = own(at)

  def append(value: Int): Unit = {
    reserve(1)
    own(count) = value
    end(isThere = true)
  }

  override protected def array: AnyRef = own
  override protected def capacity: Int = own.length
  override protected def grow(length: Int): Unit = own = Arrays.copyOf(own, length)
  override protected def put(value: Any): Unit = own(count) = value.asInstanceOf[Int]
  override protected def get(at: Int): Any = Int.box(own(at))
}

private[hudiidx] final class LongValues(room: Int) extends PrimitiveValues(8L) {
  private var own = new Array[Long](room)

  def values: Array[Long] = own
  def apply(at: Int): Long = own(at)

  def append(value: Long): Unit = {
    reserve(1)
    own(count) = value
    end(isThere = true)
  }

  override protected def array: AnyRef = own
  override protected def capacity: Int = own.length
  override protected def grow(length: Int): Unit = own = Arrays.copyOf(own, length)
  override protected def put(value: Any): Unit = own(count) = value.asInstanceOf[Long]
  override protected def get(at: Int): Any = Long.box(own(at))
}

private[hudiidx] final class FloatValues(room: Int) extends PrimitiveValues(4L) {
  private var own = new Array[Float](room)

  def values: Array[Float] = own
  def apply(at: Int): Float = own(at)

  def append(value: Float): Unit = {
    reserve(1)
    own(count) = value
    end(isThere = true)
  }

  override protected def array: AnyRef = own
  override protected def capacity: Int = own.length
  override protected def grow(length: Int): Unit = own = Arrays.copyOf(own, length)
  override protected def put(value: Any): Unit = own(count) = value.asInstanceOf[Float]
  override protected def get(at: Int): Any = Float.box(own(at))
}

private[hudiidx] final class DoubleValues(room: Int) extends PrimitiveValues(8L) {
  private var own = new Array[Double](room)

  def values: Array[Double] = own
  def apply(at: Int): Double = own(at)

  def append(value: Double): Unit = {
    reserve(1)
    own(count) = value
    end(isThere = true)
  }

  override protected def array: AnyRef = own
  override protected def capacity: Int = own.length
  override protected def grow(length: Int): Unit = own = Arrays.copyOf(own, length)
  override protected def put(value: Any): Unit = own(count) = value.asInstanceOf[Double]
  override protected def get(at: Int): Any = Double.box(own(at))
}
