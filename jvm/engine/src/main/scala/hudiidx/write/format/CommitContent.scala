package hudiidx.write.format

import com.fasterxml.jackson.databind.ObjectMapper
import com.fasterxml.jackson.databind.node.{ArrayNode, ObjectNode}
import hudiidx.TableFormat
import org.apache.avro.Schema
import org.apache.avro.generic.{GenericData, GenericRecord}
import scala.collection.JavaConverters._

/** Content of a completed deltacommit, replacecommit or compaction: HoodieCommitMetadata or HoodieReplaceCommitMetadata, as JSON or
  * as an Avro container. Format notes §2.5, §3.1, §3.2.
  */
object CommitContent {
  import AvroContent._

  def of(write: CompletedWrite, format: TableFormat, instant: String): Array[Byte] =
    if (format.avroInstants) avro(write, instant) else json(write)

  private val Compact = "COMPACT"
  private val Replaced = "partitionToReplaceFileIds"
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
    root.put("compacted", isCompaction(write))
    val extra = root.putObject("extraMetadata")
    (write.extra + ("schema" -> write.schema)).foreach { case (k, v) => extra.put(k, v) }
    root.put("operationType", write.operation)
    write.replaced.foreach { replaced =>
      val groups = root.putObject(Replaced)
      replaced.fileIds.toVector.sortBy(_._1).foreach { case (partition, ids) =>
        val of = groups.putArray(partition)
        ids.foreach(id => of.add(id))
      }
    }
    mapper.writerWithDefaultPrettyPrinter.writeValueAsBytes(root)
  }

  private def jsonStat(stats: ArrayNode, f: WrittenFile): Unit = {
    val stat: ObjectNode = stats.addObject()
    stat.put("fileId", f.fileId).put("path", f.path)
    stat.putNull("cdcStats")
    stat.put("prevCommit", if (f.base.isDefined) previousOf(f) else f.sliceInstant)
    (Zeros.map(_ -> 0L) ++ counts(f)).foreach { case (name, value) => stat.put(name, value) }
    stat.putNull("tempPath")
    stat.put("partitionPath", f.partitionPath)
    stat.putNull("minEventTime")
    stat.putNull("maxEventTime")
    stat.putNull("runtimeStats")
    if (f.base.isEmpty) jsonLog(stat, f)
  }

  private def jsonLog(stat: ObjectNode, f: WrittenFile): Unit = {
    stat.put("logVersion", f.logVersion).put("logOffset", 0L).put("baseFile", f.baseFile)
    val logs = stat.putArray("logFiles")
    (f.earlierLogs :+ f.fileName).foreach(name => logs.add(name))
    stat.putObject("recordsStats").putNull("val")
  }

  private def isCompaction(write: CompletedWrite): Boolean = write.operation == Compact

  /** Instant of the base file that this one takes the place of; Hudi writes the word null where there is none. */
  private def previousOf(f: WrittenFile): String = if (f.baseFile.isEmpty) "null" else f.sliceInstant

  private def counts(f: WrittenFile): Vector[(String, Long)] = Vector(
    "numWrites" -> f.base.fold(f.inserts + f.updates)(_.rows),
    "numDeletes" -> f.deletes,
    "numUpdateWrites" -> f.updates,
    "numInserts" -> f.inserts,
    "totalWriteBytes" -> f.sizeBytes,
    "fileSizeInBytes" -> f.sizeBytes
  ) ++ f.base.toVector.flatMap { b =>
    Vector(
      "totalLogFilesCompacted" -> f.earlierLogs.size.toLong,
      "totalLogSizeCompacted" -> b.logBytes,
      "totalUpdatedRecordsCompacted" -> (if (f.earlierLogs.isEmpty) 0L else f.updates)
    )
  }

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

  private val longs =
    Vector("numWrites", "numDeletes", "numUpdateWrites", "numInserts", "totalWriteBytes", "fileSizeInBytes")

  /** The fields that a stat needs: readers take others' defaults, null. */
  private val statSchema: Schema = {
    val fields = Vector("fileId", "path", "prevCommit", "partitionPath", "baseFile", "prevBaseFile").map(_ -> text) ++
      (longs ++ Zeros :+ "logOffset").map(_ -> Schema.create(Schema.Type.LONG)) ++
      Vector("logVersion" -> Schema.create(Schema.Type.INT), "logFiles" -> Schema.createArray(text))
    recordOf("HoodieWriteStat", fields)
  }

  private val commitFields: Vector[(String, Schema)] = Vector(
    "partitionToWriteStats" -> mapOf(Schema.createArray(statSchema)),
    "compacted" -> Schema.create(Schema.Type.BOOLEAN),
    "extraMetadata" -> mapOf(text),
    "version" -> Schema.create(Schema.Type.INT),
    "operationType" -> text
  )

  private val commitSchema: Schema = recordOf("HoodieCommitMetadata", commitFields)

  private val replaceSchema: Schema =
    recordOf("HoodieReplaceCommitMetadata", commitFields :+ (Replaced -> mapOf(Schema.createArray(text))))

  private def avro(write: CompletedWrite, instant: String): Array[Byte] = {
    val partitions = new java.util.LinkedHashMap[String, java.util.List[GenericRecord]]
    byPartition(write).foreach { case (p, files) => partitions.put(p, files.map(avroStat(_, instant)).asJava) }
    val root = new GenericData.Record(if (write.replaced.isEmpty) commitSchema else replaceSchema)
    root.put("partitionToWriteStats", partitions)
    root.put("compacted", isCompaction(write))
    root.put("extraMetadata", (write.extra + ("schema" -> write.schema)).asJava)
    root.put("version", 1)
    root.put("operationType", write.operation)
    write.replaced.foreach(r => root.put(Replaced, r.fileIds.map { case (p, ids) => p -> ids.asJava }.asJava))
    container(root)
  }

  private def avroStat(f: WrittenFile, instant: String): GenericRecord = {
    val stat = new GenericData.Record(statSchema)
    stat.put("fileId", f.fileId)
    stat.put("path", f.path)
    stat.put("prevCommit", if (f.base.isDefined) previousOf(f) else instant)
    stat.put("partitionPath", f.partitionPath)
    (Zeros.map(_ -> 0L) ++ counts(f)).foreach { case (name, value) => stat.put(name, value) }
    if (f.base.isEmpty) {
      stat.put("baseFile", "")
      stat.put("logOffset", 0L)
      stat.put("logVersion", f.logVersion)
      stat.put("logFiles", Vector(f.fileName).asJava)
    } else if (f.baseFile.nonEmpty) stat.put("prevBaseFile", f.baseFile)
    stat
  }
}
