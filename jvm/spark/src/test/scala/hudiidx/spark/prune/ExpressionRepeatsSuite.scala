package hudiidx.spark.prune

import scala.util.control.NonFatal

import hudiidx.column.expression.ExpressionTree.{Call, Column, Constant}
import hudiidx.column.expression.{ExpressionFunctions, ExpressionTree}
import hudiidx.spark.SparkSuite
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.plans.logical.Project
import org.apache.spark.sql.types._

/** How often Spark has the arguments of a function in what it makes of it, against what is counted for a tree. */
final class ExpressionRepeatsSuite extends SparkSuite {
  private val Kinds: Vector[Int => DataType] = Vector(
    _ => StringType,
    _ => IntegerType,
    _ => DoubleType,
    _ => TimestampType,
    _ => ArrayType(StringType),
    n => if (n == 0) StringType else IntegerType,
    n => if (n == 0) DateType else IntegerType,
    n => if (n == 0) IntegerType else StringType,
    n => if (n == 0) ArrayType(StringType) else StringType
  )

  private def named(of: Int): Column = Column(Vector(s"a$of"))

  /** Of the analysed and of the optimised expression; None where it is none. */
  private def made(tree: ExpressionTree, columns: Vector[AttributeReference]): Option[Vector[Expression]] =
    try {
      val rows = TableRows(columns)
      val written = Project(Seq(Alias(ExpressionBuilder.of(tree, columns), "value")()), rows)
      val plan = ExpressionBuilder.analyzed(written).mapExpressions(LineExpressions.writtenOut)
      Some(Vector(plan, spark.sessionState.optimizer.execute(plan)).flatMap(_.expressions))
    } catch { case NonFatal(_) => None }

  private def times(e: Expression, of: Attribute): Int = e match {
    case r: RuntimeReplaceable => times(r.replacement, of)
    case a: Attribute          => if (a.exprId == of.exprId) 1 else 0
    case other                 => other.children.map(times(_, of)).sum
  }

  private def check(function: String, arguments: Vector[ExpressionTree], columns: Vector[AttributeReference]): Boolean =
    made(Call(function, arguments), columns) match {
      case None        => false
      case Some(found) =>
        for (e <- found; (c, at) <- columns.zipWithIndex) {
          val most = ExpressionFunctions.repeats(function, arguments.size, at)
          assert(times(e, c) <= most, s"$function of ${arguments.size}: argument $at in $e")
        }
        true
    }

  test("Spark has no argument of a function more often than is counted") {
    val known = ExpressionFunctions.names.filter { f =>
      val each = for (size <- Vector(1, 2, 3, 4, 5, 7); kind <- Kinds) yield {
        val columns = Vector.tabulate(size)(n => AttributeReference(s"a$n", kind(n))())
        check(f, Vector.tabulate(size)(named), columns)
      }
      each.contains(true)
    }
    info(s"${known.size} of ${ExpressionFunctions.names.size} functions were made")
    assert(known.size > 150 && Seq("nullif", "right", "decode", "regexp_substr").forall(known.contains))
  }

  test("Spark has the text of a pattern no more often than is counted") {
    val column = Vector(AttributeReference("a0", StringType)())
    for (
      f <- Seq("like", "ilike", "rlike", "split", "regexp_substr");
      pattern <- Seq("a%", "%a", "%a%", "a%b", "a", "a_b%")
    )
      assert(check(f, Vector(named(0), Constant("string", Some(pattern))), column), s"$f $pattern")
  }
}
