package hudiidx.column.expression

/** An expression of columns as an index keeps it. It can name functions of [[ExpressionFunctions]], columns and constants, and nothing
  * else. docs/format.md, "Expressions".
  */
sealed trait ExpressionTree {
  def children: Vector[ExpressionTree]
}

object ExpressionTree {

  /** @param parts a column's name, those of fields in structs behind it */
  final case class Column(parts: Vector[String]) extends ExpressionTree {
    override def children: Vector[ExpressionTree] = Vector.empty
  }

  /** @param value in the form of its type; None: null */
  final case class Constant(dataType: String, value: Option[String]) extends ExpressionTree {
    override def children: Vector[ExpressionTree] = Vector.empty
  }

  /** @param isTry what cannot be cast is null, whatever the settings */
  final case class Cast(child: ExpressionTree, dataType: String, isTry: Boolean) extends ExpressionTree {
    override def children: Vector[ExpressionTree] = Vector(child)
  }

  final case class Call(function: String, arguments: Vector[ExpressionTree]) extends ExpressionTree {
    override def children: Vector[ExpressionTree] = arguments
  }

  /** The tree with the names that `of` gives columns. */
  def named(tree: ExpressionTree)(of: Vector[String] => Vector[String]): ExpressionTree = tree match {
    case Column(parts) => Column(of(parts))
    case c: Constant   => c
    case c: Cast       => c.copy(child = named(c.child)(of))
    case c: Call       => c.copy(arguments = c.arguments.map(named(_)(of)))
  }

  /** Columns and fields that the tree names, each with the names of its parts. */
  def columns(tree: ExpressionTree): Vector[Vector[String]] = tree match {
    case Column(parts) => Vector(parts)
    case other         => other.children.flatMap(columns)
  }

  /** Why a tree may not be kept, or evaluated if it was; None: it may. */
  def refusal(tree: ExpressionTree): Option[String] =
    size(tree, 1).left.toOption
      .orElse(unknownType(tree))
      .orElse(ExpressionGrowth.of(tree).left.toOption)
      .orElse(PatternRules.refusal(tree))

  /** Parts of the tree, as Spark has them when it plans a query, at most the limit and one. */
  def parts(tree: ExpressionTree): Int = size(tree, 1).getOrElse(ExpressionLimits.MostNodes + 1)

  private val Types =
    "boolean|tinyint|smallint|int|bigint|float|double|decimal\\(\\d{1,2},\\d{1,2}\\)|string|binary|date|timestamp|timestamp_ntz|void|interval( [a-z]+){0,3}"

  private def unknownType(tree: ExpressionTree): Option[String] = (tree match {
    case Constant(t, _) if !t.matches(Types) => Some(s"unsupported type $t in an expression")
    case Cast(_, t, _) if !t.matches(Types)  => Some(s"unsupported type $t in an expression")
    case _                                   => None
  }).orElse(tree.children.flatMap(unknownType).headOption)

  /** Nodes of the tree, those counted again that Spark repeats, or why they are too many: looks no deeper than the limit. */
  private def size(tree: ExpressionTree, depth: Int): Either[String, Int] =
    if (depth > ExpressionLimits.MostDepth) Left(ExpressionLimits.tooDeep)
    else
      tree.children.zipWithIndex.foldLeft[Either[String, Int]](Right(1)) { case (sum, (child, at)) =>
        for {
          n <- sum
          m <- size(child, depth + 1).map(_ * repeats(tree, at))
          all <- if (n + m > ExpressionLimits.MostNodes) Left(ExpressionLimits.tooMany) else Right(n + m)
        } yield all
      }

  private def repeats(tree: ExpressionTree, at: Int): Int = tree match {
    case Call(name, arguments) => ExpressionFunctions.repeats(name, arguments.size, at)
    case _                     => 1
  }
}

/** How large an expression may be. What is stored may have been written by anybody. */
object ExpressionLimits {

  /** Of SQL and of stored texts, in characters. */
  val MostText = 16384

  /** Of one constant, in characters. */
  val MostConstant = 4096
  val MostDepth = 64
  val MostNodes = 1000

  /** Of one table. */
  val MostExpressions = 200

  /** Of all of them together. */
  val MostParts = 4000

  val tooDeep = s"it is nested more than $MostDepth deep"
  val tooMany = s"it has more than $MostNodes parts, those counted again that Spark repeats"
  val tooLong = s"it has more than $MostText characters"

  /** Why a parser of SQL may not be given this text. Quotes are not looked at: brackets and begins of comments in them count. */
  def refusal(sql: String): Option[String] =
    if (sql.length > MostText) Some(tooLong)
    // Spark's parser takes minutes for some thousand comments in one another.
    else if (sql.sliding(2).count(_ == "/*") > MostDepth) Some(s"it has more than $MostDepth comments")
    else {
      var (open, most) = (0, 0)
      sql.foreach { c =>
        if (c == '(' || c == '[' || c == '<') open += 1
        else if ((c == ')' || c == ']' || c == '>') && open > 0) open -= 1
        most = math.max(most, open)
      }
      if (most > MostDepth) Some(tooDeep) else None
    }
}
