package hudiidx.column

import java.math.BigInteger
import java.nio.charset.StandardCharsets.UTF_8
import org.scalacheck.Gen

/** Statistics and conditions of all kinds of columns. */
object ColumnGen {
  import ColumnCondition._

  val columnType: Gen[ColumnType] = Gen.oneOf(
    ColumnType.Bool,
    ColumnType.Int32,
    ColumnType.Int64,
    ColumnType.Date,
    ColumnType.Timestamp,
    ColumnType.LocalTimestamp,
    ColumnType.Float32,
    ColumnType.Float64,
    ColumnType.Text,
    ColumnType.Binary,
    ColumnType.Decimal(9, 2),
    ColumnType.Decimal(38, 4)
  )

  private val double: Gen[Double] = Gen.oneOf(
    Gen.choose(0, 100000).map(_ / 100.0),
    Gen.double,
    Gen.choose(-1e300, 1e300),
    Gen.oneOf(Double.NaN, Double.PositiveInfinity, Double.NegativeInfinity, -0.0, Double.MinPositiveValue, 0.1, 1e-7)
  )
  private val long: Gen[Long] = Gen.oneOf(
    Gen.choose(0L, 20L),
    Gen.long,
    Gen.choose(1700000000000L, 1700000100000L).map(_ * 1000),
    Gen.oneOf(Long.MinValue, Long.MaxValue, 0L, -1L)
  )

  def longOf(columnType: ColumnType): Gen[Long] = columnType match {
    case ColumnType.Bool    => Gen.choose(0L, 1L)
    case ColumnType.Int32   => Gen.oneOf(Gen.choose(0L, 50L), Gen.choose(-2147483648L, 2147483647L))
    case ColumnType.Date    => Gen.choose(-800000L, 20000L)
    case ColumnType.Float32 => double.map(d => ColumnType.ofDouble(d.toFloat.toDouble))
    case ColumnType.Float64 => double.map(ColumnType.ofDouble)
    case _                  => long
  }

  private val plainText: Gen[Array[Byte]] = Gen.oneOf(
    Gen.oneOf("", "a", "ab", "abc", "b", "oslo", "zürich", "\uD83D\uDE00", "\u0000").map(_.getBytes(UTF_8)),
    Gen.choose(0, 999).map(n => f"customer-$n%06d".getBytes(UTF_8)),
    Gen.listOf(Gen.choose(-128, 127).map(_.toByte)).map(_.toArray),
    Gen.choose(0, 200).map(n => Array.fill(n)('x'.toByte))
  )

  def textOf(columnType: ColumnType): Gen[Array[Byte]] = columnType match {
    case _: ColumnType.Decimal => Gen.choose(-1000000L, 1000000L).map(n => ColumnType.ofDecimal(BigInteger.valueOf(n)))
    case _                     => plainText
  }

  private def ordered(a: Array[Byte], b: Array[Byte]): (Array[Byte], Array[Byte]) =
    if (java.util.Arrays.compareUnsigned(a, b) <= 0) (a, b) else (b, a)

  def bounds(columnType: ColumnType): Gen[Bounds] = {
    val range: Gen[Bounds] = columnType.order match {
      case ValueOrder.Longs =>
        for (a <- longOf(columnType); b <- longOf(columnType); near <- Gen.prob(0.5); e <- Gen.prob(0.8))
          yield Bounds.LongRange(math.min(a, b), if (near) math.min(a, b) else math.max(a, b), e)
      case ValueOrder.Texts =>
        for (a <- textOf(columnType); b <- textOf(columnType); e <- Gen.prob(0.8); open <- Gen.prob(0.1)) yield {
          val (min, max) = ordered(a, b)
          if (open) Bounds.TextRange(min, null, exact = false) else Bounds.TextRange(min, max, e)
        }
    }
    Gen.frequency(8 -> range, 1 -> Gen.const(Bounds.Unknown), 1 -> Gen.const(Bounds.NoValues))
  }

  def stats(columnType: ColumnType, rows: Long): Gen[ColumnStats] = for {
    b <- bounds(columnType)
    own <- Gen.frequency(9 -> Gen.const(rows), 1 -> Gen.choose(-1L, 100L))
    n <- Gen.oneOf(Gen.const(0L), Gen.const(-1L), Gen.choose(0L, math.max(0L, own)))
  } yield ColumnStats(own, if (b == Bounds.NoValues && n >= 0) own else n, b)

  def valueSet(columnType: ColumnType): Gen[ValueSet] = columnType.order match {
    case ValueOrder.Longs =>
      Gen.listOf(longOf(columnType)).map { all =>
        val ends = all.distinct.sorted.grouped(2).filter(_.size == 2).map(p => (p.head, p.last)).toArray
        new ValueSet.Longs(ends.map(_._1), ends.map(_._2))
      }
    case ValueOrder.Texts =>
      for (all <- Gen.listOf(textOf(columnType)); open <- Gen.prob(0.2)) yield {
        val sorted = all.sortWith((a, b) => java.util.Arrays.compareUnsigned(a, b) < 0)
        val distinct = sorted.map(_.toVector).distinct.map(_.toArray)
        val ends = distinct.grouped(2).filter(_.size == 2).map(p => (p.head, p.last)).toArray
        if (open && ends.nonEmpty) ends(ends.length - 1) = (ends.last._1, null)
        new ValueSet.Texts(ends.map(_._1), ends.map(_._2))
      }
  }

  /** A condition on some of the columns, and on one that nobody has. */
  def condition(columns: Vector[IndexedColumn], depth: Int = 3): Gen[ColumnCondition] = {
    val leaf: Gen[ColumnCondition] = for {
      path <- Gen.oneOf(columns.map(_.path).distinct :+ "missing")
      types = columns.filter(_.path == path).map(_.columnType)
      sets <- Gen.sequence[Vector[Option[ValueSet]], Option[ValueSet]](
        types.map(t => Gen.frequency(6 -> valueSet(t).map(Option(_)), 1 -> Gen.const(Option.empty[ValueSet])))
      )
      nulls <- Gen.prob(0.2)
    } yield In(path, nulls, t => types.zip(sets).collectFirst { case (`t`, s) => s }.flatten)
    if (depth == 0) leaf
    else {
      val some = Gen.choose(0, 3).flatMap(n => Gen.listOfN(n, condition(columns, depth - 1))).map(_.toVector)
      Gen.frequency(
        4 -> leaf,
        3 -> some.map(And(_)),
        3 -> some.map(Or(_)),
        1 -> Gen.oneOf(Anything("a test"), ColumnCondition.Nothing)
      )
    }
  }
}
