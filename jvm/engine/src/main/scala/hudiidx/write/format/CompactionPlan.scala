package hudiidx.write.format

import hudiidx.TableFormat
import hudiidx.table.FileSlice
import org.apache.avro.Schema
import org.apache.avro.generic.{GenericData, GenericRecord}
import scala.collection.JavaConverters._

/** Content of a requested compaction: HoodieCompactionPlan, of version 2, with names of files. Format notes §3.3. */
object CompactionPlan {
  import AvroContent._

  private val PlanVersion = 2
  private val MegaByte = 1024.0 * 1024.0

  private val operation: Schema = recordOf(
    "HoodieCompactionOperation",
    Vector(
      "baseInstantTime" -> text,
      "deltaFilePaths" -> Schema.createArray(text),
      "dataFilePath" -> text,
      "fileId" -> text,
      "partitionPath" -> text,
      "metrics" -> mapOf(Schema.create(Schema.Type.DOUBLE))
    )
  )

  private val plan: Schema = recordOf(
    "HoodieCompactionPlan",
    Vector(
      "operations" -> Schema.createArray(operation),
      "extraMetadata" -> mapOf(text),
      "version" -> Schema.create(Schema.Type.INT),
      "preserveHoodieMetadata" -> Schema.create(Schema.Type.BOOLEAN)
    )
  )

  /** @param slices with logs, each to become a base file */
  def content(slices: Vector[FileSlice], format: TableFormat): Array[Byte] = {
    val root = new GenericData.Record(plan)
    root.put("operations", slices.map(operationOf).asJava)
    if (format.plansHaveExtra) root.put("extraMetadata", new java.util.HashMap[String, String])
    root.put("version", PlanVersion)
    root.put("preserveHoodieMetadata", false)
    container(root)
  }

  private def operationOf(slice: FileSlice): GenericRecord = {
    val one = new GenericData.Record(operation)
    one.put("baseInstantTime", slice.baseInstantTime)
    one.put("deltaFilePaths", slice.logFiles.map(_.fileName).asJava)
    slice.baseFile.foreach(b => one.put("dataFilePath", b.fileName))
    one.put("fileId", slice.fileId)
    one.put("partitionPath", slice.partitionPath)
    one.put("metrics", metrics(slice).asJava)
    one
  }

  private def metrics(slice: FileSlice): Map[String, java.lang.Double] = {
    val logs = slice.logFiles.map(_.sizeBytes).sum.toDouble
    val base = slice.baseFile.fold(0.0)(_.sizeBytes.toDouble)
    Map(
      "TOTAL_LOG_FILES" -> slice.logFiles.size.toDouble,
      "TOTAL_LOG_FILES_SIZE" -> logs,
      "TOTAL_IO_READ_MB" -> math.floor((base + logs) / MegaByte),
      "TOTAL_IO_WRITE_MB" -> math.floor(base / MegaByte),
      "TOTAL_IO_MB" -> math.floor((2 * base + logs) / MegaByte)
    ).map { case (name, value) => name -> Double.box(value) }
  }
}
