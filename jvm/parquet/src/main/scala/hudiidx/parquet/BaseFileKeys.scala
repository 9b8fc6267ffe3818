package hudiidx.parquet

import java.io.IOException
import java.nio.charset.StandardCharsets
import java.nio.file.NoSuchFileException

import hudiidx.log.RecordKeyForm
import hudiidx.storage.{RandomReader, Storage, ToldSize}
import hudiidx.table.query.CommitTimes
import hudiidx.table.TableConfig
import hudiidx.{Causes, DamagedTable, HudiIdxException, UnsupportedTable}
import org.apache.parquet.hadoop.ParquetFileReader
import org.apache.parquet.hadoop.metadata.ColumnChunkMetaData
import org.apache.parquet.schema.MessageType

/** A row group of a base file.
  *
  * @param firstRow  number of its first row in the file, from 0
  * @param offset    where it begins in the file, in bytes
  * @param sizeBytes its bytes in the file, all columns
  * @param keyBytes  bytes of its key column behind decompression: an upper bound of what its keys take, within a few per
  *                  cent; for keys made from fields those fields' bytes
  */
final case class RowGroup(
    ordinal: Int,
    firstRow: Long,
    rows: Long,
    offset: Long,
    sizeBytes: Long,
    keyBytes: Long
)

/** What to read of base files.
  *
  * @param form        how keys are made where they are not stored; None if the table does not say
  * @param storedKeys  the table stores its keys (`hoodie.populate.meta.fields`); decides where a footer does not tell
  * @param commitTimes also `_hoodie_commit_time`
  * @param ordering    names of ordering fields to read as well, nested ones dotted
  * @param keys        false: the rest alone, for rows that are known by their numbers
  */
final case class KeyColumns(
    form: Option[RecordKeyForm],
    storedKeys: Boolean,
    commitTimes: Boolean = false,
    ordering: Vector[String] = Vector.empty,
    keys: Boolean = true
)

object KeyColumns {
  def of(config: TableConfig): KeyColumns = KeyColumns(config.recordKeyForm, config.populateMetaFields)
}

/** The record keys of one base file, by row groups. Only the columns asked for are read. A stored key
  * (`_hoodie_record_key`) counts; where it is null or absent the key is made from the key fields. Format notes §8.
  *
  * All methods: DamagedTable if the file is gone or cannot be decoded, or a row has no key.
  */
final class BaseFileKeys private (
    under: RandomReader,
    file: ParquetFileReader,
    path: String,
    columns: KeyColumns
) extends AutoCloseable {
  private val schema: MessageType = file.getFileMetaData.getSchema
  private val createdBy: String = file.getFileMetaData.getCreatedBy

  /** All of the file's, in their order. */
  val rowGroups: Vector[RowGroup] = {
    var firstRow = 0L
    Vector.tabulate(file.getRowGroups.size) { i =>
      val block = file.getRowGroups.get(i)
      val group =
        RowGroup(i, firstRow, block.getRowCount, block.getStartingPos, block.getCompressedSize, keyBytes(i))
      firstRow += block.getRowCount
      group
    }
  }

  def rows: Long = rowGroups.map(_.rows).sum

  /** Rows of the row groups with these ordinals, in this order. One of these at a time for a file. */
  def read(ordinals: Seq[Int] = rowGroups.map(_.ordinal)): KeyRows = {
    ordinals.foreach(i => require(i >= 0 && i < rowGroups.size, s"row group $i of ${rowGroups.size}"))
    new KeyRows(ordinals.map(rowGroups(_)).toVector, openGroup, path)
  }

  /** Ordinals of the row groups that may have rows of these commit times, as far as the footer tells. */
  def groupsOf(times: CommitTimes): Seq[Int] = rowGroups.map(_.ordinal).filter { i =>
    chunkOf(i, BaseFileKeys.CommitTimeColumn).map(_.getStatistics).forall { stats =>
      stats == null || !stats.hasNonNullValue ||
      times.meets(text(stats.getMinBytes), text(stats.getMaxBytes))
    }
  }

  private def text(utf8: Array[Byte]): String = new String(utf8, StandardCharsets.UTF_8)

  private def openGroup(group: RowGroup): KeyRowGroup = BaseFileKeys.guarded(path) {
    val stored = if (columns.keys) storesKeys(group) else StoredKeys.NotAsked
    // A row without a stored key gets one from its fields; where all rows have one the fields are not read.
    val fields = if (stored.allRows) Vector.empty else columns.form.fold(Vector.empty[String])(_.fields)
    if (!stored.allRows && fields.isEmpty && group.rows > 0)
      throw new DamagedTable(
        s"$path: rows have no ${BaseFileKeys.KeyColumn}, and none can be made: the table names no record key fields " +
          "(hoodie.table.recordkey.fields), or a key generator whose keys are not known; correct hoodie.properties"
      )
    val readCommitTimes = columns.commitTimes && schema.containsField(BaseFileKeys.CommitTimeColumn)
    val meta =
      (if (stored.any) Vector(BaseFileKeys.KeyColumn) else Vector.empty) ++
        (if (readCommitTimes) Vector(BaseFileKeys.CommitTimeColumn) else Vector.empty)
    BaseFileKeys.requireColumns(schema, meta ++ fields, path)
    val projection = FieldColumns.projection(schema, meta ++ fields ++ columns.ordering)
    file.setRequestedSchema(projection)
    val pages = file.readRowGroup(group.ordinal)
    new KeyRowGroup(
      pages,
      projection,
      createdBy,
      KeyRowLayout(stored.any, readCommitTimes, columns.form.filter(_ => fields.nonEmpty), columns.ordering)
    )
  }

  private def storesKeys(group: RowGroup): StoredKeys = {
    val chunk = chunkOf(group.ordinal, BaseFileKeys.KeyColumn)
    val nulls = chunk.fold(group.rows)(nullCount)
    if (chunk.isEmpty || (nulls == group.rows && nulls > 0)) StoredKeys(any = false, allRows = false)
    else StoredKeys(any = true, allRows = nulls == 0 || (nulls < 0 && columns.storedKeys))
  }

  /** -1 if the footer does not say. */
  private def nullCount(chunk: ColumnChunkMetaData): Long =
    if (chunk.getStatistics == null || !chunk.getStatistics.isNumNullsSet) -1L else chunk.getStatistics.getNumNulls

  private def chunkOf(ordinal: Int, column: String): Option[ColumnChunkMetaData] = {
    val chunks = file.getRowGroups.get(ordinal).getColumns
    (0 until chunks.size).iterator.map(chunks.get(_)).find(_.getPath.toDotString == column)
  }

  private def keyBytes(ordinal: Int): Long = {
    val rowCount = file.getRowGroups.get(ordinal).getRowCount
    val stored = chunkOf(ordinal, BaseFileKeys.KeyColumn).filter(nullCount(_) < rowCount)
    val chunks =
      if (stored.isDefined) stored.toVector
      else columns.form.fold(Vector.empty[String])(_.fields).flatMap(chunkOf(ordinal, _))
    chunks.map(_.getTotalUncompressedSize).sum
  }

  override def close(): Unit =
    try file.close()
    finally under.close()
}

/** Whether rows of a row group have a stored key, as far as the footer tells. */
private final case class StoredKeys(any: Boolean, allRows: Boolean)

private object StoredKeys {

  /** No column of the group is read for keys. */
  val NotAsked: StoredKeys = StoredKeys(any = false, allRows = true)
}

object BaseFileKeys {
  val KeyColumn = "_hoodie_record_key"
  val CommitTimeColumn = "_hoodie_commit_time"

  /** Reads the footer. UnsupportedTable for a base file that is no Parquet file by its name.
    *
    * @param toldBytes its size as the table's files tell it; 0 if nobody does
    */
  def open(storage: Storage, path: String, columns: KeyColumns, toldBytes: Long = 0L): BaseFileKeys = {
    if (!path.endsWith(".parquet"))
      throw new UnsupportedTable(s"$path: record keys are read from Parquet base files; index a table of that format")
    guarded(path) {
      ToldSize.opening(storage, path, toldBytes) { reader =>
        val input = new ReaderInputFile(new FooterReader(reader))
        new BaseFileKeys(reader, ParquetFiles.open(input, path), path, columns)
      }
    }
  }

  private[hudiidx] def guarded[A](path: String)(body: => A): A =
    try body
    catch {
      case e: HudiIdxException    => throw e
      case e: OutOfMemoryError    => throw Causes.reading(path, e)
      case e: StackOverflowError  => throw Causes.tooDeep(path, e)
      case e: NoSuchFileException =>
        throw new DamagedTable(s"$path: base file is gone; read the table again, or restore the file", e)
      case e @ (_: IOException | _: RuntimeException) =>
        throw new DamagedTable(s"$path: keys cannot be read (${e.getMessage}); restore the file from a backup", e)
    }

  private def requireColumns(schema: MessageType, fields: Vector[String], path: String): Unit =
    fields.find(!FieldColumns.has(schema, _)).foreach { field =>
      throw new DamagedTable(
        s"$path: has no column $field that a record key could be made from; correct hoodie.table.recordkey.fields"
      )
    }
}
