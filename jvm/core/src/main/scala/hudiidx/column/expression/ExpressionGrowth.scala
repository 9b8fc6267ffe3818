package hudiidx.column.expression

import java.nio.charset.StandardCharsets.UTF_8

import hudiidx.column.expression.ExpressionTree.{Call, Cast, Column, Constant}

/** The most memory that evaluating an expression takes for a row: `perByte` for each byte of the row's values, and `plus`. */
final case class ExpressionGrowth(perByte: Long, plus: Long) {
  import ExpressionGrowth.capped

  def +(other: ExpressionGrowth): ExpressionGrowth =
    ExpressionGrowth(capped(perByte + other.perByte), capped(plus + other.plus))

  def *(times: Long): ExpressionGrowth = ExpressionGrowth(capped(perByte * times), capped(plus * times))

  def and(bytes: Long): ExpressionGrowth = copy(plus = capped(plus + bytes))

  def max(other: ExpressionGrowth): ExpressionGrowth =
    ExpressionGrowth(math.max(perByte, other.perByte), math.max(plus, other.plus))

  /** A row with values of so many bytes is evaluated. */
  def allows(bytes: Long): Boolean = perByte * bytes + plus <= ExpressionGrowth.MostBytes
}

object ExpressionGrowth {

  /** For one row. */
  val MostBytes: Long = 64L << 20
  private val MostPerByte = 4096L
  private val MostPlus = 1L << 20
  private val Cap = 1L << 30

  /** Numbers, times and the like. */
  val Fixed: ExpressionGrowth = ExpressionGrowth(0, 64)

  private def capped(n: Long): Long = math.min(n, Cap)

  /** Of all parts; Left tells why none can be told, or that it is too much. */
  def of(tree: ExpressionTree): Either[String, ExpressionGrowth] = measured(tree).flatMap { case (_, most) =>
    if (most.perByte > MostPerByte || most.plus > MostPlus) Left("what it gives may be too large") else Right(most)
  }

  /** Of the result, and the most of any part. */
  private def measured(tree: ExpressionTree): Either[String, (ExpressionGrowth, ExpressionGrowth)] = tree match {
    case _: Column          => Right((ExpressionGrowth(1, 64), ExpressionGrowth(1, 64)))
    case Constant(_, value) =>
      val bytes = value.fold(0)(_.getBytes(UTF_8).length)
      val own = Fixed.and(bytes.toLong)
      if (value.exists(_.length > ExpressionLimits.MostConstant)) Left("a constant in it is too long")
      else Right((own, own))
    case Cast(child, _, _)     => measured(child).map { case (own, most) => with_(own * 8 + Fixed, most) }
    case Call(name, arguments) =>
      for {
        rule <- ExpressionFunctions.rule(name)
        parts <- all(arguments.map(measured))
        own <- rule(arguments, parts.map(_._1)).left.map(why => s"$name: $why")
      } yield with_(own, parts.map(_._2).foldLeft(Fixed)(_ max _))
  }

  private def with_(own: ExpressionGrowth, most: ExpressionGrowth): (ExpressionGrowth, ExpressionGrowth) =
    (own, own max most)

  private def all[A](found: Vector[Either[String, A]]): Either[String, Vector[A]] =
    found.collectFirst { case Left(why) => why }.toLeft(found.collect { case Right(a) => a })
}
