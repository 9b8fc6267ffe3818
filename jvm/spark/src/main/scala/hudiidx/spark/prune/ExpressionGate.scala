package hudiidx.spark.prune

import java.util.Locale

import hudiidx.InvalidOption
import hudiidx.column.expression.ExpressionTree.{Call, Cast => CastTo, Column}
import hudiidx.column.expression.{ExpressionFunctions, ExpressionLimits, ExpressionTree}
import org.apache.spark.sql.catalyst.analysis.{
  FunctionRegistry,
  UnresolvedAttribute,
  UnresolvedExtractValue,
  UnresolvedFunction
}
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.parser.CatalystSqlParser
import org.apache.spark.sql.internal.SQLConf

/** Makes trees of SQL: as a person gives it, as indexes of the first form keep it, as recorded scans have it. What is not known here
  * is refused by its name; nothing of it is looked up or evaluated, and no variable is put in.
  */
private[spark] object ExpressionGate {

  /** InvalidOption for SQL that is no expression of columns, or of parts that may not be indexed. */
  def tree(sql: String, conf: SQLConf): ExpressionTree = {
    ExpressionLimits.refusal(sql).orElse(NumberTexts.refusalOf(sql)).foreach(refused(sql, _))
    val made = Contained.in(sql)(SQLConf.withExistingConf(conf)(of(sql, CatalystSqlParser.parseExpression(sql))))
    ExpressionTree.refusal(made).foreach(refused(sql, _))
    made
  }

  private def refused(sql: String, why: String): Nothing =
    throw new InvalidOption(s"${Contained.short(sql)} cannot be indexed: $why")

  private def of(sql: String, parsed: Expression): ExpressionTree = {
    def all(found: Seq[Expression]): Vector[ExpressionTree] = found.toVector.map(of(sql, _))
    parsed match {
      case a: UnresolvedAttribute => Column(a.nameParts.toVector)
      case l: Literal             =>
        MomentTexts.refusal(l).foreach(refused(sql, _))
        ExpressionTypes.constant(l).getOrElse(refused(sql, s"it has a constant of type ${l.dataType.simpleString}"))
      case c: Cast =>
        val t = ExpressionTypes.name(c.dataType).getOrElse(refused(sql, s"it casts to type ${c.dataType.simpleString}"))
        CastTo(of(sql, c.child), t, c.evalMode == EvalMode.TRY)
      case f: UnresolvedFunction     => function(sql, f, all(f.arguments))
      case u: UnresolvedExtractValue => Call(ExpressionFunctions.Element, all(Seq(u.child, u.extraction)))
      case In(value, list)           => Call(ExpressionFunctions.In, all(value +: list))
      case Like(a, b, escape)        => Call("like", all(Seq(a, b)) ++ escaped(escape))
      case ILike(a, b, escape)       => Call("ilike", all(Seq(a, b)) ++ escaped(escape))
      // Functions take them the other way round.
      case t: String2TrimExpression => Call(name(sql, t), all(t.children.reverse))
      case t: TimestampAdd  => Call(ExpressionFunctions.AddUnits, all(Seq(Literal(t.unit), t.quantity, t.timestamp)))
      case t: TimestampDiff =>
        Call(ExpressionFunctions.UnitsBetween, all(Seq(Literal(t.unit), t.startTimestamp, t.endTimestamp)))
      case r: RuntimeReplaceable if r.prettyName == "between"                            => of(sql, r.replacement)
      case other if (other +: other.children).exists(_.isInstanceOf[SubqueryExpression]) =>
        refused(sql, "it holds a query")
      case other => Call(name(sql, other), all(other.children))
    }
  }

  private def escaped(by: Char): Vector[ExpressionTree] =
    if (by == '\\') Vector.empty else Vector(ExpressionTree.Constant("string", Some(by.toString)))

  private def function(sql: String, f: UnresolvedFunction, arguments: Vector[ExpressionTree]): ExpressionTree = {
    val name = f.nameParts.mkString(".")
    // What is said of nulls may be left out from Spark 4.2 on.
    val ignoresNulls = !Seq[Any](false, None, Some(false)).contains(f.ignoreNulls)
    if (f.isDistinct || f.filter.isDefined || ignoresNulls) refused(sql, s"$name is called as an aggregate")
    val plain = name.toLowerCase(Locale.ROOT)
    if (f.nameParts.size == 1 && ExpressionFunctions.has(plain)) Call(plain, arguments)
    else if (f.nameParts.size > 1 || !FunctionRegistry.builtin.functionExists(LineFunctions.builtin(plain)))
      refused(sql, s"$name is a user's function, which may change, or none")
    else refused(sql, s"$name is not among the functions that can be indexed")
  }

  /** Of what the parser makes of operators: the function that is of this class. */
  private def name(sql: String, e: Expression): String =
    byClass.getOrElse(e.getClass.getName, refused(sql, s"${e.nodeName} may not be in an indexed expression"))

  private lazy val byClass: Map[String, String] = ExpressionFunctions.names.reverse.flatMap { name =>
    FunctionRegistry.builtin.lookupFunction(LineFunctions.builtin(name)).map(_.getClassName -> name)
  }.toMap
}

/** What is stored may take more than there is: that is no end of whoever reads it. */
private[spark] object Contained {

  /** InvalidOption, with the reason, if the work fails in whatever way. */
  def in[A](text: String)(work: => A): A =
    try work
    catch {
      case e: InvalidOption               => throw e
      case e: StackOverflowError          => failed(text, e, "it is nested too deeply")
      case e: OutOfMemoryError            => failed(text, e, "it takes too much memory")
      case scala.util.control.NonFatal(e) =>
        failed(text, e, String.valueOf(e.getMessage).linesIterator.take(2).mkString(" "))
    }

  private def failed(text: String, e: Throwable, why: String): Nothing =
    throw new InvalidOption(s"${short(text)} is not an expression of the table's columns: $why", e)

  /** As errors and logs show it. */
  def short(text: String): String = if (text.length <= 500) text else text.take(500) + "…"
}
