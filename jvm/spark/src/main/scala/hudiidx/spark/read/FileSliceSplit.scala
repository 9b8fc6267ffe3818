package hudiidx.spark.read

import hudiidx.logindex.KeptCells
import hudiidx.record.PackedKeys
import hudiidx.spark.pinned.PinnedTable
import hudiidx.spark.rows.ColumnRules
import hudiidx.spark.shims.Shims
import hudiidx.storage.Storage
import hudiidx.table.{BaseFile, FileGroup, FileKind, FileSlice}
import hudiidx.{DamagedTable, Log, UnsupportedTable}
import org.apache.hadoop.fs.Path
import org.apache.spark.paths.SparkPath
import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.execution.datasources.PartitionedFile
import org.apache.spark.sql.types.StructType
import org.apache.spark.unsafe.types.UTF8String

/** What tasks know of a file slice beside the path and range that Spark knows; it goes along with each piece of it.
  *
  * @param logs  None: a base file without logs
  * @param fixed columns that have one value in all rows, whatever the files hold
  * @param keys  the record keys whose rows alone are wanted, where rows bear them; None: all rows
  * @param mergesWhole all rows take part in merging, though an incremental query wants those of some commits, and of these commit
  *                    times beside its own; None: the rows that it wants
  */
final case class FileSliceSplit(
    logs: Option[SliceLogs],
    fixed: Map[String, Any],
    keys: Option[PackedKeys],
    mergesWhole: Option[Set[String]] = None
)

/** The logs of a file slice.
  *
  * @param baseInstant of the base file, whose path is the piece's; None without one
  * @param files       paths, and sizes in bytes when they were listed or written; in log order, at least one
  * @param tails       what the index keeps of their blocks
  */
final case class SliceLogs(baseInstant: Option[String], files: Vector[(String, Long)], tails: Option[KeptCells])

/** File slices as Spark's file readers take them. */
object FileSliceSplit {
  private val log = Log.of("hudiidx.spark.read.FileSliceSplit")

  /** All rows of a base file, as it holds them. */
  val OfBaseFile: FileSliceSplit = FileSliceSplit(None, Map.empty, None)

  /** A whole file as one piece. `path` is a plain path or URI, not url-encoded; `slice` goes along with its pieces. */
  def wholeFile(partition: InternalRow, path: String, sizeBytes: Long, slice: FileSliceSplit): PartitionedFile =
    PartitionedFile(
      partition,
      SparkPath.fromPath(new Path(path)),
      0L,
      sizeBytes,
      fileSize = sizeBytes,
      otherConstantMetadataColumnValues = Map(SliceNote -> slice)
    )

  /** Spark has one place for what goes along with a file, and there values have no type. */
  private val SliceNote = "hudiidx_slice"

  /** IllegalStateException if the piece was not made by `wholeFile`. */
  def sliceOf(file: PartitionedFile): FileSliceSplit = file.otherConstantMetadataColumnValues.get(SliceNote) match {
    case Some(slice: FileSliceSplit) => slice
    case other                       =>
      throw new IllegalStateException(s"${file.filePath}: a file of this scan without its slice, but $other")
  }

  def withSlice(file: PartitionedFile, slice: FileSliceSplit): PartitionedFile =
    file.copy(otherConstantMetadataColumnValues = file.otherConstantMetadataColumnValues + (SliceNote -> slice))

  /** The whole slice as one piece. With logs its length is that of all files, and without a base file the path is the first log's.
    *
    * @param more path and bytes of a log after those of the slice
    */
  def of(
      tablePath: String,
      slice: FileSlice,
      partition: InternalRow,
      fixed: Map[String, Any] = Map.empty,
      more: Option[(String, Long)] = None
  ): PartitionedFile = {
    val folder = Storage.join(tablePath, slice.partitionPath)
    val logs = slice.dataLogFiles.map(l => Storage.join(folder, l.fileName) -> l.sizeBytes) ++ more
    val path = slice.baseFile.fold(logs.head._1)(b => Storage.join(folder, b.fileName))
    val ofLogs = if (logs.isEmpty) None else Some(SliceLogs(slice.baseFile.map(_.instantTime), logs, None))
    wholeFile(partition, path, SliceReading.bytesOf(slice), FileSliceSplit(ofLogs, fixed, None))
  }

  /** The whole slice, with the values of columns that are the same for all its rows; None if it has no file to be read.
    * UnsupportedTable if its base file is no Parquet file, DamagedTable if that is empty, unless stock Hudi's behaviour is asked
    * for and it stands alone: Spark leaves out empty files.
    *
    * @param data columns that are read from files, though paths may decide them in some partitions
    */
  def whole(
      slice: FileSlice,
      table: PinnedTable,
      data: StructType,
      constants: StructType
  ): Option[PartitionedFile] = {
    val hasLogs = slice.dataLogFiles.nonEmpty
    val empty = slice.baseFile.filter(_.sizeBytes <= 0)
    if (empty.isDefined && !hasLogs && table.shared.damagedAsStock) {
      log.warn("{}: the base file is empty; it is skipped, rows are missing", pathOf(empty.get, table))
      None
    } else Some(pieceOf(slice, table, data, constants))
  }

  private def pieceOf(
      slice: FileSlice,
      table: PinnedTable,
      data: StructType,
      constants: StructType
  ): PartitionedFile = {
    lazy val known = table.schema.values.named(slice.partitionPath)
    val fixed =
      if (data.exists(f => table.schema.values.mayDecide(f.name))) named(known, data) else Map.empty[String, Any]
    slice.baseFile.foreach(check(_, table))
    val row = InternalRow.fromSeq(constants.map { f =>
      if (table.columnsOfPath(f.name)) known(f.name)
      else slice.baseFile.map(b => UTF8String.fromString(pathOf(b, table))).orNull
    })
    val piece = of(table.path, slice, row, fixed)
    table.mergesWhole(slice).fold(piece)(more => withSlice(piece, sliceOf(piece).copy(mergesWhole = Some(more))))
  }

  private def pathOf(file: BaseFile, table: PinnedTable): String =
    Storage.join(Storage.join(table.path, file.partitionPath), file.fileName)

  private def check(file: BaseFile, table: PinnedTable): Unit = {
    val path = pathOf(file, table)
    if (!file.fileName.endsWith(FileKind.Parquet.extension))
      throw new UnsupportedTable(s"$path: only Parquet base files can be read; read the table with Hudi")
    if (file.sizeBytes <= 0) throw new DamagedTable(s"$path: the base file is empty; roll its commit back with Hudi")
  }

  private def named(known: Map[String, Any], data: StructType): Map[String, Any] =
    known.filter { case (name, _) => data.exists(_.name == name) }

  /** The same, of which the rows of these record keys alone are wanted. */
  def askedFor(piece: PartitionedFile, keys: PackedKeys, slice: FileSlice, table: PinnedTable): PartitionedFile = {
    val group = FileGroup(slice.partitionPath, slice.fileId)
    val all = sliceOf(piece)
    withSlice(
      piece,
      all.copy(logs = all.logs.map(_.copy(tails = table.shared.keptTails(group))), keys = Some(keys))
    )
  }

  /** A slice with logs is read as a whole, and so is a file of which a few rows are wanted; other base files in pieces. */
  def split(piece: PartitionedFile, maxBytes: Long): Seq[PartitionedFile] =
    if (SliceReading.hasLogs(piece) || sliceOf(piece).keys.isDefined) Seq(piece)
    else
      (0L until piece.length by maxBytes).map { start =>
        piece.copy(start = start, length = math.min(maxBytes, piece.length - start))
      }

  /** What reads such pieces.
    *
    * @param avroJson the schema that the rows have, the table's or a later one
    */
  def readers(
      spark: SparkSession,
      table: PinnedTable,
      parquet: ParquetReaders,
      avroJson: Option[String] = None
  ): BaseFileReaderFactory =
    new BaseFileReaderFactory(
      parquet,
      if (table.hasLogs) Some(sliceReading(spark, table, avroJson.getOrElse(table.schema.avroJson))) else None,
      table.names,
      RecordKeyFilter.sameAsKey(table.config, table.schema.struct),
      if (table.schema.unsureTimes.isEmpty) None else Some(table.schema.avroJson)
    )

  private def sliceReading(spark: SparkSession, table: PinnedTable, avroJson: String): SliceReading = SliceReading(
    table.config,
    table.timeline.withoutHistory,
    table.asOf,
    avroJson,
    table.schema.file,
    ColumnRules.of(
      table.config.format,
      spark.sessionState.conf.caseSensitiveAnalysis,
      byHistory = table.schema.hasHistory && !table.options.columnsByName
    ),
    Shims.batchRows(spark),
    table.shared.damagedAsStock,
    table.mergesAs11,
    table.increment.map(_.found.times),
    table.names,
    table.shared.conf
  )
}

/** Files that suffice for a limit. */
object LimitedFiles {

  /** Footers are read on the driver, so not many of them. */
  private val MostFooters = 8

  /** Base files without logs that hold `rows` rows together; all slices if that takes many. */
  def enough(all: Vector[PartitionedFile], rows: Int, readers: BaseFileReaderFactory): Vector[PartitionedFile] = {
    val files = all.filterNot(SliceReading.hasLogs)
    var sum = 0L
    var taken = 0
    while (sum < rows && taken < files.length && taken < MostFooters) {
      sum += readers.rowCount(files(taken))
      taken += 1
    }
    if (sum >= rows) files.take(taken) else all
  }
}
