package hudiidx.spark.prune

import hudiidx.column.ValueSet.{Longs, Texts}
import hudiidx.column.{ColumnType, ValueOrder, ValueSet, ValueSets}

/** Sets of decimals as intervals of unscaled numbers, whatever their width. */
private[prune] object DecimalSets {

  /** More than any decimal has: what lies beyond is cut off. */
  private val Most: BigInt = BigInt(10).pow(38)

  /** Ascending intervals `(min, max)`, both within. */
  def intervals(set: ValueSet): Vector[(BigInt, BigInt)] = set match {
    case s: Longs => ValueSets.intervals(s).map { case (low, high) => (BigInt(low), BigInt(high)) }
    case s: Texts =>
      ValueSets.intervals(s).map { case (from, until) =>
        (leastFrom(from), if (until == null) Most else leastFrom(until) - 1)
      }
  }

  /** Empty ones are left out. */
  def of(intervals: Vector[(BigInt, BigInt)], order: ValueOrder): ValueSet = order match {
    case ValueOrder.Longs =>
      val (least, greatest) = (BigInt(Long.MinValue), BigInt(Long.MaxValue))
      ValueSets.longs(intervals.collect {
        case (low, high) if low <= high && low <= greatest && high >= least =>
          (low.max(least).toLong, high.min(greatest).toLong)
      })
    case ValueOrder.Texts =>
      ValueSets.texts(intervals.collect {
        case (low, high) if low <= high && low <= Most && high >= -Most =>
          (if (low <= -Most) Array.emptyByteArray else code(low), if (high >= Most) null else code(high + 1))
      })
  }

  /** Least n with n * factor >= value. */
  def ceiling(value: BigInt, factor: BigInt): BigInt = -floor(-value, factor)

  /** Greatest n with n * factor <= value. */
  def floor(value: BigInt, factor: BigInt): BigInt = {
    val (quotient, rest) = value /% factor
    if (rest < 0) quotient - 1 else quotient
  }

  private def code(value: BigInt): Array[Byte] = ColumnType.ofDecimal(value.bigInteger)

  /** The least number whose code is not below the bytes. */
  private def leastFrom(bytes: Array[Byte]): BigInt = {
    val cut = java.util.Arrays.copyOf(bytes, CodeBytes)
    cut(0) = (cut(0) ^ 0x80).toByte
    val value = BigInt(cut)
    if (bytes.length > CodeBytes) value + 1 else value
  }

  private val CodeBytes = 16
}
