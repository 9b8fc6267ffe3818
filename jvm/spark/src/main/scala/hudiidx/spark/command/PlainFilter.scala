package hudiidx.spark.command

import java.util.Locale

import scala.util.control.NonFatal

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.types._

/** Filters that need no session of Spark's to be understood: columns compared with constants of their own types, in any case that
  * Spark would not have to cast. Parser, analyzer and optimizer take longer to load than such a filter takes to plan.
  *
  *  @param columns of the table
  *  @param zone    in which times without one are
  */
private[command] final class PlainFilter(columns: StructType, zone: String) {
  import PlainFilter._

  private val attributes: Map[String, Vector[AttributeReference]] = columns.fields.toVector
    .map(f => AttributeReference(f.name, f.dataType, f.nullable)())
    .groupBy(_.name.toLowerCase(Locale.ROOT))

  /** What the optimizer would make of it; None for a filter that Spark has to look at, or to refuse. */
  def parse(text: String): Option[Expression] =
    try {
      val reader = new Reader(PlainTokens.of(text))
      val found = reader.disjunction()
      if (reader.atEnd && !Simplified.is(found)) Some(found) else None
    } catch { case NotPlain => None }

  /** Precedence climbs from OR over AND and NOT to one comparison. */
  private final class Reader(tokens: Vector[Token]) {
    private var at = 0
    private var depth = 0

    def atEnd: Boolean = at == tokens.size

    def disjunction(): Expression = operands("or", () => conjunction()).reduceLeft(Or)

    private def conjunction(): Expression = operands("and", () => negation()).reduceLeft(And)

    private def operands(word: String, next: () => Expression): Vector[Expression] = {
      val found = Vector.newBuilder[Expression] += next()
      while (taken(word)) found += next()
      found.result()
    }

    private def negation(): Expression = {
      depth += 1
      if (depth > MostDeep) throw NotPlain
      val found = operand()
      depth -= 1
      found
    }

    private def operand(): Expression =
      if (taken("not")) negated(negation())
      else if (taken("(")) {
        val inner = disjunction()
        need(")")
        inner
      } else comparison()

    private def comparison(): Expression = peek match {
      case t if t.isInstanceOf[Constant] || t.isWord("true") || t.isWord("false") => constantFirst()
      case _                                                                      =>
        val column = this.column()
        if (taken("is")) {
          val isNot = taken("not")
          need("null")
          // What is never null is known before any file is looked at.
          if (!column.nullable) throw NotPlain
          if (isNot) IsNotNull(column) else IsNull(column)
        } else if (taken("not")) negated(membership(column))
        else if (tokens.lift(at).exists(t => Seq("in", "between", "like").exists(t.isWord))) membership(column)
        else compared(operator(), column)
    }

    private def constantFirst(): Expression = {
      val constant = next()
      val (operator, column) = (this.operator(), this.column())
      compare(Mirrored.getOrElse(operator, operator), column, literal(constant, column.dataType))
    }

    private def compared(operator: String, column: Expression): Expression =
      compare(operator, column, value(column.dataType))

    private def membership(column: Expression): Expression =
      if (taken("in")) {
        need("(")
        // Beside a list Spark makes texts of dates and times.
        if (column.dataType == DateType || column.dataType == TimestampType) throw NotPlain
        val values = Vector.newBuilder[Expression] += value(column.dataType)
        while (taken(",")) values += value(column.dataType)
        need(")")
        val distinct = values.result().distinct
        if (distinct.size == 1) EqualTo(column, distinct.head) else In(column, distinct)
      } else if (taken("between")) {
        val from = value(column.dataType)
        need("and")
        And(GreaterThanOrEqual(column, from), LessThanOrEqual(column, value(column.dataType)))
      } else {
        need("like")
        next() match {
          case Text(pattern) if column.dataType == StringType && pattern.indexOf('_') < 0 =>
            pattern.indexOf('%') match {
              case -1                                    => EqualTo(column, Literal(pattern))
              case n if n > 0 && n == pattern.length - 1 => StartsWith(column, Literal(pattern.dropRight(1)))
              case _                                     => throw NotPlain
            }
          case _ => throw NotPlain
        }
      }

    private def operator(): String = next() match {
      case Sign(s) if Operators(s) => s
      case _                       => throw NotPlain
    }

    private def column(): Expression = {
      val first = name()
      var found: Expression = only(attributes.getOrElse(first.toLowerCase(Locale.ROOT), Vector.empty))
      while (taken(".")) found = field(found, name())
      found
    }

    private def name(): String = next() match {
      case Word(text) if !Keywords(text.toLowerCase(Locale.ROOT)) => text
      case Quoted(text)                                           => text
      case _                                                      => throw NotPlain
    }

    private def value(of: DataType): Literal = literal(next(), of)

    /** A type's name before a text (`DATE '2026-01-01'`) is part of the constant. */
    private def literal(token: Token, of: DataType): Literal = token match {
      case Word(word) => typed(word.toLowerCase(Locale.ROOT), of)
      case constant   => constantOf(constant, of)
    }

    private def typed(word: String, of: DataType): Literal = (word, of) match {
      case ("true", BooleanType)                             => Literal(true)
      case ("false", BooleanType)                            => Literal(false)
      case ("date", DateType) | ("timestamp", TimestampType) => constantOf(next(), of)
      case _                                                 => throw NotPlain
    }

    private def peek: Token = tokens.lift(at).getOrElse(throw NotPlain)

    private def next(): Token = {
      val found = peek
      at += 1
      found
    }

    private def taken(text: String): Boolean = {
      val found = tokens.lift(at).exists(t => t.isWord(text) || t == Sign(text))
      if (found) at += 1
      found
    }

    private def need(text: String): Unit = if (!taken(text)) throw NotPlain
  }

  private def constantOf(token: Token, of: DataType): Literal = (token, of) match {
    case (Text(text), StringType)                                  => Literal(text)
    case (Text(text), DateType | TimestampType)                    => cast(text, of)
    case (Whole(n), ByteType) if n.isValidByte                     => Literal(n.toByte)
    case (Whole(n), ShortType) if n.isValidShort                   => Literal(n.toShort)
    case (Whole(n), IntegerType) if n.isValidInt                   => Literal(n.toInt)
    case (Whole(n), LongType) if n.isValidLong                     => Literal(n.toLong)
    case (Whole(n), DoubleType) if n.isValidInt                    => Literal(n.toDouble)
    case (Fraction(text), DoubleType) if text.length <= MostDigits => Literal(text.toDouble)
    case _                                                         => throw NotPlain
  }

  /** As Spark casts a text beside a date or time. */
  private def cast(text: String, to: DataType): Literal =
    try {
      val value = Cast(Literal(text), to, Some(zone)).eval()
      if (value == null) throw NotPlain
      Literal(value, to)
    } catch { case NonFatal(_) => throw NotPlain }

  private def field(of: Expression, name: String): Expression = of.dataType match {
    case struct: StructType =>
      val index = only(struct.fields.indices.filter(i => struct(i).name.equalsIgnoreCase(name)).toVector)
      GetStructField(of, index, Some(struct(index).name))
    case _ => throw NotPlain
  }

  private def only[A](found: Vector[A]): A = if (found.size == 1) found.head else throw NotPlain
}

private object PlainFilter {

  /** The filter is one for Spark. */
  private object NotPlain extends RuntimeException(null, null, false, false)

  /** Parentheses and negations in one another: each takes stack. */
  private val MostDeep = 100

  /** Of a fraction that Spark takes for a decimal without a doubt. */
  private val MostDigits = 30
  private val Mirrored = Map("<" -> ">", ">" -> "<", "<=" -> ">=", ">=" -> "<=")
  private val Operators = Set("=", "==", "<>", "!=", "<", "<=", ">", ">=")
  private val Keywords =
    Set("and", "or", "not", "in", "between", "like", "ilike", "rlike", "is", "null", "true", "false", "case", "exists")

  private def compare(operator: String, column: Expression, value: Literal): Expression = operator match {
    case "=" | "=="  => EqualTo(column, value)
    case "<>" | "!=" => Not(EqualTo(column, value))
    case "<"         => LessThan(column, value)
    case "<="        => LessThanOrEqual(column, value)
    case ">"         => GreaterThan(column, value)
    case _           => GreaterThanOrEqual(column, value)
  }

  /** As the optimizer leaves a NOT: at single comparisons alone. */
  private[command] def negated(e: Expression): Expression = e match {
    case And(l, r)                => Or(negated(l), negated(r))
    case Or(l, r)                 => And(negated(l), negated(r))
    case Not(inner)               => inner
    case IsNull(c)                => IsNotNull(c)
    case IsNotNull(c)             => IsNull(c)
    case LessThan(l, r)           => GreaterThanOrEqual(l, r)
    case LessThanOrEqual(l, r)    => GreaterThan(l, r)
    case GreaterThan(l, r)        => LessThanOrEqual(l, r)
    case GreaterThanOrEqual(l, r) => LessThan(l, r)
    case other                    => Not(other)
  }
}

/** Filters that the optimizer makes less of: a comparison that is there twice, or beside its opposite, and more of a column of
  * which an AND has the value (`BooleanSimplification` and `ConstantPropagation` in Spark).
  */
private object Simplified {
  def is(filter: Expression): Boolean = isRepeated(comparisons(filter)) || hasValueAndMore(filter)

  private def isRepeated(all: Vector[Expression]): Boolean =
    all.map(c => Set(c, PlainFilter.negated(c)).map(_.canonicalized)).distinct.size < all.size

  private def hasValueAndMore(e: Expression): Boolean = e match {
    case And(_, _) =>
      val parts = conjuncts(e)
      val compared = parts.flatMap(comparisons).flatMap(_.references)
      parts.exists {
        case EqualTo(column: AttributeReference, _) => compared.count(_ == column) > 1
        case part                                   => hasValueAndMore(part)
      }
    case Or(l, r) => hasValueAndMore(l) || hasValueAndMore(r)
    case _        => false
  }

  private def conjuncts(e: Expression): Vector[Expression] = e match {
    case And(l, r) => conjuncts(l) ++ conjuncts(r)
    case other     => Vector(other)
  }

  private def comparisons(e: Expression): Vector[Expression] = e match {
    case And(l, r) => comparisons(l) ++ comparisons(r)
    case Or(l, r)  => comparisons(l) ++ comparisons(r)
    case other     => Vector(other)
  }
}
