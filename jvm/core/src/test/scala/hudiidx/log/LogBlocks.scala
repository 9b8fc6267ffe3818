package hudiidx.log

import hudiidx.bytes.Varint
import java.io.{ByteArrayOutputStream, DataOutputStream}
import java.nio.charset.StandardCharsets.UTF_8
import org.apache.avro.Schema
import org.apache.avro.generic.{GenericDatumWriter, GenericRecord}
import org.apache.avro.io.EncoderFactory

/** Log blocks with content, as Hudi writes them. */
object LogBlocks {

  def avro(header: Seq[(Int, String)], schema: Schema, records: Seq[GenericRecord]): Array[Byte] = {
    val content = new ByteArrayOutputStream
    val out = new DataOutputStream(content)
    out.writeInt(3)
    out.writeInt(records.size)
    records.foreach { r =>
      val datum = encode(schema, r)
      out.writeInt(datum.length)
      out.write(datum)
    }
    LogFiles.block(3, header :+ (LogHeaderKey.Schema -> schema.toString), content.toByteArray)
  }

  def encode(schema: Schema, record: GenericRecord): Array[Byte] = {
    val out = new ByteArrayOutputStream
    val encoder = EncoderFactory.get.binaryEncoder(out, null)
    new GenericDatumWriter[GenericRecord](schema).write(record, encoder)
    encoder.flush()
    out.toByteArray
  }

  /** Keys with their ordering value: None is the Int 0 of a plain delete, else a Long. */
  def deletes(header: Seq[(Int, String)], keys: Seq[(String, Option[Long])]): Array[Byte] = {
    val list = new ByteArrayOutputStream
    if (keys.nonEmpty) number(list, keys.size.toLong)
    keys.foreach { case (key, ordering) =>
      text(list, key)
      text(list, "p")
      number(list, if (ordering.isDefined) 3L else 2L)
      number(list, ordering.getOrElse(0L))
    }
    number(list, 0L)
    val content = new ByteArrayOutputStream
    val out = new DataOutputStream(content)
    out.writeInt(3)
    out.writeInt(list.size)
    list.writeTo(out)
    LogFiles.block(1, header, content.toByteArray)
  }

  def rollback(instant: String, target: String): Array[Byte] = LogFiles.block(
    0,
    Seq(LogHeaderKey.InstantTime -> instant, LogHeaderKey.TargetInstantTime -> target, LogHeaderKey.CommandType -> "0"),
    Array.emptyByteArray
  )

  /** A block whose writer stopped half-way. */
  val torn: Array[Byte] = LogFiles.block(1, LogFiles.instant(1), Array[Byte](1, 2, 3)).dropRight(9)

  private def number(out: ByteArrayOutputStream, value: Long): Unit = Varint.write(out, Varint.zigZag(value))

  private def text(out: ByteArrayOutputStream, value: String): Unit = {
    number(out, 1L)
    val utf8 = value.getBytes(UTF_8)
    number(out, utf8.length.toLong)
    out.write(utf8)
  }
}
