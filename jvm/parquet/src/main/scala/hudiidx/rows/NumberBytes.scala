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

  /** The same of a column. */
  def numbers(from: BytesValues, vector: ValueType.Numbers, where: String): ListValues = {
    val made = ColumnValues.of(vector, from.count).asInstanceOf[ListValues]
    val in = ByteBuffer.wrap(from.values).order(ByteOrder.LITTLE_ENDIAN)
    var i = 0
    while (i < from.count) {
      if (!from.isNull(i)) {
        in.position(from.from(i))
        addTo(made.items, in, vector.element.countIn(from.length(i), s"$where: "))
      }
      made.endList(!from.isNull(i))
      i += 1
    }
    made
  }

  private def addTo(items: ColumnValues, in: ByteBuffer, count: Int): Unit = {
    var i = 0
    while (i < count) {
      items match {
        case floats: FloatValues   => floats.append(in.getFloat)
        case doubles: DoubleValues => doubles.append(in.getDouble)
        case bytes: IntValues      => bytes.append(in.get.toInt)
        case other                 => throw new IllegalArgumentException(other.getClass.getName)
      }
      i += 1
    }
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
