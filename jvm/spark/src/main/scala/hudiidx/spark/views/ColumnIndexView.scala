package hudiidx.spark.views

import java.math.BigDecimal
import java.nio.charset.StandardCharsets.UTF_8
import java.time.{Instant, LocalDate, ZoneOffset}

import scala.collection.mutable.ArrayBuffer
import scala.util.Try

import hudiidx.column._
import hudiidx.column.segment.{ColumnIndex, ColumnScan}
import hudiidx.spark.options.ReadOptions
import hudiidx.spark.pinned.SharedTable
import hudiidx.store.IndexStore
import hudiidx.sync.IndexOptions
import hudiidx.{DecimalText, IndexNotFound, Texts}
import org.apache.spark.broadcast.Broadcast
import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.connector.read._
import org.apache.spark.sql.types._
import org.apache.spark.unsafe.types.UTF8String

/** What the indexes on columns hold of each file that the index version lists: the views `column_stats`, a row for each column
  * with bounds, and `bloom_filters`, a row for each filter. IndexNotFound without such an index, DamagedIndex where a file of it
  * cannot be read.
  */
final class ColumnIndexView(
    spark: SparkSession,
    title: String,
    table: SharedTable,
    options: IndexOptions,
    name: String
) extends Scan
    with Batch {
  override def readSchema(): StructType = ColumnIndexView.schemaOf(name)
  override def description(): String = Texts.shown(title)
  override def toBatch: Batch = this

  override def planInputPartitions(): Array[InputPartition] =
    ViewTable.chunks(table.view.partitions, spark.sparkContext.defaultParallelism).map(PartitionChunk).toArray

  override def createReaderFactory(): PartitionReaderFactory =
    new ColumnIndexReaders(spark.sparkContext.broadcast(table), options, name)
}

object ColumnIndexView {
  val StatsName: String = ReadOptions.ColumnStatsView
  val BloomsName: String = ReadOptions.BloomFiltersView
  val Names: Vector[String] = Vector(StatsName, BloomsName)

  private val file = Vector(
    StructField("partition_path", StringType, nullable = false),
    StructField("file_name", StringType, nullable = false),
    StructField("column", StringType, nullable = false),
    StructField("type", StringType, nullable = false)
  )

  private val statsSchema = StructType(
    file ++ Vector(
      StructField("rows", LongType),
      StructField("nulls", LongType),
      StructField("min", StringType),
      StructField("max", StringType),
      StructField("exact", BooleanType)
    )
  )
  private val bloomsSchema = StructType(file :+ StructField("size", LongType, nullable = false))

  def schemaOf(name: String): StructType = if (name == StatsName) statsSchema else bloomsSchema

  /** Rows of one partition. */
  private[spark] def rows(
      index: ColumnIndex,
      name: String,
      partition: String,
      files: Seq[(String, Long)]
  ): Vector[InternalRow] = {
    val out = ArrayBuffer.empty[InternalRow]
    def row(file: String, column: IndexedColumn, rest: Any*): Unit = {
      val head =
        Vector(partition, file, ColumnExpression.shown(column.path), column.columnType.text).map(UTF8String.fromString)
      out += InternalRow.fromSeq(head ++ rest)
    }
    if (name == StatsName)
      new ColumnScan(index).stats(partition, files)((file, column, stats) =>
        row(file, column, statsOf(column, stats): _*)
      )
    else
      new ColumnScan(index).records(partition, files) { (file, columns, record) =>
        if (columns.head.kind == BloomKind.name) row(file, columns.head, record.remaining.toLong)
      }
    out.toVector
  }

  private def statsOf(column: IndexedColumn, stats: ColumnStats): Vector[Any] = {
    def count(n: Long): Any = if (n < 0) null else n
    def shown(value: String): UTF8String = UTF8String.fromString(value)
    val bounds: Vector[Any] = stats.bounds match {
      case Bounds.LongRange(min, max, exact) =>
        Vector(shown(text(min, column.columnType)), shown(text(max, column.columnType)), exact)
      case Bounds.TextRange(min, max, exact) =>
        val upper = if (max == null) null else shown(text(max, column.columnType))
        Vector(shown(text(min, column.columnType)), upper, exact)
      case _ => Vector(null, null, null)
    }
    Vector(count(stats.rows), count(stats.nulls)) ++ bounds
  }

  private[spark] def text(value: Long, columnType: ColumnType): String = columnType match {
    case ColumnType.Bool                                  => (value != 0).toString
    case ColumnType.Float32 | ColumnType.Float64          => ColumnType.toDouble(value).toString
    case ColumnType.Decimal(_, scale)                     => BigDecimal.valueOf(value, scale).toPlainString
    case _ if value == Long.MinValue                      => "-Infinity"
    case ColumnType.Date                                  => LocalDate.ofEpochDay(value).toString
    case ColumnType.Timestamp | ColumnType.LocalTimestamp =>
      val instant = Instant.ofEpochSecond(Math.floorDiv(value, 1000000L), Math.floorMod(value, 1000000L) * 1000L)
      if (columnType == ColumnType.Timestamp) instant.toString
      else instant.atZone(ZoneOffset.UTC).toLocalDateTime.toString
    case _ => value.toString
  }

  private[spark] def text(value: Array[Byte], columnType: ColumnType): String = columnType match {
    case ColumnType.Text              => new String(value, UTF_8)
    case ColumnType.Decimal(_, scale) =>
      val bytes = value.clone()
      if (bytes.nonEmpty) bytes(0) = (bytes(0) ^ 0x80).toByte
      Try(DecimalText.unscaled(bytes, DecimalText.MostDigits, scale)).fold(_ => hex(value), _.toPlainString)
    case _ => hex(value)
  }

  private def hex(value: Array[Byte]): String = value.map(b => f"$b%02x").mkString
}

final private class ColumnIndexReaders(table: Broadcast[SharedTable], options: IndexOptions, name: String)
    extends PartitionReaderFactory {

  override def createReader(input: InputPartition): PartitionReader[InternalRow] = {
    val partitions = input match { case PartitionChunk(paths) => paths }
    val shared = table.value
    val version = shared.snapshot.use.version.getOrElse(
      throw new IndexNotFound(
        s"${shared.path}: there is no index that could be used; " +
          s"run ${IndexStore.command("create", shared.path, options.indexDir(shared.path)).quoted}"
      )
    )
    val access = shared.context.access
    val index = ColumnIndex.open(new IndexStore(access.storage, options.indexDir(shared.path)), version, access.cache)
    val rows = partitions.iterator.flatMap { p =>
      val files = shared.view.source.files(p).toSeq.map(f => f.fileName -> f.sizeBytes)
      ColumnIndexView.rows(index, name, p, files)
    }
    new IteratorReader(rows) {
      override def close(): Unit = index.close()
    }
  }
}
