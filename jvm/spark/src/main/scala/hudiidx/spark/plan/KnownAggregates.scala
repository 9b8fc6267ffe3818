package hudiidx.spark.plan

import scala.collection.mutable

import hudiidx.column.{Bounds, ColumnPath, ColumnStats, ColumnType}
import hudiidx.column.segment.FileFacts
import hudiidx.spark.pinned.{PinnedColumns, PinnedTable}
import hudiidx.table.FileSlice
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.connector.read.{InputPartition, LocalScan}
import org.apache.spark.sql.types._

/** Aggregates that the index knows whole: no file is opened and no task runs. */
final case class KnownAggregates(of: AggregateScan) extends LocalScan {
  override def readSchema(): StructType = of.readSchema()

  override def rows(): Array[InternalRow] = of.known.toArray

  override def description(): String = of.description()
}

/** Those of some slices, behind the others that tasks find. */
final case class KnownRows(rows: Vector[InternalRow]) extends InputPartition

/** What the index knows of a scan's aggregates.
  *
  *  @param rows  one for each group, in the scan's form
  *  @param left  slices of which it does not know them
  */
final case class IndexedAggregates(rows: Vector[InternalRow], left: Vector[FileSlice])

/** Aggregates of base files from the column index. Exact: rows and nulls of a file are, and bounds count only where they are
  * values themselves.
  */
object IndexedAggregates {

  def of(table: PinnedTable, slices: Vector[FileSlice], wanted: FileAggregates): IndexedAggregates =
    // Spark adds counts up, and nothing added up would be null.
    if (slices.isEmpty && wanted.groups.isEmpty)
      IndexedAggregates(Vector(InternalRow.fromSeq(wanted.wanted.map(ofNothing))), slices)
    else table.columns.fold(_ => IndexedAggregates(Vector.empty, slices), told(table, _, slices, wanted))

  private def ofNothing(aggregate: FileAggregate): Any = aggregate match {
    case FileAggregate.Extreme(_, _) => null
    case _                           => 0L
  }

  private def told(
      table: PinnedTable,
      columns: PinnedColumns,
      slices: Vector[FileSlice],
      wanted: FileAggregates
  ): IndexedAggregates = {
    val files = columns.files
    val groups = mutable.LinkedHashMap.empty[Seq[Any], Vector[Any]]
    val left = slices.filter { slice =>
      val values = columns.told(valuesOf(table, files, slice, wanted.found))
      values.foreach { v =>
        val group = groupOf(table, slice, wanted.groups)
        groups(group) = groups.get(group).fold(v)(FileAggregates.merged(wanted.found, _, v))
      }
      values.isEmpty
    }
    IndexedAggregates(groups.flatMap { case (group, v) => wanted.row(group, v) }.toVector, left)
  }

  private def groupOf(table: PinnedTable, slice: FileSlice, groups: StructType): Seq[Any] =
    if (groups.isEmpty) Seq.empty
    else {
      val values = table.schema.values.named(slice.partitionPath)
      groups.map(g => values(g.name))
    }

  /** None where one of them is not known without doubt. */
  private def valuesOf(
      table: PinnedTable,
      files: FileFacts,
      slice: FileSlice,
      wanted: Vector[FileAggregate]
  ): Option[Vector[Any]] =
    slice.baseFile.filter(_ => slice.dataLogFiles.isEmpty).flatMap { base =>
      lazy val fixed = table.schema.values.named(slice.partitionPath)
      def isFixed(c: StructField) = table.schema.values.mayDecide(c.name) && fixed.contains(c.name)
      def rows = files.rows(slice.partitionPath, base.fileName, base.sizeBytes)
      def statsOf(column: StructField) = if (table.schema.unsureTimes(column.name)) None
      else
        files.stats(slice.partitionPath, base.fileName, base.sizeBytes, ColumnPath.of(Seq(column.name)))
      val found = wanted.map {
        case FileAggregate.Rows                        => rows
        case FileAggregate.Values(c) if isFixed(c)     => if (fixed(c.name) == null) Some(0L) else rows
        case FileAggregate.Values(c)                   => statsOf(c).flatMap(s => count(s._2))
        case FileAggregate.Extreme(c, _) if isFixed(c) => rows.filter(_ != 0L).map(_ => fixed(c.name))
        case FileAggregate.Extreme(c, highest)         =>
          statsOf(c).flatMap(s => extreme(c.dataType, s._1, s._2.bounds, highest))
      }
      if (found.contains(None)) None else Some(found.flatten)
    }

  private def count(stats: ColumnStats): Option[Any] =
    if (stats.rows < 0 || stats.nulls < 0) None else Some(stats.rows - stats.nulls)

  private def extreme(dataType: DataType, columnType: ColumnType, bounds: Bounds, highest: Boolean): Option[Any] =
    bounds match {
      case Bounds.NoValues                  => Some(null)
      case Bounds.LongRange(min, max, true) => ofLong(dataType, columnType, if (highest) max else min)
      case _                                => None
    }

  private def ofLong(dataType: DataType, columnType: ColumnType, value: Long): Option[Any] =
    (dataType, columnType) match {
      case (IntegerType, ColumnType.Int32)                                                => Some(value.toInt)
      case (LongType, ColumnType.Int64)                                                   => Some(value)
      case (BooleanType, ColumnType.Bool)                                                 => Some(value != 0)
      case (DateType, ColumnType.Date)                                                    => Some(value.toInt)
      case (TimestampType, ColumnType.Timestamp)                                          => Some(value)
      case (TimestampNTZType, ColumnType.LocalTimestamp)                                  => Some(value)
      case (d: DecimalType, ColumnType.Decimal(p, s)) if d.precision == p && d.scale == s => Some(Decimal(value, p, s))
      case _                                                                              => None
    }
}
