package hudiidx.write

import com.fasterxml.jackson.databind.ObjectMapper
import com.fasterxml.jackson.databind.node.{ArrayNode, ObjectNode}
import java.io.ByteArrayOutputStream
import org.apache.avro.{Schema, SchemaBuilder}
import org.apache.avro.file.DataFileWriter
import org.apache.avro.generic.{GenericData, GenericDatumWriter, GenericRecord}
import scala.collection.JavaConverters._

/** Content of a completed deltacommit: HoodieCommitMetadata, as JSON before table version 8 and as an Avro container from
  * then on. Format notes §2.5, §3.1, §3.2.
  */
object CommitContent {

  def of(write: CompletedWrite, tableVersion: Int, instant: String): Array[Byte] =
    if (tableVersion < AvroVersion) json(write) else avro(write, instant)

  private val AvroVersion = 8
  private val mapper = new ObjectMapper

  private def byPartition(write: CompletedWrite): Vector[(String, Vector[WrittenFile])] =
    write.files.groupBy(_.partitionPath).toVector.sortBy(_._1)

  private def json(write: CompletedWrite): Array[Byte] = {
    val root = mapper.createObjectNode()
    val partitions = root.putObject("partitionToWriteStats")
    byPartition(write).foreach { case (partition, files) =>
      val stats = partitions.putArray(partition)
      files.foreach(f => jsonStat(stats, f))
    }
    root.put("compacted", false)
    val extra = root.putObject("extraMetadata")
    (write.extra + ("schema" -> write.schema)).foreach { case (k, v) => extra.put(k, v) }
    root.put("operationType", write.operation)
    mapper.writerWithDefaultPrettyPrinter.writeValueAsBytes(root)
  }

  private def jsonStat(stats: ArrayNode, f: WrittenFile): Unit = {
    val stat: ObjectNode = stats.addObject()
    stat.put("fileId", f.fileId).put("path", f.path)
    stat.putNull("cdcStats")
    stat.put("prevCommit", f.sliceInstant)
    counts(f).foreach { case (name, value) => stat.put(name, value) }
    Zeros.foreach(stat.put(_, 0L))
    stat.putNull("tempPath")
    stat.put("partitionPath", f.partitionPath)
    stat.putNull("minEventTime")
    stat.putNull("maxEventTime")
    stat.putNull("runtimeStats")
    stat.put("logVersion", f.logVersion).put("logOffset", 0L).put("baseFile", f.baseFile)
    val logs = stat.putArray("logFiles")
    (f.earlierLogs :+ f.fileName).foreach(name => logs.add(name))
    stat.putObject("recordsStats").putNull("val")
  }

  private def counts(f: WrittenFile): Vector[(String, Long)] = Vector(
    "numWrites" -> (f.inserts + f.updates),
    "numDeletes" -> f.deletes,
    "numUpdateWrites" -> f.updates,
    "numInserts" -> f.inserts,
    "totalWriteBytes" -> f.sizeBytes,
    "fileSizeInBytes" -> f.sizeBytes
  )

  private val Zeros = Vector(
    "totalWriteErrors",
    "totalLogRecords",
    "totalLogFilesCompacted",
    "totalLogSizeCompacted",
    "totalUpdatedRecordsCompacted",
    "totalLogBlocks",
    "totalCorruptLogBlock",
    "totalRollbackBlocks"
  )

  private val namespace = "org.apache.hudi.avro.model"

  private def text: Schema = {
    val schema = Schema.create(Schema.Type.STRING)
    schema.addProp("avro.java.string", "String")
    schema
  }

  private def optional(schema: Schema): Schema = Schema.createUnion(Schema.create(Schema.Type.NULL), schema)

  private val longs =
    Vector("numWrites", "numDeletes", "numUpdateWrites", "numInserts", "totalWriteBytes", "fileSizeInBytes")

  /** The fields that a delta commit's stat needs: readers take others' defaults, null. */
  private val statSchema: Schema = {
    val fields = Vector("fileId", "path", "prevCommit", "partitionPath", "baseFile").map(_ -> text) ++
      (longs ++ Zeros :+ "logOffset").map(_ -> Schema.create(Schema.Type.LONG)) ++
      Vector("logVersion" -> Schema.create(Schema.Type.INT), "logFiles" -> Schema.createArray(text))
    recordOf("HoodieWriteStat", fields)
  }

  private val commitSchema: Schema = recordOf(
    "HoodieCommitMetadata",
    Vector(
      "partitionToWriteStats" -> mapOf(Schema.createArray(statSchema)),
      "compacted" -> Schema.create(Schema.Type.BOOLEAN),
      "extraMetadata" -> mapOf(text),
      "version" -> Schema.create(Schema.Type.INT),
      "operationType" -> text
    )
  )

  private def mapOf(values: Schema): Schema = {
    val schema = Schema.createMap(values)
    schema.addProp("avro.java.string", "String")
    schema
  }

  private def recordOf(name: String, fields: Vector[(String, Schema)]): Schema =
    fields
      .foldLeft(SchemaBuilder.record(name).namespace(namespace).fields()) { case (all, (field, schema)) =>
        all.name(field).`type`(optional(schema)).withDefault(null)
      }
      .endRecord()

  private def avro(write: CompletedWrite, instant: String): Array[Byte] = {
    val partitions = new java.util.LinkedHashMap[String, java.util.List[GenericRecord]]
    byPartition(write).foreach { case (p, files) => partitions.put(p, files.map(avroStat(_, instant)).asJava) }
    val root = new GenericData.Record(commitSchema)
    root.put("partitionToWriteStats", partitions)
    root.put("compacted", false)
    root.put("extraMetadata", (write.extra + ("schema" -> write.schema)).asJava)
    root.put("version", 1)
    root.put("operationType", write.operation)
    container(commitSchema, root)
  }

  private def avroStat(f: WrittenFile, instant: String): GenericRecord = {
    val stat = new GenericData.Record(statSchema)
    stat.put("fileId", f.fileId)
    stat.put("path", f.path)
    stat.put("prevCommit", instant)
    stat.put("partitionPath", f.partitionPath)
    stat.put("baseFile", "")
    counts(f).foreach { case (name, value) => stat.put(name, value) }
    (Zeros :+ "logOffset").foreach(stat.put(_, 0L))
    stat.put("logVersion", f.logVersion)
    stat.put("logFiles", Vector(f.fileName).asJava)
    stat
  }

  /** An Avro container of one record. */
  private[write] def container(schema: Schema, record: GenericRecord): Array[Byte] = {
    val out = new ByteArrayOutputStream
    val writer = new DataFileWriter[GenericRecord](new GenericDatumWriter[GenericRecord](schema))
    writer.create(schema, out)
    writer.append(record)
    writer.close()
    out.toByteArray
  }
}
