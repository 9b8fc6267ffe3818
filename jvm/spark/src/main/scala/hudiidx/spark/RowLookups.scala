package hudiidx.spark

import java.util.concurrent.{Callable, ExecutionException, Executors}

import scala.collection.JavaConverters._

import hudiidx.DamagedTable
import hudiidx.RecentlyUsed
import hudiidx.engine.record.CachedHandle
import hudiidx.parquet.KeyColumns
import hudiidx.slice.{KeyedSlice, WantedKeys}
import hudiidx.record.PackedKeys
import hudiidx.spark.options.ReadOptions
import hudiidx.spark.pinned.PinnedTable
import hudiidx.spark.read.{FileSliceSplit, KeyedSlices, ParquetReaders, RecordKeyFilter, ScanColumns, SliceReading}
import hudiidx.spark.shims.Shims
import hudiidx.storage.FileStamp
import hudiidx.store.IndexStore
import hudiidx.sync.TableAccess
import hudiidx.table.FileSlice
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.connector.read.PartitionReader
import org.apache.spark.sql.execution.datasources.PartitionedFile
import org.apache.spark.sql.functions.col
import org.apache.spark.sql.types.StructType
import org.apache.spark.sql.vectorized.ColumnarBatch
import org.apache.spark.sql.{DataFrame, SparkSession}

/** Reads the rows of record keys of one table again and again, in this process. What was opened stays open while table and index
  * stand as they did, and hashes of the keys of the slices asked for last stay in memory. Calls of several threads follow one
  * another.
  *
  *  @param path    the base path, qualified
  *  @param options of a snapshot
  *  @param given   the same as they were given, for reading by tasks
  *  @param mostSlices more file slices than this are read by tasks
  */
final class RowLookups(
    spark: SparkSession,
    access: TableAccess,
    path: String,
    options: ReadOptions,
    given: Map[String, String],
    mostSlices: Int = RowLookups.MostSlices
) extends AutoCloseable {
  private val slices = new KeyedSlices(RowLookups.KeptBytes)
  private val store = new IndexStore(access.storage, options.index.indexDir(path))
  private val opened = new CachedHandle(access.storage, path, store)((asOf, _) =>
    new OpenRows(spark, PinnedTable.open(spark, path, options.copy(asOf = asOf)), slices)
  )
  private var settings = Map.empty[String, String]

  /** The rows of the table with these keys, each once, in no particular order, as a DataFrame of the table's columns. Where more
    * has to be read than one process should, tasks read it, here and now.
    *
    * Without a record index all file slices are asked, with a warning. In strict mode that is IndexNotFound. Other errors are
    * those of a read.
    *
    *  @param partition rows in this partition path alone
    *  @param asOf      requested time of an instant; None: the latest
    */
  def rows(keys: PackedKeys, partition: Option[String], asOf: Option[String]): DataFrame = synchronized {
    val table = current(asOf)
    val wanted = (0 until keys.count).map(keys.key).toSet
    val found = table.slicesOf(wanted, partition)
    val rows =
      if (table.storesKeys && worthPointRead(found)) byTasks(wanted, partition, asOf)
      else table.read(found, keys)
    Shims.localFrame(spark, table.columns, rows)
  }

  /** Readers keep to the settings of the session with which they were made, its time zone for one. */
  private def current(asOf: Option[String]): OpenRows = {
    val now = spark.conf.getAll
    if (now != settings) opened.close()
    settings = now
    opened.current(asOf)
  }

  /** Lets go what is kept. Files of the index are those of the session's table, see `SharedTable`. */
  override def close(): Unit = synchronized {
    opened.close()
    slices.clear()
  }

  private def worthPointRead(slices: Vector[FileSlice]): Boolean =
    slices.size > mostSlices || slices.iterator.map(SliceReading.bytesOf).sum > RowLookups.MostBytes

  private def byTasks(keys: Set[String], partition: Option[String], asOf: Option[String]): Seq[InternalRow] = {
    val times = asOf.map(ReadOptions.AsOfInstant -> _)
    val table = spark.read.format(HudiIdxSource.Name).options(given ++ times).load(path)
    val some = table.where(col(RecordKeyFilter.KeyColumn).isin(keys.toSeq: _*))
    val here = partition.fold(some)(p => some.where(col(RowLookups.PartitionColumn) === p))
    here.queryExecution.executedPlan.executeCollect().toSeq
  }
}

object RowLookups {
  private val PartitionColumn = "_hoodie_partition_path"

  /** File slices of the partitions asked for last. */
  private[spark] val MostHeld = 200000

  /** For hashes of keys, 4 bytes a row, and for logs. */
  private val KeptBytes = 64L << 20

  // Keys of a slice that was not read before are read at some 100 MB a second, its rows behind that by page.
  private val MostSlices = 64
  private val MostBytes = 4L << 30
}

/** A table at one moment, opened for rows of keys. */
final private class OpenRows(spark: SparkSession, table: PinnedTable, kept: KeyedSlices) extends AutoCloseable {
  private val scan = ScanColumns.of(table.schema.struct, table)
  private val readers =
    FileSliceSplit.readers(spark, table, ParquetReaders.of(spark, scan.data, scan.constants, Array.empty))
  private val keyColumns = KeyColumns.of(table.config)
  private val storage = table.shared.context.storage
  private val partitions = new RecentlyUsed[String, Vector[FileSlice]](RowLookups.MostHeld)(_.size.toLong)
  private val stamps = new RecentlyUsed[String, FileStamp](RowLookups.MostHeld)(_ => 1L)
  private val indexed = new RecentlyUsed[FileSlice, java.lang.Boolean](RowLookups.MostHeld)(_ => 1L)
  private val places = columns.fieldNames.map(scan.all.fieldIndex)
  private val keyColumn = columns.fieldNames.indexOf(RecordKeyFilter.KeyColumn)

  def columns: StructType = table.schema.struct

  /** Rows bear their keys. */
  def storesKeys: Boolean = table.config.populateMetaFields && keyColumn >= 0

  /** The slices that may hold the keys. */
  def slicesOf(keys: Set[String], partition: Option[String]): Vector[FileSlice] = {
    // Asked first: that warns, or is an error, where there is no record index.
    val indexed = table.records.moment.version.isDefined
    val groups = if (indexed) RecordKeyFilter.groups(keys, table).toOption else None
    val partitions = groups.fold(table.partitions)(_.partitions.toVector).filter(p => partition.forall(_ == p))
    partitions.flatMap(p => slicesIn(p).filter(s => groups.forall(_.contains(p, s.fileId))))
  }

  private def slicesIn(partition: String): Vector[FileSlice] =
    partitions.getOrPut(partition)(table.slices(partition).filter(SliceReading.filesIn(_) > 0))

  def read(found: Vector[FileSlice], keys: PackedKeys): Vector[InternalRow] =
    if (found.size < 2) found.flatMap(rowsOf(_, keys))
    else {
      val threads = Executors.newFixedThreadPool(math.min(found.size, Runtime.getRuntime.availableProcessors))
      try {
        val work = found.map(slice =>
          new Callable[Vector[InternalRow]] {
            override def call(): Vector[InternalRow] = {
              SparkSession.setActiveSession(spark)
              rowsOf(slice, keys)
            }
          }
        )
        val done = work.map(threads.submit(_))
        try done.flatMap(_.get())
        catch { case e: ExecutionException => throw e.getCause }
      } finally threads.shutdownNow(): Unit
    }

  private def rowsOf(slice: FileSlice, all: PackedKeys): Vector[InternalRow] =
    FileSliceSplit.whole(slice, table, scan.data, scan.constants).fold(Vector.empty[InternalRow])(rowsOf(slice, _, all))

  private def rowsOf(slice: FileSlice, piece: PartitionedFile, all: PackedKeys): Vector[InternalRow] =
    if (!SliceReading.hasLogs(piece) || !storesKeys) byHashes(slice, piece, all)
    else {
      val asked = FileSliceSplit.askedFor(piece, all, slice, table)
      val found = if (isIndexed(slice, asked)) byLogIndex(asked, all) else None
      found.getOrElse(byHashes(slice, piece, all))
    }

  private def isIndexed(slice: FileSlice, piece: PartitionedFile): Boolean =
    indexed.getOrPut(slice)(Boolean.box(readers.isIndexed(piece)))

  /** Of the log no more is read than what may belong to the keys; hashes of the base file's keys are kept. */
  private def byLogIndex(piece: PartitionedFile, all: PackedKeys): Option[Vector[InternalRow]] = {
    val keys = new WantedKeys(all)
    def inBase = (KeyedSlice.read(readers.baseKeySource(piece, storage, keyColumns)), readers.baseOf(piece))
    val (keyed, base) =
      if (SliceReading.hasBase(piece)) kept.get(KeyedSlices.OfFile(stampOf(piece)), 0L)(inBase) else inBase
    readers.found(piece, base, keyed.rowsOf(keys).base, all).map { found =>
      if (found.isEmpty) Vector.empty else collected(readers.rows(piece, found, base), keys)
    }
  }

  private def byHashes(slice: FileSlice, piece: PartitionedFile, all: PackedKeys): Vector[InternalRow] = {
    val keys = new WantedKeys(all)
    val (keyed, base) = kept.get(identity(slice, piece), logBytes(slice)) {
      (KeyedSlice.read(readers.keySource(piece, storage, keyColumns)), readers.baseOf(piece))
    }
    val hashed = keyed.rowsOf(keys)
    val found = if (storesKeys) hashed else keyed.confirmed(hashed, keys)
    if (found.isEmpty) Vector.empty else collected(readers.rows(piece, found, base), keys)
  }

  private def collected(batches: PartitionReader[ColumnarBatch], keys: WantedKeys): Vector[InternalRow] = {
    val out = Vector.newBuilder[InternalRow]
    try
      while (batches.next()) {
        val batch = batches.get()
        val shown = new ColumnarBatch(places.map(batch.column), batch.numRows)
        shown.rowIterator().asScala.filter(hasKey(_, keys)).foreach(r => out += r.copy())
      }
    finally batches.close()
    out.result()
  }

  /** Other keys may have the hash of a wanted one. */
  private def hasKey(row: InternalRow, keys: WantedKeys): Boolean = !storesKeys || {
    val key = if (row.isNullAt(keyColumn)) null else row.getUTF8String(keyColumn).getBytes
    key != null && keys.contains(key, 0, key.length)
  }

  /** What is kept of base files serves for later moments. */
  private def identity(slice: FileSlice, piece: PartitionedFile): KeyedSlices.Key =
    if (SliceReading.hasLogs(piece)) KeyedSlices.OfSlice(this, slice) else KeyedSlices.OfFile(stampOf(piece))

  /** The store is asked once while table and index stand as they do. */
  private def stampOf(piece: PartitionedFile): FileStamp = {
    val path = piece.filePath.toPath.toString
    stamps.getOrPut(path) {
      storage
        .status(path)
        .getOrElse(throw new DamagedTable(s"$path: base file is gone; read the table again, or restore the file"))
        .stamp
    }
  }

  private def logBytes(slice: FileSlice): Long = slice.dataLogFiles.iterator.map(_.sizeBytes).sum

  /** Files of the index are closed when the table is forgotten, see `SharedTable`. */
  override def close(): Unit = ()
}
