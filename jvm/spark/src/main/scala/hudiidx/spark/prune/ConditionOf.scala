package hudiidx.spark.prune

import scala.util.control.NonFatal

import hudiidx.column.ColumnCondition.{And => AllOf, Anything, Nothing}
import hudiidx.column.ValueSet.Texts
import hudiidx.column.{ColumnCondition, ColumnPath, ColumnType, Conditions, ValueOrder, ValueSet, ValueSets}
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.types._
import org.apache.spark.unsafe.types.UTF8String

/** A query's filters as a condition on single columns, for statistics to decide. An expression is followed from the values that
  * it must give to the values that its columns must have; where the way is not certain every value counts.
  *
  *  @param unfit why a column cannot be judged, by its name: its values in files are not those of its rows, or nothing is known of
  *               them; None if it can
  *  @param indexed expressions that have an index of their own
  *  @param stored  as `unfit`, for the columns of these: None also for columns of which alone nothing is known
  */
final class ConditionOf(
    unfit: String => Option[String],
    indexed: Option[IndexedExpressions] = None,
    stored: String => Option[String] = _ => None
) {
  import ConditionOf._

  /** How often a part may still be looked at: what a choice asks counts twice, so that choices in one another would have no end. */
  private var looks = 0L

  /** Holds for every row for which all filters are true. */
  def apply(filters: Seq[Expression]): ColumnCondition = {
    looks = MoreLooks + filters.map(parts).sum * LooksAtPart
    Conditions.and(filters.map(f => rows(f, Wanted.True)))
  }

  /** Holds for every row of which the expression, a column or a function of some, has one of the values; null is none. */
  def values(e: Expression, values: Seq[Any]): ColumnCondition =
    if (values.forall(_ == null)) Nothing
    else apply(Seq(InSet(e, values.filter(_ != null).toSet)))

  private def rows(e: Expression, wanted: Wanted): ColumnCondition = {
    looks -= 1
    if (wanted.isNothing) Nothing
    else if (wanted.isEverything) Always
    else if (looks < 0) Anything(s"${shown(e)} is in too many choices in one another")
    else if (!e.deterministic) Anything(s"${shown(e)} may differ from row to row")
    else
      indexed.flatMap(_.leaf(e, wanted, stored)) match {
        case None       => judged(e, wanted)
        case Some(leaf) =>
          judged(e, wanted) match {
            case _: Anything => leaf
            case other       => Conditions.and(Seq(leaf, other))
          }
      }
  }

  /** By what is known of single columns. */
  private def judged(e: Expression, wanted: Wanted): ColumnCondition =
    unjudged(e).getOrElse {
      try if (e.foldable) constant(e, wanted) else found(e, wanted)
      catch {
        // An error that evaluation would raise is left to the rows.
        case NonFatal(error) => Anything(s"${shown(e)}: ${error.getMessage}")
      }
    }

  /** Nothing is computed of columns that could not be judged by it. */
  private def unjudged(e: Expression): Option[ColumnCondition] = {
    val reasons = e.references.toSeq.map(a => a.name -> unfit(a.name))
    if (reasons.isEmpty || reasons.exists { case (name, why) => why.isEmpty || indexed.exists(_.mayKnow(name)) }) None
    else reasons.collectFirst { case (name, Some(why)) => Anything(s"$name: $why") }
  }

  private def constant(e: Expression, wanted: Wanted): ColumnCondition =
    if (wanted.takes(e.eval(null), e.dataType)) Always else Nothing

  private def found(e: Expression, wanted: Wanted): ColumnCondition = e match {
    case Not(c)                        => rows(c, Wanted.of(wanted.wantsFalse, wanted.wantsTrue, wanted.nulls))
    case _: And                        => conjunction(operands(e, { case And(l, r) => (l, r) }), wanted)
    case _: Or                         => disjunction(operands(e, { case Or(l, r) => (l, r) }), wanted)
    case IsNull(c)                     => nullness(c, isNull = wanted.wantsTrue, isValue = wanted.wantsFalse)
    case IsNotNull(c)                  => nullness(c, isNull = wanted.wantsFalse, isValue = wanted.wantsTrue)
    case IsNaN(c)                      => nan(c, wanted)
    case b: BinaryComparison           => comparison(b, wanted)
    case In(c, list)                   => inList(e, c, list, wanted)
    case InSet(c, set)                 => inValues(c, set.toSeq, wanted)
    case Coalesce(all)                 => coalesced(all, wanted)
    case If(test, yes, no)             => cases(Seq(test -> yes), Some(no), wanted)
    case CaseWhen(branches, otherwise) => cases(branches, otherwise, wanted)
    case t: TaggingExpression          => rows(t.child, wanted)
    case s: StringPredicate            => ofText(s, wanted)
    case l: Like                       => like(l, wanted)
    case _                             => ColumnPaths.parts(e).fold(function(e, wanted))(column(e, _, wanted))
  }

  private def column(e: Expression, parts: Vector[String], wanted: Wanted): ColumnCondition =
    unfit(parts.head) match {
      case Some(why)                                        => Anything(s"${parts.mkString(".")}: $why")
      case None if isVector(e.dataType)                     => vector(parts, e, wanted)
      case None if ValueCode.columnType(e.dataType).isEmpty => unclear(e)
      case None                                             =>
        leaf(parts, wanted)(TypeBridge.ofFile(wanted.values, e.dataType, _))
    }

  private def isVector(t: DataType): Boolean = t match {
    case ArrayType(FloatType | DoubleType | ByteType, _) => true
    case _                                               => false
  }

  /** Files have vectors as bytes, of which it is known how many are null. Files that have arrays tell nothing. */
  private def vector(parts: Vector[String], e: Expression, wanted: Wanted): ColumnCondition = {
    val (isAny, isNone) = (ValueSets.isAll(wanted.values), wanted.values.isEmpty)
    if (isAny == isNone) unclear(e)
    else
      leaf(parts, wanted) {
        case ColumnType.Binary => Some(if (isAny) ValueSets.all(ValueOrder.Texts) else ValueSets.none(ValueOrder.Texts))
        case _                 => None
      }
  }

  private def leaf(parts: Vector[String], wanted: Wanted): (ColumnType => Option[ValueSet]) => ColumnCondition =
    Conditions.leaf(ColumnPath.of(parts), wanted.nulls, noValue = wanted.values.isEmpty)

  // ---- logic of three values

  private def conjunction(all: Seq[Expression], wanted: Wanted): ColumnCondition = Conditions.or(
    Seq(
      if (wanted.nulls || wanted.wantsTrue)
        Conditions.and(all.map(rows(_, Wanted.of(yes = true, no = false, nulls = wanted.nulls))))
      else Nothing,
      if (wanted.wantsFalse) Conditions.or(all.map(rows(_, Wanted.of(yes = false, no = true, nulls = false))))
      else Nothing
    )
  )

  private def disjunction(any: Seq[Expression], wanted: Wanted): ColumnCondition = Conditions.or(
    Seq(
      if (wanted.nulls || wanted.wantsFalse)
        Conditions.and(any.map(rows(_, Wanted.of(yes = false, no = true, nulls = wanted.nulls))))
      else Nothing,
      if (wanted.wantsTrue) Conditions.or(any.map(rows(_, Wanted.True))) else Nothing
    )
  )

  private def nullness(c: Expression, isNull: Boolean, isValue: Boolean): ColumnCondition = {
    // Of a type without an order it is still known whether there is a value.
    val order = ValueCode.order(c.dataType).getOrElse(ValueOrder.Longs)
    val values = if (isValue) ValueSets.all(order) else ValueSets.none(order)
    rows(c, Wanted(values, isNull))
  }

  /** Null is no NaN. */
  private def nan(c: Expression, wanted: Wanted): ColumnCondition = {
    val yes = ValueCode.oneOf(Seq(Double.NaN), c.dataType, ValueOrder.Longs)
    rows(c, chosen(yes, ValueSets.complement(yes), wanted, nulls = wanted.wantsFalse))
  }

  private def comparison(b: BinaryComparison, wanted: Wanted): ColumnCondition =
    if (b.right.foldable) compared(b, b.left, b.right.eval(null), isLeft = true, wanted)
    else if (b.left.foldable) compared(b, b.right, b.left.eval(null), isLeft = false, wanted)
    else function(b, wanted)

  private def compared(
      b: BinaryComparison,
      e: Expression,
      value: Any,
      isLeft: Boolean,
      wanted: Wanted
  ): ColumnCondition =
    (b, ValueCode.order(e.dataType)) match {
      case (_: EqualNullSafe, _) if value == null => nullness(e, isNull = wanted.wantsTrue, isValue = wanted.wantsFalse)
      case (_, _) if value == null                => if (wanted.nulls) Always else Nothing
      case (_, None)                              => function(b, wanted)
      case (_, Some(order))                       =>
        val equal = ValueCode.oneOf(Seq(value), e.dataType, order)
        lazy val below = ValueCode.below(value, e.dataType, order)
        val yes = b match {
          case _: EqualTo | _: EqualNullSafe   => equal
          case _: LessThan if isLeft           => below
          case _: LessThanOrEqual if isLeft    => ValueSets.union(below, equal)
          case _: GreaterThan if isLeft        => ValueSets.complement(ValueSets.union(below, equal))
          case _: GreaterThanOrEqual if isLeft => ValueSets.complement(below)
          case _: LessThan                     => ValueSets.complement(ValueSets.union(below, equal))
          case _: LessThanOrEqual              => ValueSets.complement(below)
          case _: GreaterThan                  => below
          case _: GreaterThanOrEqual           => ValueSets.union(below, equal)
        }
        val nulls = if (b.isInstanceOf[EqualNullSafe]) wanted.wantsFalse else wanted.nulls
        rows(e, chosen(yes, ValueSets.complement(yes), wanted, nulls))
    }

  private def chosen(yes: ValueSet, no: ValueSet, wanted: Wanted, nulls: Boolean): Wanted =
    (wanted.wantsTrue, wanted.wantsFalse) match {
      case (true, true)  => Wanted(ValueSets.union(yes, no), nulls)
      case (true, false) => Wanted(yes, nulls)
      case (false, true) => Wanted(no, nulls)
      case _             => Wanted(ValueSets.intersect(yes, ValueSets.complement(yes)), nulls)
    }

  private def inList(e: Expression, c: Expression, list: Seq[Expression], wanted: Wanted): ColumnCondition =
    if (list.forall(_.foldable)) inValues(c, list.map(_.eval(null)), wanted)
    else if (wanted.wantsFalse || wanted.nulls) function(e, wanted)
    else Conditions.or(list.map(v => rows(EqualTo(c, v), wanted)))

  /** With a null in the list what is not found there is null, not false. */
  private def inValues(c: Expression, list: Seq[Any], wanted: Wanted): ColumnCondition =
    ValueCode.order(c.dataType).fold(unclear(c)) { order =>
      val yes = ValueCode.oneOf(list.filter(_ != null), c.dataType, order)
      val others = ValueSets.complement(yes)
      // In a list, unlike in a comparison, Spark may tell -0.0 from 0.0.
      val rest = if (ValueCode.isFloating(c.dataType)) ValueSets.union(others, Zero) else others
      val hasNull = list.contains(null)
      val no = if (hasNull) ValueSets.none(order) else rest
      val left = if (hasNull && wanted.nulls) rest else ValueSets.none(order)
      val chosenValues = chosen(yes, no, wanted, wanted.nulls)
      rows(c, chosenValues.copy(values = ValueSets.union(chosenValues.values, left)))
    }

  // ---- choices

  private def coalesced(all: Seq[Expression], wanted: Wanted): ColumnCondition = {
    val values = wanted.copy(nulls = false)
    val found = all.indices.map { i =>
      Conditions.and(all.take(i).map(nullness(_, isNull = true, isValue = false)) :+ rows(all(i), values))
    }
    val none = if (wanted.nulls) Conditions.and(all.map(nullness(_, isNull = true, isValue = false))) else Nothing
    Conditions.or(found :+ none)
  }

  private def cases(
      branches: Seq[(Expression, Expression)],
      otherwise: Option[Expression],
      wanted: Wanted
  ): ColumnCondition = {
    val passed = branches.map { case (test, _) => rows(test, Wanted.of(yes = false, no = true, nulls = true)) }
    val taken = branches.indices.map { i =>
      val (test, result) = branches(i)
      Conditions.and(passed.take(i) :+ rows(test, Wanted.True) :+ rows(result, wanted))
    }
    val last = otherwise.fold(if (wanted.nulls) Always else Nothing)(rows(_, wanted))
    Conditions.or(taken :+ Conditions.and(passed :+ last))
  }

  // ---- texts

  private def ofText(s: StringPredicate, wanted: Wanted): ColumnCondition =
    if (!isPlain(s.left) || !s.right.foldable) function(s, wanted)
    else
      s.right.eval(null) match {
        case null                                        => if (wanted.nulls) Always else Nothing
        case p: UTF8String if s.isInstanceOf[StartsWith] =>
          val yes = ValueSets.beginning(p.getBytes)
          rows(s.left, chosen(yes, ValueSets.complement(yes), wanted, wanted.nulls))
        case _ => rows(s.left, chosen(ValueSets.AllTexts, ValueSets.AllTexts, wanted, wanted.nulls))
      }

  private def like(l: Like, wanted: Wanted): ColumnCondition =
    if (!isPlain(l.left) || !l.right.foldable) function(l, wanted)
    else
      l.right.eval(null) match {
        case null          => if (wanted.nulls) Always else Nothing
        case p: UTF8String =>
          val (yes, isExact) = TextFunctions.like(p.toString, l.escapeChar)
          val no = if (isExact) ValueSets.complement(yes) else ValueSets.AllTexts
          rows(l.left, chosen(yes, no, wanted, wanted.nulls))
      }

  private def isPlain(e: Expression): Boolean = e.dataType == StringType

  // ---- functions

  private def function(e: Expression, wanted: Wanted): ColumnCondition = e match {
    case c: Cast if isText(c.dataType) && isText(c.child.dataType)                    => rows(c.child, wanted)
    case c: Cast if c.dataType == StringType && ValueCode.isInteger(c.child.dataType) => numberAsText(c, wanted)
    case c: Cast if c.dataType == DateType && isInstant(c.child.dataType)             =>
      rows(c.child, Calendar.instantsOfDates(c, wanted))
    case h: Hour                                                           => rows(h.child, Calendar.hours(h, wanted))
    case u: Upper if isPlain(u.child)                                      => cased(u.child, CaseMapping.Upper, wanted)
    case l: Lower if isPlain(l.child)                                      => cased(l.child, CaseMapping.Lower, wanted)
    case Substring(c, Literal(0 | 1, _), Literal(n: Int, _)) if isPlain(c) =>
      rows(c, wanted.copy(values = TextFunctions.ofStart(wanted.values.asInstanceOf[Texts], n)))
    case _ => ordered(e, wanted).orElse(dated(e, wanted)).getOrElse(unknown(e, wanted))
  }

  private def cased(c: Expression, mapping: CaseMapping, wanted: Wanted): ColumnCondition =
    rows(c, wanted.copy(values = TextFunctions.ofCase(wanted.values.asInstanceOf[Texts], mapping)))

  private def ordered(e: Expression, wanted: Wanted): Option[ColumnCondition] =
    for (f <- OrderedFunctions.of(e); values <- f.preimage(wanted)) yield rows(f.argument, values)

  private def dated(e: Expression, wanted: Wanted): Option[ColumnCondition] =
    Calendar.dates(e, wanted).map { case (date, days) => rows(date, days) }

  private def numberAsText(c: Cast, wanted: Wanted): ColumnCondition =
    TextFunctions
      .numbers(wanted.values.asInstanceOf[Texts])
      .fold(unknown(c, wanted))(numbers => rows(c.child, wanted.copy(values = numbers)))

  /** Nothing but that its arguments are not null, where null makes the whole null. */
  private def unknown(e: Expression, wanted: Wanted): ColumnCondition =
    if (wanted.nulls || !LineExpressions.isNullIntolerant(e)) unclear(e)
    else Conditions.and(e.children.filterNot(_.foldable).map(nullness(_, isNull = false, isValue = true)) :+ unclear(e))

  private def unclear(e: Expression): ColumnCondition =
    Anything(s"${shown(e)} tells no range of a column")
}

object ConditionOf {

  /** True for every row. */
  private val Always: ColumnCondition = AllOf(Vector.empty)

  private val Zero = ValueSets.range(0, 0)

  private val MostText = 120

  /** At each part, on average, and at all of them besides. */
  private val LooksAtPart = 20L
  private val MoreLooks = 1000L

  private def parts(e: Expression): Long = 1 + e.children.map(parts).sum

  private def shown(e: Expression): String = {
    val text =
      try e.sql
      catch { case NonFatal(_) => e.prettyName }
    if (text.length <= MostText) text else text.take(MostText) + "..."
  }

  private def operands(e: Expression, split: PartialFunction[Expression, (Expression, Expression)]): Seq[Expression] =
    if (!split.isDefinedAt(e)) Seq(e)
    else {
      val (left, right) = split(e)
      operands(left, split) ++ operands(right, split)
    }

  private def isText(t: DataType): Boolean = t == StringType || t == BinaryType

  private def isInstant(t: DataType): Boolean = t == TimestampType || t == TimestampNTZType
}
