package hudiidx.spark.read

import java.math.BigInteger

import hudiidx.InvalidOption
import hudiidx.log.{KeyValueKind, RecordKeyBuilder, RecordKeyForm}
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.Expression
import org.apache.spark.sql.types._
import org.apache.spark.unsafe.types.UTF8String

/** How the record key of a row is made from columns of it; sent to tasks.
  *
  *  @param columns bound to the rows
  *  @param forms   how Hudi may have put the values together; none: the one column is a text, and that is the key
  */
final case class KeyColumnsOf(columns: Vector[Expression], forms: Vector[RecordKeyForm]) {

  /** One for each form. */
  def readers(): Vector[KeyReader] =
    if (forms.isEmpty) Vector(new TextKeyReader(columns.head))
    else forms.map(f => new BuiltKeyReader(columns, f, isDoubtful = isDoubtful))

  /** A text that begins like a named key may be one record's whole key and another's value. */
  private def isDoubtful: Boolean = columns.length == 1 && forms.exists(_.named) && forms.exists(!_.named)
}

/** Reads one row's record key at a time. Not safe for several threads. */
abstract class KeyReader {

  /** False if the row has no key: its key columns are null or empty. */
  def read(row: InternalRow): Boolean

  /** The key read last, as UTF-8: `bytes` from 0 on. */
  def bytes: Array[Byte]
  def length: Int
}

final private class TextKeyReader(column: Expression) extends KeyReader {
  private var key: Array[Byte] = Array.emptyByteArray

  override def read(row: InternalRow): Boolean = {
    val value = column.eval(row)
    if (value != null) key = value.asInstanceOf[UTF8String].getBytes
    value != null
  }

  override def bytes: Array[Byte] = key
  override def length: Int = key.length
}

/** As Hudi's key generators make text of values: see [[RecordKeyBuilder]]. */
final private class BuiltKeyReader(columns: Vector[Expression], form: RecordKeyForm, isDoubtful: Boolean)
    extends KeyReader {
  private val builder = new RecordKeyBuilder(form)
  private val values = columns.toArray
  private val types = columns.map(_.dataType).toArray

  override def read(row: InternalRow): Boolean = {
    builder.start()
    var i = 0
    while (i < values.length) {
      val value = values(i).eval(row)
      if (isDoubtful) KeyReader.requireBare(form.fields.head, value)
      KeyReader.add(builder, types(i), value)
      i += 1
    }
    builder.isKey
  }

  override def bytes: Array[Byte] = builder.bytes
  override def length: Int = builder.length
}

object KeyReader {

  def kindOf(dataType: DataType): KeyValueKind = dataType match {
    case StringType                                    => KeyValueKind.Text
    case ByteType | ShortType | IntegerType | LongType => KeyValueKind.Whole
    case BooleanType                                   => KeyValueKind.Truth
    case _: DecimalType                                => KeyValueKind.Exact
    case DateType                                      => KeyValueKind.Date
    case FloatType | DoubleType                        => KeyValueKind.Floating
    case TimestampType | TimestampNTZType              => KeyValueKind.Instant
    case BinaryType                                    => KeyValueKind.Binary
    case _                                             => KeyValueKind.Other
  }

  /** InvalidOption for a text that may be a record key as it stands, or a value in one. */
  private[spark] def requireBare(field: String, value: Any): Unit = value match {
    case t: UTF8String if t.startsWith(UTF8String.fromString(field + ":")) =>
      throw new InvalidOption(
        s"key: '$t' may be a value of $field or a record key, and this table may have keys of both forms, `v` and `$field:v`; give " +
          "record keys as texts in a column of another name"
      )
    case _ => ()
  }

  /** Adds a value as Spark holds it inside. */
  private[spark] def add(key: RecordKeyBuilder, dataType: DataType, value: Any): Unit =
    if (value == null) key.nullValue()
    else
      dataType match {
        case StringType =>
          val bytes = value.asInstanceOf[UTF8String].getBytes
          key.utf8(bytes, 0, bytes.length)
        case ByteType | ShortType | IntegerType | LongType => key.long(value.asInstanceOf[Number].longValue)
        case BooleanType                                   => key.boolean(value.asInstanceOf[Boolean])
        case FloatType                                     => key.float(value.asInstanceOf[Float])
        case DoubleType                                    => key.double(value.asInstanceOf[Double])
        case DateType                                      => key.date(value.asInstanceOf[Int].toLong)
        case TimestampType                                 => key.timestampMicros(value.asInstanceOf[Long])
        case TimestampNTZType                              => key.long(value.asInstanceOf[Long])
        case BinaryType                                    =>
          val bytes = value.asInstanceOf[Array[Byte]]
          key.binary(bytes, 0, bytes.length)
        case d: DecimalType => key.decimal(unscaled(value.asInstanceOf[Decimal], d), d.scale)
        case other => throw new InvalidOption(s"key: a column of type ${other.simpleString} is not a record key")
      }

  private def unscaled(value: Decimal, dataType: DecimalType): BigInteger =
    value.toJavaBigDecimal.setScale(dataType.scale).unscaledValue
}
