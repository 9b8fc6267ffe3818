package hudiidx.log

import hudiidx.DecimalText
import hudiidx.bytes.{ByteCursor, ByteSlice, Varint}
import java.io.ByteArrayOutputStream
import java.math.BigDecimal

/** Versions of a key as the bytes that the sorter keeps and spills. For temporary files of one process: no format that
  * anybody else reads.
  */
private[hudiidx] final class KeyVersionCodec {
  private val out = new Growing

  /** The bytes are good until the next call. */
  def encode(version: KeyVersion, touched: Boolean, into: ByteSlice): Unit = {
    out.reset()
    val flags = flag(version.isDelete, 1) | flag(version.fromDeleteBlock, 2) | flag(touched, 4)
    out.write(flags)
    Varint.write(out, version.note.toLong)
    encode(version.ordering)
    into.set(out.array, 0, out.size)
  }

  private def flag(on: Boolean, bit: Int): Int = if (on) bit else 0

  private def encode(v: OrderingValue): Unit = {
    import OrderingKind._
    out.write(v.kind.code)
    v.kind match {
      case Default                            => ()
      case BooleanKind                        => out.write(if (v.value.asInstanceOf[Boolean]) 1 else 0)
      case IntKind | DateKind                 => Varint.write(out, Varint.zigZag(OrderingValue.int(v).toLong))
      case LongKind | MicrosKind | MillisKind => Varint.write(out, Varint.zigZag(OrderingValue.long(v)))
      case FloatKind                          => number(java.lang.Float.floatToRawIntBits(v.value.asInstanceOf[Float]))
      case DoubleKind           => number(java.lang.Double.doubleToRawLongBits(v.value.asInstanceOf[Double]))
      case BytesKind | TextKind => sized(OrderingValue.bytes(v))
      case DecimalKind          =>
        val decimal = v.value.asInstanceOf[BigDecimal]
        Varint.write(out, Varint.zigZag(decimal.scale.toLong))
        sized(decimal.unscaledValue.toByteArray)
      case SeveralKind =>
        val values = OrderingValue.values(v)
        Varint.write(out, values.size.toLong)
        values.foreach(encode)
    }
  }

  private def number(bits: Long): Unit = Varint.write(out, bits)

  private def sized(bytes: Array[Byte]): Unit = {
    Varint.write(out, bytes.length.toLong)
    out.write(bytes, 0, bytes.length)
  }

  private final class Growing extends ByteArrayOutputStream(64) {
    def array: Array[Byte] = buf
  }
}

private[hudiidx] object KeyVersionCodec {
  private val TouchedBit = 4

  def isTouched(flags: Byte): Boolean = (flags & TouchedBit) != 0

  def decode(in: ByteCursor): KeyVersion = {
    val flags = in.byte("flags")
    val note = in.varint("note").toInt
    KeyVersion((flags & 1) != 0, (flags & 2) != 0, ordering(in), note)
  }

  private def ordering(in: ByteCursor): OrderingValue = {
    import OrderingKind._
    OrderingKind.All(in.byte("ordering kind").toInt) match {
      case Default                     => OrderingValue.Default
      case BooleanKind                 => OrderingValue.ofBoolean(in.byte("boolean") != 0)
      case kind @ (IntKind | DateKind) => OrderingValue.of(kind, Varint.unZigZag(in.varint("int")).toInt)
      case kind @ (LongKind | MicrosKind | MillisKind) => OrderingValue.of(kind, Varint.unZigZag(in.varint("long")))
      case FloatKind  => OrderingValue.ofFloat(java.lang.Float.intBitsToFloat(in.varint("float").toInt))
      case DoubleKind => OrderingValue.ofDouble(java.lang.Double.longBitsToDouble(in.varint("double")))
      case kind @ (BytesKind | TextKind) => OrderingValue.of(kind, in.take(in.varint("length").toInt, "bytes"))
      case DecimalKind                   =>
        val scale = Varint.unZigZag(in.varint("scale")).toInt
        OrderingValue.ofDecimal(new BigDecimal(DecimalText.whole(in.take(in.varint("length").toInt, "decimal")), scale))
      case SeveralKind => OrderingValue.ofSeveral(Vector.fill(in.varint("count").toInt)(ordering(in)))
    }
  }
}
