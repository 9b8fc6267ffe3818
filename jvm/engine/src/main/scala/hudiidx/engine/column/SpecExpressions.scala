package hudiidx.engine.column

import hudiidx.{InvalidOption, Log}
import hudiidx.column.{ColumnExpression, ColumnPath, IndexSpec}
import hudiidx.store.IndexVersion

/** The expressions among the columns of indexes.
  *
  *  @param engine None: nobody is there who knows SQL, so expressions that are there stay, and their values are not made
  */
private[column] final class SpecExpressions(engine: Option[ExpressionEngine], table: TableColumns) {
  private lazy val ofTable: Option[TableExpressions] = engine.map(_.of(table.config, table.latest))

  /** As they are kept. InvalidOption for one that cannot be indexed. */
  def resolved(specs: Vector[IndexSpec], before: Option[IndexVersion]): Vector[IndexSpec] = {
    val known = before.toVector.flatMap(ColumnSettings.of(_).specs).flatMap(SpecExpressions.of).distinct
    specs.map(s => s.copy(columns = s.columns.map(resolved(_, known)).distinct))
  }

  private def resolved(path: String, known: Vector[String]): String = ColumnExpression.of(path) match {
    case None                                  => path
    case Some(asked) if asked.isResolved       => kept(path, asked)
    case Some(asked) if isColumn(named(asked)) => named(asked)
    case Some(asked)                           =>
      val expressions = ofTable.getOrElse(
        throw new InvalidOption(s"${asked.sql}: an expression of columns is made by Spark alone; use the Spark API")
      )
      try expressions.resolved(asked.sql, known)
      catch {
        case e: InvalidOption =>
          throw new InvalidOption(IndexSpec.kindOf(asked.sql).fold(e.getMessage) { kind =>
            s"${e.getMessage}; unknown index kind '$kind'; expected one of: range, bloom, values, or a kind of a jar"
          })
      }
  }

  /** One that is there already, or a copy of its text. */
  private def kept(path: String, e: ColumnExpression): String =
    refusal(path).fold(path)(why => throw new InvalidOption(s"${e.sql}: $why"))

  /** Whoever may write into the index folder may have written what is there. A tree is judged without an engine. */
  private def refusal(path: String): Option[String] =
    ColumnExpression.of(path).flatMap(_.tree).flatMap(_.left.toOption).orElse(ofTable.flatMap(_.refusal(path)))

  /** Those of a version that may not be evaluated. They are warned of, and made anew when somebody asks for them. */
  def refused(stored: ColumnSettings): Set[String] = {
    val all = (stored.specs ++ stored.pending).flatMap(SpecExpressions.of).distinct
    val (some, more) = ColumnExpression.within(all)(ColumnExpression.of(_).fold(0)(ColumnExpression.parts))
    val found = some.flatMap(path => refusal(path).map(path -> _)) ++ more
    found.foreach { case (path, why) =>
      val shown = ColumnExpression.shown(path).take(SpecExpressions.MostShown)
      SpecExpressions.log.warn(s"the index on $shown is dropped: $why; add it again if you want it")
    }
    found.map(_._1).toSet
  }

  /** With the indexes of earlier builds that nobody can use any more under the paths of today, for which nothing is made yet. */
  def renewed(stored: ColumnSettings): ColumnSettings = {
    val paths = (for {
      path <- (stored.specs ++ stored.pending).flatMap(SpecExpressions.of).distinct
      now <- ofTable.flatMap(_.renewed(path))
    } yield path -> now).toMap
    def named(specs: Vector[IndexSpec]) =
      specs.map(s => s.copy(columns = s.columns.map(c => paths.getOrElse(c, c)).distinct))
    if (paths.isEmpty) stored
    else {
      val again = named(stored.specs.flatMap(_.only(paths.contains)))
      ColumnSettings(IndexSpec.merged(Vector.empty, named(stored.specs)), (named(stored.pending) ++ again).distinct)
    }
  }

  /** A column may have a name that looks like an expression. */
  private def named(asked: ColumnExpression): String = ColumnPath.of(Seq(asked.text))

  private def isColumn(path: String): Boolean = table.all.exists(_._1 == path)

  /** Those whose values can be made; of the others the files that are read now stay uncovered. */
  def evaluated(specs: Vector[IndexSpec]): Map[String, RowExpression] =
    specs
      .flatMap(SpecExpressions.of)
      .distinct
      .flatMap { path =>
        ofTable.fold[Either[String, RowExpression]](Left("it is made by Spark alone"))(_.evaluated(path)) match {
          case Right(expression) => Some(path -> expression)
          case Left(why)         =>
            SpecExpressions.log.warn(s"the index on ${ColumnExpression.shown(path)} takes in no files: $why")
            None
        }
      }
      .toMap
}

private[column] object SpecExpressions {
  private val log = Log.of(classOf[SpecExpressions])

  private val MostShown = 500

  def of(spec: IndexSpec): Vector[String] = spec.columns.filter(ColumnExpression.isOne)

  /** With the expressions of `there` that are meant. */
  def alike(
      expressions: Option[TableExpressions],
      asked: Vector[IndexSpec],
      there: Vector[IndexSpec]
  ): Vector[IndexSpec] = {
    val known = there.flatMap(of).distinct
    asked.flatMap { spec =>
      val columns = spec.columns.map { path =>
        ColumnExpression.of(path).fold(Vector(path)) { e =>
          val same = known.filter(k => k == path || ColumnExpression.shown(k) == e.sql)
          (same ++ expressions.toVector.flatMap(_.alike(e.sql, known))).distinct
        }
      }
      // Of several that are meant each is dropped on its own.
      if (columns.forall(_.size == 1)) Vector(spec.copy(columns = columns.flatten))
      else columns.flatten.map(c => spec.copy(columns = Vector(c)))
    }
  }
}
