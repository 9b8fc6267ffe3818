package hudiidx.column.expression

import java.time.{Instant, LocalDate, LocalDateTime, ZoneOffset}
import java.time.temporal.ChronoUnit

import scala.util.Try

import hudiidx.Sql
import hudiidx.column.expression.ExpressionTree.{Call, Cast, Column, Constant}

/** An expression as people read it, and may give it again: in SQL. */
private[column] object ExpressionSql {
  private val Infix = Set(
    "+",
    "-",
    "*",
    "/",
    "div",
    "%",
    "&",
    "|",
    "^",
    "=",
    "==",
    "<=>",
    "<",
    "<=",
    ">",
    ">=",
    "and",
    "or",
    "like",
    "ilike",
    "rlike"
  )

  def of(tree: ExpressionTree): String = tree match {
    case Column(parts)         => Sql.name(parts)
    case c: Constant           => constant(c)
    case Cast(child, t, isTry) => s"${if (isTry) "TRY_CAST" else "CAST"}(${of(child)} AS ${t.toUpperCase})"
    case Call(ExpressionFunctions.Element, Vector(of_, at))   => s"${of(of_)}[${of(at)}]"
    case Call(ExpressionFunctions.In, value +: list)          => s"(${of(value)} IN (${list.map(of).mkString(", ")}))"
    case Call(ExpressionFunctions.Case, parts)                => cases(parts)
    case Call("like" | "ilike", Vector(a, b, escape))         => s"(${of(a)} LIKE ${of(b)} ESCAPE ${of(escape)})"
    case Call(f @ ("trim" | "ltrim" | "rtrim"), Vector(a, b)) => s"trim(${Sides(f)} ${of(a)} FROM ${of(b)})"
    case Call("isnull", Vector(a))                            => s"(${of(a)} IS NULL)"
    case Call("isnotnull", Vector(a))                         => s"(${of(a)} IS NOT NULL)"
    case Call("!" | "not", Vector(a))                         => s"(NOT ${of(a)})"
    case Call("negative", Vector(a))                          => s"(- ${of(a)})"
    case Call("~", Vector(a))                                 => s"(~ ${of(a)})"
    case Call("extract", Vector(Constant(_, Some(field)), a)) => s"extract($field FROM ${of(a)})"
    case Call(
          f @ (ExpressionFunctions.AddUnits | ExpressionFunctions.UnitsBetween),
          Constant(_, Some(unit)) +: others
        ) =>
      s"$f($unit, ${others.map(of).mkString(", ")})"
    case Call(f, Vector(a, b)) if Infix(f) => s"(${of(a)} ${f.toUpperCase} ${of(b)})"
    case Call(f, all)                      => s"$f(${all.map(of).mkString(", ")})"
  }

  private val Sides = Map("trim" -> "BOTH", "ltrim" -> "LEADING", "rtrim" -> "TRAILING")

  private def cases(parts: Vector[ExpressionTree]): String = {
    val branches = parts.grouped(2).filter(_.size == 2).map(b => s"WHEN ${of(b(0))} THEN ${of(b(1))} ").mkString
    val last = if (parts.size % 2 == 1) s"ELSE ${of(parts.last)} " else ""
    s"CASE $branches${last}END"
  }

  private def constant(c: Constant): String = (c.dataType, c.value) match {
    case (_, None)                                                   => "NULL"
    case ("int" | "boolean", Some(v))                                => v
    case ("bigint", Some(v))                                         => v + "L"
    case ("smallint", Some(v))                                       => v + "S"
    case ("tinyint", Some(v))                                        => v + "Y"
    case ("string", Some(v))                                         => Sql.literal(v)
    case ("binary", Some(v))                                         => s"X'$v'"
    case ("double", Some(v)) if v.matches("-?[0-9.E-]+")             => v + "D"
    case (t, Some(v)) if t.startsWith("decimal") && !v.contains("E") => v + "BD"
    case ("date", Some(v))          => s"DATE'${told(v)(n => LocalDate.ofEpochDay(n).toString)}'"
    case ("timestamp", Some(v))     => s"TIMESTAMP'${told(v)(instant(_).toString)}'"
    case ("timestamp_ntz", Some(v)) =>
      s"TIMESTAMP_NTZ'${told(v)(n => LocalDateTime.ofInstant(instant(n), ZoneOffset.UTC).toString)}'"
    case ("interval", Some(v))                                                           => s"INTERVAL '${calendar(v)}'"
    case (t, Some(v)) if t.startsWith("interval year") || t.startsWith("interval month") => s"INTERVAL '$v' MONTH"
    case (t, Some(v)) if t.startsWith("interval") => s"INTERVAL '${told(v)(n => BigDecimal(n, 6).toString)}' SECOND"
    case (t, Some(v))                             => s"CAST(${Sql.literal(v)} AS ${t.toUpperCase})"
  }

  private def told(number: String)(of: Long => String): String = Try(of(number.toLong)).getOrElse(number)

  private def instant(micros: Long): Instant = Instant.EPOCH.plus(micros, ChronoUnit.MICROS)

  private def calendar(value: String): String = value.split(',') match {
    case Array(months, days, micros) => s"$months months $days days $micros microseconds"
    case _                           => value
  }
}
