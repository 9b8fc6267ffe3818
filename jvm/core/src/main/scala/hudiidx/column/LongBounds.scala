package hudiidx.column

import hudiidx.bytes.{PackedInput, PackedOutput}

/** Bounds of order Longs, packed. docs/format.md, "Long bounds".
  *
  * Values are cut down in steps, each of which gives back the same values: floating point numbers that are short decimals
  * become integers; what all have in common (a least value, a factor as that of whole seconds in microseconds) is taken out; the
  * rest takes as many bits as most of them need, and the few that need more stand apart.
  */
private[column] object LongBounds {
  private val Plain = 0

  /** Powers of ten that a double holds exactly. */
  private val Powers: Array[Double] = Array.tabulate(16)(e => math.pow(10, e.toDouble).round.toDouble)
  private val MostExact = 1L << 53
  private val Differences = 1
  private val Itself = 0

  def encode(out: PackedOutput, columnType: ColumnType, mins: Array[Long], maxs: Array[Long]): Unit = {
    val n = mins.length
    val raw = java.util.Arrays.copyOf(mins, 2 * n)
    System.arraycopy(maxs, 0, raw, n, n)
    val power = decimals(columnType, raw)
    val (values, strange) = integers(columnType, raw, power)
    val (least, factor) = common(values)
    var i = 0
    while (i < values.length) {
      values(i) = (values(i) - least) / factor
      i += 1
    }
    out.byte(power)
    out.zigzag(least)
    out.varint(factor)
    out.varint(strange.length.toLong)
    if (strange.nonEmpty) {
      out.column(strange.map(_.toLong), strange.length)
      out.column(strange.map(raw(_)), strange.length)
    }
    val low = java.util.Arrays.copyOf(values, n)
    val high = java.util.Arrays.copyOfRange(values, n, 2 * n)
    PatchedColumn.of(low).write(out)
    val itself = PatchedColumn.of(high)
    val differences = PatchedColumn.of(Array.tabulate(n)(i => high(i) - low(i)))
    out.byte(if (differences.bits < itself.bits) Differences else Itself)
    (if (differences.bits < itself.bits) differences else itself).write(out)
  }

  def decode(in: PackedInput, columnType: ColumnType, n: Int): (Array[Long], Array[Long]) = {
    val power = in.byte()
    require(power <= Powers.length && (power == Plain || isFloating(columnType)), s"decimals $power of $columnType")
    val least = in.zigzag()
    val factor = in.varint()
    val strange = in.varint()
    require(strange >= 0 && strange <= 2L * n, s"$strange values that stand apart")
    val places = if (strange == 0) Array.emptyLongArray else in.column(strange.toInt)
    val apart = if (strange == 0) Array.emptyLongArray else in.column(strange.toInt)
    val mins = PatchedColumn.read(in, n)
    val form = in.byte()
    require(form == Itself || form == Differences, s"form $form of upper bounds")
    val maxs = PatchedColumn.read(in, n)
    if (form == Differences) add(maxs, mins)
    restore(mins, least, factor, columnType, power)
    restore(maxs, least, factor, columnType, power)
    places.indices.foreach { i =>
      require(places(i) >= 0 && places(i) < 2L * n, s"place ${places(i)}")
      val p = places(i).toInt
      if (p < n) mins(p) = apart(i) else maxs(p - n) = apart(i)
    }
    (mins, maxs)
  }

  /** The values as integers, and the places of those that stand apart: these must not widen the others. */
  private def integers(columnType: ColumnType, raw: Array[Long], power: Int): (Array[Long], Array[Int]) = {
    val values = new Array[Long](raw.length)
    val strange = Array.newBuilder[Int]
    var filler = 0L
    var i = raw.length - 1
    while (i >= 0) {
      if (fits(columnType, raw(i), power)) {
        values(i) = toInteger(columnType, raw(i), power)
        filler = values(i)
      } else strange += i
      i -= 1
    }
    val apart = strange.result().reverse
    apart.foreach(values(_) = filler)
    (values, apart)
  }

  private def add(to: Array[Long], other: Array[Long]): Unit = {
    var i = 0
    while (i < to.length) {
      to(i) += other(i)
      i += 1
    }
  }

  private def restore(values: Array[Long], least: Long, factor: Long, columnType: ColumnType, power: Int): Unit = {
    var i = 0
    if (factor != 1 || least != 0)
      while (i < values.length) {
        values(i) = values(i) * factor + least
        i += 1
      }
    if (power != Plain) {
      val divisor = Powers(power - 1)
      val single = columnType == ColumnType.Float32
      i = 0
      while (i < values.length) {
        val quotient = values(i) / divisor
        values(i) = ColumnType.ofDouble(if (single) quotient.toFloat.toDouble else quotient)
        i += 1
      }
    }
  }

  private def isFloating(columnType: ColumnType): Boolean =
    columnType == ColumnType.Float32 || columnType == ColumnType.Float64

  /** One more than the number of digits behind the point with which most values are integers; 0 if there is none. */
  private def decimals(columnType: ColumnType, raw: Array[Long]): Int =
    if (!isFloating(columnType)) Plain
    else {
      val step = math.max(1, raw.length / Sample)
      val sample = raw.indices.by(step).map(raw(_)).filter(v => !ColumnType.toDouble(v).isNaN)
      def misses(power: Int): Int = sample.count(!fits(columnType, _, power))
      (1 to Powers.length).find(p => misses(p) * MostMisses <= sample.size).getOrElse(Plain)
    }

  private val Sample = 64

  /** One value in so many may stand apart: it takes about so many times the room of another. */
  private val MostMisses = 16

  /** False for values that stand apart: NaN, and decimals of more digits. */
  private def fits(columnType: ColumnType, value: Long, power: Int): Boolean =
    if (power == Plain) !(isFloating(columnType) && value == ColumnType.NaN)
    else {
      val d = ColumnType.toDouble(value)
      val scaled = math.rint(d * Powers(power - 1))
      math.abs(scaled) <= MostExact && {
        val quotient = scaled / Powers(power - 1)
        (if (columnType == ColumnType.Float32) quotient.toFloat.toDouble else quotient) == d
      }
    }

  private def toInteger(columnType: ColumnType, value: Long, power: Int): Long =
    if (power == Plain) value else math.rint(ColumnType.toDouble(value) * Powers(power - 1)).toLong

  /** The least value, and the greatest factor of all distances to it; 0 and 1 where distances pass 63 bits. */
  private def common(values: Array[Long]): (Long, Long) =
    if (values.isEmpty) (0, 1)
    else {
      var least = values(0)
      var most = least
      var v = 1
      while (v < values.length) {
        least = math.min(least, values(v))
        most = math.max(most, values(v))
        v += 1
      }
      if (most - least < 0) (0, 1)
      else {
        var factor = 0L
        var i = 0
        while (i < values.length && factor != 1) {
          factor = gcd(values(i) - least, factor)
          i += 1
        }
        (least, math.max(1L, factor))
      }
    }

  @annotation.tailrec
  private def gcd(a: Long, b: Long): Long = if (b == 0) a else gcd(b, a % b)
}

/** A column of integers of which a few may stand apart, so that they do not widen the others.
  *
  *  @param base  least of the others
  *  @param width bits of each of the others above it
  *  @param apart places of those that stand apart
  */
private[column] final class PatchedColumn(values: Array[Long], base: Long, width: Int, apart: Array[Int]) {

  /** About what it takes. */
  def bits: Long = values.length.toLong * width + apart.length.toLong * PatchedColumn.ApartBits

  def write(out: PackedOutput): Unit = {
    out.byte(width)
    out.zigzag(base)
    out.varint(apart.length.toLong)
    if (apart.nonEmpty) {
      out.column(apart.map(_.toLong), apart.length)
      out.column(apart.map(values(_)), apart.length)
    }
    if (width > 0) {
      val packed = values.clone()
      apart.foreach(packed(_) = base)
      out.bits(packed, packed.length, base, width)
    }
  }
}

private[column] object PatchedColumn {

  /** A value and a place, roughly. */
  private val ApartBits = 64 + 12

  /** Chooses the width that makes it smallest. */
  def of(values: Array[Long]): PatchedColumn = {
    val sorted = values.clone()
    java.util.Arrays.sort(sorted)
    val n = sorted.length
    if (n == 0) new PatchedColumn(values, 0, 0, Array.emptyIntArray)
    else {
      var (bestWidth, bestFrom, bestCount) = (bitsOf(sorted(n - 1) - sorted(0)), 0, n)
      var best = n.toLong * bestWidth
      var width = bestWidth - 1
      while (width >= 0) {
        val (from, count) = widest(sorted, width)
        val cost = n.toLong * width + (n - count).toLong * ApartBits
        if (cost < best) {
          best = cost
          bestWidth = width
          bestFrom = from
          bestCount = count
        }
        // Narrower ones cannot win any more: those that stand apart only become more.
        width = if ((n - count).toLong * ApartBits >= best) -1 else width - 1
      }
      val (low, high) = (sorted(bestFrom), sorted(bestFrom + bestCount - 1))
      val apart =
        if (bestCount == n) Array.emptyIntArray
        else values.indices.filter(i => values(i) < low || values(i) > high).toArray
      new PatchedColumn(values, low, bestWidth, apart)
    }
  }

  private def bitsOf(span: Long): Int = 64 - java.lang.Long.numberOfLeadingZeros(span)

  /** The longest run of sorted values whose distances fit so many bits: where it begins, how many they are. */
  private def widest(sorted: Array[Long], width: Int): (Int, Int) = {
    var (from, best, bestFrom) = (0, 0, 0)
    var to = 0
    while (to < sorted.length) {
      while (bitsOf(sorted(to) - sorted(from)) > width) from += 1
      if (to - from + 1 > best) {
        best = to - from + 1
        bestFrom = from
      }
      to += 1
    }
    (bestFrom, best)
  }

  def read(in: PackedInput, n: Int): Array[Long] = {
    val width = in.byte()
    require(width <= 64, s"width of $width bits")
    val base = in.zigzag()
    val apart = in.varint()
    require(apart >= 0 && apart <= n, s"$apart of $n values stand apart")
    val places = if (apart == 0) Array.emptyLongArray else in.column(apart.toInt)
    val values = if (apart == 0) Array.emptyLongArray else in.column(apart.toInt)
    in.requireBits(n, width)
    val out = new Array[Long](n)
    if (width > 0) in.bits(out, base, width)
    else if (base != 0) java.util.Arrays.fill(out, base)
    var i = 0
    while (i < places.length) {
      require(places(i) >= 0 && places(i) < n, s"place ${places(i)} of $n")
      out(places(i).toInt) = values(i)
      i += 1
    }
    out
  }
}
