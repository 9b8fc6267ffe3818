package hudiidx.column

import hudiidx.column.expression.{ExpressionLimits, ExpressionSql, ExpressionText, ExpressionTree}

/** An expression of columns that is indexed as a column is: its path is one part that begins with `=`, which no column's name does.
  * docs/format.md, "Expressions".
  *
  *  @param text  [[ExpressionText]], or SQL: as somebody asked for it, or of an index of an earlier form
  *  @param facts what its values depend on beside the columns, by name: those of an index were made under these. Empty: as somebody
  *               asked for it, not resolved yet
  */
final case class ColumnExpression(text: String, facts: Vector[(String, String)] = Vector.empty) {

  /** As [[IndexedColumn]] names it. */
  def path: String = ColumnPath.of(Seq(ColumnExpression.Mark + text + behind))

  private def behind: String =
    if (facts.isEmpty) "" else facts.map { case (name, value) => s"$name=$value" }.mkString(" {", "; ", "}")

  def fact(name: String): Option[String] = facts.find(_._1 == name).map(_._2)

  /** It is told what its values depend on. */
  def isResolved: Boolean = facts.nonEmpty

  /** What an index of the form of today keeps; None for SQL. Left tells why it is not used. */
  def tree: Option[Either[String, ExpressionTree]] =
    if (fact(ColumnExpression.Form).contains(ColumnExpression.ThisForm)) Some(ExpressionText.parse(text)) else None

  /** For people, in SQL. */
  def sql: String = tree match {
    case Some(Right(found)) => ExpressionSql.of(found)
    case _                  => text
  }
}

object ColumnExpression {
  private val Mark = "="

  /** The fact that tells the form of all this. */
  val Form = "v"
  val ThisForm = "2"

  /** With SQL in the place of the tree. */
  val FormOfSql = "1"
  private val WithFacts = """(?s)(.*) \{([^{}]*)\}""".r

  /** None for a column's path. */
  def of(path: String): Option[ColumnExpression] = ColumnPath.parts(path) match {
    case Vector(one) if one.startsWith(Mark) =>
      one.stripPrefix(Mark) match {
        case WithFacts(sql, facts) if facts.nonEmpty =>
          Some(ColumnExpression(sql, facts.split("; ").toVector.map(factOf)))
        case sql => Some(ColumnExpression(sql))
      }
    case _ => None
  }

  def isOne(path: String): Boolean = path.startsWith("`" + Mark)

  /** Parts that an expression has at least; of a tree all. */
  def parts(e: ColumnExpression): Int = e.tree match {
    case Some(tree) => tree.fold(_ => 1, ExpressionTree.parts)
    case None       => 1 + e.text.length / 4
  }

  /** Those of a table that are looked at, and why the others are not. */
  def within[A](all: Vector[A])(parts: A => Int): (Vector[A], Vector[(A, String)]) = {
    val (some, more) = all.splitAt(ExpressionLimits.MostExpressions)
    val sums = some.map(parts).scanLeft(0)(_ + _).tail
    val (small, large) = some.zip(sums).partition(_._2 <= ExpressionLimits.MostParts)
    val tooMany = s"the table's expressions up to it have more than ${ExpressionLimits.MostParts} parts"
    (
      small.map(_._1),
      large.map(_._1 -> tooMany) ++ more.map(_ -> s"it is one of more than ${ExpressionLimits.MostExpressions}")
    )
  }

  /** For people: an expression as it is written in SQL, a column's path as it is. */
  def shown(path: String): String = of(path).fold(path)(_.sql)

  /** As somebody types it for a command: SQL of an expression, a column's path in backquotes where it needs them, `*`. */
  def typed(path: String): String =
    if (path == IndexSpec.All) path else of(path).fold(ColumnPath.typed(path))(_.sql)

  /** What somebody wrote for a column: a path, or SQL of one or more columns, which is told by characters that no name has but in
    * backquotes.
    */
  def asked(text: String): String =
    if (isOne(text) || text == IndexSpec.All || !bare(text).exists(c => Signs.indexOf(c.toInt) >= 0 || c.isWhitespace))
      text
    else ColumnExpression(text).path

  private val Signs = "()+-*/%<>=!|&^~'\""

  /** Without what stands in backquotes. */
  private def bare(text: String): String =
    text.split("`", -1).zipWithIndex.collect { case (t, i) if i % 2 == 0 => t }.mkString

  private def factOf(text: String): (String, String) = {
    val at = text.indexOf('=')
    if (at < 0) text -> "" else text.take(at) -> text.drop(at + 1)
  }
}
