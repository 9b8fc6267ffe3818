package hudiidx.spark.prune

import java.time.ZoneId
import java.util.Locale

import hudiidx.InvalidOption
import hudiidx.column.ColumnCondition.Anything
import hudiidx.column.{ColumnCondition, ColumnExpression, ColumnType, Conditions, ValueSet, ValueSets}
import hudiidx.column.expression.ExpressionTree
import org.apache.spark.sql.catalyst.expressions.{Cast, Expression, In, InSet}
import org.apache.spark.sql.catalyst.util.DateTimeUtils
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.types.{DataType, DateType, TimestampType}

/** An expression that has an index, or one that tells it, as this session understands it.
  *
  *  @param inputs names of the top-level columns that it is of
  *  @param whyNot what keeps the index from helping here
  *  @param ofPath values of the index that these values of the expression come with
  *  @param isKept it means the same under the settings that the index keeps; takes a while to tell
  */
final private case class IndexedExpression(
    path: String,
    meaning: Expression,
    dataType: DataType,
    inputs: Vector[String],
    whyNot: Option[String],
    columnType: ColumnType,
    ofPath: ValueSet => ValueSet = identity,
    isKept: () => Boolean = () => true
)

/** The expressions that a table has indexes on, for a query's expressions to be looked up.
  *
  *  @param resolver of the table's columns, asked for only where there are such indexes
  *  @param conf     of the session, as it is now
  *  @param paths    of the indexes
  *  @param mixes    a row may have its columns from several files of a slice
  */
final class IndexedExpressions(
    resolver: => ExpressionResolver,
    conf: SQLConf,
    paths: => Vector[String],
    mixes: Boolean
) {
  import IndexedExpressions.Unused

  /** Settings under which they are understood. */
  val session: Vector[(String, String)] = ExpressionFacts.session(conf)

  private lazy val ofTable = resolver

  /** First by what their texts have at least, as updates count them: SQL is parsed for none beyond the bound. */
  private lazy val within: (Vector[StoredExpression], Vector[(StoredExpression, String)]) = {
    val all = paths.flatMap(p => ColumnExpression.of(p).map(e => new StoredExpression(p, e)))
    val (some, more) = ColumnExpression.within(all)(_.leastParts)
    val (found, large) = ColumnExpression.within(some)(_.parts)
    (found, large ++ more)
  }

  private lazy val stored: Vector[StoredExpression] = within._1

  /** One that an index is on; it is resolved where a query asks for one of its columns: that takes time for each of its parts. */
  final private class StoredExpression(val path: String, e: ColumnExpression) {
    lazy val tree: Either[String, ExpressionTree] =
      try Right(ExpressionRules.tree(e, conf))
      catch { case error: InvalidOption => Left(unused(error.getMessage)) }
    def leastParts: Int = ColumnExpression.parts(e)
    def parts: Int = tree.fold(_ => 1, ExpressionTree.parts)

    private lazy val columns: Set[String] = tree.fold(_ => Set.empty[String], topColumns)

    @volatile private var isAsked = false
    private lazy val read: Either[String, Vector[IndexedExpression]] = known(path, e, ofTable)

    def isOf(names: Iterable[String]): Boolean = names.exists(n => columns(n.toLowerCase(Locale.ROOT)))

    def found: Vector[IndexedExpression] = {
      isAsked = true
      read.getOrElse(Vector.empty)
    }

    /** Why it is not used, as far as it was asked for. */
    def why: Option[String] = tree.left.toOption.orElse(if (isAsked) read.left.toOption else None)

    def unused(why: String): String = s"$Unused ${Contained.short(e.sql)}: $why"
  }

  private def topColumns(tree: ExpressionTree): Set[String] = tree match {
    case ExpressionTree.Column(parts) => Set(parts.head.toLowerCase(Locale.ROOT))
    case other                        => other.children.flatMap(topColumns).toSet
  }

  private def of(names: Iterable[String]): Vector[IndexedExpression] = stored.filter(_.isOf(names)).flatMap(_.found)

  /** Why indexes are not looked at, of those that queries so far could have used, and of those that no query can. */
  def unusable: Vector[String] = stored.flatMap(_.why) ++ within._2.map { case (e, why) => e.unused(why) }

  // One that the table's columns do not give any more is no part of any query.
  private def known(
      path: String,
      e: ColumnExpression,
      resolver: ExpressionResolver
  ): Either[String, Vector[IndexedExpression]] =
    try {
      val found = resolver.kept(e, conf)
      val whyNot = ExpressionFacts
        .difference(e.facts, found.facts(conf))
        .orElse(
          if (mixes && found.inputs.size > 1) Some("rows of log files may have other columns of base files") else None
        )
      val inputs = found.inputs.map(_._1.head).distinct
      Right(ValueCode.columnType(found.optimized.dataType).toVector.flatMap { t =>
        lazy val isKept = resolver.means(found, path)
        val itself =
          IndexedExpression(path, found.meaning, found.optimized.dataType, inputs, whyNot, t, isKept = () => isKept)
        itself +: timesOf(found.optimized).map { case (time, zone) =>
          val meaning = ResolvedExpression.meaning(time)
          itself.copy(meaning = meaning, dataType = time.dataType, ofPath = IndexedExpressions.dates(_, zone))
        }.toVector
      })
    } catch { case error: InvalidOption => Left(s"$Unused ${Contained.short(e.sql)}: ${error.getMessage}") }

  /** Of the date of a time the time: Spark turns comparisons of the one into comparisons of the other. */
  private def timesOf(e: Expression): Option[(Expression, ZoneId)] = e match {
    case c: Cast if c.dataType == DateType && c.child.dataType == TimestampType => Some(c.child -> c.zoneId)
    case _                                                                      => None
  }

  /** Some expression is of this column. */
  def mayKnow(column: String): Boolean = of(Seq(column)).exists(_.inputs.exists(_ == column))

  /** What the indexes say of an expression that shall give certain values; None where none is on it.
    *
    *  @param unfit why a column cannot be judged by its values in files
    */
  private[prune] def leaf(e: Expression, wanted: Wanted, unfit: String => Option[String]): Option[ColumnCondition] =
    if (stored.isEmpty || e.references.isEmpty || isLong(e)) None
    else {
      val alike = of(e.references.map(_.name).toSet).filter(_.dataType == e.dataType)
      lazy val meaning = ResolvedExpression.meaning(e)
      val found = alike.filter(_.meaning == meaning)
      val judged =
        found.map(x =>
          x -> x.whyNot
            .orElse(x.inputs.flatMap(n => unfit(n).map(why => s"$n: $why")).headOption)
            .orElse(if (x.isKept()) None else Some("it means something else under this session's settings"))
        )
      val useful = judged.collect { case (x, None) => leafOf(x, wanted) }
      if (useful.nonEmpty) Some(Conditions.and(useful))
      else
        judged.collectFirst { case (x, Some(why)) =>
          Anything(s"$Unused ${ColumnExpression.shown(x.path)}: $why")
        }
    }

  private def leafOf(x: IndexedExpression, wanted: Wanted): ColumnCondition = {
    lazy val values = x.ofPath(wanted.values)
    Conditions.leaf(x.path, wanted.nulls, noValue = wanted.values.isEmpty)(found =>
      if (found == x.columnType) Some(values) else None
    )
  }

  /** Comparing it would take longer than it could save. */
  private def isLong(e: Expression): Boolean = e match {
    case In(_, list)    => list.size > IndexedExpressions.MostValues
    case InSet(_, list) => list.size > IndexedExpressions.MostValues
    case _              => false
  }
}

object IndexedExpressions {
  private val MostValues = 1000

  /** How reasons begin why an index on an expression does not help. */
  val Unused = "the index on"

  /** Days on which these times are, and perhaps one before and one behind: clocks may be put back over midnight. */
  private def dates(times: ValueSet, zone: ZoneId): ValueSet = times match {
    case s: ValueSet.Longs =>
      val margin = if (zone.getRules.isFixedOffset) 0 else 1
      def day(micros: Long): Long = DateTimeUtils.microsToDays(micros, zone).toLong
      ValueSets.longs(s.lows.indices.map(i => (day(s.lows(i)) - margin, day(s.highs(i)) + margin)))
    case other => other
  }
}
