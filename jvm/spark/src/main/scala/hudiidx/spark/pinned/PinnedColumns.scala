package hudiidx.spark.pinned

import java.io.IOException

import hudiidx.DamagedIndex
import hudiidx.column.{ColumnChoice, ColumnCondition, ColumnExpression, ColumnPath, Conditions, IndexKind}
import hudiidx.column.segment.{ColumnIndex, ColumnSelection, FileFacts, LeafReport}
import hudiidx.spark.prune.{ConditionOf, IndexedExpressions}
import hudiidx.store.IndexStore
import hudiidx.sync.{Fallback, FallbackCode, IndexOptions, TableSnapshot}
import hudiidx.table.FileSlice
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{
  AttributeReference,
  Expression,
  GreaterThanOrEqual,
  InterpretedOrdering,
  LessThanOrEqual,
  Literal
}
import org.apache.spark.sql.types._

/** The column index of a table at one moment. Lives on the driver. A file of it that fails is one warning, and from then on
  * nothing is left out; in strict mode it is DamagedIndex.
  */
final class PinnedColumns private (index: ColumnIndex, snapshot: TableSnapshot, warn: Throwable => Unit) {
  @volatile private var failed: Option[String] = None

  /** Why nothing can be left out any more. */
  def failure: Option[String] = failed

  private val paths: Set[String] = index.choice.byKind.values.flatten.flatMap(ColumnPath.list).toSet

  /** Expressions of columns that have an index. */
  val expressions: Vector[String] = paths.filter(ColumnExpression.isOne).toVector.sorted

  private val topLevel: Set[String] = paths.flatMap(p => ColumnPath.parts(p).headOption)

  /** Top-level columns of `columns` that have an index which can tell values apart. */
  def names(columns: StructType): Vector[String] = columns.fields.toVector.collect {
    case f if PinnedColumns.isOrdered(f.dataType) && (paths(ColumnChoice.All) || paths(ColumnPath.of(Seq(f.name)))) =>
      f.name
  }

  /** The top-level column, or a field in it, has an index. */
  def mayKnow(name: String): Boolean = paths(ColumnChoice.All) || topLevel(name)

  /** Bounds of this column are kept. */
  def has(path: String): Boolean = {
    val ranges = index.choice.byKind.getOrElse(IndexKind.Range, Vector.empty)
    ranges.contains(ColumnChoice.All) || ranges.contains(path)
  }

  /** Files that may have rows for which the condition holds; None if a file of the index fails. */
  def select(condition: ColumnCondition): Option[ColumnSelection] =
    guarded[Option[ColumnSelection]](None)(Some(index.select(condition, snapshot.mayHaveMore)))

  def mightMatch(selection: ColumnSelection, partitionPath: String): Boolean =
    guarded(true)(selection.mightMatch(partitionPath))

  def mightMatch(selection: ColumnSelection, slice: FileSlice): Boolean = guarded(true)(selection.mightMatch(slice))

  def inBounds(selection: ColumnSelection, slice: FileSlice): Boolean = guarded(true)(selection.inBounds(slice))

  /** Answers for files one after the other; None for those of which nothing is known. For one thread. */
  def files: FileFacts = new FileFacts(index)

  /** What `files` told, or nothing if a file of the index fails. */
  def told[A](work: => Option[A]): Option[A] = guarded[Option[A]](None)(work)

  def wantedSizes(selection: ColumnSelection, partitionPath: String): Option[Array[Long]] =
    guarded[Option[Array[Long]]](None)(selection.wantedSizes(partitionPath))

  private def guarded[A](otherwise: A)(work: => A): A =
    if (failed.isDefined) otherwise
    else
      try work
      catch {
        case e: DamagedIndex => fail(e, otherwise)
        case e: IOException  => fail(e, otherwise)
      }

  private def fail[A](e: Throwable, otherwise: A): A = {
    val first = synchronized {
      val isFirst = failed.isEmpty
      if (isFirst) failed = Some(s"${FallbackCode.DamagedColumnIndex}: ${e.getMessage}")
      isFirst
    }
    if (first) warn(e)
    otherwise
  }
}

object PinnedColumns {

  private def isOrdered(dataType: DataType): Boolean = dataType match {
    case IntegerType | LongType | FloatType | DoubleType | _: DecimalType | BooleanType => true
    case StringType | BinaryType | DateType | TimestampType | TimestampNTZType          => true
    case _                                                                              => false
  }

  /** Left tells why there is nothing to ask. DamagedIndex in strict mode. */
  def open(shared: SharedTable, options: IndexOptions): Either[String, PinnedColumns] = {
    val snapshot = shared.snapshot
    val store = new IndexStore(snapshot.table.storage, options.indexDir(snapshot.tablePath))
    def warn(e: Throwable): Unit =
      Fallback(FallbackCode.DamagedColumnIndex, e.getMessage).warn(snapshot.tablePath, store.dir, options.strict)
    snapshot.use.version match {
      case None                                        => Left("no index is in use")
      case Some(version) if !ColumnIndex.isIn(version) => Left("no column is indexed")
      case Some(version)                               =>
        try {
          Right(new PinnedColumns(ColumnIndex.open(store, version, snapshot.table.access.cache), snapshot, warn))
        } catch {
          case e @ (_: DamagedIndex | _: IOException) =>
            warn(e)
            Left(s"${FallbackCode.DamagedColumnIndex}: ${e.getMessage}")
        }
    }
  }
}

/** What the filters of one scan leave of a table's files, by its column index. */
final class ColumnFilter private (columns: PinnedColumns, selection: ColumnSelection) {

  /** False only if no row of the partition satisfies the filters. */
  def mightMatch(partitionPath: String): Boolean = columns.mightMatch(selection, partitionPath)

  /** False only if no row of the slice satisfies them. */
  def mightMatch(slice: FileSlice): Boolean = columns.mightMatch(selection, slice)

  /** As `mightMatch`, by bounds alone. */
  def inBounds(slice: FileSlice): Boolean = columns.inBounds(selection, slice)

  /** Sizes of files of which each slice of the partition that might match has one; None: not known. */
  def wantedSizes(partitionPath: String): Option[Array[Long]] = columns.wantedSizes(selection, partitionPath)

  /** What each part of the condition did so far. */
  def report: Vector[LeafReport] = selection.report.map(l => l.copy(path = ColumnExpression.shown(l.path)))

  def failure: Option[String] = columns.failure
}

object ColumnFilter {

  /** Of a query's filters; Left tells why the index cannot help. */
  def of(table: PinnedTable, filters: Seq[Expression]): Either[String, ColumnFilter] =
    if (filters.isEmpty) Left("the query has no filter")
    else of(table, (c: ConditionOf) => c(filters))

  /** More values than this are judged by the least and the greatest of them. */
  private val MostValues = 100000

  /** Of values that one top-level column must have. */
  def ofValues(table: PinnedTable, column: String, values: Seq[Any]): Either[String, ColumnFilter] = {
    val field = table.schema.struct(column)
    val attribute = AttributeReference(field.name, field.dataType)()
    val given = values.filter(_ != null)
    of(
      table,
      (c: ConditionOf) => if (given.length <= MostValues) c.values(attribute, given) else c(between(attribute, given))
    )
  }

  private[spark] def between(column: AttributeReference, values: Seq[Any]): Seq[Expression] = {
    val rows = values.iterator.map(v => InternalRow(v))
    val order = InterpretedOrdering.forSchema(Seq(column.dataType))
    val (least, greatest) = rows.foldLeft((null: InternalRow, null: InternalRow)) { case ((low, high), r) =>
      (if (low == null || order.lt(r, low)) r else low, if (high == null || order.gt(r, high)) r else high)
    }
    def literal(row: InternalRow) = Literal(row.get(0, column.dataType), column.dataType)
    Seq(GreaterThanOrEqual(column, literal(least)), LessThanOrEqual(column, literal(greatest)))
  }

  /** A query's filters as a condition on the columns that files hold. */
  def condition(table: PinnedTable, filters: Seq[Expression]): ColumnCondition =
    new ConditionOf(unfit(table))(filters)

  private def unfit(table: PinnedTable): String => Option[String] = {
    val columns = table.schema.struct.fieldNames.toSet
    name =>
      if (table.schema.fromPath(name)) Some("files do not hold it, paths do")
      else if (table.schema.values.mayDecide(name)) Some("rows have the value of their path, whatever files hold")
      else if (table.schema.unsureTimes(name)) Some("files may have its times under another unit's label")
      else if (!columns(name)) Some("it is not a column of the table")
      else if (table.names.exists(_.concerns(name))) Some("it was renamed, and statistics go by the names in files")
      else None
  }

  /** Of several that which names an index, if one does. */
  private def reason(condition: ColumnCondition, unusable: => Vector[String]): String = {
    val all = Conditions.reasons(condition) ++ unusable
    all
      .find(_.startsWith(IndexedExpressions.Unused))
      .orElse(all.headOption)
      .getOrElse("every row satisfies the filters")
  }

  private def of(table: PinnedTable, make: ConditionOf => ColumnCondition): Either[String, ColumnFilter] =
    table.columns.flatMap { columns =>
      val stored = unfit(table)
      def unknown(name: String): Option[String] =
        stored(name).orElse(if (columns.mayKnow(name)) None else Some("it has no index"))
      val condition = make(new ConditionOf(unknown, Some(table.expressions), stored))
      if (Conditions.paths(condition).isEmpty && condition != ColumnCondition.Nothing)
        Left(reason(condition, table.expressions.unusable))
      else
        columns
          .select(condition)
          .map(new ColumnFilter(columns, _))
          .toRight(columns.failure.getOrElse("the column index failed"))
    }
}

/** Which partitions and files hold no values that a scan's filters want.
  *
  *  @param partitionsSkipped as a whole: their files were not looked at
  *  @param boundsSkipped  files of other partitions, left out by bounds
  *  @param recordsSkipped likewise by blooms, values and other kinds
  *  @param leaves  by parts of the condition
  *  @param whyNot  why nothing was left out
  */
final case class ColumnStage(
    partitionsSkipped: Int,
    boundsSkipped: Int,
    recordsSkipped: Int,
    leaves: Vector[LeafReport],
    whyNot: Option[String]
) {

  /** Of partitions that were looked into. */
  def filesSkipped: Int = boundsSkipped + recordsSkipped
}

object ColumnStage {
  def not(why: String): ColumnStage = ColumnStage(0, 0, 0, Vector.empty, Some(why))

  /** How an index that left something out is named: its kind and column. */
  def decided(leaf: LeafReport): Option[String] =
    if (leaf.files == 0 && leaf.partitions == 0) None else Some(s"${kinds(leaf)}(${leaf.path})")

  /** Why a part of a condition left nothing out, for people. */
  def whyNot(leaf: LeafReport): Option[String] =
    leaf.why.map(why => if (leaf.path.isEmpty) why else s"${leaf.path}: $why")

  private def kinds(leaf: LeafReport): String = if (leaf.kinds.isEmpty) IndexKind.Range else leaf.kinds.mkString("+")
}
