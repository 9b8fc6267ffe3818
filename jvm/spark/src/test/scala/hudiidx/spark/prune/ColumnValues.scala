package hudiidx.spark.prune

import java.nio.charset.StandardCharsets.UTF_8
import java.time.{LocalDate, ZoneId, ZoneOffset}

import hudiidx.column.{Bounds, ColumnStats, ColumnType, ValueOrder, ValueSets}
import org.apache.spark.sql.types._
import org.apache.spark.unsafe.types.UTF8String
import org.scalacheck.Gen

/** Values that once cost a data-skipping index rows, in Spark's inner form. */
object ColumnValues {
  val Zones: Vector[String] =
    Vector("UTC", "America/St_Johns", "America/Sao_Paulo", "Pacific/Apia", "Asia/Kathmandu", "Europe/Berlin")

  /** The columns of the tables that are made up; `s` is a struct. */
  val Columns: StructType = new StructType()
    .add("flag", BooleanType)
    .add("i", IntegerType)
    .add("l", LongType)
    .add("f", FloatType)
    .add("d", DoubleType)
    .add("dec5", DecimalType(5, 2))
    .add("dec18", DecimalType(18, 4))
    .add("dec38", DecimalType(38, 10))
    .add("name", StringType)
    .add("bytes", BinaryType)
    .add("day", DateType)
    .add("ts", TimestampType)
    .add("local", TimestampNTZType)
    .add("s", new StructType().add("i", IntegerType).add("name", StringType))

  private val ints = Gen.frequency(
    6 -> Gen.choose(-20, 120),
    1 -> Gen.oneOf(Int.MinValue, Int.MinValue + 1, -1, 0, 1, Int.MaxValue - 1, Int.MaxValue)
  )
  private val longs = Gen.frequency(
    6 -> Gen.choose(-20L, 120L),
    2 -> Gen.oneOf(Long.MinValue, Long.MinValue + 1, Long.MaxValue - 1, Long.MaxValue, (1L << 53) + 1, -(1L << 53) - 1),
    1 -> Gen.choose(1700000000L, 1710000000L),
    1 -> Gen.long
  )
  private val doubles = Gen.frequency(
    8 -> Gen.choose(-200, 1200).map(_ / 10.0),
    1 -> Gen.oneOf(0.0, -0.0, Double.MinPositiveValue, Double.MaxValue, -Double.MaxValue, 1e17),
    1 -> Gen.oneOf(Double.PositiveInfinity, Double.NegativeInfinity),
    1 -> Gen.const(Double.NaN)
  )
  private val characters = Gen.oneOf(
    "a",
    "A",
    "p",
    "P",
    "o",
    "s",
    "S",
    "z",
    "0",
    "%",
    "_",
    "ß",
    "é",
    "ı",
    "İ",
    "Σ",
    "ς",
    "ſ",
    "😀",
    "\uFFFD",
    "日"
  )
  val texts: Gen[String] = Gen.frequency(
    4 -> Gen.oneOf(
      "oslo",
      "Oslo",
      "OSLO",
      "oslob",
      "osl",
      "paris",
      "Prag",
      "pa",
      "p",
      "",
      "q",
      "42",
      "-7",
      "007",
      "2024-03-05"
    ),
    3 -> Gen.choose(0, 4).flatMap(Gen.listOfN(_, characters)).map(_.mkString),
    1 -> Gen.choose(60, 75).flatMap(n => characters.map(c => "p" * n + c))
  )
  private val days = Gen.frequency(
    6 -> Gen.choose(LocalDate.of(2023, 11, 1).toEpochDay, LocalDate.of(2024, 4, 1).toEpochDay),
    1 -> Gen.choose(LocalDate.of(1582, 10, 1).toEpochDay, LocalDate.of(1582, 10, 20).toEpochDay),
    1 -> Gen.choose(LocalDate.of(1, 1, 1).toEpochDay, LocalDate.of(9999, 12, 31).toEpochDay)
  )

  private val changes: Vector[Long] = Zones.flatMap { z =>
    val rules = ZoneId.of(z).getRules
    Vector(2006, 2010, 2011, 2017, 2024).flatMap { y =>
      Option(rules.nextTransition(LocalDate.of(y, 1, 1).atStartOfDay(ZoneOffset.UTC).toInstant))
        .map(_.getInstant.getEpochSecond)
    }
  }
  private val seconds = Gen.frequency(
    3 -> Gen.zip(Gen.oneOf(changes), Gen.choose(-7200L, 7200L)).map { case (a, b) => a + b },
    3 -> Gen.zip(days, Gen.choose(0L, 86399L)).map { case (d, s) => d * 86400 + s },
    1 -> days.map(_ * 86400)
  )
  private val micros: Gen[Long] =
    Gen.zip(seconds, Gen.frequency(3 -> Gen.const(0L), 1 -> Gen.choose(0L, 999999L))).map { case (s, m) =>
      s * 1000000 + m
    }

  private def decimals(d: DecimalType): Gen[Decimal] = {
    val most = BigInt(10).pow(d.precision) - 1
    Gen
      .frequency(
        5 -> Gen.choose(-2000, 12000).map(n => BigInt(n) * BigInt(10).pow(d.scale) / 100),
        1 -> Gen.oneOf(most, -most, BigInt(0), BigInt(1)),
        1 -> Gen.choose(-20L, 120L).map(n => BigInt(n) * BigInt(10).pow(d.scale))
      )
      .map(n => n.min(most).max(-most))
      .map(n => Decimal(BigDecimal(n, d.scale), d.precision, d.scale))
  }

  /** Values that are not null. */
  def of(t: DataType): Gen[Any] = t match {
    case BooleanType                      => Gen.oneOf(true, false)
    case IntegerType                      => ints
    case LongType                         => longs
    case FloatType                        => doubles.map(_.toFloat)
    case DoubleType                       => doubles
    case d: DecimalType                   => decimals(d)
    case StringType                       => texts.map(UTF8String.fromString)
    case BinaryType                       => Gen.oneOf(texts.map(_.getBytes(UTF_8)), Gen.const(Array[Byte](-1, -1)))
    case DateType                         => days.map(_.toInt)
    case TimestampType | TimestampNTZType => micros
  }

  /** Older types that files may have for a column, and what readers make of their values. */
  def older(t: DataType): Vector[(DataType, Any => Any)] = t match {
    case LongType  => Vector((IntegerType, v => v.asInstanceOf[Int].toLong))
    case FloatType =>
      Vector((IntegerType, v => v.asInstanceOf[Int].toFloat), (LongType, v => v.asInstanceOf[Long].toFloat))
    case DoubleType =>
      Vector(
        (IntegerType, v => v.asInstanceOf[Int].toDouble),
        (LongType, v => v.asInstanceOf[Long].toDouble),
        (FloatType, v => v.asInstanceOf[Float].toDouble),
        (FloatType, v => v.asInstanceOf[Float].toString.toDouble)
      )
    case d: DecimalType if d.precision > 14 =>
      Vector(
        (IntegerType, v => Decimal(BigDecimal(v.asInstanceOf[Int]).setScale(d.scale), d.precision, d.scale)),
        (DecimalType(5, 2), v => Decimal(v.asInstanceOf[Decimal].toBigDecimal.setScale(d.scale), d.precision, d.scale))
      )
    // hudi-18810
    case StringType => Vector((BinaryType, v => UTF8String.fromBytes(v.asInstanceOf[Array[Byte]])))
    case _          => Vector.empty
  }

  /** What an index holds of these values, null among them: exact, or wider as it may be after cutting and merging. */
  def stats(values: Seq[Any], t: DataType): Gen[ColumnStats] = {
    val known = values.filter(_ != null)
    val bounds: Gen[Bounds] =
      if (known.isEmpty) Gen.const(Bounds.NoValues)
      else if (ValueCode.order(t).contains(ValueOrder.Longs)) {
        val codes = known.map(ValueCode.long(_, t))
        val greatest = if (ValueCode.isFloating(t)) ColumnType.NaN else codes.max
        Gen.frequency(
          6 -> Gen.const(Bounds.LongRange(codes.min, codes.max, exact = true)),
          1 -> Gen.const(Bounds.LongRange(codes.min, greatest, exact = false)),
          1 -> Gen.const(Bounds.Unknown)
        )
      } else {
        val codes = known.map(ValueCode.text(_, t)).sortWith((a, b) => java.util.Arrays.compareUnsigned(a, b) < 0)
        val cut = codes.head.take(2)
        val above = ValueSets.afterPrefix(codes.last.take(2))
        Gen.frequency(
          6 -> Gen.const(Bounds.TextRange(codes.head, codes.last, exact = true)),
          2 -> Gen.const(Bounds.TextRange(cut, if (codes.last.length <= 2) codes.last else above, exact = false)),
          1 -> Gen.const(Bounds.TextRange(cut, null, exact = false)),
          1 -> Gen.const(Bounds.Unknown)
        )
      }
    val nulls = values.count(_ == null).toLong
    for {
      b <- bounds
      n <- Gen.frequency(8 -> Gen.const(nulls), 1 -> Gen.const(-1L))
    } yield ColumnStats(values.length.toLong, n, b)
  }

  /** All that can be known. */
  def exactStats(values: Seq[Any], t: DataType): ColumnStats = {
    val known = values.filter(_ != null)
    val bounds =
      if (known.isEmpty) Bounds.NoValues
      else if (ValueCode.order(t).contains(ValueOrder.Longs)) {
        val codes = known.map(ValueCode.long(_, t))
        Bounds.LongRange(codes.min, codes.max, exact = true)
      } else {
        val codes = known.map(ValueCode.text(_, t)).sortWith((a, b) => java.util.Arrays.compareUnsigned(a, b) < 0)
        Bounds.TextRange(codes.head, codes.last, exact = true)
      }
    ColumnStats(values.length.toLong, values.count(_ == null).toLong, bounds)
  }

  /** A value in Spark's inner form; times and decimals may be given as texts. */
  def inner(value: Any, t: DataType): Any = (value, t) match {
    case (s: String, StringType)                       => UTF8String.fromString(s)
    case (s: String, d: DecimalType)                   => Decimal(BigDecimal(s).setScale(d.scale), d.precision, d.scale)
    case (s: String, DateType)                         => LocalDate.parse(s).toEpochDay.toInt
    case (s: String, TimestampType | TimestampNTZType) => java.time.Instant.parse(s).toEpochMilli * 1000
    case (other, _)                                    => other
  }
}
