package hudiidx.spark

import java.io.ByteArrayOutputStream
import java.nio.charset.StandardCharsets.UTF_8
import java.nio.file.{Files, Paths}

import com.fasterxml.jackson.databind.ObjectMapper
import com.fasterxml.jackson.databind.node.ObjectNode
import hudiidx.Fixtures
import org.apache.avro.file.{DataFileReader, DataFileWriter, SeekableByteArrayInput}
import org.apache.avro.generic.{GenericDatumReader, GenericDatumWriter, GenericRecord}

/** What completed commits of a table tell of its columns. */
object CommitSchemas {
  private val mapper = new ObjectMapper

  /** Changes the schema of each write, in JSON as version 6 has commits or in Avro. */
  def change(table: String)(of: String => String): Unit =
    Fixtures.filesBelow(s"$table/.hoodie").filter(_.matches("(timeline/)?[0-9_]+\\.(delta)?commit")).foreach { name =>
      val file = Paths.get(s"$table/.hoodie/$name")
      val content = Files.readAllBytes(file)
      Files.write(file, if (content.startsWith("Obj")) inAvro(content, of) else inJson(content, of))
    }

  private def inJson(content: Array[Byte], of: String => String): Array[Byte] = {
    val commit = mapper.readTree(content).asInstanceOf[ObjectNode]
    val more = commit.get("extraMetadata").asInstanceOf[ObjectNode]
    more.put("schema", of(more.get("schema").asText))
    mapper.writeValueAsString(commit).getBytes(UTF_8)
  }

  private def inAvro(content: Array[Byte], of: String => String): Array[Byte] = {
    val reader =
      new DataFileReader[GenericRecord](new SeekableByteArrayInput(content), new GenericDatumReader[GenericRecord])
    val commit = reader.next()
    val more = commit.get("extraMetadata").asInstanceOf[java.util.Map[AnyRef, AnyRef]]
    val key = more.keySet.toArray.find(_.toString == "schema").get
    more.put(key, of(more.get(key).toString))
    val out = new ByteArrayOutputStream
    val writer =
      new DataFileWriter(new GenericDatumWriter[GenericRecord](reader.getSchema)).create(reader.getSchema, out)
    writer.append(commit)
    writer.close()
    out.toByteArray
  }
}
