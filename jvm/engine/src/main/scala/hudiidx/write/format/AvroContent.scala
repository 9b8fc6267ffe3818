package hudiidx.write.format

import java.io.ByteArrayOutputStream
import org.apache.avro.file.DataFileWriter
import org.apache.avro.generic.{GenericDatumWriter, GenericRecord}
import hudiidx.AvroSchemas
import org.apache.avro.{Schema, SchemaBuilder}

/** Avro containers of one record, as files of the timeline are; schemas as Hudi's generated classes have them. Format notes
  * §2.5.
  */
private[write] object AvroContent {
  private val namespace = "org.apache.hudi.avro.model"

  def text: Schema = {
    val schema = Schema.create(Schema.Type.STRING)
    schema.addProp("avro.java.string", "String")
    schema
  }

  def mapOf(values: Schema): Schema = {
    val schema = Schema.createMap(values)
    schema.addProp("avro.java.string", "String")
    schema
  }

  /** All fields may be null, and are by default. */
  def recordOf(name: String, fields: Vector[(String, Schema)]): Schema =
    fields
      .foldLeft(SchemaBuilder.record(name).namespace(namespace).fields()) { case (all, (field, schema)) =>
        all.name(field).`type`(AvroSchemas.optional(schema)).withDefault(null)
      }
      .endRecord()

  def container(record: GenericRecord): Array[Byte] = {
    val out = new ByteArrayOutputStream
    val writer = new DataFileWriter[GenericRecord](new GenericDatumWriter[GenericRecord](record.getSchema))
    writer.create(record.getSchema, out)
    writer.append(record)
    writer.close()
    out.toByteArray
  }
}
