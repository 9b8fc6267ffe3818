package hudiidx.spark.rows

import hudiidx.bytes.{ByteCursor, Varint}
import hudiidx.log.AvroSkip
import hudiidx.table.HudiType
import java.math.BigInteger
import org.apache.spark.sql.execution.vectorized.WritableColumnVector
import org.apache.spark.sql.types.Decimal

/** Reads one value of a writer's Avro type and appends it to a vector. Fails as the cursor fails. For one thread. */
private[rows] abstract class AvroValue {
  def append(in: ByteCursor, into: WritableColumnVector): Unit
}

/** Avro specification 1.11, binary encoding. */
private[rows] object AvroValue {

  object Null extends AvroValue {
    override def append(in: ByteCursor, into: WritableColumnVector): Unit = VectorCopy.appendNull(into)
  }

  object Bool extends AvroValue {
    override def append(in: ByteCursor, into: WritableColumnVector): Unit = in.byte("boolean") match {
      case 0     => into.appendBoolean(false): Unit
      case 1     => into.appendBoolean(true): Unit
      case other => in.fail(s"boolean $other")
    }
  }

  object Int32 extends AvroValue {
    override def append(in: ByteCursor, into: WritableColumnVector): Unit = into.appendInt(int(in)): Unit
  }

  /** Where a union holds ints and longs. */
  object Int32AsLong extends AvroValue {
    override def append(in: ByteCursor, into: WritableColumnVector): Unit = into.appendLong(int(in).toLong): Unit
  }

  object Int64 extends AvroValue {
    override def append(in: ByteCursor, into: WritableColumnVector): Unit = into.appendLong(long(in)): Unit
  }

  object MillisAsMicros extends AvroValue {
    override def append(in: ByteCursor, into: WritableColumnVector): Unit = {
      val millis = long(in)
      if (millis > Long.MaxValue / 1000 || millis < Long.MinValue / 1000) in.fail(s"timestamp of $millis milliseconds")
      into.appendLong(millis * 1000): Unit
    }
  }

  object Float32 extends AvroValue {
    override def append(in: ByteCursor, into: WritableColumnVector): Unit = into.appendFloat(float(in)): Unit
  }

  /** Where a union holds floats and doubles. */
  object Float32AsDouble extends AvroValue {
    override def append(in: ByteCursor, into: WritableColumnVector): Unit = into.appendDouble(float(in).toDouble): Unit
  }

  object Float64 extends AvroValue {
    override def append(in: ByteCursor, into: WritableColumnVector): Unit = {
      val bits = java.lang.Long.reverseBytes(in.long("double"))
      into.appendDouble(java.lang.Double.longBitsToDouble(bits)): Unit
    }
  }

  /** Strings, and bytes or a fixed of `size`; -1: the length stands before the value. */
  final class Sized(size: Int) extends AvroValue {
    override def append(in: ByteCursor, into: WritableColumnVector): Unit = {
      val length = if (size < 0) lengthOf(in) else size
      in.need(length.toLong, "string or bytes")
      into.appendByteArray(in.bytes, in.position, length)
      in.skip(length.toLong, "string or bytes")
    }
  }

  /** A vector, of so many bytes whatever it holds. */
  final class Numbers(of: HudiType.Vector) extends AvroValue {
    override def append(in: ByteCursor, into: WritableColumnVector): Unit = {
      in.need(of.bytes.toLong, "vector")
      val elements = into.getChild(0)
      val from = elements.getElementsAppended
      VectorBytes.append(of.element, in.bytes, in.position, of.dimension, elements)
      appendRange(into, from, of.dimension)
      in.skip(of.bytes.toLong, "vector")
    }
  }

  final class Symbol(symbols: Array[Array[Byte]]) extends AvroValue {
    override def append(in: ByteCursor, into: WritableColumnVector): Unit = {
      val at = int(in)
      if (at < 0 || at >= symbols.length) in.fail(s"enum value $at of ${symbols.length}")
      into.appendByteArray(symbols(at), 0, symbols(at).length): Unit
    }
  }

  /** A decimal of bytes, or of a fixed of `size` bytes. */
  final class DecimalOf(size: Int, precision: Int) extends AvroValue {
    private val bound = BigInteger.TEN.pow(precision)
    private val boundBytes = bound.toByteArray

    override def append(in: ByteCursor, into: WritableColumnVector): Unit = {
      val length = if (size < 0) lengthOf(in) else size
      in.need(length.toLong, "decimal")
      if (length == 0) in.fail("a decimal without bytes")
      if (precision > Decimal.MAX_LONG_DIGITS) appendBig(in, length, into)
      else {
        val unscaled = small(in, length)
        if (precision > Decimal.MAX_INT_DIGITS) into.appendLong(unscaled) else into.appendInt(unscaled.toInt)
      }
      in.skip(length.toLong, "decimal")
    }

    private def appendBig(in: ByteCursor, length: Int, into: WritableColumnVector): Unit = {
      // Only a value as long as the bound can pass it, and only if its first byte is as large.
      val first = math.abs(in.bytes(in.position).toInt)
      if (length > boundBytes.length || (length == boundBytes.length && first >= boundBytes(0)))
        check(in, big(in, length))
      into.appendByteArray(in.bytes, in.position, length): Unit
    }

    private def small(in: ByteCursor, length: Int): Long =
      if (length > 8) check(in, big(in, length)).longValueExact
      else {
        var value = in.bytes(in.position).toLong
        var i = 1
        while (i < length) {
          value = (value << 8) | (in.bytes(in.position + i) & 0xff)
          i += 1
        }
        if (value >= bound.longValue || value <= -bound.longValue) check(in, big(in, length))
        value
      }

    private def big(in: ByteCursor, length: Int): BigInteger = new BigInteger(in.bytes, in.position, length)

    private def check(in: ByteCursor, value: BigInteger): BigInteger = {
      if (value.abs.compareTo(bound) >= 0) in.fail(s"a decimal of more than $precision digits")
      value
    }
  }

  /** Another type than the table's. */
  final class Converted(own: AvroValue, converter: ValueConverter) extends AvroValue {
    override def append(in: ByteCursor, into: WritableColumnVector): Unit = {
      own.append(in, converter.start())
      converter.finish(into)
    }
  }

  /** A value that is always the same, as Avro data. The cursor is not used. */
  final class Constant(bytes: Array[Byte], value: AvroValue) extends AvroValue {
    private val own = new ByteCursor(bytes, 0, bytes.length, "default of a field", 0L, new IllegalStateException(_))
    override def append(in: ByteCursor, into: WritableColumnVector): Unit = {
      own.moveTo(0)
      value.append(own, into)
    }
  }

  final class Branches(values: Array[AvroValue]) extends AvroValue {
    override def append(in: ByteCursor, into: WritableColumnVector): Unit = {
      val branch = Varint.unZigZag(in.varint("union branch"))
      if (branch < 0 || branch >= values.length) in.fail(s"union branch $branch of ${values.length}")
      values(branch.toInt).append(in, into)
    }
  }

  /** One branch of a union that is shown as a struct: its value in field `member`, null in all others (-1: in all). */
  final class Member(member: Int, value: AvroValue, skip: AvroSkip, fields: Int) extends AvroValue {
    override def append(in: ByteCursor, into: WritableColumnVector): Unit = {
      into.appendStruct(false)
      if (member < 0) skip.run(in)
      var i = 0
      while (i < fields) {
        if (i == member) value.append(in, into.getChild(i)) else VectorCopy.appendNull(into.getChild(i))
        i += 1
      }
    }
  }

  final class Record(fields: AvroFields, count: Int) extends AvroValue {
    private var last: WritableColumnVector = _
    private val children = new Array[WritableColumnVector](count)

    override def append(in: ByteCursor, into: WritableColumnVector): Unit = {
      if (into ne last) {
        last = into
        children.indices.foreach(i => children(i) = into.getChild(i))
      }
      into.appendStruct(false)
      fields.append(in, children)
    }
  }

  final class Items(item: AvroValue) extends AvroValue {
    override def append(in: ByteCursor, into: WritableColumnVector): Unit = {
      val elements = into.getChild(0)
      val from = elements.getElementsAppended
      var left = blockCount(in)
      while (left > 0) {
        while (left > 0) {
          item.append(in, elements)
          left -= 1
        }
        left = blockCount(in)
      }
      appendRange(into, from, elements.getElementsAppended - from)
    }
  }

  final class Entries(key: AvroValue, value: AvroValue) extends AvroValue {
    override def append(in: ByteCursor, into: WritableColumnVector): Unit = {
      val keys = into.getChild(0)
      val values = into.getChild(1)
      val from = keys.getElementsAppended
      var left = blockCount(in)
      while (left > 0) {
        while (left > 0) {
          key.append(in, keys)
          value.append(in, values)
          left -= 1
        }
        left = blockCount(in)
      }
      appendRange(into, from, keys.getElementsAppended - from)
    }
  }

  /** Items in the next block of an array or map; 0 behind the last. */
  private def blockCount(in: ByteCursor): Int = {
    var count = Varint.unZigZag(in.varint("item count"))
    if (count < 0) {
      in.varint("size of items")
      count = -count
    }
    if (count < 0 || count > in.remaining) in.fail(s"$count items cannot lie in ${in.remaining} bytes")
    count.toInt
  }

  /** Appends an array or map whose elements already stand in the vectors below. */
  private def appendRange(into: WritableColumnVector, from: Int, count: Int): Unit = {
    val row = into.getElementsAppended
    into.reserve(row + 1)
    into.putArray(row, from, count)
    into.addElementsAppended(1)
  }

  private def long(in: ByteCursor): Long = Varint.unZigZag(in.varint("number"))

  private def int(in: ByteCursor): Int = {
    val value = long(in)
    if (value.toInt != value) in.fail(s"int $value")
    value.toInt
  }

  private def float(in: ByteCursor): Float = java.lang.Float.intBitsToFloat(Integer.reverseBytes(in.int("float")))

  private def lengthOf(in: ByteCursor): Int = {
    val length = long(in)
    in.need(length, "string or bytes")
    length.toInt
  }
}

/** The fields of a record in the writer's order, each appended to its vector or jumped over, then those that the writer
  * lacks.
  *
  * @param values  null for a field that is not wanted
  * @param targets the vector of each field
  */
private[rows] final class AvroFields(
    values: Array[AvroValue],
    skips: Array[AvroSkip],
    targets: Array[Int],
    absent: Array[AvroValue],
    absentTargets: Array[Int]
) {
  def append(in: ByteCursor, into: Array[WritableColumnVector]): Unit = {
    var i = 0
    while (i < values.length) {
      val value = values(i)
      if (value == null) skips(i).run(in) else value.append(in, into(targets(i)))
      i += 1
    }
    i = 0
    while (i < absent.length) {
      absent(i).append(in, into(absentTargets(i)))
      i += 1
    }
  }
}
