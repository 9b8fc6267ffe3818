package hudiidx.spark.prune

import java.time.{Instant, LocalDate, LocalDateTime, ZoneOffset}

import org.apache.spark.sql.types._
import org.apache.spark.unsafe.types.UTF8String
import org.scalacheck.Gen

/** Random filters over `ColumnValues.Columns`, as SQL. */
object PredicateGen {
  private val comparison = Gen.oneOf("=", "<", "<=", ">", ">=", "!=", "<=>")

  private def literal(t: DataType): Gen[String] = ColumnValues.of(t).map(sql(_, t))

  private def sql(value: Any, t: DataType): String = (value, t) match {
    case (n: Int, DateType)          => s"DATE'${date(n)}'"
    case (n: Long, TimestampType)    => s"TIMESTAMP'${Instant.EPOCH.plus(n, java.time.temporal.ChronoUnit.MICROS)}'"
    case (n: Long, TimestampNTZType) =>
      val local = LocalDateTime.ofEpochSecond(
        Math.floorDiv(n, 1000000L),
        (Math.floorMod(n, 1000000L) * 1000).toInt,
        ZoneOffset.UTC
      )
      s"TIMESTAMP_NTZ'$local'"
    case (n: Int, _)                  => if (n == Int.MinValue) "(-2147483647 - 1)" else n.toString
    case (n: Long, _)                 => if (n == Long.MinValue) "(-9223372036854775807L - 1L)" else s"${n}L"
    case (f: Float, _)                => s"CAST('$f' AS FLOAT)"
    case (d: Double, _)               => s"CAST('$d' AS DOUBLE)"
    case (d: Decimal, t: DecimalType) => s"CAST('$d' AS ${t.sql})"
    case (s: UTF8String, _)           => quoted(s.toString)
    case (b: Array[Byte], _)          => "X'" + b.map(x => f"$x%02X").mkString + "'"
    case (other, _)                   => other.toString
  }

  private def date(day: Int): String = LocalDate.ofEpochDay(day.toLong).toString

  private def quoted(text: String): String = "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"

  /** Simple columns, with those of the struct. */
  private val columns: Vector[(String, DataType)] =
    ColumnValues.Columns.fields.toVector.flatMap { f =>
      f.dataType match {
        case s: StructType => s.fields.toVector.map(g => s"${f.name}.${g.name}" -> g.dataType)
        case t             => Vector(f.name -> t)
      }
    }

  private val texts = ColumnValues.texts.map(quoted)
  private val small = Gen.choose(-7, 7)

  /** Functions of a column with the type of what they give. */
  private def function(name: String, t: DataType): Gen[(String, DataType)] = t match {
    case IntegerType | LongType =>
      Gen.oneOf(
        small.map(k => (s"$name + $k", t)),
        small.map(k => (s"$name - $k", t)),
        small.map(k => (s"$k - $name", t)),
        small.map(k => (s"$name * $k", t)),
        Gen.oneOf(1, 2, 7, -3).map(k => (s"$name div $k", LongType)),
        Gen.const((s"-$name", t)),
        Gen
          .oneOf(
            "double" -> DoubleType,
            "float" -> FloatType,
            "decimal(12,2)" -> DecimalType(12, 2),
            "bigint" -> LongType,
            "int" -> IntegerType
          )
          .map { case (to, type_) => (s"CAST($name AS $to)", type_) },
        Gen.const((s"CAST($name AS STRING)", StringType)),
        small.map(k => (s"greatest($name, $k)", t)),
        small.map(k => (s"coalesce($name, $k)", t)),
        small.map(k => (s"CASE WHEN $name > $k THEN $name - 1 WHEN $name IS NULL THEN 5 ELSE $k END", t)),
        small.map(k => (s"if($name < $k, $k, $name)", t)),
        Gen.const((s"from_unixtime($name, 'yyyy-MM-dd')", StringType)),
        Gen.const((s"timestamp_seconds($name % 100000000)", TimestampType)),
        Gen.const((s"abs($name)", t)),
        small.map(k => (s"nullif($name, $k)", t))
      )
    case FloatType | DoubleType =>
      Gen.oneOf(
        small.map(k => (s"$name + $k", DoubleType)),
        small.map(k => (s"$k.5 - $name", DoubleType)),
        small.map(k => (s"$name * $k", DoubleType)),
        Gen.oneOf(1, 2, 7, -3).map(k => (s"$name / $k", DoubleType)),
        Gen
          .oneOf("floor", "ceil", "round", "-")
          .map(g => (s"$g($name)", if (g == "floor" || g == "ceil") LongType else t)),
        Gen
          .oneOf(
            "int" -> IntegerType,
            "bigint" -> LongType,
            "double" -> DoubleType,
            "float" -> FloatType,
            "decimal(9,1)" -> DecimalType(9, 1)
          )
          .map { case (to, type_) => (s"CAST($name AS $to)", type_) },
        Gen.const((s"nanvl($name, 1.0D)", DoubleType)),
        Gen.const((s"coalesce($name, 0.0D)", DoubleType))
      )
    case d: DecimalType =>
      Gen.oneOf(
        small.map(k => (s"$name + $k", d)),
        small.map(k => (s"$k - $name", d)),
        small.map(k => (s"$name * $k", d)),
        Gen
          .oneOf(
            "int" -> IntegerType,
            "bigint" -> LongType,
            "double" -> DoubleType,
            "decimal(6,1)" -> DecimalType(6, 1),
            "decimal(38,4)" -> DecimalType(38, 4)
          )
          .map { case (to, type_) => (s"CAST($name AS $to)", type_) },
        Gen.const((s"round($name, 1)", d)),
        Gen.const((s"floor($name)", LongType))
      )
    case StringType =>
      Gen.oneOf(
        Gen.oneOf("upper", "lower", "trim", "reverse").map(g => (s"$g($name)", StringType)),
        Gen.choose(0, 3).map(n => (s"substring($name, 1, $n)", StringType)),
        Gen.choose(1, 3).map(n => (s"left($name, $n)", StringType)),
        Gen.const((s"substring($name, 2)", StringType)),
        texts.map(p => (s"concat($p, $name)", StringType)),
        Gen.const((s"length($name)", IntegerType)),
        Gen.const((s"CAST($name AS INT)", IntegerType)),
        Gen.const((s"CAST($name AS BINARY)", BinaryType)),
        Gen.const((s"to_date($name)", DateType)),
        texts.map(p => (s"coalesce($name, $p)", StringType))
      )
    case DateType =>
      Gen.oneOf(
        Gen
          .oneOf("year", "month", "day", "quarter", "dayofweek", "weekofyear", "unix_date")
          .map(g => (s"$g($name)", IntegerType)),
        Gen.oneOf("YEAR", "MONTH", "WEEK", "QUARTER").map(u => (s"trunc($name, '$u')", DateType)),
        small.map(k => (s"date_add($name, $k)", DateType)),
        small.map(k => (s"add_months($name, $k)", DateType)),
        Gen.const((s"last_day($name)", DateType)),
        literal(DateType).map(d => (s"datediff($name, $d)", IntegerType)),
        literal(DateType).map(d => (s"datediff($d, $name)", IntegerType)),
        Gen.oneOf("yyyy-MM", "yyyy", "MM-dd", "E").map(p => (s"date_format($name, '$p')", StringType)),
        Gen.const((s"CAST($name AS TIMESTAMP)", TimestampType)),
        Gen.const((s"CAST($name AS STRING)", StringType)),
        small.map(k => (s"$name + INTERVAL $k MONTH", DateType)),
        Gen.const((s"unix_timestamp($name)", LongType))
      )
    case TimestampType | TimestampNTZType =>
      Gen.oneOf(
        Gen.oneOf("year", "month", "day", "hour", "minute", "dayofweek").map(g => (s"$g($name)", IntegerType)),
        Gen
          .oneOf("YEAR", "MONTH", "WEEK", "DAY", "HOUR", "MINUTE")
          .map(u => (s"date_trunc('$u', $name)", TimestampType)),
        Gen.oneOf("to_date", "date").map(g => (s"$g($name)", DateType)),
        Gen
          .oneOf("yyyy-MM-dd", "yyyy-MM", "yyyy-MM-dd HH:mm:ss", "yyyyMMddHH", "MM-dd")
          .map(p => (s"date_format($name, '$p')", StringType)),
        Gen.const((s"unix_timestamp($name)", LongType)),
        Gen.const((s"CAST($name AS STRING)", StringType)),
        Gen.const(
          (
            s"CAST($name AS ${if (t == TimestampType) "TIMESTAMP_NTZ" else "TIMESTAMP"})",
            if (t == TimestampType) TimestampNTZType else TimestampType
          )
        ),
        small.map(k => (s"$name + INTERVAL $k DAY", t)),
        small.map(k => (s"$name - INTERVAL $k HOUR", t)),
        small.map(k => (s"$name + INTERVAL $k MONTH", t))
      )
    case _ => Gen.const((name, t))
  }

  private val value: Gen[(String, DataType)] = Gen.oneOf(columns).flatMap { case (name, t) =>
    Gen.frequency(
      3 -> Gen.const((name, t)),
      4 -> function(name, t),
      1 -> function(name, t).flatMap { case (f, of) => function(s"($f)", of) }
    )
  }

  /** Functions of one column, or of two. */
  val computed: Gen[(String, DataType)] = Gen.frequency(
    5 -> value.suchThat { case (v, _) => v.contains("(") || v.contains(" ") },
    1 -> Gen.zip(value, value).map { case ((a, _), (b, _)) =>
      (s"concat_ws('-', CAST($a AS STRING), CAST($b AS STRING))", StringType)
    },
    1 -> Gen.zip(value, value).map { case ((a, _), (b, _)) => (s"(($a) <=> ($b))", BooleanType) },
    1 -> Gen.zip(Gen.oneOf("i", "l", "d"), Gen.oneOf("l", "f", "d", "dec5")).map { case (a, b) =>
      (s"(CAST($a AS DOUBLE) / CAST($b AS DOUBLE))", DoubleType)
    }
  )

  private val leaf: Gen[String] = value.flatMap { case (v, t) => of(v, t) }

  /** Filters on one value. */
  def of(v: String, t: DataType): Gen[String] = {
    val wanted = wantedOf(v, t)
    val any = Gen.frequency(
      6 -> Gen.zip(comparison, wanted).map { case (op, l) => s"$v $op $l" },
      1 -> wanted.map(l => s"$l < $v"),
      2 -> Gen.zip(wanted, wanted).map { case (a, b) => s"$v BETWEEN $a AND $b" },
      2 -> Gen.zip(Gen.oneOf("IN", "NOT IN"), Gen.choose(1, 14).flatMap(Gen.listOfN(_, wanted))).map {
        case (in, list) => s"$v $in (${list.mkString(", ")})"
      },
      1 -> Gen.zip(Gen.oneOf("IN", "NOT IN"), wanted).map { case (in, l) => s"$v $in ($l, NULL)" },
      2 -> Gen.oneOf("IS NULL", "IS NOT NULL").map(n => s"$v $n"),
      1 -> Gen.const(s"$v <=> NULL")
    )
    val more = t match {
      case StringType =>
        Vector(
          texts.map(p => s"startswith($v, $p)"),
          Gen.zip(Gen.oneOf("LIKE", "NOT LIKE"), ColumnValues.texts, Gen.oneOf("%", "", "_%", "%o", "\\%%")).map {
            case (like, p, end) => s"$v $like ${quoted(p + end)}"
          },
          texts.map(p => s"contains($v, $p)"),
          texts.map(p => s"endswith($v, $p)")
        )
      case FloatType | DoubleType => Vector(Gen.const(s"isnan($v)"))
      case BooleanType            => Vector(Gen.const(v))
      case _                      => Vector.empty
    }
    if (more.isEmpty) any else Gen.frequency(3 -> any, 2 -> Gen.choose(0, more.length - 1).flatMap(more(_)))
  }

  /** Texts of times are compared with texts of times. */
  private def wantedOf(v: String, t: DataType): Gen[String] =
    if (t != StringType) literal(t)
    else if (v.startsWith("date_format") || v.startsWith("from_unixtime") || v.startsWith("CAST"))
      Gen
        .oneOf(
          "2024",
          "2024-01",
          "2024-02-10",
          "2023-12-01 10:00:00",
          "20240101",
          "42",
          "-7",
          "1582-10-10",
          "0999-12-31"
        )
        .map(quoted)
    else texts

  val predicate: Gen[String] = Gen.frequency(
    5 -> leaf,
    2 -> Gen.zip(leaf, leaf).map { case (a, b) => s"($a) AND ($b)" },
    2 -> Gen.zip(leaf, leaf).map { case (a, b) => s"($a) OR ($b)" },
    1 -> leaf.map(a => s"NOT ($a)"),
    1 -> Gen.zip(leaf, leaf).map { case (a, b) => s"NOT (($a) AND NOT ($b))" },
    1 -> Gen.zip(leaf, leaf).map { case (a, b) => s"(($a) OR ($b)) IS NULL" },
    1 -> Gen.zip(leaf, leaf, leaf).map { case (a, b, c) => s"CASE WHEN $a THEN $b ELSE $c END" },
    1 -> Gen.zip(leaf, leaf).map { case (a, b) => s"(($a) AND ($b)) <=> false" }
  )
}
