package hudiidx.rows

import java.io.IOException
import java.util.BitSet

/** Values of one column, one behind the other in arrays of primitives that grow at their end; [[ValueType]] says which class is
  * for which type. Arrays may be longer than `count`. For one thread.
  */
private[hudiidx] abstract class ColumnValues {
  private var size = 0
  private var nullBits: BitSet = _

  final def count: Int = size

  final def isNull(at: Int): Boolean = nullBits != null && nullBits.get(at)

  /** Set for each null; null itself: there is none. */
  final def nulls: BitSet = nullBits

  /** Memory of the values, roughly. */
  def bytes: Long

  /** A value as a plain object, as [[ValueType]] has it. */
  final def value(at: Int): Any = if (isNull(at)) null else get(at)

  /** Adds such an object. */
  final def add(value: Any): Unit =
    if (value == null) addNull()
    else {
      reserve(1)
      put(value)
      end(isThere = true)
    }

  final def addNull(): Unit = {
    reserve(1)
    putNull()
    end(isThere = false)
  }

  final def addNulls(values: Int): Unit = {
    var i = 0
    while (i < values) {
      addNull()
      i += 1
    }
  }

  /** Adds values of a column of the same class. */
  final def addAll(from: ColumnValues, first: Int, values: Int): Unit = {
    reserve(values)
    copy(from, first, values)
    var at = if (from.nullBits == null) -1 else from.nullBits.nextSetBit(first)
    while (at >= 0 && at < first + values) {
      mark(size + at - first)
      at = from.nullBits.nextSetBit(at + 1)
    }
    size += values
  }

  /** The value that was written behind the last one counts from now on. */
  protected final def end(isThere: Boolean): Unit = {
    if (!isThere) mark(size)
    size += 1
  }

  /** Has as many values as another column, null where those are. It must not grow any more. */
  protected final def share(other: ColumnValues): this.type = {
    size = other.size
    nullBits = other.nullBits
    this
  }

  private def mark(at: Int): Unit = {
    if (nullBits == null) nullBits = new BitSet
    nullBits.set(at)
  }

  protected def reserve(more: Int): Unit

  /** Writes one value behind the last, for which there is room. */
  protected def put(value: Any): Unit

  /** The same of a null. */
  protected def putNull(): Unit

  /** A value that is not null. */
  protected def get(at: Int): Any

  /** Writes values, nulls among them, behind the last; there is room. */
  protected def copy(from: ColumnValues, first: Int, values: Int): Unit
}

private[hudiidx] object ColumnValues {

  /** Decimals of more digits do not fit into 64 bits. */
  val LongDigits = 18

  private val Longest = Int.MaxValue - 8

  /** Without values yet.
    *
    * @param capacity for so many there is room
    */
  def of(valueType: ValueType, capacity: Int): ColumnValues = valueType match {
    case ValueType.Bool                      => new BoolValues(capacity)
    case ValueType.Int32 | ValueType.Date    => new IntValues(capacity)
    case ValueType.Int64                     => new LongValues(capacity)
    case _: ValueType.Timestamp              => new LongValues(capacity)
    case ValueType.Float32                   => new FloatValues(capacity)
    case ValueType.Float64                   => new DoubleValues(capacity)
    case ValueType.Text | ValueType.Binary   => new BytesValues(capacity)
    case ValueType.Decimal(precision, scale) => decimals(precision, scale, capacity)
    case ValueType.Nothing                   => new NoValues
    case ValueType.Items(element)            => new ListValues(of(element, capacity), capacity)
    case vector: ValueType.Numbers           => of(ValueType.Items(ValueType.elementOf(vector)), capacity)
    case ValueType.Entries(key, value)       => entries(of(key, capacity), of(value, capacity), capacity)
    case ValueType.Struct(fields)            => new StructValues(fields.map(f => of(f.valueType, capacity)).toArray)
  }

  private def decimals(precision: Int, scale: Int, capacity: Int): DecimalValues =
    new DecimalValues(scale, if (precision <= LongDigits) new LongValues(capacity) else new BytesValues(capacity))

  private def entries(keys: ColumnValues, values: ColumnValues, capacity: Int): ListValues =
    new ListValues(new StructValues(Array(keys, values)), capacity)

  def nulls(valueType: ValueType, count: Int): ColumnValues = {
    val made = of(valueType, count)
    made.addNulls(count)
    made
  }

  /** The length of an array that grows to hold `wanted`. IOException if none can. */
  private[rows] def longer(length: Int, wanted: Long): Int = {
    if (wanted > Longest)
      throw new IOException(s"one column of a batch of rows takes more than $Longest bytes or values")
    math.min(Longest.toLong, math.max(wanted, 16L + 2L * length)).toInt
  }
}
