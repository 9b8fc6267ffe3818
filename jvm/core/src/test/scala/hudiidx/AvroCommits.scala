package hudiidx

import java.io.ByteArrayOutputStream

import org.apache.avro.file.{DataFileReader, DataFileWriter, SeekableByteArrayInput}
import org.apache.avro.generic.{GenericDatumReader, GenericDatumWriter, GenericRecord}

/** Commits in Avro, as version 8 and later have them. */
object AvroCommits {
  def is(content: Array[Byte]): Boolean = content.startsWith("Obj")

  /** The same file with the record changed. */
  def changed(content: Array[Byte])(change: GenericRecord => Unit): Array[Byte] = {
    val reader =
      new DataFileReader[GenericRecord](new SeekableByteArrayInput(content), new GenericDatumReader[GenericRecord])
    val commit = reader.next()
    change(commit)
    val out = new ByteArrayOutputStream
    val writer =
      new DataFileWriter(new GenericDatumWriter[GenericRecord](reader.getSchema)).create(reader.getSchema, out)
    writer.append(commit)
    writer.close()
    out.toByteArray
  }
}
