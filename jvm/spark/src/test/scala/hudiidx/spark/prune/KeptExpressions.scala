package hudiidx.spark.prune

import hudiidx.column._
import hudiidx.column.expression.ExpressionGrowth
import hudiidx.engine.column.ValueSink
import hudiidx.spark.SparkSuite
import org.apache.spark.sql.Row
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{
  Attribute,
  BindReferences,
  Expression,
  InterpretedPredicate,
  PredicateHelper
}
import org.apache.spark.sql.catalyst.plans.logical.Filter
import org.apache.spark.sql.types.{DataType, StructType}

/** What suites of expressions share: how an index keeps SQL, conditions made with it, and what tasks make of rows. */
abstract class KeptExpressions extends SparkSuite with PredicateHelper {
  protected lazy val table = spark.createDataFrame(spark.sparkContext.emptyRDD[Row], ColumnValues.Columns)
  protected def conf = spark.sessionState.conf
  protected def resolver = new ExpressionResolver(spark, ColumnValues.Columns)

  protected def path(sql: String): String = {
    val found = resolver.asked(sql, conf)
    ExpressionRules.check(sql, found)
    ExpressionRules.path(sql, found, conf)
  }

  protected def withConf[A](settings: (String, String)*)(body: => A): A = {
    val before = settings.map(s => s._1 -> spark.conf.getOption(s._1))
    settings.foreach(s => spark.conf.set(s._1, s._2))
    try body
    finally before.foreach { case (k, v) => v.fold(spark.conf.unset(k))(spark.conf.set(k, _)) }
  }

  protected def filters(where: String): (Seq[Expression], Option[InterpretedPredicate]) = {
    val found = table.where(where).queryExecution.optimizedPlan.collect { case f: Filter => f }
    val test =
      found.headOption.map(f => InterpretedPredicate(BindReferences.bindReference(f.condition, f.child.output)))
    // As Spark hands them to a scan: with the names of its columns.
    val split = found.flatMap { f =>
      splitConjunctivePredicates(f.condition).map(_.transform { case a: Attribute =>
        f.child.output.find(_.exprId == a.exprId).getOrElse(a)
      })
    }
    (split, test)
  }

  protected def indexed(paths: String*): IndexedExpressions =
    new IndexedExpressions(resolver, conf.clone(), paths.toVector, mixes = false)

  protected def condition(where: String, paths: String*): ColumnCondition =
    new ConditionOf(_ => Some("it has no index"), Some(indexed(paths: _*)), _ => None)(filters(where)._1)

  /** What tasks make of rows. */
  protected def values(
      expression: SparkRowExpression,
      rows: Seq[InternalRow],
      parts: Vector[Vector[String]]
  ): ColumnStats = {
    val builder = new StatsBuilder(expression.result)
    val evaluation = expression.newEvaluation()
    val sink = new ValueSink {
      def addNull(): Unit = builder.addNulls(1)
      def add(value: Long): Unit = builder.add(value)
      def add(bytes: Array[Byte], from: Int, length: Int): Unit = builder.add(bytes, from, length)
      def addUnknown(): Unit = builder.addUnknown()
    }
    evaluation.within(rows.foreach(r => evaluation.add(new StoredRow(r, parts, expression.types), sink)))
    builder.result
  }

  protected def evaluator(at: String): (SparkRowExpression, Vector[Vector[String]]) = {
    val e = ColumnExpression.of(at).get
    val found = resolver.kept(e, ExpressionFacts.conf(e.facts))
    val inputs = found.inputs.map { case (p, t) => ColumnPath.of(p) -> ValueCode.columnType(t).get }
    val result = ValueCode.columnType(found.optimized.dataType).get
    (
      SparkRowExpression(
        found.bound,
        inputs,
        found.inputs.map(_._2),
        result,
        e.facts,
        ExpressionGrowth.of(found.tree).getOrElse(fail(at))
      ),
      found.inputs.map(_._1)
    )
  }
}

/** A row as files have it: the sign of a zero is lost, and which of the numbers that are none it was. */
final private class StoredRow(row: InternalRow, parts: Vector[Vector[String]], types: Vector[DataType])
    extends ColumnValues {
  private val values: Vector[Any] = parts.zip(types).map { case (path, _) =>
    path
      .foldLeft((row: Any, ColumnValues.Columns: DataType)) {
        case ((null, t), name)           => (null, t.asInstanceOf[StructType](name).dataType)
        case ((r: InternalRow, t), name) =>
          val struct = t.asInstanceOf[StructType]
          val at = struct.fieldIndex(name)
          (if (r.isNullAt(at)) null else r.get(at, struct(at).dataType), struct(at).dataType)
        case (other, _) => other
      }
      ._1
  }
  override def isNull(column: Int): Boolean = values(column) == null
  override def long(column: Int): Long = ValueCode.long(values(column), types(column))
  override def text(column: Int): Array[Byte] = ValueCode.text(values(column), types(column))
}
