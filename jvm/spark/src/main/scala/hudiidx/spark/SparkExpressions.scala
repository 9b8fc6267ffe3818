package hudiidx.spark

import hudiidx.InvalidOption
import hudiidx.column.{ColumnExpression, ColumnPath}
import hudiidx.column.expression.{ExpressionGrowth, ExpressionTree}
import hudiidx.engine.column.{ExpressionEngine, RowExpression, TableExpressions}
import hudiidx.spark.pinned.RowSchema
import hudiidx.spark.prune._
import hudiidx.table.{LatestSchema, TableConfig}
import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.types.{DataType, StructField, StructType}

/** Expressions in Spark's SQL, as a session understands them, evaluated as Spark does it. */
final class SparkExpressions(spark: SparkSession) extends ExpressionEngine {

  override def of(config: TableConfig, schema: Option[LatestSchema]): TableExpressions = {
    val struct = schema.map(RowSchema.of(config, _, spark.sessionState.conf.sessionLocalTimeZone).struct)
    new SparkTableExpressions(spark, struct)
  }
}

/** @param struct the table's columns; None where they are not known yet */
final private class SparkTableExpressions(spark: SparkSession, struct: Option[StructType]) extends TableExpressions {
  private lazy val resolver = struct.map(s => new ExpressionResolver(spark, SparkTableExpressions.nullable(s)))

  private def of(sql: String): ExpressionResolver = resolver.getOrElse(
    throw new InvalidOption(s"$sql: the table has no columns yet; write to it first")
  )

  override def resolved(sql: String, known: Vector[String]): String = {
    val conf = spark.sessionState.conf
    val found = of(sql).asked(sql, conf)
    ExpressionRules.check(sql, found)
    val path = ExpressionRules.path(sql, found, conf)
    of(sql).requireKept(sql, found, path)
    val facts = factsOf(path)
    same(found, known).find(factsOf(_) == facts).getOrElse(path)
  }

  /** Those that tell indexes apart: of another form than today's is no difference. */
  private def factsOf(path: String): Option[Vector[(String, String)]] =
    ColumnExpression.of(path).map(_.facts.filterNot(_._1 == ColumnExpression.Form))

  override def alike(sql: String, known: Vector[String]): Vector[String] =
    try same(of(sql).asked(sql, spark.sessionState.conf), known)
    catch { case _: InvalidOption => Vector.empty }

  private def same(found: ResolvedExpression, known: Vector[String]): Vector[String] = known.filter { path =>
    ColumnExpression.of(path).exists { e =>
      try of(e.sql).kept(e, spark.sessionState.conf).meaning == found.meaning
      catch { case _: InvalidOption => false }
    }
  }

  override def refusal(path: String): Option[String] = ColumnExpression.of(path).flatMap { e =>
    try {
      val conf = ExpressionFacts.conf(e.facts)
      val tree = ExpressionRules.tree(e, conf)
      unfit(tree).orElse(resolver.flatMap(_.ofMoment(e, tree, conf)))
    } catch { case error: InvalidOption => Some(error.getMessage) }
  }

  /** Why no release of Spark could evaluate it over this table. */
  private def unfit(tree: ExpressionTree): Option[String] = tree match {
    case c: ExpressionTree.Constant if ExpressionTypes.literal(c).isEmpty =>
      Some(s"it has a constant of type ${c.dataType} that is none")
    case ExpressionTree.Column(parts) if struct.exists(!SparkTableExpressions.has(_, parts)) =>
      Some(s"column ${parts.mkString(".")} is not in the table's schema")
    case other => other.children.flatMap(unfit(_)).headOption
  }

  override def renewed(path: String): Option[String] = ColumnExpression.of(path).filter(_.isResolved).flatMap { e =>
    try {
      val conf = ExpressionFacts.conf(e.facts)
      val found = of(e.sql).kept(e, conf)
      val had = e.facts.map(_._1).toSet
      if (found.facts(conf).forall(f => had(f._1))) None else Some(ExpressionRules.path(e.sql, found, conf))
    } catch { case _: InvalidOption => None }
  }

  override def evaluated(path: String): Either[String, RowExpression] =
    ColumnExpression.of(path).filter(_.isResolved).toRight(s"$path is not an expression").flatMap { e =>
      try {
        val conf = ExpressionFacts.conf(e.facts)
        val found = of(e.sql).kept(e, conf)
        for {
          growth <- ExpressionGrowth.of(found.tree)
          _ <- ExpressionFacts.difference(e.facts, found.facts(conf)).toLeft(())
        } yield SparkRowExpression(
          found.bound,
          found.inputs.map { case (parts, t) => ColumnPath.of(parts) -> ValueCode.columnType(t).get },
          found.inputs.map(_._2),
          ValueCode.columnType(found.optimized.dataType).get,
          e.facts,
          growth
        )
      } catch { case error: InvalidOption => Left(error.getMessage) }
    }
}

private object SparkTableExpressions {

  /** A column, or a field in it; a name that several have counts as there. */
  def has(struct: StructType, parts: Seq[String]): Boolean =
    struct.filter(_.name.equalsIgnoreCase(parts.head)).exists { found =>
      found.dataType match {
        case inner: StructType if parts.size > 1 => has(inner, parts.tail)
        case _                                   => true
      }
    }

  /** Files may lack any column. */
  def nullable(struct: StructType): StructType =
    StructType(struct.map(f => StructField(f.name, nullable(f.dataType), nullable = true, f.metadata)))

  private def nullable(t: DataType): DataType = t match {
    case s: StructType => nullable(s)
    case other         => other
  }
}
