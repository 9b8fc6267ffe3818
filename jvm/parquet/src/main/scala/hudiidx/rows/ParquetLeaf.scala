package hudiidx.rows

import java.io.{IOException, OutputStream}
import java.math.BigInteger

import org.apache.parquet.column.page.PageReadStore
import org.apache.parquet.column.{ColumnDescriptor, ColumnReadStore, ColumnReader}
import org.apache.parquet.io.api.Binary
import org.apache.parquet.schema.PrimitiveType.PrimitiveTypeName._

/** Bytes of the values that were read since the batch began. */
private[rows] final class ReadBytes {
  var sum = 0L
}

/** A column chunk of Parquet, value by value. IOException where it does not have as many as its row group. */
private[rows] abstract class ParquetLeaf(descriptor: ColumnDescriptor, read: ReadBytes) extends ParquetNode {
  private val whole = descriptor.getMaxDefinitionLevel
  private var left = 0L
  protected var reader: ColumnReader = _

  override val leaves: Array[ParquetLeaf] = Array(this)
  override def isFixed: Boolean = descriptor.getMaxRepetitionLevel == 0

  def bind(pages: PageReadStore, readers: ColumnReadStore): Unit = {
    left = pages.getPageReader(descriptor).getTotalValueCount
    reader = readers.getColumnReader(descriptor)
  }

  def definition: Int = {
    if (left == 0) throw wrong("fewer")
    reader.getCurrentDefinitionLevel
  }

  /** 0 behind the last value. */
  def repetition: Int = if (left == 0) 0 else reader.getCurrentRepetitionLevel

  override def next(): Unit = {
    if (definition == whole) take() else values.addNull()
    read.sum += 8
    step()
  }

  override def skip(): Unit = {
    if (definition == whole) reader.skip()
    step()
  }

  /** Skips a place without a value. */
  def pass(): Unit = {
    // A value that nobody asks for would stand in the way of the next one.
    if (definition == whole) throw new IOException(s"column $name is out of step with the others of its list")
    step()
  }

  private def step(): Unit = {
    reader.consume()
    left -= 1
  }

  def requireEnd(): Unit = if (left > 0) throw wrong("more")

  private def wrong(what: String) = new IOException(s"column $name has $what values than its rows")

  protected def name: String = descriptor.getPath.mkString(".")

  protected def addBytes(length: Int): Unit = read.sum += length

  /** Adds the current value, which is there. */
  protected def take(): Unit
}

private[rows] object ParquetLeaf {

  /** @param valueType as `ParquetTypes` has it for the column */
  def of(column: ColumnDescriptor, valueType: ValueType, read: ReadBytes): ParquetLeaf = valueType match {
    case ValueType.Bool                    => new BoolLeaf(column, read)
    case ValueType.Int32 | ValueType.Date  => new IntLeaf(column, read)
    case ValueType.Int64                   => new LongLeaf(column, read)
    case t: ValueType.Timestamp            => new TimestampLeaf(column, t.millis, read)
    case ValueType.Float32                 => new FloatLeaf(column, read)
    case ValueType.Float64                 => new DoubleLeaf(column, read)
    case d: ValueType.Decimal              => new DecimalLeaf(column, d, read)
    case ValueType.Text | ValueType.Binary => new BytesLeaf(column, read)
    case other                             => throw new IllegalArgumentException(s"$other in one column of a file")
  }
}

/** A leaf whose values are of one class.
  *
  * @param make has room for so many
  */
private abstract class LeafOf[V <: ColumnValues](column: ColumnDescriptor, read: ReadBytes, make: Int => V)
    extends ParquetLeaf(column, read) {
  protected var own: V = _
  final override def values: ColumnValues = own
  override def begin(rows: Int): Unit = own = make(rows)
}

private final class BoolLeaf(column: ColumnDescriptor, read: ReadBytes)
    extends LeafOf[BoolValues](column, read, new BoolValues(_)) {
  override protected def take(): Unit = own.append(reader.getBoolean)
}

private final class IntLeaf(column: ColumnDescriptor, read: ReadBytes)
    extends LeafOf[IntValues](column, read, new IntValues(_)) {
  override protected def take(): Unit = own.append(reader.getInteger)
}

private final class LongLeaf(column: ColumnDescriptor, read: ReadBytes)
    extends LeafOf[LongValues](column, read, new LongValues(_)) {
  override protected def take(): Unit = own.append(reader.getLong)
}

private final class TimestampLeaf(column: ColumnDescriptor, isMillis: Boolean, read: ReadBytes)
    extends LeafOf[LongValues](column, read, new LongValues(_)) {
  private val isOld = column.getPrimitiveType.getPrimitiveTypeName == INT96
  override protected def take(): Unit = own.append(
    if (isOld) ParquetTypes.microsOfInt96(reader.getBinary.getBytesUnsafe)
    else if (isMillis) Math.multiplyExact(reader.getLong, 1000L)
    else reader.getLong
  )
}

private final class FloatLeaf(column: ColumnDescriptor, read: ReadBytes)
    extends LeafOf[FloatValues](column, read, new FloatValues(_)) {
  override protected def take(): Unit = own.append(reader.getFloat)
}

private final class DoubleLeaf(column: ColumnDescriptor, read: ReadBytes)
    extends LeafOf[DoubleValues](column, read, new DoubleValues(_)) {
  override protected def take(): Unit = own.append(reader.getDouble)
}

private final class BytesLeaf(column: ColumnDescriptor, read: ReadBytes)
    extends LeafOf[BytesValues](column, read, new BytesValues(_)) {
  private val sink = new BytesSink
  override def isFixed: Boolean = false

  /** A batch takes as much memory as the one before, more or less. */
  override def begin(rows: Int): Unit = {
    own = new BytesValues(rows, if (own == null) 0 else own.offsets(own.count))
    sink.to = own
  }

  override protected def take(): Unit = {
    val value = reader.getBinary
    addBytes(value.length)
    value.writeTo(sink)
  }
}

/** Takes each value of Parquet's in one piece, from where it stands. */
private final class BytesSink extends OutputStream {
  var to: BytesValues = _
  override def write(bytes: Array[Byte], from: Int, length: Int): Unit = to.append(bytes, from, length)
  override def write(byte: Int): Unit = to.append(Array(byte.toByte), 0, 1)
}

/** Unscaled numbers in whichever of Parquet's forms. */
private final class DecimalLeaf(column: ColumnDescriptor, of: ValueType.Decimal, read: ReadBytes)
    extends LeafOf[DecimalValues](column, read, ColumnValues.of(of, _).asInstanceOf[DecimalValues]) {
  private val stored = column.getPrimitiveType.getPrimitiveTypeName
  private val isShort = of.precision <= ColumnValues.LongDigits
  override def isFixed: Boolean = isShort && super.isFixed

  override protected def take(): Unit = {
    own.unscaled match {
      case longs: LongValues  => longs.append(if (isNumber) number else numberOf(reader.getBinary))
      case bytes: BytesValues => takeBytes(bytes)
      case other              => throw new IllegalStateException(other.getClass.getName)
    }
    own.endValue()
  }

  private def isNumber: Boolean = stored == INT32 || stored == INT64

  private def number: Long = if (stored == INT32) reader.getInteger.toLong else reader.getLong

  private def takeBytes(to: BytesValues): Unit =
    if (isNumber) to.add(BigInteger.valueOf(number).toByteArray)
    else {
      val value = reader.getBinary
      if (value.length == 0) throw new IOException(s"column $name has a decimal of no bytes")
      addBytes(value.length)
      val bytes = value.getBytesUnsafe
      to.append(bytes, 0, bytes.length)
    }

  private def numberOf(value: Binary): Long = {
    val bytes = value.getBytesUnsafe
    if (bytes.length == 0) throw new IOException(s"column $name has a decimal of no bytes")
    val first = math.max(0, bytes.length - 8)
    var number = bytes(first).toLong
    var i = first + 1
    while (i < bytes.length) {
      number = number << 8 | (bytes(i) & 0xff)
      i += 1
    }
    // What stands before the last eight bytes is their sign.
    i = 0
    while (i < first) {
      if (bytes(i) != (number >> 63).toByte)
        throw new IOException(s"column $name has a decimal of more than ${of.precision} digits")
      i += 1
    }
    number
  }
}
