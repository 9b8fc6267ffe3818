package hudiidx.spark.plan

import scala.collection.JavaConverters._

import hudiidx.spark.pinned.PinnedTable
import org.apache.parquet.column.statistics.Statistics
import org.apache.parquet.hadoop.metadata.{ColumnChunkMetaData, ParquetMetadata}
import org.apache.parquet.schema.LogicalTypeAnnotation
import org.apache.parquet.schema.LogicalTypeAnnotation.{TimeUnit, TimestampLogicalTypeAnnotation}
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.InterpretedOrdering
import org.apache.spark.sql.connector.expressions.aggregate._
import org.apache.spark.sql.connector.expressions.{Expression, NamedReference}
import org.apache.spark.sql.types._

/** One aggregate of a file's rows. `column` is a top-level column. */
sealed trait FileAggregate extends Product with Serializable {
  def field: StructField
}

object FileAggregate {
  case object Rows extends FileAggregate {
    override def field: StructField = StructField("count(*)", LongType, nullable = false)
  }
  final case class Values(column: StructField) extends FileAggregate {
    override def field: StructField = StructField(s"count(${column.name})", LongType, nullable = false)
  }
  final case class Extreme(column: StructField, greatest: Boolean) extends FileAggregate {
    override def field: StructField =
      StructField(s"${if (greatest) "max" else "min"}(${column.name})", column.dataType, nullable = true)
  }
}

/** What a scan returns in place of rows: for each file its aggregates, behind the partition columns of the grouping.
  *
  *  @param columns those that must be read where a footer does not tell
  */
final case class FileAggregates(groups: StructType, wanted: Vector[FileAggregate]) {
  val columns: StructType = StructType(wanted.flatMap {
    case FileAggregate.Rows          => Vector.empty
    case FileAggregate.Values(c)     => Vector(c)
    case FileAggregate.Extreme(c, _) => Vector(c)
  }.distinct)

  def output: StructType = StructType(groups ++ wanted.map(_.field))

  /** What is found of files: with groups their rows too, for a group of which no file has any is none. */
  val found: Vector[FileAggregate] = if (groups.isEmpty) wanted else wanted :+ FileAggregate.Rows

  /** What the scan returns for files of a group; None for a group without rows.
    *
    * @param values of [[found]]
    */
  def row(group: Seq[Any], values: Vector[Any]): Option[InternalRow] =
    if (groups.isEmpty) Some(InternalRow.fromSeq(values))
    else if (values.last == 0L) None
    else Some(InternalRow.fromSeq(group ++ values.init))
}

object FileAggregates {

  /** None where one of them cannot be told for a file by itself, or the grouping is by more than what paths tell. */
  def of(aggregation: Aggregation, table: PinnedTable): Option[FileAggregates] = {
    val wanted = aggregation.aggregateExpressions.toVector.map(aggregate(_, table))
    val groups = aggregation.groupByExpressions.toVector.map(column(_, table).filter(c => table.columnsOfPath(c.name)))
    if (wanted.isEmpty || wanted.contains(None) || groups.contains(None)) None
    else Some(FileAggregates(StructType(groups.flatten), wanted.flatten))
  }

  /** Of the rows of both. */
  def merged(wanted: Vector[FileAggregate], a: Vector[Any], b: Vector[Any]): Vector[Any] =
    wanted.indices.toVector.map { i =>
      wanted(i) match {
        case FileAggregate.Extreme(c, highest) => extreme(c.dataType, highest, a(i), b(i))
        case _                                 => a(i).asInstanceOf[Long] + b(i).asInstanceOf[Long]
      }
    }

  private def extreme(dataType: DataType, highest: Boolean, a: Any, b: Any): Any =
    if (a == null) b
    else if (b == null) a
    else {
      val order = InterpretedOrdering.forSchema(Seq(dataType)).compare(InternalRow(a), InternalRow(b))
      if ((order >= 0) == highest) a else b
    }

  private def aggregate(f: AggregateFunc, table: PinnedTable): Option[FileAggregate] = f match {
    case _: CountStar              => Some(FileAggregate.Rows)
    case c: Count if !c.isDistinct => stored(c.column, table).filter(isCounted).map(FileAggregate.Values)
    case m: Min => stored(m.column, table).filter(isExact).map(FileAggregate.Extreme(_, greatest = false))
    case m: Max => stored(m.column, table).filter(isExact).map(FileAggregate.Extreme(_, greatest = true))
    case _      => None
  }

  private def column(e: Expression, table: PinnedTable): Option[StructField] = e match {
    case r: NamedReference if r.fieldNames.length == 1 => table.schema.struct.find(_.name == r.fieldNames.head)
    case _                                             => None
  }

  /** Not what files need not hold: it would be read from them where a footer does not tell. */
  private def stored(e: Expression, table: PinnedTable): Option[StructField] =
    column(e, table).filterNot(c => table.schema.fromPath(c.name))

  /** Not nested types: a footer counts nulls of their fields, not their own. */
  private def isCounted(c: StructField): Boolean = c.dataType match {
    case _: StructType | _: ArrayType | _: MapType | NullType => false
    case _                                                    => true
  }

  /** Types whose bounds in footers are whole, and ordered as Spark orders values. Not texts (bounds may be cut) and not
    * floating-point numbers (NaN).
    */
  private def isExact(c: StructField): Boolean = c.dataType match {
    case IntegerType | LongType | DateType | BooleanType | TimestampType | TimestampNTZType => true
    case d: DecimalType => d.precision <= Decimal.MAX_LONG_DIGITS
    case _              => false
  }
}

/** Aggregates of one file from its footer.
  *
  * @param own   its columns
  * @param fixed values of columns that have one in all rows, whatever the file holds
  */
final class FooterAggregates(
    footer: ParquetMetadata,
    own: StructType,
    fixed: Map[String, Any],
    same: (String, String) => Boolean
) {
  private val blocks = footer.getBlocks.asScala.toVector
  private val rows: Long = blocks.iterator.map(_.getRowCount).sum

  /** None where the footer does not tell without doubt. */
  def values(wanted: Vector[FileAggregate]): Option[Vector[Any]] = {
    val found = wanted.map(value)
    if (found.contains(None)) None else Some(found.flatten)
  }

  private def value(aggregate: FileAggregate): Option[Any] = aggregate match {
    case FileAggregate.Rows                                    => Some(rows)
    case FileAggregate.Values(c) if fixed.contains(c.name)     => Some(if (fixed(c.name) == null) 0L else rows)
    case FileAggregate.Extreme(c, _) if fixed.contains(c.name) => if (rows > 0) Some(fixed(c.name)) else None
    case FileAggregate.Values(column)                          => state(column).flatMap(_.fold(Option[Any](0L))(count))
    case FileAggregate.Extreme(column, highest)                =>
      state(column).flatMap(_.fold(Option[Any](null))(extreme(column, highest, _)))
  }

  /** None: unknown. Some(None): null in all rows. Else its column chunks. */
  private def state(column: StructField): Option[Option[Vector[ColumnChunkMetaData]]] =
    own.find(f => same(column.name, f.name)) match {
      case None                                     => Some(None)
      case Some(f) if f.dataType != column.dataType => None
      case Some(f)                                  =>
        val chunks = blocks.map(_.getColumns.asScala.find(c => c.getPath.toArray.toVector == Vector(f.name)))
        if (chunks.contains(None)) None else Some(Some(chunks.flatten))
    }

  private def count(chunks: Vector[ColumnChunkMetaData]): Option[Any] =
    if (chunks.forall(c => c.getStatistics != null && c.getStatistics.isNumNullsSet))
      Some(chunks.iterator.map(c => c.getValueCount - c.getStatistics.getNumNulls).sum)
    else None

  private def extreme(column: StructField, highest: Boolean, chunks: Vector[ColumnChunkMetaData]): Option[Any] = {
    val bounds = chunks.filterNot(isAllNull).map { chunk =>
      val s: Statistics[_] = chunk.getStatistics
      if (s == null || !s.hasNonNullValue) None
      else FooterAggregates.toSpark(if (highest) s.genericGetMax else s.genericGetMin, labelOf(chunk), column.dataType)
    }
    if (bounds.contains(None)) None
    else {
      val order = InterpretedOrdering.forSchema(Seq(column.dataType))
      val rows = bounds.flatten.map(b => InternalRow(b))
      if (rows.isEmpty) Some(null)
      else Some((if (highest) rows.max(order) else rows.min(order)).get(0, column.dataType))
    }
  }

  /** As the footer's schema has it, not as the chunk: it may have been repaired. */
  private def labelOf(chunk: ColumnChunkMetaData): LogicalTypeAnnotation =
    footer.getFileMetaData.getSchema
      .getColumnDescription(chunk.getPath.toArray)
      .getPrimitiveType
      .getLogicalTypeAnnotation

  private def isAllNull(chunk: ColumnChunkMetaData): Boolean =
    chunk.getStatistics != null && chunk.getStatistics.isNumNullsSet &&
      chunk.getStatistics.getNumNulls == chunk.getValueCount
}

object FooterAggregates {

  /** Days and microseconds before this may be in the older calendar: the reader decides about them. */
  private val FirstGregorianDay = -141427
  private val FirstCertainMicros = -2208988800000000L

  /** A bound as Spark keeps such a value; None where the stored form is not plainly that. */
  private def toSpark(bound: Any, label: LogicalTypeAnnotation, dataType: DataType): Option[Any] =
    (dataType, bound) match {
      case (IntegerType, v: java.lang.Integer)                        => Some(v)
      case (LongType, v: java.lang.Long)                              => Some(v)
      case (BooleanType, v: java.lang.Boolean)                        => Some(v)
      case (DateType, v: java.lang.Integer) if v >= FirstGregorianDay => Some(v)
      case (d: DecimalType, v: java.lang.Integer)                     => Some(Decimal(v.toLong, d.precision, d.scale))
      case (d: DecimalType, v: java.lang.Long)                        => Some(Decimal(v, d.precision, d.scale))
      case (TimestampType | TimestampNTZType, v: java.lang.Long) => micros(v, label).filter(_ >= FirstCertainMicros)
      case _                                                     => None
    }

  private def micros(value: Long, label: LogicalTypeAnnotation): Option[Long] =
    label match {
      case t: TimestampLogicalTypeAnnotation if t.getUnit == TimeUnit.MICROS => Some(value)
      case t: TimestampLogicalTypeAnnotation if t.getUnit == TimeUnit.MILLIS =>
        Some(value * 1000).filter(_ / 1000 == value) // what passes a long is the reader's to refuse
      case _ => None
    }
}

/** Aggregates of one file from its rows, for footers that do not tell. */
final class RowAggregates(columns: StructType, wanted: Vector[FileAggregate]) {
  private val orders = wanted.map {
    case FileAggregate.Extreme(c, _) => InterpretedOrdering.forSchema(Seq(c.dataType))
    case _                           => null
  }
  private val at = wanted.map {
    case FileAggregate.Rows          => -1
    case FileAggregate.Values(c)     => columns.fieldIndex(c.name)
    case FileAggregate.Extreme(c, _) => columns.fieldIndex(c.name)
  }
  private val counts = new Array[Long](wanted.length)
  private val extremes = new Array[InternalRow](wanted.length)

  def take(row: InternalRow): Unit = wanted.indices.foreach { i =>
    if (at(i) < 0) counts(i) += 1
    else if (!row.isNullAt(at(i))) {
      counts(i) += 1
      wanted(i) match {
        case FileAggregate.Extreme(c, highest) => keep(i, InternalRow(row.get(at(i), c.dataType)), highest)
        case _                                 => ()
      }
    }
  }

  private def keep(i: Int, value: InternalRow, highest: Boolean): Unit = {
    val order = if (extremes(i) == null) 1 else orders(i).compare(value, extremes(i)) * (if (highest) 1 else -1)
    if (order > 0) extremes(i) = value.copy()
  }

  def values: Vector[Any] = wanted.indices.toVector.map { i =>
    wanted(i) match {
      case FileAggregate.Extreme(c, _) => if (extremes(i) == null) null else extremes(i).get(0, c.dataType)
      case _                           => counts(i)
    }
  }
}
