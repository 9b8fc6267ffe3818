package hudiidx.spark.prune

import java.time.ZoneId

import hudiidx.InvalidOption
import hudiidx.column.ColumnCondition.Anything
import hudiidx.column.{ColumnCondition, ColumnExpression, ColumnType, Conditions, ExpressionLimits, ValueSet, ValueSets}
import org.apache.spark.sql.catalyst.expressions.{Cast, Expression, In, InSet}
import org.apache.spark.sql.catalyst.util.DateTimeUtils
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.types.{DataType, DateType, TimestampType}

/** An expression that has an index, or one that tells it, as this session understands it.
  *
  *  @param inputs names of the top-level columns that it is of
  *  @param whyNot what keeps the index from helping here
  *  @param ofPath values of the index that these values of the expression come with
  */
final private case class IndexedExpression(
    path: String,
    meaning: Expression,
    dataType: DataType,
    inputs: Vector[String],
    whyNot: Option[String],
    columnType: ColumnType,
    ofPath: ValueSet => ValueSet = identity
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

  private lazy val read: Vector[Either[String, Vector[IndexedExpression]]] = {
    val asked = paths
    lazy val ofTable = resolver
    val (some, more) = asked.flatMap(p => ColumnExpression.of(p).map(p -> _)).splitAt(ExpressionLimits.MostExpressions)
    some.map { case (path, e) => known(path, e, ofTable) } ++ more.map { case (_, e) =>
      Left(s"$Unused ${Contained.short(e.sql)}: it is one of more than ${ExpressionLimits.MostExpressions}")
    }
  }

  private lazy val all: Vector[IndexedExpression] = read.flatMap(_.getOrElse(Vector.empty))

  /** Why indexes are not looked at, whatever the query. */
  def unusable: Vector[String] = read.collect { case Left(why) => why }

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
        val itself = IndexedExpression(path, found.meaning, found.optimized.dataType, inputs, whyNot, t)
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

  private lazy val types: Set[DataType] = all.map(_.dataType).toSet

  /** Some expression is of this column. */
  def mayKnow(column: String): Boolean = all.exists(_.inputs.exists(_ == column))

  /** What the indexes say of an expression that shall give certain values; None where none is on it.
    *
    *  @param unfit why a column cannot be judged by its values in files
    */
  private[prune] def leaf(e: Expression, wanted: Wanted, unfit: String => Option[String]): Option[ColumnCondition] =
    if (all.isEmpty || !types(e.dataType) || e.references.isEmpty || isLong(e)) None
    else {
      val meaning = ResolvedExpression.meaning(e)
      val found = all.filter(_.meaning == meaning)
      val judged =
        found.map(x => x -> x.whyNot.orElse(x.inputs.flatMap(n => unfit(n).map(why => s"$n: $why")).headOption))
      val useful = judged.collect { case (x, None) => leafOf(x, wanted) }
      if (useful.nonEmpty) Some(Conditions.and(useful))
      else
        judged.collectFirst { case (x, Some(why)) =>
          Anything(s"$Unused ${ColumnExpression.shown(x.path)}: $why")
        }
    }

  private def leafOf(x: IndexedExpression, wanted: Wanted): ColumnCondition = {
    lazy val values = x.ofPath(wanted.values)
    Conditions.leaf(x.path, wanted.nulls)(found => if (found == x.columnType) Some(values) else None)
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
