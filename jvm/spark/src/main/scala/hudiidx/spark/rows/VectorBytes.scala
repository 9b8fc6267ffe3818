package hudiidx.spark.rows

import java.nio.{ByteBuffer, ByteOrder}

import hudiidx.table.{HudiType, VectorElement}
import hudiidx.InvalidOption
import org.apache.avro.Schema
import org.apache.spark.sql.catalyst.util.ArrayData
import org.apache.spark.sql.execution.vectorized.{OnHeapColumnVector, WritableColumnVector}
import org.apache.spark.sql.types._
import org.apache.spark.sql.vectorized.ColumnarArray

/** The bytes of Hudi's vectors: numbers one behind the other, the least byte of each first. */
private[rows] object VectorBytes {

  def typeOf(element: VectorElement): DataType = element match {
    case VectorElement.Float32 => FloatType
    case VectorElement.Float64 => DoubleType
    case VectorElement.Int8    => ByteType
  }

  private val byType: Map[DataType, VectorElement] = VectorElement.All.map(e => typeOf(e) -> e).toMap

  /** Vectors have elements of this type. */
  def has(element: DataType): Boolean = byType.contains(element)

  /** The vector that a schema is; None for one that is none, or has elements of another type. */
  def of(schema: Schema, elementType: DataType, where: String): Option[HudiType.Vector] =
    HudiType.of(schema, where).collect { case v: HudiType.Vector if typeOf(v.element) == elementType => v }

  /** The bytes of an array. InvalidOption for one of another length, or with a null.
    *
    * @param where the column, for messages
    */
  def of(array: ArrayData, vector: HudiType.Vector, where: String): Array[Byte] = {
    if (array.numElements() != vector.dimension)
      throw new InvalidOption(
        s"$where: a value has ${array.numElements()} elements, the table's ${vector.descriptor} has ${vector.dimension}"
      )
    val out = ByteBuffer.allocate(vector.bytes).order(ByteOrder.LITTLE_ENDIAN)
    var i = 0
    while (i < vector.dimension) {
      if (array.isNullAt(i))
        throw new InvalidOption(s"$where: an element is null, which a vector cannot have")
      vector.element match {
        case VectorElement.Float32 => out.putFloat(array.getFloat(i))
        case VectorElement.Float64 => out.putDouble(array.getDouble(i))
        case VectorElement.Int8    => out.put(array.getByte(i))
      }
      i += 1
    }
    out.array
  }

  /** All numbers, as an array that no other row's takes the place of. */
  def array(bytes: Array[Byte], elementType: DataType): ColumnarArray = {
    val element = byType(elementType)
    val count = element.countIn(bytes.length, where = "")
    val elements = new OnHeapColumnVector(math.max(1, count), elementType)
    append(element, bytes, 0, count, elements)
    new ColumnarArray(elements, 0, count)
  }

  /** Appends `count` numbers, which begin at `from`. */
  def append(element: VectorElement, bytes: Array[Byte], from: Int, count: Int, into: WritableColumnVector): Unit = {
    val in = ByteBuffer.wrap(bytes, from, count * element.bytes).order(ByteOrder.LITTLE_ENDIAN)
    var i = 0
    element match {
      case VectorElement.Float32 =>
        while (i < count) {
          into.appendFloat(in.getFloat)
          i += 1
        }
      case VectorElement.Float64 =>
        while (i < count) {
          into.appendDouble(in.getDouble)
          i += 1
        }
      case VectorElement.Int8 => into.appendBytes(count, bytes, from): Unit
    }
  }
}
