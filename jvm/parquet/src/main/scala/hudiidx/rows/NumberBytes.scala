package hudiidx.rows

import java.nio.{ByteBuffer, ByteOrder}

import hudiidx.table.VectorElement

/** Numbers of Hudi's vectors and the bytes that files have of them, the least byte of each first. */
private[rows] object NumberBytes {

  /** UnsupportedTable for bytes that are no such numbers.
    *
    * @param where for messages
    */
  def numbers(value: Any, element: VectorElement, where: String): Array[Any] = {
    val bytes = value.asInstanceOf[Array[Byte]]
    val count = element.countIn(bytes.length, s"$where: ")
    val in = ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN)
    Array.fill[Any](count)(element match {
      case VectorElement.Float32 => Float.box(in.getFloat)
      case VectorElement.Float64 => Double.box(in.getDouble)
      case VectorElement.Int8    => Int.box(in.get.toInt)
    })
  }

  def bytes(value: Any, element: VectorElement): Array[Byte] = {
    val numbers = value.asInstanceOf[Array[Any]]
    val out = ByteBuffer.allocate(numbers.length * element.bytes).order(ByteOrder.LITTLE_ENDIAN)
    numbers.foreach { n =>
      element match {
        case VectorElement.Float32 => out.putFloat(n.asInstanceOf[Float])
        case VectorElement.Float64 => out.putDouble(n.asInstanceOf[Double])
        case VectorElement.Int8    => out.put(n.asInstanceOf[Int].toByte)
      }
    }
    out.array
  }
}
