package hudiidx.spark.prune

import java.util.Locale

import scala.collection.mutable
import scala.util.control.NonFatal

import hudiidx.InvalidOption
import hudiidx.column.{ColumnExpression, ColumnPath}
import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.catalyst.FunctionIdentifier
import org.apache.spark.sql.catalyst.analysis.{FunctionRegistry, UnresolvedFunction}
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.plans.logical.{LeafNode, LogicalPlan, Project, Statistics}
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.types.{DataType, StructType}

/** An expression over a table's columns, resolved.
  *
  *  @param analyzed  as it was written, with the casts that Spark adds
  *  @param plain     the same, functions replaced by those that stand for them
  *  @param optimized as queries have it when files are chosen
  *  @param inputs    columns and fields that `optimized` is of, each once, with their types
  */
final private[spark] case class ResolvedExpression(
    analyzed: Expression,
    plain: Expression,
    optimized: Expression,
    inputs: Vector[(Vector[String], DataType)]
) {
  def facts(conf: SQLConf): Vector[(String, String)] =
    // By names: operands may stand in any order.
    ExpressionFacts.of(Seq(analyzed, plain, optimized), inputs.sortBy(_._1.mkString("\u0000")).map(_._2), conf)

  /** Over the values of the inputs, by their places. */
  def bound: Expression = ResolvedExpression.replaced(optimized) { (parts, e) =>
    BoundReference(inputs.indexWhere(_._1 == parts), e.dataType, nullable = true)
  }

  /** Equal for expressions that mean the same of the same columns. */
  lazy val meaning: Expression = ResolvedExpression.meaning(optimized)
}

private[spark] object ResolvedExpression {

  /** Equal for expressions that mean the same: columns by their names in the table, operands in whatever order. */
  def meaning(e: Expression): Expression =
    replaced(e)((parts, c) => UnresolvedPath(parts, c.dataType)).canonicalized

  def inputs(e: Expression): Vector[(Vector[String], DataType)] = {
    val found = mutable.LinkedHashMap.empty[Vector[String], DataType]
    replaced(e) { (parts, c) =>
      found.getOrElseUpdate(parts, c.dataType)
      c
    }
    found.toVector
  }

  private def replaced(e: Expression)(of: (Vector[String], Expression) => Expression): Expression =
    ColumnPaths.parts(e) match {
      case Some(parts) => of(parts, e)
      case None        => e.mapChildren(replaced(_)(of))
    }
}

/** Stands for a column by its name. */
final private[spark] case class UnresolvedPath(parts: Vector[String], dataType: DataType)
    extends LeafExpression
    with Unevaluable {
  override def nullable: Boolean = true
}

/** Rows of a table, of which nothing but their columns counts. */
final private[spark] case class TableRows(output: Seq[Attribute]) extends LeafNode {
  override def computeStats(): Statistics = Statistics(sizeInBytes = 1)
}

/** Makes expressions of SQL.
  *
  *  @param struct the table's columns
  */
final private[spark] class ExpressionResolver(spark: SparkSession, struct: StructType) {

  /** Under the given settings. InvalidOption for what is no expression of the columns. */
  def resolved(sql: String, conf: SQLConf): ResolvedExpression = SQLConf.withExistingConf(conf) {
    try {
      val state = spark.sessionState
      val rows = TableRows(struct.map(f => AttributeReference(f.name, f.dataType, f.nullable)()))
      val parsed = state.sqlParser.parseExpression(sql)
      ExpressionRules.requireBuiltIn(sql, parsed)
      val asked = state.analyzer.execute(Project(Seq(Alias(parsed, "value")()), rows))
      state.analyzer.checkAnalysis(asked)
      val plan = asked.mapExpressions(CommonExpressions.writtenOut)
      val analyzed = named(only(sql, plan), rows.output)
      val optimized = named(only(sql, state.optimizer.execute(plan)), rows.output)
      ResolvedExpression(analyzed, plain(analyzed), optimized, ResolvedExpression.inputs(optimized))
    } catch {
      case e: InvalidOption => throw e
      case NonFatal(e)      =>
        throw new InvalidOption(
          s"$sql is no expression of the table's columns: ${String.valueOf(e.getMessage).linesIterator.take(2).mkString(" ")}"
        )
    }
  }

  /** With the names that the table has: Spark takes those that somebody wrote, in whatever case. */
  private def named(e: Expression, columns: Seq[Attribute]): Expression = e.transform { case a: Attribute =>
    columns.find(_.exprId == a.exprId).getOrElse(a)
  }

  private def only(sql: String, plan: LogicalPlan): Expression = plan match {
    case Project(Seq(Alias(e, _)), _: TableRows) => e
    case Project(Seq(a: Attribute), _)           => a
    case _: TableRows                            => throw new InvalidOption(s"$sql is a column; name it alone")
    case _ => throw new InvalidOption(s"$sql is more than a function of one row's columns")
  }

  private def plain(e: Expression): Expression = e match {
    case r: RuntimeReplaceable => plain(r.replacement)
    case other                 => other.mapChildren(plain)
  }
}

/** Whether an index over an expression can be made, and how it is written. */
private[spark] object ExpressionRules {

  private def refused(sql: String, why: String): Nothing = throw new InvalidOption(s"$sql cannot be indexed: $why")

  /** InvalidOption for an expression of queries, or of functions that are not Spark's own, before anything of it is resolved: SQL
    * comes from index folders too, and resolving these reads other tables and loads classes.
    */
  def requireBuiltIn(sql: String, parsed: Expression): Unit = parsed.foreach {
    case _: SubqueryExpression => refused(sql, "it holds a query")
    case f: UnresolvedFunction =>
      val name = f.nameParts.mkString(".")
      if (Reflective(name.toLowerCase(Locale.ROOT))) refused(sql, s"$name calls whatever class is named")
      if (f.nameParts.size > 1 || !FunctionRegistry.builtin.functionExists(FunctionIdentifier(name)))
        refused(sql, s"$name is a user's function, which may change, or none")
    case _ => ()
  }

  private val Reflective = Set("reflect", "java_method", "try_reflect")

  /** InvalidOption unless the expression gives the same for a row at any time and in any session, in an order. */
  def check(sql: String, e: ResolvedExpression): Unit = {
    def refuse(why: String): Unit = refused(sql, why)
    e.inputs.find(i => ValueCode.columnType(i._2).isEmpty).foreach { case (parts, t) =>
      refuse(s"column ${ColumnPath.of(parts)} is of type ${t.simpleString}, whose values no index reads")
    }
    Seq(e.analyzed, e.plain).foreach(_.foreach(part => unfit(part).foreach(refuse)))
    if (ResolvedExpression.inputs(e.analyzed).isEmpty) refuse("it is of no column")
    if (e.inputs.isEmpty || ColumnPaths.parts(e.optimized).isDefined) refuse("it is a column or a constant")
    if (ValueCode.columnType(e.optimized.dataType).isEmpty)
      refuse(s"it gives ${e.optimized.dataType.simpleString}, whose values have no order that an index could use")
  }

  private def unfit(e: Expression): Option[String] = e match {
    case u: UserDefinedExpression    => Some(s"${u.name} is a user's function, which may change")
    case _: SubqueryExpression       => Some("it holds a query")
    case _ if Changing(e.prettyName) => Some(s"${e.prettyName} gives another value each time")
    case _: Nondeterministic         => Some(s"${e.prettyName} gives another value each time")
    case l: LeafExpression => if (isFixed(l)) None else Some(s"${e.prettyName} is of the session or the moment")
    case _ if !e.deterministic && e.children.forall(_.deterministic) =>
      Some(s"${e.prettyName} gives another value each time")
    case _ => None
  }

  private val Changing = Set("aes_encrypt", "try_aes_encrypt")

  private def isFixed(leaf: LeafExpression): Boolean = leaf match {
    case l: Literal => ValueCode.columnType(l.dataType).isDefined || isSimple(l.dataType)
    case _: Attribute | _: LeafMathExpression | _: NamedLambdaVariable => true
    case _                                                             => false
  }

  /** Not a class or object of somebody's. */
  private def isSimple(t: DataType): Boolean = !t.typeName.startsWith("object")

  /** How it is kept. InvalidOption if Spark cannot read its own text of it. */
  def path(sql: String, e: ResolvedExpression, resolver: ExpressionResolver, conf: SQLConf): String = {
    val text = SQLConf.withExistingConf(conf)(e.analyzed.sql)
    val again =
      try Some(resolver.resolved(text, conf).meaning)
      catch { case _: InvalidOption => None }
    if (!again.contains(e.meaning) || text.exists(c => Character.isISOControl(c)))
      throw new InvalidOption(s"$sql cannot be indexed: it cannot be written down in SQL, as $text")
    val facts = e.facts(conf)
    ExpressionFacts.check(facts)
    ColumnExpression(text, facts).path
  }
}
