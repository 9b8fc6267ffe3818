package hudiidx.spark.prune

import scala.util.Try
import scala.util.control.NonFatal

import hudiidx.InvalidOption
import hudiidx.column.expression.ExpressionTree.{Call, Column, Constant}
import hudiidx.column.expression.{ExpressionFunctions, ExpressionTree}
import hudiidx.spark.SparkSuite
import org.apache.spark.sql.catalyst.analysis.FunctionRegistry
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.expressions.objects.{Invoke, NewInstance, StaticInvoke}
import org.apache.spark.sql.catalyst.plans.logical.Project
import org.apache.spark.sql.types._

/** Of which classes a resolved expression may be, against what Spark makes of the listed functions, and of all others. */
final class ExpressionNodesSuite extends SparkSuite {
  private val Types = Vector[DataType](
    StringType,
    IntegerType,
    TimestampType,
    DateType,
    BinaryType,
    ArrayType(StringType),
    DayTimeIntervalType(),
    YearMonthIntervalType(),
    CalendarIntervalType
  )
  private val Texts = Vector("year", "second", "yearofweek", "a", "utf-8", "999")
  private val text: Column = Column(Vector("a0"))

  private def columns(types: DataType*): Vector[AttributeReference] =
    types.toVector.zipWithIndex.map { case (t, n) => AttributeReference(s"a$n", t)() }

  /** Arguments, and the columns that are in them. */
  private def samples: Vector[(Vector[ExpressionTree], Vector[AttributeReference])] = {
    def named(n: Int) = Vector.tabulate(n)(i => Column(Vector(s"a$i")))
    val alike =
      for (n <- 1 to 4; t <- Types.take(if (n < 4) Types.size else 2)) yield named(n) -> columns(Vector.fill(n)(t): _*)
    val pairs = for (t <- Types; u <- Types if t != u) yield named(2) -> columns(t, u)
    val mixed = for (t <- Types.take(6); u <- Types.take(2)) yield named(3) -> columns(t, u, u)
    val map = MapType(StringType, StringType)
    val single = Vector(
      columns(),
      columns(BooleanType),
      columns(map),
      columns(ArrayType(ArrayType(StringType))),
      columns(BooleanType, BooleanType),
      columns(map, StringType),
      columns(BooleanType, StringType, StringType)
    ).map(of => named(of.size) -> of)
    val times =
      for (n <- 5 to 7; last <- Seq(IntegerType, StringType))
        yield named(n) -> columns(Vector.fill(n - 1)(IntegerType) :+ last: _*)
    val constants = for {
      t <- Seq(StringType, TimestampType, DayTimeIntervalType(), YearMonthIntervalType(), CalendarIntervalType)
      c <- Texts.map(x => Constant("string", Some(x))) :+ Constant("int", Some("1"))
      arguments <- Seq(Vector(text, c), Vector(c, text)) ++ (if (t == StringType) Seq(Vector(text, c, c)) else Nil)
    } yield arguments -> columns(t)
    (alike ++ pairs ++ mixed ++ constants ++ times).toVector ++ single
  }

  /** As analyzed, and with functions replaced by what stands for them. */
  private def made(tree: ExpressionTree, of: Vector[AttributeReference]): Vector[Expression] =
    try {
      val written = Project(Seq(Alias(ExpressionBuilder.of(tree, of), "value")()), TableRows(of))
      ExpressionBuilder.analyzed(written).mapExpressions(LineExpressions.writtenOut) match {
        case Project(Seq(Alias(e, _)), _) => Vector(e, ResolvedExpression.plain(e))
        case _                            => Vector.empty
      }
    } catch { case NonFatal(_) => Vector.empty }

  private def refused(e: Expression): Seq[String] = e.collect(Function.unlift(ExpressionNodes.refusal))

  test("Spark makes of the listed functions what is on the list of classes, and nothing else") {
    val found = for {
      f <- ExpressionFunctions.names
      (arguments, of) <- samples
      e <- made(Call(f, arguments), of)
    } yield f -> refused(e)
    // The zone of the session and the moment, where none is named, and an object of Spark 4 for parse_url.
    val others = Seq(".CurrentTimeZone ", ".CurrentTimestamp ", " object.evaluate ")
    val open =
      found.flatMap { case (f, why) => why.map(f -> _) }.distinct.filterNot(o => others.exists(o._2.contains(_)))
    assert(open.isEmpty)
    val here = ExpressionFunctions.names.filter(f => FunctionRegistry.builtin.functionExists(LineFunctions.builtin(f)))
    assert(here.toSet.diff(found.map(_._1).toSet) === Set.empty)
  }

  test("a function that is not listed has a class that no expression may be made of") {
    val others = FunctionRegistry.builtin.listFunction().filterNot(f => ExpressionFunctions.has(f.funcName))
    val built = for {
      f <- others
      n <- 0 to 4
      arguments = Vector.fill(n)(AttributeReference("a", StringType)())
      e <- Try(FunctionRegistry.builtin.lookupFunction(f, arguments)).toOption
    } yield (f.funcName, refused(e) ++ Try(refused(ResolvedExpression.plain(e))).getOrElse(Nil))
    assert(built.map(_._1).distinct.size > 100)
    // Spark makes array_compact, array_prepend and make_timestamp of them, and casts, of which one is to a type that no index has.
    val taken = built.filter(_._2.isEmpty).map(_._1).toSet
    assert(taken.subsetOf(Set("filter", "array_insert", "try_make_timestamp_ltz", "time")), taken)
  }

  test("a class that some rule puts into a resolved expression is refused by its name") {
    val column = AttributeReference("rider", StringType)()
    Seq(
      StaticInvoke(classOf[System], StringType, "getProperty", Seq(column)) -> "java.lang.System.getProperty",
      Invoke(column, "intern", StringType) -> "string.intern",
      NewInstance(classOf[String], Seq(column), StringType) -> "NewInstance",
      FunctionRegistry.builtin
        .lookupFunction(LineFunctions.builtin("xpath_string"), Seq(column, column)) -> "XPathString"
    ).foreach { case (e, name) =>
      val outer = Upper(e)
      val resolved =
        ResolvedExpression(text, outer, outer, outer, Vector(Vector("rider") -> StringType), isLegacy = false)
      val said = intercept[InvalidOption](ExpressionRules.check("rider", resolved)).getMessage
      assert(said.contains(name), said)
    }
  }
}
