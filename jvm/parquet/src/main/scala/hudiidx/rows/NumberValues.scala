package hudiidx.rows

import java.util.Arrays

private[hudiidx] final class BoolValues(capacity: Int) extends ColumnValues {
  private var own = new Array[Boolean](capacity)

  def values: Array[Boolean] = own
  def apply(at: Int): Boolean = own(at)

  def append(value: Boolean): Unit = {
    reserve(1)
    own(count) = value
    end(isThere = true)
  }

  override def bytes: Long = 1L * count
  override protected def reserve(more: Int): Unit =
    if (more > own.length - count) own = Arrays.copyOf(own, ColumnValues.longer(own.length, count.toLong + more))
  override protected def put(value: Any): Unit = own(count) = value.asInstanceOf[Boolean]
  override protected def putNull(): Unit = ()
  override protected def get(at: Int): Any = Boolean.box(own(at))
  override protected def copy(from: ColumnValues, first: Int, values: Int): Unit =
    System.arraycopy(from.asInstanceOf[BoolValues].own, first, own, count, values)
}

private[hudiidx] final class IntValues(capacity: Int) extends ColumnValues {
  private var own = new Array[Int](capacity)

  def values: Array[Int] = own
  def apply(at: Int): Int = own(at)

  def append(value: Int): Unit = {
    reserve(1)
    own(count) = value
    end(isThere = true)
  }

  override def bytes: Long = 4L * count
  override protected def reserve(more: Int): Unit =
    if (more > own.length - count) own = Arrays.copyOf(own, ColumnValues.longer(own.length, count.toLong + more))
  override protected def put(value: Any): Unit = own(count) = value.asInstanceOf[Int]
  override protected def putNull(): Unit = ()
  override protected def get(at: Int): Any = Int.box(own(at))
  override protected def copy(from: ColumnValues, first: Int, values: Int): Unit =
    System.arraycopy(from.asInstanceOf[IntValues].own, first, own, count, values)
}

private[hudiidx] final class LongValues(capacity: Int) extends ColumnValues {
  private var own = new Array[Long](capacity)

  def values: Array[Long] = own
  def apply(at: Int): Long = own(at)

  def append(value: Long): Unit = {
    reserve(1)
    own(count) = value
    end(isThere = true)
  }

  override def bytes: Long = 8L * count
  override protected def reserve(more: Int): Unit =
    if (more > own.length - count) own = Arrays.copyOf(own, ColumnValues.longer(own.length, count.toLong + more))
  override protected def put(value: Any): Unit = own(count) = value.asInstanceOf[Long]
  override protected def putNull(): Unit = ()
  override protected def get(at: Int): Any = Long.box(own(at))
  override protected def copy(from: ColumnValues, first: Int, values: Int): Unit =
    System.arraycopy(from.asInstanceOf[LongValues].own, first, own, count, values)
}

private[hudiidx] final class FloatValues(capacity: Int) extends ColumnValues {
  private var own = new Array[Float](capacity)

  def values: Array[Float] = own
  def apply(at: Int): Float = own(at)

  def append(value: Float): Unit = {
    reserve(1)
    own(count) = value
    end(isThere = true)
  }

  override def bytes: Long = 4L * count
  override protected def reserve(more: Int): Unit =
    if (more > own.length - count) own = Arrays.copyOf(own, ColumnValues.longer(own.length, count.toLong + more))
  override protected def put(value: Any): Unit = own(count) = value.asInstanceOf[Float]
  override protected def putNull(): Unit = ()
  override protected def get(at: Int): Any = Float.box(own(at))
  override protected def copy(from: ColumnValues, first: Int, values: Int): Unit =
    System.arraycopy(from.asInstanceOf[FloatValues].own, first, own, count, values)
}

private[hudiidx] final class DoubleValues(capacity: Int) extends ColumnValues {
  private var own = new Array[Double](capacity)

  def values: Array[Double] = own
  def apply(at: Int): Double = own(at)

  def append(value: Double): Unit = {
    reserve(1)
    own(count) = value
    end(isThere = true)
  }

  override def bytes: Long = 8L * count
  override protected def reserve(more: Int): Unit =
    if (more > own.length - count) own = Arrays.copyOf(own, ColumnValues.longer(own.length, count.toLong + more))
  override protected def put(value: Any): Unit = own(count) = value.asInstanceOf[Double]
  override protected def putNull(): Unit = ()
  override protected def get(at: Int): Any = Double.box(own(at))
  override protected def copy(from: ColumnValues, first: Int, values: Int): Unit =
    System.arraycopy(from.asInstanceOf[DoubleValues].own, first, own, count, values)
}
