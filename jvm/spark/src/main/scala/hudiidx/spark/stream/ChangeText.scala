package hudiidx.spark.stream

import java.io.StringWriter

import scala.collection.mutable

import com.fasterxml.jackson.core.{JsonFactory, JsonGenerator}
import hudiidx.UnsupportedTable
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.SpecializedGetters
import org.apache.spark.sql.types._

/** Rows as the JSON texts in which stock Hudi 1.1 and 1.2 show images of changes that no writer kept: columns in their order without
  * those that are null, dates as days and times as microseconds since 1970, binaries in base64. Decimals, of which stock shows
  * nothing, are numbers.
  */
final private[spark] class ChangeText(columns: StructType) {
  private val json = new JsonFactory

  def of(row: InternalRow): String = {
    val out = new StringWriter
    val to = json.createGenerator(out)
    write(row, columns, to)
    to.close()
    out.toString
  }

  private def write(row: InternalRow, columns: StructType, to: JsonGenerator): Unit = {
    to.writeStartObject()
    var i = 0
    while (i < columns.length) {
      if (!row.isNullAt(i)) {
        to.writeFieldName(columns(i).name)
        write(row, i, columns(i).dataType, to)
      }
      i += 1
    }
    to.writeEndObject()
  }

  private def write(from: SpecializedGetters, at: Int, dataType: DataType, to: JsonGenerator): Unit = dataType match {
    case StringType                                  => to.writeString(from.getUTF8String(at).toString)
    case BinaryType                                  => to.writeBinary(from.getBinary(at))
    case BooleanType                                 => to.writeBoolean(from.getBoolean(at))
    case ByteType                                    => to.writeNumber(from.getByte(at).toShort)
    case ShortType                                   => to.writeNumber(from.getShort(at))
    case IntegerType | DateType                      => to.writeNumber(from.getInt(at))
    case LongType | TimestampType | TimestampNTZType => to.writeNumber(from.getLong(at))
    case FloatType                                   => to.writeNumber(from.getFloat(at))
    case DoubleType                                  => to.writeNumber(from.getDouble(at))
    case d: DecimalType => to.writeNumber(from.getDecimal(at, d.precision, d.scale).toJavaBigDecimal.toPlainString)
    case s: StructType  => write(from.getStruct(at, s.length), s, to)
    case a: ArrayType   =>
      val items = from.getArray(at)
      to.writeStartArray()
      (0 until items.numElements()).foreach { i =>
        if (items.isNullAt(i)) to.writeNull() else write(items, i, a.elementType, to)
      }
      to.writeEndArray()
    case m: MapType =>
      val entries = from.getMap(at)
      val (keys, values) = (entries.keyArray(), entries.valueArray())
      to.writeStartObject()
      (0 until entries.numElements()).foreach { i =>
        if (!values.isNullAt(i)) {
          to.writeFieldName(String.valueOf(keys.get(i, m.keyType)))
          write(values, i, m.valueType, to)
        }
      }
      to.writeEndObject()
    case other => throw new IllegalStateException(s"${other.simpleString}: checked before")
  }
}

private[spark] object ChangeText {

  /** The column of a row's file, whose value changes whenever a file is rewritten. */
  private val FileName = ",\"_hoodie_file_name\":\""

  /** The text without the name of the row's file: two such are equal where the rows are. */
  def withoutFile(text: String): String = {
    val from = text.indexOf(FileName)
    val until = if (from < 0) -1 else text.indexOf('"', from + FileName.length)
    if (until < 0) text else text.substring(0, from) + text.substring(until + 1)
  }

  private val CommitTime = "{\"_hoodie_commit_time\":\""
  private val Number = ",\"_hoodie_commit_seqno\":\""

  /** The text as it is of a row that the commit wrote, of other rows without what a log compaction gives them anew: two such are
    * equal where the commit changed nothing.
    */
  def unlessOf(commit: String)(text: String): String = {
    def end(from: Int): Int = text.indexOf('"', from) + 1
    if (!text.startsWith(CommitTime) || text.startsWith(commit + "\"", CommitTime.length)) text
    else {
      val behindTime = end(CommitTime.length)
      val numbered = text.startsWith(Number, behindTime)
      withoutFile(text.substring(if (numbered) end(behindTime + Number.length) else behindTime))
    }
  }

  /** The images that no other one is the same as: each of the others is so once, for the first of them. */
  def without(images: Vector[String], others: Vector[String], sameness: String => String): Vector[String] = {
    val left = mutable.HashMap.empty[String, Int].withDefaultValue(0)
    others.foreach(other => left(sameness(other)) += 1)
    images.filter { image =>
      val same = sameness(image)
      val isThere = left(same) > 0
      if (isThere) left(same) -= 1
      !isThere
    }
  }

  /** UnsupportedTable for a column that has no such text. */
  def check(table: String, columns: StructType): Unit = columns.foreach { column =>
    if (!hasText(column.dataType))
      throw new UnsupportedTable(
        s"$table: images of changes have no text for column ${column.name}, which is ${column.dataType.simpleString}; read the " +
          "table's changes with Hudi"
      )
  }

  private def hasText(dataType: DataType): Boolean = dataType match {
    case s: StructType => s.forall(f => hasText(f.dataType))
    case a: ArrayType  => hasText(a.elementType)
    case m: MapType    => hasText(m.valueType)
    case StringType | BinaryType | BooleanType | ByteType | ShortType | IntegerType | LongType => true
    case DateType | TimestampType | TimestampNTZType | FloatType | DoubleType                  => true
    case _: DecimalType                                                                        => true
    case _                                                                                     => false
  }
}
