package hudiidx.spark.prune

import org.apache.spark.sql.{DataFrame, Row}
import org.apache.spark.sql.types._
import org.scalacheck.Gen

/** Random filters on a table's columns of simple types, nested ones too, with values of the table and others. */
object TablePredicates {

  def of(table: DataFrame): Gen[String] = {
    val sample = table.limit(60).collect().toVector
    val columns = paths(table.schema, sample).filter(c => literal(c.dataType, "1").isDefined)
    def value(c: Column): Gen[String] = {
      val seen = c.values.filter(_ != null).flatMap(v => literal(c.dataType, v.toString))
      if (seen.isEmpty) Gen.const("NULL") else Gen.frequency(9 -> Gen.oneOf(seen), 1 -> Gen.const("NULL"))
    }
    val simple = for {
      c <- Gen.oneOf(columns)
      op <- Gen.oneOf("=", "<", ">", "<=", ">=", "<>", "<=>")
      v <- value(c)
      w <- value(c)
      form <- Gen.oneOf(
        Vector(
          s"${c.name} $op $v",
          s"${c.name} IN ($v, $w)",
          s"${c.name} NOT IN ($v, $w)",
          s"${c.name} BETWEEN $v AND $w",
          s"${c.name} IS NULL",
          s"${c.name} IS NOT NULL",
          s"NOT (${c.name} $op $v)"
        ) ++ functions(c, op, v)
      )
    } yield form
    for {
      a <- simple
      b <- simple
      form <- Gen.oneOf(a, s"$a AND $b", s"$a OR $b", s"NOT ($a AND $b)")
    } yield form
  }

  /** Comparisons of columns with constants of their own types, as people write them. */
  def plain(table: DataFrame): Gen[String] = {
    val columns = paths(table.schema, table.limit(60).collect().toVector)
      .map(c => c -> c.values.filter(_ != null).flatMap(v => constant(c.dataType, v.toString)))
      .filter(_._2.nonEmpty)
    val simple = for {
      (c, values) <- Gen.oneOf(columns)
      op <- Gen.oneOf("=", "<", ">", "<=", ">=", "<>", "!=", "==")
      v <- Gen.oneOf(values)
      w <- Gen.oneOf(values)
      not <- Gen.oneOf("", "NOT ")
      form <- Gen.oneOf(
        Vector(
          s"${c.name} $op $v",
          s"${c.name}$op$v",
          s"${c.name} ${not}BETWEEN $v AND $w",
          s"not (${c.name} $op $v)"
        ) ++ (if (c.nullable) Some(s"${c.name} IS ${not}NULL") else None) ++ (c.dataType match {
          case StringType =>
            Vector(
              s"$v $op ${c.name}",
              s"${c.name} ${not}LIKE '${v.slice(1, 3).replace("'", "").padTo(1, 'a')}%'",
              s"${c.name} ${not}in ($v,$w)"
            )
          case DateType | TimestampType => Vector(s"${c.name} $op ${v.dropWhile(_ != '\'')}")
          case _                        => Vector(s"$v $op ${c.name}", s"${c.name} ${not}IN ($v, $w)")
        })
      )
    } yield form
    for {
      a <- simple
      b <- simple
      c <- simple
      form <- Gen.oneOf(a, s"$a and $b", s"$a OR $b AND $c", s"NOT ($a AND ($b or $c))")
    } yield form
  }

  private def constant(dataType: DataType, text: String): Option[String] = dataType match {
    case StringType => if (text.exists("'\\%_".contains(_))) None else Some(s"'$text'")
    case ByteType | ShortType | IntegerType | LongType | BooleanType => Some(text)
    case DoubleType    => if (text.forall(c => c.isDigit || "-.E".contains(c))) Some(text) else None
    case DateType      => Some(s"DATE '$text'")
    case TimestampType => Some(s"timestamp '$text'")
    case _             => None
  }

  final private case class Column(name: String, dataType: DataType, nullable: Boolean, values: Vector[Any])

  private def paths(schema: StructType, rows: Vector[Row]): Vector[Column] =
    schema.fields.toVector.zipWithIndex.flatMap { case (f, i) =>
      val values = rows.map(r => if (r == null) null else r.get(i))
      f.dataType match {
        case s: StructType =>
          paths(s, values.map(_.asInstanceOf[Row])).map(c =>
            c.copy(name = s"`${f.name}`.${c.name}", nullable = f.nullable || c.nullable)
          )
        case t => Vector(Column(s"`${f.name}`", t, f.nullable, values))
      }
    }

  private def functions(c: Column, op: String, v: String): Vector[String] = c.dataType match {
    case StringType =>
      Vector(
        s"upper(${c.name}) $op upper($v)",
        s"${c.name} LIKE concat(left($v, 2), '%')",
        s"substring(${c.name}, 1, 2) $op left($v, 2)"
      )
    case IntegerType | LongType => Vector(s"${c.name} + 1 $op $v", s"CAST(${c.name} AS DOUBLE) $op $v - 0.5")
    case FloatType | DoubleType => Vector(s"-${c.name} $op $v", s"isnan(${c.name})", s"floor(${c.name}) $op floor($v)")
    case DateType      => Vector(s"year(${c.name}) $op year($v)", s"trunc(${c.name}, 'MM') $op trunc($v, 'MM')")
    case TimestampType => Vector(s"to_date(${c.name}) $op to_date($v)", s"hour(${c.name}) $op hour($v)")
    case _             => Vector.empty
  }

  private def literal(dataType: DataType, text: String): Option[String] = dataType match {
    case StringType => Some("'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'")
    case IntegerType | LongType | DoubleType | FloatType | BooleanType => Some(s"CAST('$text' AS ${dataType.sql})")
    case _: DecimalType                                                => Some(s"CAST('$text' AS ${dataType.sql})")
    case DateType | TimestampType                                      => Some(s"CAST('$text' AS ${dataType.sql})")
    case _                                                             => None
  }
}
