package hudiidx.write.format

import hudiidx.UnsupportedTable
import hudiidx.bytes.PackedOutput
import hudiidx.log.{OrderingKind, OrderingValue}
import java.nio.charset.StandardCharsets.UTF_8

/** Content of a delete block, version 3: a list of keys, each with its partition path and ordering value. Format notes §6.5.
  */
final class DeleteBlock {
  private val list = new PackedOutput(1 << 10)
  private var count0 = 0L

  def count: Long = count0

  /** @param ordering `OrderingValue.Default` deletes whatever version is there
    *  UnsupportedTable for a kind of ordering value that Hudi's union has no branch for
    */
  def add(key: Array[Byte], partitionPath: String, ordering: OrderingValue): Unit = {
    list.zigzag(1L)
    text(key)
    list.zigzag(1L)
    text(partitionPath.getBytes(UTF_8))
    value(ordering)
    count0 += 1
  }

  def content: Vector[BytesPiece] = {
    val head = new PackedOutput(32)
    if (count0 > 0) head.zigzag(count0)
    val end = if (count0 > 0) 1 else 0
    val length = head.size + list.size + end + (if (count0 > 0) 0 else 1)
    val lead = java.nio.ByteBuffer.allocate(8).putInt(DeleteBlock.Version).putInt(length).array()
    Vector(
      BytesPiece(lead, lead.length),
      BytesPiece(head.array, head.size),
      BytesPiece(list.array, list.size),
      BytesPiece(Array[Byte](0), 1)
    )
  }

  private def text(utf8: Array[Byte]): Unit = {
    list.zigzag(utf8.length.toLong)
    list.raw(utf8, 0, utf8.length)
  }

  private def value(ordering: OrderingValue): Unit = ordering.kind match {
    case OrderingKind.Default | OrderingKind.IntKind =>
      list.zigzag(2L)
      list.zigzag(OrderingValue.int(ordering).toLong)
    case OrderingKind.BooleanKind =>
      list.zigzag(1L)
      list.byte(if (ordering.value == true) 1 else 0)
    case OrderingKind.DateKind =>
      list.zigzag(8L)
      list.zigzag(OrderingValue.int(ordering).toLong)
    // Hudi takes the number of a timestamp for its ordering value; 1.2 fails over its wrapper of microseconds.
    case OrderingKind.LongKind | OrderingKind.MicrosKind | OrderingKind.MillisKind =>
      list.zigzag(3L)
      list.zigzag(OrderingValue.long(ordering))
    case OrderingKind.FloatKind =>
      list.zigzag(4L)
      number(java.lang.Float.floatToIntBits(ordering.value.asInstanceOf[Float]).toLong, 4)
    case OrderingKind.DoubleKind =>
      list.zigzag(5L)
      number(java.lang.Double.doubleToLongBits(ordering.value.asInstanceOf[Double]), 8)
    case OrderingKind.TextKind =>
      list.zigzag(7L)
      text(OrderingValue.bytes(ordering))
    case other =>
      throw new UnsupportedTable(
        s"deletes with an ordering value of kind $other cannot be written; use stock Hudi's writer"
      )
  }

  private def number(bits: Long, bytes: Int): Unit =
    (0 until bytes).foreach(i => list.byte((bits >>> (8 * i)).toInt & 0xff))
}

object DeleteBlock {
  private val Version = 3
}
