package hudiidx.spark

import java.nio.charset.StandardCharsets.UTF_8
import java.nio.file.{Files, Paths}

import com.fasterxml.jackson.databind.ObjectMapper
import com.fasterxml.jackson.databind.node.ObjectNode
import hudiidx.{AvroCommits, Fixtures}
import org.apache.avro.generic.GenericRecord

/** What completed commits of a table tell of its columns. */
object CommitSchemas {
  private val mapper = new ObjectMapper

  /** Changes the schema of each write, in JSON as version 6 has commits or in Avro. */
  def change(table: String)(of: String => String): Unit =
    Fixtures.filesBelow(s"$table/.hoodie").filter(_.matches("(timeline/)?[0-9_]+\\.(delta)?commit")).foreach { name =>
      val file = Paths.get(s"$table/.hoodie/$name")
      val content = Files.readAllBytes(file)
      Files.write(file, if (AvroCommits.is(content)) inAvro(content, of) else inJson(content, of))
    }

  private def inJson(content: Array[Byte], of: String => String): Array[Byte] = {
    val commit = mapper.readTree(content).asInstanceOf[ObjectNode]
    val more = commit.get("extraMetadata").asInstanceOf[ObjectNode]
    more.put("schema", of(more.get("schema").asText))
    mapper.writeValueAsString(commit).getBytes(UTF_8)
  }

  private def inAvro(content: Array[Byte], of: String => String): Array[Byte] = AvroCommits.changed(content) { commit =>
    val more = commit.get("extraMetadata").asInstanceOf[java.util.Map[AnyRef, AnyRef]]
    val key = more.keySet.toArray.find(_.toString == "schema").get
    more.put(key, of(more.get(key).toString)): Unit
  }

  /** Changes the write stats of all writes of a table of version 8 or later. */
  def stats(table: String)(change: GenericRecord => Unit): Unit =
    Fixtures.filesBelow(s"$table/.hoodie").filter(_.matches("timeline/[0-9_]+\\.(delta)?commit")).foreach { name =>
      val file = Paths.get(s"$table/.hoodie/$name")
      Files.write(file, AvroCommits.changed(Files.readAllBytes(file))(eachStat(_, change))): Unit
    }

  /** Takes the names of the files that they wrote from all writes of a table of version 8 or later. */
  def unname(table: String): Unit = stats(table)(_.put("path", null))

  private def eachStat(commit: GenericRecord, change: GenericRecord => Unit): Unit =
    commit
      .get("partitionToWriteStats")
      .asInstanceOf[java.util.Map[AnyRef, java.util.List[GenericRecord]]]
      .values
      .forEach(_.forEach(change(_)))
}
