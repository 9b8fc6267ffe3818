package hudiidx.log

import java.math.{BigDecimal, BigInteger}
import java.nio.charset.StandardCharsets.{ISO_8859_1, UTF_8}
import java.sql.Timestamp
import java.time.LocalDate

/** Puts record keys together, as UTF-8 in a buffer that is used again: `start`, then one value for each of the form's
  * fields in their order, then the key is `bytes` from 0 on, `length` long. Values turn into text as by Hudi's key
  * generators on Avro records: Java's toString of the logical value. Format notes §8.2.
  */
final class RecordKeyBuilder(form: RecordKeyForm) {
  private val labels: Array[Array[Byte]] = form.fields.zipWithIndex.map { case (field, i) =>
    if (!form.named) Array.emptyByteArray else ((if (i == 0) "" else ",") + field + ":").getBytes(UTF_8)
  }.toArray
  private var buffer = new Array[Byte](256)
  private var used = 0
  private var field = 0
  private var anyValue = false

  def bytes: Array[Byte] = buffer

  def length: Int = used

  /** False if every value was null or empty: Hudi gives such a record no key. */
  def isKey: Boolean = anyValue

  def start(): Unit = {
    used = 0
    field = 0
    anyValue = false
  }

  def nullValue(): Unit = {
    label()
    if (form.named) append(RecordKeyBuilder.Null, 0, RecordKeyBuilder.Null.length)
  }

  /** A string as UTF-8. */
  def utf8(value: Array[Byte], from: Int, length: Int): Unit = {
    label()
    if (length > 0) {
      anyValue = true
      append(value, from, length)
    } else if (form.named) append(RecordKeyBuilder.Empty, 0, RecordKeyBuilder.Empty.length)
  }

  def text(value: String): Unit = {
    val encoded = value.getBytes(UTF_8)
    utf8(encoded, 0, encoded.length)
  }

  def long(value: Long): Unit = ascii(java.lang.Long.toString(value))

  def boolean(value: Boolean): Unit = ascii(java.lang.Boolean.toString(value))

  def float(value: Float): Unit = ascii(java.lang.Float.toString(value))

  def double(value: Double): Unit = ascii(java.lang.Double.toString(value))

  /** @param days since 1970-01-01 */
  def date(days: Long): Unit = if (form.numberedDays) long(days) else ascii(LocalDate.ofEpochDay(days).toString)

  /** An instant in milliseconds since 1970-01-01 UTC. */
  def timestampMillis(value: Long): Unit = if (form.timestamps) ascii(new Timestamp(value).toString) else long(value)

  /** An instant in microseconds since 1970-01-01 UTC; formatted ones lose what is below a millisecond, as in Hudi. */
  def timestampMicros(value: Long): Unit =
    if (form.timestamps) ascii(new Timestamp(value / 1000).toString) else long(value)

  def decimal(unscaled: BigInteger, scale: Int): Unit = ascii(new BigDecimal(unscaled, scale).toString)

  /** Bytes that are no text: lower-case hexadecimal. */
  def binary(value: Array[Byte], from: Int, length: Int): Unit = {
    val hex = new Array[Byte](length * 2)
    var i = 0
    while (i < length) {
      val b = value(from + i)
      hex(2 * i) = RecordKeyBuilder.Hex((b >> 4) & 15)
      hex(2 * i + 1) = RecordKeyBuilder.Hex(b & 15)
      i += 1
    }
    utf8(hex, 0, hex.length)
  }

  private def ascii(value: String): Unit = {
    label()
    anyValue = true
    val encoded = value.getBytes(ISO_8859_1)
    append(encoded, 0, encoded.length)
  }

  private def label(): Unit = {
    append(labels(field), 0, labels(field).length)
    field += 1
  }

  private def append(from: Array[Byte], at: Int, count: Int): Unit = {
    if (used + count > buffer.length)
      buffer = java.util.Arrays.copyOf(buffer, math.max(buffer.length * 2, used + count))
    System.arraycopy(from, at, buffer, used, count)
    used += count
  }
}

private object RecordKeyBuilder {
  val Null: Array[Byte] = RecordKeyForm.NullValue.getBytes(ISO_8859_1)
  val Empty: Array[Byte] = RecordKeyForm.EmptyValue.getBytes(ISO_8859_1)
  val Hex: Array[Byte] = "0123456789abcdef".getBytes(ISO_8859_1)
}
