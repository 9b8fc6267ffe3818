package hudiidx.report

/** Values of a histogram from `from` to `last`, both included. */
final case class Bin(from: Long, last: Long, count: Long)

/** Counts numbers by powers of two: 0, 1, 2 to 3, 4 to 7, … */
final class Histogram {
  private val counts = new Array[Long](64)

  /** @param value not negative */
  def add(value: Long): Unit = counts(64 - java.lang.Long.numberOfLeadingZeros(value)) += 1

  /** From the first that counts anything to the last. */
  def bins: Vector[Bin] = {
    val used = counts.indices.filter(counts(_) > 0)
    if (used.isEmpty) Vector.empty
    else (used.head to used.last).map(i => Bin(if (i == 0) 0 else 1L << (i - 1), (1L << i) - 1, counts(i))).toVector
  }
}

/** Those with the greatest weight of all that were added, at most `most`. */
final class Top[A](most: Int)(weight: A => Long) {
  private var kept = Vector.empty[A]

  def add(one: A): Unit =
    if (kept.size < most || weight(one) > weight(kept.last))
      kept = (kept :+ one).sortBy(a => -weight(a)).take(most)

  /** The greatest first. */
  def all: Vector[A] = kept
}
