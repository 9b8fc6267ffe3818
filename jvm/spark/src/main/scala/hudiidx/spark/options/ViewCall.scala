package hudiidx.spark.options

import hudiidx.InvalidOption
import hudiidx.table.{BaseFile, FileEntry, FileSlice, FileSystemView, LogFile}
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.util.ArrayData
import org.apache.spark.sql.types._
import org.apache.spark.unsafe.types.UTF8String

/** A question about the files of one partition, and its answer as rows.
  *
  *  @param name as the `view` option and Python name it
  *  @param rows the answer for a partition as of an instant (None: the latest); values as Spark holds them inside
  */
final class ViewCall private (
    val name: String,
    val schema: StructType,
    val rows: (FileSystemView, String, Option[String]) => Iterator[InternalRow]
)

object ViewCall {
  private def columns(fields: (String, DataType)*): StructType =
    StructType(fields.map { case (name, dataType) => StructField(name, dataType, nullable = false) })

  private val fileSchema = columns(
    "partition_path" -> StringType,
    "file_id" -> StringType,
    "file_name" -> StringType,
    "kind" -> StringType,
    "instant_time" -> StringType,
    "size" -> LongType
  )
  private val baseFileSchema = columns(
    "partition_path" -> StringType,
    "file_id" -> StringType,
    "instant_time" -> StringType,
    "file_name" -> StringType,
    "size" -> LongType
  )
  private val groupSchema = columns("partition_path" -> StringType, "file_id" -> StringType)
  private val logFileSchema = columns("file_name" -> StringType, "size" -> LongType, "version" -> IntegerType)
  private val sliceSchema = columns(
    "partition_path" -> StringType,
    "file_id" -> StringType,
    "base_instant_time" -> StringType
  ).add(StructField("base_file", baseFileSchema, nullable = true))
    .add(StructField("log_files", ArrayType(logFileSchema, containsNull = false), nullable = false))

  private def baseFiles(name: String, call: (FileSystemView, String, Option[String]) => Vector[BaseFile]): ViewCall =
    new ViewCall(name, baseFileSchema, (view, p, asOf) => call(view, p, asOf).iterator.map(baseFileRow))

  private def slices(name: String, call: (FileSystemView, String, Option[String]) => Vector[FileSlice]): ViewCall =
    new ViewCall(name, sliceSchema, (view, p, asOf) => call(view, p, asOf).iterator.map(sliceRow))

  val All: Vector[ViewCall] = Vector(
    new ViewCall("files", fileSchema, filesOf),
    baseFiles("all_base_files", _.allBaseFiles(_, _)),
    baseFiles("latest_base_files", _.latestBaseFiles(_, _)),
    new ViewCall(
      "all_file_groups",
      groupSchema,
      (view, p, asOf) =>
        view.allFileGroups(p, asOf).iterator.map(g => InternalRow(text(g.partitionPath), text(g.fileId)))
    ),
    slices("all_file_slices", _.allFileSlices(_, _)),
    slices("latest_file_slices", _.latestFileSlices(_, _)),
    slices("latest_uncompacted_file_slices", _.latestUncompactedFileSlices(_, _)),
    slices("latest_merged_file_slices", _.latestMergedFileSlices(_, _))
  )

  /** InvalidOption for a name that is not one of the calls. */
  def of(name: String): ViewCall = All
    .find(_.name == name)
    .getOrElse(
      throw new InvalidOption(s"view: unknown view '$name'; expected one of: ${All.map(_.name).mkString(", ")}")
    )

  /** Every committed file of the partition, those of replaced file groups too, by name. As of an instant: those whose
    * name bears no later one.
    */
  private def filesOf(view: FileSystemView, partition: String, asOf: Option[String]): Iterator[InternalRow] = {
    val files = view.source.files(partition).filter(f => asOf.forall(f.instantTime <= _))
    java.util.Arrays.sort(files, hudiidx.table.FileOrder)
    files.iterator.map(fileRow)
  }

  private def fileRow(f: FileEntry): InternalRow = InternalRow(
    text(f.partitionPath),
    text(f.fileId),
    text(f.fileName),
    text(if (f.isBase) "base" else "log"),
    text(f.instantTime),
    f.sizeBytes
  )

  private def baseFileRow(f: BaseFile): InternalRow =
    InternalRow(text(f.partitionPath), text(f.fileId), text(f.instantTime), text(f.fileName), f.sizeBytes)

  private def sliceRow(s: FileSlice): InternalRow = InternalRow(
    text(s.partitionPath),
    text(s.fileId),
    text(s.baseInstantTime),
    s.baseFile.map(baseFileRow).orNull,
    ArrayData.toArrayData(s.logFiles.map(logFileRow).toArray[Any])
  )

  private def logFileRow(f: LogFile): InternalRow = InternalRow(text(f.fileName), f.sizeBytes, f.version)

  private def text(value: String): UTF8String = UTF8String.fromString(value)
}
