package hudiidx.spark.rows

import org.apache.spark.sql.catalyst.expressions.SpecializedGetters
import org.apache.spark.sql.execution.vectorized.WritableColumnVector
import org.apache.spark.sql.types._
import org.apache.spark.sql.vectorized.{ColumnVector, ColumnarArray}
import org.apache.spark.unsafe.Platform
import org.apache.spark.unsafe.types.UTF8String

/** Appends values of one type to a vector of the same type, nulls too. They may come out of a vector of any kind, a row or
  * an array. Holds no state.
  */
abstract class VectorCopy {

  /** Appends value `at` of a row or an array. */
  final def append(from: SpecializedGetters, at: Int, into: WritableColumnVector): Unit =
    if (from.isNullAt(at)) VectorCopy.appendNull(into) else value(from, at, into)

  /** Appends `count` values of a vector, from `row` on. */
  def append(from: ColumnVector, row: Int, count: Int, into: WritableColumnVector): Unit = {
    val range = new ColumnarArray(from, row, count)
    var i = 0
    while (i < count) {
      append(range, i, into)
      i += 1
    }
  }

  /** Appends one value of a vector. */
  final def append(from: ColumnVector, row: Int, into: WritableColumnVector): Unit = append(from, row, 1, into)

  /** Appends a value that is not null. */
  protected def value(from: SpecializedGetters, at: Int, into: WritableColumnVector): Unit
}

object VectorCopy {

  /** The copy for a type. IllegalArgumentException for types that Hudi's tables do not have. */
  def of(dataType: DataType): VectorCopy = dataType match {
    case BooleanType                      => Booleans
    case ByteType                         => Bytes
    case ShortType                        => Shorts
    case IntegerType | DateType           => Ints
    case LongType                         => Longs
    case TimestampType | TimestampNTZType => Longs
    case FloatType                        => Floats
    case DoubleType                       => Doubles
    case StringType                       => Texts
    case BinaryType                       => Binaries
    case d: DecimalType                   => new Decimals(d)
    case NullType                         => Nulls
    case s: StructType                    => new Structs(s.fields.map(f => of(f.dataType)))
    case a: ArrayType                     => new Arrays(of(a.elementType))
    case m: MapType                       => new Maps(of(m.keyType), of(m.valueType))
    case v if VariantShims.isVariant(v)   => Variants
    case other => throw new IllegalArgumentException(s"no column of type ${other.simpleString} can be copied")
  }

  /** Appends a null of whatever type the vector has. */
  def appendNull(into: WritableColumnVector): Unit =
    if (into.dataType.isInstanceOf[StructType] || VariantShims.isVariant(into.dataType)) into.appendStruct(true): Unit
    else into.appendNull(): Unit

  private object Nulls extends VectorCopy {
    override protected def value(from: SpecializedGetters, at: Int, into: WritableColumnVector): Unit =
      into.appendNull(): Unit
  }

  private object Variants extends VectorCopy {
    override protected def value(from: SpecializedGetters, at: Int, into: WritableColumnVector): Unit =
      VariantShims.append(from, at, into)
  }

  private object Booleans extends VectorCopy {
    override protected def value(from: SpecializedGetters, at: Int, into: WritableColumnVector): Unit =
      into.appendBoolean(from.getBoolean(at)): Unit
  }

  private object Bytes extends VectorCopy {
    override protected def value(from: SpecializedGetters, at: Int, into: WritableColumnVector): Unit =
      into.appendByte(from.getByte(at)): Unit
  }

  private object Shorts extends VectorCopy {
    override protected def value(from: SpecializedGetters, at: Int, into: WritableColumnVector): Unit =
      into.appendShort(from.getShort(at)): Unit
  }

  private object Ints extends VectorCopy {
    override protected def value(from: SpecializedGetters, at: Int, into: WritableColumnVector): Unit =
      into.appendInt(from.getInt(at)): Unit

    override def append(from: ColumnVector, row: Int, count: Int, into: WritableColumnVector): Unit = {
      val mayBeNull = from.hasNull
      var i = row
      while (i < row + count) {
        if (mayBeNull && from.isNullAt(i)) into.appendNull() else into.appendInt(from.getInt(i))
        i += 1
      }
    }
  }

  private object Longs extends VectorCopy {
    override protected def value(from: SpecializedGetters, at: Int, into: WritableColumnVector): Unit =
      into.appendLong(from.getLong(at)): Unit

    override def append(from: ColumnVector, row: Int, count: Int, into: WritableColumnVector): Unit = {
      val mayBeNull = from.hasNull
      var i = row
      while (i < row + count) {
        if (mayBeNull && from.isNullAt(i)) into.appendNull() else into.appendLong(from.getLong(i))
        i += 1
      }
    }
  }

  private object Floats extends VectorCopy {
    override protected def value(from: SpecializedGetters, at: Int, into: WritableColumnVector): Unit =
      into.appendFloat(from.getFloat(at)): Unit
  }

  private object Doubles extends VectorCopy {
    override protected def value(from: SpecializedGetters, at: Int, into: WritableColumnVector): Unit =
      into.appendDouble(from.getDouble(at)): Unit

    override def append(from: ColumnVector, row: Int, count: Int, into: WritableColumnVector): Unit = {
      val mayBeNull = from.hasNull
      var i = row
      while (i < row + count) {
        if (mayBeNull && from.isNullAt(i)) into.appendNull() else into.appendDouble(from.getDouble(i))
        i += 1
      }
    }
  }

  private object Texts extends VectorCopy {
    override protected def value(from: SpecializedGetters, at: Int, into: WritableColumnVector): Unit =
      appendText(from.getUTF8String(at), into)

    override def append(from: ColumnVector, row: Int, count: Int, into: WritableColumnVector): Unit = {
      val mayBeNull = from.hasNull
      var i = row
      while (i < row + count) {
        if (mayBeNull && from.isNullAt(i)) into.appendNull(): Unit else appendText(from.getUTF8String(i), into)
        i += 1
      }
    }
  }

  /** Without a copy on the way where the text lies in an array. */
  private def appendText(text: UTF8String, into: WritableColumnVector): Unit = text.getBaseObject match {
    case bytes: Array[Byte] =>
      into.appendByteArray(bytes, (text.getBaseOffset - Platform.BYTE_ARRAY_OFFSET).toInt, text.numBytes): Unit
    case _ =>
      val bytes = text.getBytes
      into.appendByteArray(bytes, 0, bytes.length): Unit
  }

  private object Binaries extends VectorCopy {
    override protected def value(from: SpecializedGetters, at: Int, into: WritableColumnVector): Unit = {
      val bytes = from.getBinary(at)
      into.appendByteArray(bytes, 0, bytes.length): Unit
    }
  }

  private final class Decimals(dataType: DecimalType) extends VectorCopy {
    private val precision = dataType.precision
    private val scale = dataType.scale
    override protected def value(from: SpecializedGetters, at: Int, into: WritableColumnVector): Unit = {
      val decimal = from.getDecimal(at, precision, scale)
      if (precision <= Decimal.MAX_INT_DIGITS) into.appendInt(decimal.toUnscaledLong.toInt): Unit
      else if (precision <= Decimal.MAX_LONG_DIGITS) into.appendLong(decimal.toUnscaledLong): Unit
      else {
        val bytes = decimal.toJavaBigDecimal.unscaledValue.toByteArray
        into.appendByteArray(bytes, 0, bytes.length): Unit
      }
    }
  }

  private final class Structs(fields: Array[VectorCopy]) extends VectorCopy {
    override protected def value(from: SpecializedGetters, at: Int, into: WritableColumnVector): Unit = {
      val row = from.getStruct(at, fields.length)
      into.appendStruct(false)
      var i = 0
      while (i < fields.length) {
        fields(i).append(row, i, into.getChild(i))
        i += 1
      }
    }
  }

  private final class Arrays(element: VectorCopy) extends VectorCopy {
    override protected def value(from: SpecializedGetters, at: Int, into: WritableColumnVector): Unit = {
      val array = from.getArray(at)
      into.appendArray(array.numElements())
      all(array, array.numElements(), element, into.getChild(0))
    }
  }

  private final class Maps(key: VectorCopy, mapped: VectorCopy) extends VectorCopy {
    override protected def value(from: SpecializedGetters, at: Int, into: WritableColumnVector): Unit = {
      val map = from.getMap(at)
      val count = map.numElements()
      into.appendArray(count)
      all(map.keyArray(), count, key, into.getChild(0))
      all(map.valueArray(), count, mapped, into.getChild(1))
    }
  }

  private def all(from: SpecializedGetters, count: Int, copy: VectorCopy, into: WritableColumnVector): Unit = {
    var i = 0
    while (i < count) {
      copy.append(from, i, into)
      i += 1
    }
  }
}

/** Appends rows of some columns to vectors, one for each column. */
final class RowCopy(columns: StructType) {
  private val copies = columns.fields.map(f => VectorCopy.of(f.dataType))

  /** One row whose values stand in the columns' order. */
  def append(row: SpecializedGetters, into: Array[WritableColumnVector]): Unit = {
    var i = 0
    while (i < copies.length) {
      copies(i).append(row, i, into(i))
      i += 1
    }
  }

  /** `count` rows of vectors, from `row` on. */
  def append(from: Array[ColumnVector], row: Int, count: Int, into: Array[WritableColumnVector]): Unit = {
    var i = 0
    while (i < copies.length) {
      copies(i).append(from(i), row, count, into(i))
      i += 1
    }
  }
}
