package hudiidx.hive

import scala.collection.JavaConverters._

import hudiidx.column.{ColumnCondition, ColumnPath, Conditions, ValueSet, ValueSets}
import hudiidx.rows.ValueType
import org.apache.hadoop.hive.ql.plan.{ExprNodeColumnDesc, ExprNodeConstantDesc, ExprNodeDesc, ExprNodeGenericFuncDesc}
import org.apache.hadoop.hive.ql.udf.generic._

/** A predicate of Hive's as a condition that statistics of columns decide: comparisons of a column with constants, `IN`, `BETWEEN`,
  * `IS NULL`, and what `AND`, `OR` and `NOT` make of them. Any other part tells nothing.
  *
  * @param columns of the table
  * @param isKnown of a column, by its name: rows have the value that files hold
  */
private[hive] final class HiveCondition(columns: ValueType.Struct, isKnown: String => Boolean) {
  import ConstantPlace.{Above, Below, Equal, Part}
  import HiveCondition._

  /** Holds for every row for which the predicate is true. */
  def apply(predicate: ExprNodeDesc): ColumnCondition = rows(predicate, wanted = true)

  /** @param wanted what the predicate is of the rows; those for which it is null are never wanted */
  private def rows(e: ExprNodeDesc, wanted: Boolean): ColumnCondition = e match {
    case f: ExprNodeGenericFuncDesc =>
      function(f.getGenericUDF, f.getChildren.asScala.toVector, wanted).getOrElse(unclear(e))
    case _ => unclear(e)
  }

  private def function(f: GenericUDF, of: Vector[ExprNodeDesc], wanted: Boolean): Option[ColumnCondition] =
    (f, of) match {
      case (_: GenericUDFOPNot, Vector(e))     => Some(rows(e, !wanted))
      case (_: GenericUDFOPAnd, all)           => Some(joined(all.map(rows(_, wanted)), wanted))
      case (_: GenericUDFOPOr, any)            => Some(joined(any.map(rows(_, wanted)), !wanted))
      case (_: GenericUDFOPNull, Vector(c))    => nullness(c, isNull = wanted)
      case (_: GenericUDFOPNotNull, Vector(c)) => nullness(c, isNull = !wanted)
      case (_: GenericUDFIn, c +: list)        => inList(c, list, wanted)
      case (_: GenericUDFBetween, Vector(Constant(inverted), c, low, high)) =>
        val within = wanted != (inverted == java.lang.Boolean.TRUE)
        for (from <- compared(c, low, Set(Equal, Above), within); to <- compared(c, high, Set(Below, Equal), within))
          yield joined(Vector(from, to), within)
      case (_, Vector(left, right)) =>
        comparison(f).flatMap { parts =>
          val isNullSafe = f.isInstanceOf[GenericUDFOPEqualNS] || f.isInstanceOf[GenericUDFOPNotEqualNS]
          compared(left, right, parts, wanted, isNullSafe).orElse(
            compared(right, left, parts.map(_.turned), wanted, isNullSafe)
          )
        }
      case _ => None
    }

  private def joined(parts: Vector[ColumnCondition], all: Boolean): ColumnCondition =
    if (all) Conditions.and(parts) else Conditions.or(parts)

  private def nullness(e: ExprNodeDesc, isNull: Boolean): Option[ColumnCondition] = column(e).map { c =>
    Conditions.leaf(ColumnPath.of(Seq(c.name)), nulls = isNull, noValue = isNull) { file =>
      Some(if (isNull) ValueSets.none(file.order) else ValueSets.all(file.order))
    }
  }

  /** @param parts      of all values, around the constant, those for which the comparison is true
    * @param isNullSafe null is a value too, another one than the constant
    */
  private def compared(
      e: ExprNodeDesc,
      constant: ExprNodeDesc,
      parts: Set[Part],
      wanted: Boolean,
      isNullSafe: Boolean = false
  ): Option[ColumnCondition] = {
    val chosen = if (wanted) parts else ConstantPlace.Parts -- parts
    leaf(e, Vector(constant), nulls = isNullSafe && !chosen(Equal))(_.head.of(chosen))
  }

  /** A null in the list makes what is not found null, which is never wanted. */
  private def inList(e: ExprNodeDesc, list: Vector[ExprNodeDesc], wanted: Boolean): Option[ColumnCondition] =
    leaf(e, list.filter { case Constant(null) => false; case _ => true }, nulls = false) { places =>
      if (wanted) places.map(_.equal).reduce(ValueSets.union)
      else places.map(_.of(Set(Below, Above))).reduce(ValueSets.intersect)
    }

  private def leaf(e: ExprNodeDesc, constants: Vector[ExprNodeDesc], nulls: Boolean)(
      values: Vector[ConstantPlace] => ValueSet
  ): Option[ColumnCondition] = for {
    c <- column(e)
    places = constants.flatMap { case Constant(v) => ConstantPlace.of(c.valueType, e.getTypeString, v); case _ => None }
    if places.nonEmpty && places.length == constants.length
  } yield Conditions.leaf(ColumnPath.of(Seq(c.name)), nulls) { file =>
    if (ConstantPlace.isOrderedAlike(c.valueType, file)) Some(values(places)) else None
  }

  /** The table's column, if files tell its values. */
  private def column(e: ExprNodeDesc): Option[ValueType.Field] = e match {
    case c: ExprNodeColumnDesc if !c.getIsPartitionColOrVirtualCol =>
      val at = columns.indexOf(c.getColumn)
      if (at >= 0 && isKnown(columns.fields(at).name)) Some(columns.fields(at)) else None
    case _ => None
  }
}

private[hive] object HiveCondition {
  import ConstantPlace.{Above, Below, Equal, Part}

  private object Constant {
    def unapply(e: ExprNodeDesc): Option[Any] = e match {
      case c: ExprNodeConstantDesc => Some(c.getValue)
      case _                       => None
    }
  }

  private def comparison(f: GenericUDF): Option[Set[Part]] = Option(f).collect {
    case _: GenericUDFOPEqual              => Set(Equal)
    case _: GenericUDFOPNotEqual           => Set(Below, Above)
    case _: GenericUDFOPLessThan           => Set(Below)
    case _: GenericUDFOPEqualOrLessThan    => Set(Below, Equal)
    case _: GenericUDFOPGreaterThan        => Set(Above)
    case _: GenericUDFOPEqualOrGreaterThan => Set(Equal, Above)
  }

  private def unclear(e: ExprNodeDesc): ColumnCondition =
    ColumnCondition.Anything(s"${e.getExprString} tells no range of a column")
}
