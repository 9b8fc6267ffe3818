package hudiidx.rows

import java.util.Arrays

/** Texts and other bytes: the value at `i` is those from `offsets(i)` until `offsets(i + 1)`; none for a null.
  *
  * @param bytesCapacity for so many bytes there is room
  */
private[hudiidx] final class BytesValues(capacity: Int, bytesCapacity: Int = 0) extends ColumnValues {
  private var own = new Array[Byte](bytesCapacity)
  private var ends = new Array[Int](capacity + 1)

  def values: Array[Byte] = own
  def offsets: Array[Int] = ends
  def from(at: Int): Int = ends(at)
  def length(at: Int): Int = ends(at + 1) - ends(at)
  def apply(at: Int): Array[Byte] = Arrays.copyOfRange(own, ends(at), ends(at + 1))

  def append(value: Array[Byte], from: Int, length: Int): Unit = {
    reserve(1)
    write(value, from, length)
    end(isThere = true)
  }

  private def write(from: Array[Byte], start: Int, length: Int): Unit = {
    reserveBytes(length)
    System.arraycopy(from, start, own, ends(count), length)
    ends(count + 1) = ends(count) + length
  }

  private def reserveBytes(more: Int): Unit = if (more > own.length - ends(count)) {
    val least = math.max(ends(count).toLong + more, 8L * ends.length)
    own = Arrays.copyOf(own, ColumnValues.longer(own.length, least))
  }

  override def bytes: Long = 4L * count + ends(count)
  override protected def reserve(more: Int): Unit =
    if (more > ends.length - 1 - count) ends = Arrays.copyOf(ends, ColumnValues.longer(ends.length, count + 1L + more))
  override protected def put(value: Any): Unit = {
    val from = value.asInstanceOf[Array[Byte]]
    write(from, 0, from.length)
  }
  override protected def putNull(): Unit = ends(count + 1) = ends(count)
  override protected def get(at: Int): Any = apply(at)
  override protected def copy(from: ColumnValues, first: Int, values: Int): Unit = {
    val other = from.asInstanceOf[BytesValues]
    val start = other.ends(first)
    val length = other.ends(first + values) - start
    reserveBytes(length)
    System.arraycopy(other.own, start, own, ends(count), length)
    val shift = ends(count) - start
    var i = 1
    while (i <= values) {
      ends(count + i) = other.ends(first + i) + shift
      i += 1
    }
  }
}
