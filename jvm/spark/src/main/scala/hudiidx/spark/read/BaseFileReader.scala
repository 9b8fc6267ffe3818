package hudiidx.spark.read

import java.io.{FileNotFoundException, IOException}
import java.util.BitSet

import scala.collection.JavaConverters._

import hudiidx.{Causes, DamagedTable}
import hudiidx.slice.{FoundRows, KeyedRows, SliceKeySource, StoredKeyRows, WantedKeys}
import hudiidx.parquet.{KeyColumns, TimestampLabels}
import hudiidx.record.PackedKeys
import hudiidx.spark.rows.{ColumnAdapter, RenamedColumns, RequiredColumns, VariantFields}
import hudiidx.spark.shims.Shims
import hudiidx.storage.Storage
import hudiidx.table.{ColumnNames, FileName, TableNames}
import org.apache.avro.Schema
import org.apache.parquet.hadoop.metadata.{FileMetaData, ParquetMetadata}
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.connector.read.PartitionReader
import org.apache.spark.sql.execution.datasources.PartitionedFile
import org.apache.spark.sql.types.{StringType, StructField, StructType}
import org.apache.spark.sql.vectorized.ColumnarBatch

/** Reads pieces of base files, and whole file slices that have logs, as the table's columns. A file whose own types are the
  * table's goes through Spark's reader untouched; any other is read with its own types and converted. Batches or rows: the
  * same for all files of a scan.
  *
  * @param merging for slices with logs; None if there are none
  * @param names   what columns are called in files, where they were renamed
  * @param keyField the column whose values are the record keys, if there is such a one
  * @param labels  the table's Avro schema, by which units of timestamps are repaired; None: they are as files say
  */
final class BaseFileReaderFactory(
    readers: ParquetReaders,
    merging: Option[SliceReading],
    names: Option[TableNames],
    keyField: Option[String],
    labels: Option[String]
) extends PieceReaderFactory(readers) {
  private val plain = new KeyFieldReaders(readers, keyField)

  /** The same for slices with their logs as of an instant. */
  def asOf(instant: String): BaseFileReaderFactory =
    if (merging.isEmpty) this
    else
      new BaseFileReaderFactory(
        readers,
        merging.map(_.copy(asOf = Some(instant))),
        names,
        keyField,
        labels
      )

  override def buildReader(file: PartitionedFile): PartitionReader[InternalRow] = {
    val whole = toEnd(file)
    if (SliceReading.hasLogs(file)) rowsOf(ofKeys(whole).getOrElse(merged(whole)))
    else {
      val base = readBase(whole)
      ofKeys(whole, base) match {
        case Some(some)                                                    => rowsOf(some)
        case None if base.types.isEmpty && !isNumbered && !base.isRepaired => readers.rows(whole)
        case None                                                          =>
          rowsOf(convert(whole, base.footer, base.types.getOrElse(readers.data))(_.batches(whole, base.footer)))
      }
    }
  }

  private def rowsOf(batches: PartitionReader[ColumnarBatch]): PartitionReader[InternalRow] =
    new RowsOfBatches(batches, Shims.unsafeRows(StructType(readers.data ++ readers.partition)))

  /** Only batches know where a row lies in its file. */
  private def isNumbered: Boolean = readers.data.fieldNames.contains(ScanColumns.RowIndex)

  override def buildColumnarReader(file: PartitionedFile): PartitionReader[ColumnarBatch] = {
    val whole = toEnd(file)
    if (SliceReading.hasLogs(file)) ofKeys(whole).getOrElse(merged(whole))
    else {
      val base = readBase(whole)
      ofKeys(whole, base).getOrElse(base.types match {
        case None        => plain.batches(whole, base.footer)
        case Some(types) => convert(whole, base.footer, types)(_.batches(whole, base.footer))
      })
    }
  }

  /** Where record keys are asked for, their rows alone; None where all rows have to be read, or that is no slower. Rows are
    * found by the stored keys, and then of the other columns only what belongs to them is decoded.
    */
  private def ofKeys(file: PartitionedFile, base: ReadBase): Option[PartitionReader[ColumnarBatch]] =
    FileSliceSplit.sliceOf(file).keys.filter(isFew(_, base.footer)).flatMap { keys =>
      val found = readers.rowsOfKeys(file, base.footer, keys)
      if (worthPointRead(found.numbers.length, base.footer)) None
      else if (found.numbers.isEmpty) Some(new NoBatches)
      else if (base.types.isEmpty) Some(plain.rowsOf(file, base.footer, found))
      else Some(rows(file, FoundRows(found.numbers, None), Some(base)))
    }

  /** The same of a slice with logs: of these too only what may belong to the keys is read, as far as blocks have an index. */
  private def ofKeys(file: PartitionedFile): Option[PartitionReader[ColumnarBatch]] =
    FileSliceSplit.sliceOf(file).keys.flatMap { keys =>
      val base = baseOf(file)
      if (!base.forall(b => isFew(keys, b.footer))) None
      else {
        val inBase = base.map(b => readers.rowsOfKeys(file, b.footer, keys))
        mergingOf(file).found(file, keys, inBase).map { found =>
          if (found.isEmpty) new NoBatches else rows(file, found, base)
        }
      }
    }

  /** Blocks of the slice's log have indexes, by which some keys are found sooner than by a merge of all of it. */
  def isIndexed(file: PartitionedFile): Boolean = mergingOf(file).isIndexed(file)

  /** The rows of some keys of a slice with logs. None where it has to be merged as a whole.
    *
    * @param numbers of rows of the base file, among which all that bear these keys are; ascending
    */
  def found(file: PartitionedFile, base: Option[ReadBase], numbers: Array[Int], keys: PackedKeys): Option[FoundRows] =
    if (base.forall(b => StoredKeyRows.hasKeyStatistics(b.footer)))
      mergingOf(file).found(file, keys, base.map(keysAt(file, _, numbers, new WantedKeys(keys))))
    else None

  /** Those of the rows that bear wanted keys. */
  private def keysAt(file: PartitionedFile, base: ReadBase, numbers: Array[Int], keys: WantedKeys): KeyedRows = {
    val rows = Vector.newBuilder[(Int, Array[Byte])]
    if (numbers.nonEmpty) {
      val batches = keysAlone.rowsAt(toEnd(file), base.footer, numbers)
      var at = 0
      try
        while (batches.next()) {
          val batch = batches.get()
          (0 until batch.numRows).foreach { i =>
            val key = batch.column(0).getUTF8String(i).getBytes
            if (keys.contains(key, 0, key.length)) rows += numbers(at) -> key
            at += 1
          }
        }
      finally batches.close()
    }
    val found = rows.result()
    KeyedRows(found.map(_._1).toArray, found.map(_._2).toArray)
  }

  @transient private lazy val keysAlone: ParquetReaders =
    readers.withColumns(StructType(Seq(StructField(RecordKeyFilter.KeyColumn, StringType))))

  private def isFew(keys: PackedKeys, footer: ParquetMetadata): Boolean =
    StoredKeyRows.hasKeyStatistics(footer) && !worthPointRead(keys.count, footer)

  private def worthPointRead(rows: Int, footer: ParquetMetadata): Boolean =
    rows * BaseFileReaderFactory.LeastRowsToOne > StoredKeyRows.rowCount(footer)

  /** The rows of a slice with logs. Filters drop rows of its base file only where these stand for themselves and in the
    * table's own types; which of them the log has replaced is known by their numbers.
    */
  private def merged(file: PartitionedFile): PartitionReader[ColumnarBatch] = {
    mergingOf(file).read(file, readers.data, readers.partition, fixedOf(file)) { mayMix =>
      readBase(file) match {
        case ReadBase(footer, None, _) if !mayMix && readers.hasFilters && !isNumbered =>
          BaseBatches.numbered(readers.withRowNumbers.batches(file, footer), readers.data.length)
        case ReadBase(footer, types, _) =>
          BaseBatches.inOrder(convert(file, footer, types.getOrElse(readers.data))(_.batches(file, footer)))
      }
    }
  }

  /** What the keys of a slice are read by, its log merged. */
  def keySource(file: PartitionedFile, storage: Storage, columns: KeyColumns): SliceKeySource =
    if (SliceReading.hasLogs(file)) mergingOf(file).keySource(file, columns)
    else baseKeySource(file, storage, columns)

  /** What those of its base file are read by, if it has one. */
  def baseKeySource(file: PartitionedFile, storage: Storage, columns: KeyColumns): SliceKeySource = {
    val path = if (SliceReading.hasBase(file)) Some(file.filePath.toPath.toString) else None
    SliceKeySource(storage, path, columns, None)
  }

  /** How the base file of a slice is read; None if there is none. */
  def baseOf(file: PartitionedFile): Option[ReadBase] =
    if (SliceReading.hasBase(file)) Some(readBase(toEnd(file))) else None

  /** The footer is read once for all that it tells. */
  private def readBase(file: PartitionedFile): ReadBase = {
    val found = footerOf(file)(readers.footerOfPiece(file))
    val footer = repaired(found)
    ReadBase(footer, adaptedColumns(file, footer), footer ne found)
  }

  /** Some rows of a slice, whatever filters the scan has.
    *
    * @param base of `baseOf`
    */
  def rows(file: PartitionedFile, found: FoundRows, base: Option[ReadBase]): PartitionReader[ColumnarBatch] = {
    val whole = toEnd(file)
    def batches: PartitionReader[ColumnarBatch] = base.get match {
      case ReadBase(footer, None, _)        => plain.rowsAt(whole, footer, found.base)
      case ReadBase(footer, Some(types), _) => convert(whole, footer, types)(_.rowsAt(whole, footer, found.base))
    }
    found.merged match {
      case None        => batches
      case Some(slice) =>
        // Rows that the log replaces are not among them.
        val left =
          if (slice.rows.mixedRows.size > 0) slice else slice.copy(rows = slice.rows.copy(droppedBase = new BitSet))
        mergingOf(file).rows(file, left, readers.data, readers.partition, fixedOf(file), found.base.nonEmpty) {
          mayMix =>
            if (mayMix) BaseBatches.at(batches, found.base) else BaseBatches.inOrder(batches)
        }
    }
  }

  @transient private lazy val labelled: Option[Schema] =
    labels.map(new Schema.Parser().setValidateDefaults(false).parse(_))

  /** The footer with the units that timestamps have by the table's schema. */
  def repaired(footer: ParquetMetadata): ParquetMetadata = labelled.fold(footer) { table =>
    val meta = footer.getFileMetaData
    val schema = TimestampLabels.repaired(meta.getSchema, table)
    if (schema eq meta.getSchema) footer
    else
      new ParquetMetadata(
        new FileMetaData(
          schema,
          meta.getKeyValueMetaData,
          meta.getCreatedBy,
          meta.getEncryptionType,
          meta.getFileDecryptor
        ),
        footer.getBlocks
      )
  }

  private def mergingOf(file: PartitionedFile): SliceReading =
    merging.getOrElse(throw new IllegalStateException(s"${file.filePath}: a slice with logs in this scan"))

  /** The last piece of a file reaches to the file's end, whatever size was recorded: no row group is left out. */
  private def toEnd(file: PartitionedFile): PartitionedFile =
    if (file.start + file.length < file.fileSize) file else file.copy(length = Long.MaxValue - file.start)

  /** None if the file holds the columns as the table has them, or lacks them altogether. */
  private def adaptedColumns(file: PartitionedFile, footer: ParquetMetadata): Option[StructType] = {
    val renamed = namesIn(file)
    val inFile = readers.columnsOf(footer)
    val own = renamed.fold(inFile)(RenamedColumns.toTable(inFile, _))
    val path = file.filePath.toPath.toString
    VariantFields.requireWhole(readers.data, own, path)
    val fixed = fixedOf(file)
    if (required.nonEmpty)
      RequiredColumns.requireIn(path, StructType(required.filterNot(f => fixed.contains(f.name))), own, sameName)
    val types = StructType(readers.data.map { want =>
      own.find(have => sameName(want.name, have.name)) match {
        case None       => want
        case Some(have) => StructField(want.name, ColumnAdapter.readType(want.dataType, have.dataType, sameName))
      }
    })
    val isPlain = renamed.isEmpty && ColumnAdapter.sameShape(types, readers.data) && fixed.isEmpty
    if (isPlain) None else Some(types)
  }

  @transient private lazy val required: StructType = RequiredColumns.of(readers.data)

  private def namesIn(file: PartitionedFile): Option[ColumnNames] =
    names.flatMap(all => BaseFileReaderFactory.instantOf(file).flatMap(all.of))

  /** Columns that have one value in all rows of the piece, whatever the file holds. */
  def fixedOf(file: PartitionedFile): Map[String, Any] = FileSliceSplit.sliceOf(file).fixed

  def sameName(a: String, b: String): Boolean = if (readers.caseSensitive) a == b else a.equalsIgnoreCase(b)

  /** Rows of a whole file. */
  def rowCount(file: PartitionedFile): Long =
    footerOf(file)(readers.footer(file)).getBlocks.asScala.iterator.map(_.getRowCount).sum

  /** `read` reads the footer of the file: DamagedTable if it is gone or damaged, as Spark's settings have it. */
  def footerOf[A](file: PartitionedFile)(read: => A): A =
    try read
    catch {
      case e: FileNotFoundException if !readers.options.ignoreMissingFiles =>
        throw new DamagedTable(
          s"${file.filePath.toPath}: the base file is gone, though the table's timeline names it; if a clean has just " +
            "removed it read again, else restore it or roll the table back",
          e
        )
      case e: StackOverflowError => throw Causes.tooDeep(file.filePath.toPath.toString, e)
      case e @ (_: IOException | _: RuntimeException) if !isMissing(e) && !readers.options.ignoreCorruptFiles =>
        throw new DamagedTable(
          s"${file.filePath.toPath}: the base file is damaged or cut short, its footer cannot be read (${e.getMessage}); " +
            "restore it from a copy or roll the table back",
          e
        )
    }

  private def isMissing(e: Throwable): Boolean = e.isInstanceOf[FileNotFoundException]

  /** Filters are left out: they speak of the table's types and values, not of the file's. */
  private def convert(file: PartitionedFile, footer: ParquetMetadata, types: StructType)(
      open: ParquetReaders => PartitionReader[ColumnarBatch]
  ): PartitionReader[ColumnarBatch] = {
    val inFile = namesIn(file).fold(types)(RenamedColumns.toFile(types, readers.columnsOf(footer), _))
    new ConvertedBatches(open(readers.withColumns(inFile)), types, readers.data, fixedOf(file))
  }
}

/** How a base file is read.
  *
  * @param types to read it with; None: the table's
  * @param isRepaired the footer is not the one that stands in the file
  */
final case class ReadBase(footer: ParquetMetadata, types: Option[StructType], isRepaired: Boolean) {

  /** Memory that it takes, roughly. */
  def bytes: Long = KeptFooters.bytesOf(footer)
}

object BaseFileReaderFactory {

  /** Where one row in so few is wanted, all are read: most pages are needed then, and looking for keys comes on top. */
  private val LeastRowsToOne = 8L

  /** The instant in a base file's name. */
  private def instantOf(file: PartitionedFile): Option[String] =
    FileName.parse("", file.filePath.toPath.getName, 0L).map(_.instantTime)
}
