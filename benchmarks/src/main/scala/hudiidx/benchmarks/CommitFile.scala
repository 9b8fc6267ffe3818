package hudiidx.benchmarks

import java.io.ByteArrayOutputStream
import java.nio.charset.StandardCharsets
import java.util.ArrayList
import java.util.HashMap
import org.apache.avro.Schema
import org.apache.avro.file.DataFileWriter
import org.apache.avro.generic.GenericData
import org.apache.avro.generic.GenericDatumWriter
import org.apache.avro.generic.GenericRecord

/** One written file as commit metadata tells it. `prevInstant` is None for a new file group. */
final case class WrittenFile(
    partitionPath: String,
    fileId: String,
    fileName: String,
    sizeBytes: Long,
    prevInstant: Option[String]
)

/** Content of a completed commit of table version 9: an Avro container with one HoodieCommitMetadata. */
object CommitFile {
  private val schema: Schema = {
    val in = getClass.getResourceAsStream("/hudiidx/benchmarks/commit-metadata.avsc")
    try new Schema.Parser().parse(new String(in.readAllBytes(), StandardCharsets.UTF_8))
    finally in.close()
  }
  private val statSchema: Schema =
    schema.getField("partitionToWriteStats").schema.getTypes.get(1).getValueType.getElementType

  def encode(files: Iterator[WrittenFile], tableSchema: String): Array[Byte] = {
    val stats = new HashMap[String, ArrayList[GenericRecord]]()
    files.foreach(f => stats.computeIfAbsent(f.partitionPath, _ => new ArrayList[GenericRecord]()).add(stat(f)))
    val extra = new HashMap[String, String]()
    extra.put("schema", tableSchema)
    val record = new GenericData.Record(schema)
    record.put("partitionToWriteStats", stats)
    record.put("compacted", false)
    record.put("extraMetadata", extra)
    record.put("version", 1)
    record.put("operationType", "UPSERT")
    val bytes = new ByteArrayOutputStream()
    val writer = new DataFileWriter[GenericRecord](new GenericDatumWriter[GenericRecord](schema))
    writer.create(schema, bytes, Array.fill[Byte](16)(7))
    writer.append(record)
    writer.close()
    bytes.toByteArray
  }

  private def stat(file: WrittenFile): GenericRecord = {
    val records = file.sizeBytes / 128
    val isNew = file.prevInstant.isEmpty
    val path = if (file.partitionPath.isEmpty) file.fileName else file.partitionPath + "/" + file.fileName
    val stat = new GenericData.Record(statSchema)
    stat.put("fileId", file.fileId)
    stat.put("path", path)
    stat.put("prevCommit", file.prevInstant.getOrElse("null"))
    stat.put("partitionPath", file.partitionPath)
    stat.put("fileSizeInBytes", file.sizeBytes)
    stat.put("totalWriteBytes", file.sizeBytes)
    stat.put("numWrites", records)
    stat.put("numInserts", if (isNew) records else 0L)
    stat.put("numUpdateWrites", if (isNew) 0L else records / 10)
    Seq("numDeletes", "totalWriteErrors", "totalLogRecords", "totalLogFiles", "totalUpdatedRecordsCompacted")
      .foreach(stat.put(_, 0L))
    Seq("totalLogBlocks", "totalCorruptLogBlock", "totalRollbackBlocks").foreach(stat.put(_, 0L))
    stat
  }
}
