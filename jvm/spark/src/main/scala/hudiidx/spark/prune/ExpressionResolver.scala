package hudiidx.spark.prune

import scala.collection.mutable
import hudiidx.InvalidOption
import hudiidx.column.expression.ExpressionTree.{Call, Column}
import hudiidx.column.{ColumnExpression, ColumnPath}
import hudiidx.column.expression.{ExpressionText, ExpressionTree}
import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.catalyst.analysis.FunctionRegistry
import org.apache.spark.sql.catalyst.expressions.{Left => _, Right => _, _}
import org.apache.spark.sql.catalyst.plans.logical.{Filter, LeafNode, LogicalPlan, Project, Statistics}
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.types.{DataType, StructType}

/** An expression over a table's columns, resolved.
  *
  *  @param tree      as an index keeps it
  *  @param analyzed  as it was written, with the casts that Spark adds
  *  @param plain     the same, functions replaced by those that stand for them
  *  @param optimized as queries have it when files are chosen
  *  @param inputs    columns and fields that `optimized` is of, each once, with their types
  *  @param isLegacy  times are parsed as before Spark 3.0
  */
final private[spark] case class ResolvedExpression(
    tree: ExpressionTree,
    analyzed: Expression,
    plain: Expression,
    optimized: Expression,
    inputs: Vector[(Vector[String], DataType)],
    isLegacy: Boolean
) {
  def facts(conf: SQLConf): Vector[(String, String)] =
    // By names: operands may stand in any order.
    ExpressionFacts.of(Seq(analyzed, plain, optimized), inputs.sortBy(_._1.mkString("\u0000")).map(_._2), conf)

  /** Over the values of the inputs, by their places. */
  def bound: Expression = NumberTexts.guarded(MomentTexts.guarded(ResolvedExpression.replaced(optimized) { (parts, e) =>
    BoundReference(inputs.indexWhere(_._1 == parts), e.dataType, nullable = true)
  }))

  /** Why it may give another day or time as time goes on. */
  def ofMoment: Option[String] = {
    def refusal(part: Expression) =
      MomentTexts.refusal(part).orElse(if (isLegacy) MomentTexts.ofCentury(part) else None)
    Seq(analyzed, plain).flatMap(_.collect(Function.unlift(refusal))).headOption
  }

  /** Equal for expressions that mean the same of the same columns. */
  lazy val meaning: Expression = ResolvedExpression.meaning(optimized)

  /** Equal for expressions that were written to mean the same, whatever rules of the optimizer a session has. */
  def asWritten: Expression = ResolvedExpression.meaning(plain)
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

  /** With functions replaced by those that stand for them. */
  def plain(e: Expression): Expression = LineExpressions.writtenOut(withReplacements(e))

  private def withReplacements(e: Expression): Expression = e match {
    case r: RuntimeReplaceable => withReplacements(r.replacement)
    case other                 => other.mapChildren(withReplacements)
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

/** Resolves expressions over a table's columns.
  *
  *  @param struct the table's columns
  */
final private[spark] class ExpressionResolver(spark: SparkSession, struct: StructType) {

  /** As a person gives it, under the given settings. InvalidOption for what is no expression of the columns, or may not be one. */
  def asked(sql: String, conf: SQLConf): ResolvedExpression = {
    val tree = ExpressionGate.tree(sql, conf)
    ExpressionRules.requireOwn(sql, tree, spark)
    resolved(sql, tree, conf)
  }

  /** As an index keeps it, under the given settings. InvalidOption where that is nothing which may be evaluated. */
  def kept(e: ColumnExpression, conf: SQLConf): ResolvedExpression = {
    val found = resolved(e.sql, ExpressionRules.tree(e, conf), conf)
    ExpressionRules.check(e.sql, found)
    found
  }

  /** An index under this path is of what was asked for, also under no other settings than those that it keeps. */
  def means(found: ResolvedExpression, path: String): Boolean = ColumnExpression.of(path).exists { e =>
    try kept(e, ExpressionFacts.conf(e.facts)).asWritten == found.asWritten
    catch { case _: InvalidOption => false }
  }

  /** InvalidOption unless it is. */
  def requireKept(sql: String, found: ResolvedExpression, path: String): Unit =
    if (!means(found, path))
      throw new InvalidOption(
        s"$sql cannot be indexed: it means something else without this session's settings, which an index does not keep; ask for it in " +
          "a session without them"
      )

  /** Why what an index keeps may give another day or time as time goes on; None also where it cannot be resolved. */
  def ofMoment(e: ColumnExpression, tree: ExpressionTree, conf: SQLConf): Option[String] =
    try resolved(e.sql, tree, conf).ofMoment
    catch { case _: InvalidOption => None }

  private def resolved(sql: String, tree: ExpressionTree, conf: SQLConf): ResolvedExpression =
    Contained.in(sql)(SQLConf.withExistingConf(conf) {
      val rows = TableRows(struct.map(f => AttributeReference(f.name, f.dataType, f.nullable)()))
      val written = ExpressionBuilder.of(tree, rows.output)
      if (written.isInstanceOf[Attribute]) throw new InvalidOption(s"$sql is a column; name it alone")
      val asked = ExpressionBuilder.analyzed(Project(Seq(Alias(written, "value")()), rows))
      val plan = asked.mapExpressions(LineExpressions.writtenOut)
      val analyzed = named(only(sql, plan), rows.output)
      // The optimizer works out constants.
      Seq(analyzed, ResolvedExpression.plain(analyzed)).foreach(ExpressionRules.requireQuick(sql, _))
      val optimized = named(only(sql, spark.sessionState.optimizer.execute(plan)), rows.output)
      val own =
        ExpressionTree.named(tree)(parts => ColumnPaths.parts(ExpressionBuilder.of(Column(parts), rows.output)).get)
      ResolvedExpression(
        own,
        analyzed,
        ResolvedExpression.plain(analyzed),
        optimized,
        ResolvedExpression.inputs(optimized),
        conf.legacyTimeParserPolicy.toString == "LEGACY"
      )
    })

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

}

private[spark] object ExpressionResolver {

  /** The rows that satisfy recorded filters. InvalidOption for those that are no filters on these columns. */
  def filtered(rows: LogicalPlan, filters: Seq[String], conf: SQLConf): LogicalPlan =
    Contained.in(filters.mkString(" AND "))(SQLConf.withExistingConf(conf) {
      val conditions = filters.map(f => ExpressionBuilder.of(ExpressionGate.tree(f, conf), rows.output))
      val plan = conditions.reduceOption(And(_, _)).fold(rows)(Filter(_, rows))
      val analyzed = ExpressionBuilder.analyzed(plan)
      ExpressionRules.requireFixed(analyzed)
      analyzed
    })
}

/** Whether an index over an expression can be made, and how it is written. */
private[spark] object ExpressionRules {

  private def refused(sql: String, why: String): Nothing = throw new InvalidOption(s"$sql cannot be indexed: $why")

  /** InvalidOption if the session has another function under the name of one of Spark's: an index would take the one for the other. */
  def requireOwn(sql: String, tree: ExpressionTree, spark: SparkSession): Unit = tree match {
    case Call(name, arguments) =>
      val own = FunctionRegistry.builtin.lookupFunction(LineFunctions.builtin(name)).map(_.getClassName)
      val here = LineFunctions.inSession(spark, name).map(_.getClassName)
      if (here != own) refused(sql, s"$name is a user's function, which may change")
      arguments.foreach(requireOwn(sql, _, spark))
    case other => other.children.foreach(requireOwn(sql, _, spark))
  }

  /** What an index keeps: a tree, or, of the first form, SQL that goes through the gate. InvalidOption for anything else. */
  def tree(e: ColumnExpression, conf: SQLConf): ExpressionTree = e.tree match {
    case Some(Right(found)) => found
    case Some(Left(why))    => refused(Contained.short(e.sql), why)
    case None               =>
      if (!e.fact(ColumnExpression.Form).forall(_ == ColumnExpression.FormOfSql))
        refused(Contained.short(e.sql), "it is kept in a form that this hudiidx does not know")
      ExpressionGate.tree(e.sql, conf)
  }

  /** InvalidOption unless the expression gives the same for a row at any time and in any session, in an order. */
  def check(sql: String, e: ResolvedExpression): Unit = {
    def refuse(why: String): Unit = refused(sql, why)
    e.inputs.find(i => ValueCode.columnType(i._2).isEmpty).foreach { case (parts, t) =>
      refuse(s"column ${ColumnPath.of(parts)} is of type ${t.simpleString}, whose values no index reads")
    }
    Seq(e.analyzed, e.plain).foreach(_.foreach(part => unfit(part).foreach(refuse)))
    e.ofMoment.foreach(refuse)
    if (ResolvedExpression.inputs(e.analyzed).isEmpty) refuse("it uses no column")
    if (e.inputs.isEmpty || ColumnPaths.parts(e.optimized).isDefined) refuse("it is a column or a constant")
    if (ValueCode.columnType(e.optimized.dataType).isEmpty)
      refuse(s"it gives ${e.optimized.dataType.simpleString}, whose values have no order that an index could use")
  }

  /** InvalidOption for what may take very long where constants are worked out. */
  def requireQuick(sql: String, e: Expression): Unit =
    e.foreach(NumberTexts.refusal(_).foreach(refused(Contained.short(sql), _)))

  /** InvalidOption for filters that give something else each time, or in another session. */
  def requireFixed(plan: LogicalPlan): Unit = plan.expressions
    .flatMap(e => Seq(e, ResolvedExpression.plain(e)))
    .foreach(_.foreach { part =>
      unfit(part)
        .orElse(MomentTexts.refusal(part))
        .orElse(NumberTexts.refusal(part))
        .foreach(why => throw new InvalidOption(s"recorded filters are not looked at: $why"))
    })

  private def unfit(e: Expression): Option[String] = e match {
    case u: UserDefinedExpression    => Some(s"${u.name} is a user's function, which may change")
    case _: SubqueryExpression       => Some("it holds a query")
    case c: CallMethodViaReflection  => Some(s"${c.prettyName} calls whatever class is named")
    case _ if Changing(e.prettyName) => Some(s"${e.prettyName} gives another value each time")
    case _: Nondeterministic         => Some(s"${e.prettyName} gives another value each time")
    case l: LeafExpression => if (isFixed(l)) None else Some(s"${e.prettyName} is of the session or the moment")
    case _ if !e.deterministic && e.children.forall(_.deterministic) =>
      Some(s"${e.prettyName} gives another value each time")
    case other => ExpressionNodes.refusal(other)
  }

  private val Changing = Set("aes_encrypt", "try_aes_encrypt")

  private def isFixed(leaf: LeafExpression): Boolean = leaf match {
    case l: Literal => ValueCode.columnType(l.dataType).isDefined || isSimple(l.dataType)
    case _: Attribute | _: LeafMathExpression | _: NamedLambdaVariable => true
    case _                                                             => false
  }

  /** Not a class or object of somebody's. */
  private def isSimple(t: DataType): Boolean = !t.typeName.startsWith("object")

  /** How it is kept. InvalidOption if it cannot be. */
  def path(sql: String, e: ResolvedExpression, conf: SQLConf): String = {
    val text = ExpressionText.of(e.tree)
    ExpressionText.parse(text).left.foreach(refused(sql, _))
    val facts = e.facts(conf)
    ExpressionFacts.check(facts)
    ColumnExpression(text, facts).path
  }
}
