package hudiidx.engine.column

import hudiidx.column.{ColumnType, ColumnValues}
import hudiidx.table.{LatestSchema, TableConfig}

/** Resolves and evaluates expressions of columns. A module that knows SQL brings it. */
trait ExpressionEngine {

  /** @param schema the table's; None where no commit has one */
  def of(config: TableConfig, schema: Option[LatestSchema]): TableExpressions
}

/** Expressions of one table's columns. They come and go as paths: `hudiidx.column.ColumnExpression`. */
trait TableExpressions {

  /** The path under which an index over the expression is kept; one of `known` that means the same under the same settings is taken.
    * InvalidOption for one that cannot be indexed.
    *
    *  @param sql as somebody wrote it
    */
  def resolved(sql: String, known: Vector[String]): String

  /** Those of `known` that mean the same, whatever the settings under which they were made. */
  def alike(sql: String, known: Vector[String]): Vector[String]

  /** Why what an index keeps under this path is no expression that may be evaluated, in any session. */
  def refusal(path: String): Option[String]

  /** The path that an index has today which an earlier build made without all that its values depend on, so that nobody uses it; None
    * for any other.
    */
  def renewed(path: String): Option[String]

  /** What gives the values of an index that is there; Left tells why its values cannot be made here and now. */
  def evaluated(path: String): Either[String, RowExpression]
}

/** An expression that tasks evaluate; sent to them. */
trait RowExpression extends Serializable {

  /** Paths of the columns that it is of, and their types in the table. */
  def inputs: Vector[(String, ColumnType)]

  def result: ColumnType

  /** For one thread. */
  def newEvaluation(): RowEvaluation
}

/** An expression being evaluated row by row. Not safe for several threads. */
trait RowEvaluation {

  /** Work in which [[add]] is called: settings that the expression depends on are in force. */
  def within[A](work: => A): A

  /** Hands over what the expression gives for a row: once, or, where the row does not tell its columns' values to the last bit, once for
    * each value that they may have.
    *
    *  @param row by places of `inputs`
    */
  def add(row: ColumnValues, to: ValueSink): Unit
}
