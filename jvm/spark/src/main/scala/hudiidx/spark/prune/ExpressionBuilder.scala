package hudiidx.spark.prune

import hudiidx.column.expression.ExpressionTree.{Call, Cast => CastTo, Column, Constant}
import hudiidx.column.ColumnPath
import hudiidx.column.expression.{ExpressionFunctions, ExpressionTree}
import org.apache.spark.sql.catalyst.analysis.{SimpleAnalyzer, UnresolvedExtractValue, UnresolvedFunction}
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.types.StructType

/** Makes Spark's expressions of trees, over columns that are at hand. Functions are Spark's own, whatever the session has under their
  * names: its registry and its catalogs are not asked.
  */
private[spark] object ExpressionBuilder {

  /** Not resolved yet: [[analyzed]] does that. IllegalArgumentException for a column that is not there. */
  def of(tree: ExpressionTree, columns: Seq[Attribute]): Expression = tree match {
    case Column(parts) => column(parts, columns)
    case c: Constant   =>
      ExpressionTypes
        .literal(c)
        .getOrElse(
          throw new IllegalArgumentException(
            s"'${Contained.short(c.value.orNull)}' is not a constant of type ${c.dataType}"
          )
        )
    case CastTo(child, name, isTry) =>
      val t = ExpressionTypes
        .of(name)
        .getOrElse(throw new IllegalArgumentException(s"unsupported type $name in an expression"))
      Cast(of(child, columns), t, None, if (isTry) EvalMode.TRY else EvalMode.fromSQLConf(SQLConf.get))
    case Call(name, arguments) => call(name, arguments.map(of(_, columns)))
  }

  private def call(name: String, arguments: Vector[Expression]): Expression = (name, arguments) match {
    case (ExpressionFunctions.In, value +: list)          => In(value, list)
    case (ExpressionFunctions.Element, Vector(value, at)) => UnresolvedExtractValue(value, at)
    // Spark 3.5 makes none by its name.
    case (ExpressionFunctions.Case, parts)                                => CaseWhen.createFromParser(parts)
    case ("like", Vector(a, b, OneCharacter(escape)))                     => Like(a, b, escape)
    case ("ilike", Vector(a, b, OneCharacter(escape)))                    => ILike(a, b, escape)
    case ("like", Vector(a, b))                                           => Like(a, b, '\\')
    case ("ilike", Vector(a, b))                                          => ILike(a, b, '\\')
    case (ExpressionFunctions.AddUnits, Vector(Text(unit), n, time))      => TimestampAdd(unit, n, time)
    case (ExpressionFunctions.UnitsBetween, Vector(Text(unit), from, to)) => TimestampDiff(unit, from, to)
    case _                                                                =>
      if (!ExpressionFunctions.has(name))
        throw new IllegalArgumentException(s"function $name is not among those that can be indexed")
      UnresolvedFunction(name, arguments, isDistinct = false)
  }

  private object Text {
    def unapply(e: Expression): Option[String] = e match {
      case Literal(text: org.apache.spark.unsafe.types.UTF8String, _) => Some(text.toString)
      case _                                                          => None
    }
  }

  private object OneCharacter {
    def unapply(e: Expression): Option[Char] = Text.unapply(e).filter(_.length == 1).map(_.head)
  }

  private def column(parts: Vector[String], columns: Seq[Attribute]): Expression = {
    val same = SQLConf.get.resolver
    def missing(): Nothing = throw new IllegalArgumentException(s"${ColumnPath.of(parts)} is not a column of the table")
    val first = columns.filter(c => same(c.name, parts.head)) match {
      case Seq(one) => one
      case _        => missing()
    }
    parts.tail.foldLeft[Expression](first) { (outer, name) =>
      outer.dataType match {
        case s: StructType =>
          s.fields.indices.filter(i => same(s(i).name, name)) match {
            case Seq(one) => GetStructField(outer, one, Some(s(one).name))
            case _        => missing()
          }
        case _ => missing()
      }
    }
  }

  /** With functions, casts and time zones as Spark's own analyzer has them. */
  def analyzed(plan: LogicalPlan): LogicalPlan = {
    val found = SimpleAnalyzer.execute(plan)
    SimpleAnalyzer.checkAnalysis(found)
    found
  }
}
