package hudiidx.record

/** The part of the hash space 0 to 2^32 - 1 that a hash group owns; both ends belong to it. */
final case class HashRange(from: Long, to: Long) {
  require(from >= 0 && from <= to && to <= HashRange.Last, s"hash range $from to $to")

  def contains(hash: Long): Boolean = hash >= from && hash <= to

  /** Sixteen hexadecimal digits in two halves, as file names have it. */
  def name: String = f"$from%08x-$to%08x"

  def canSplit: Boolean = from < to

  /** The lower and the upper half. */
  def split: (HashRange, HashRange) = {
    val middle = from + (to - from) / 2
    (HashRange(from, middle), HashRange(middle + 1, to))
  }
}

object HashRange {
  val Last = 0xffffffffL
  val All: HashRange = HashRange(0, Last)

  /** Entries of a run name their group in 14 bits. */
  val MaxGroups = 1 << 14

  /** `groups` ranges of one size (give or take one hash) that tile the space, ascending. */
  def tile(groups: Int): Vector[HashRange] = {
    require(groups >= 1 && groups <= MaxGroups, s"$groups hash groups, not from 1 to $MaxGroups")
    Vector.tabulate(groups)(i => HashRange((i.toLong << 32) / groups, ((i + 1L) << 32) / groups - 1))
  }

  /** True if the ranges, in this order, cover every hash exactly once. */
  def tiles(ranges: Seq[HashRange]): Boolean =
    ranges.nonEmpty && ranges.head.from == 0 && ranges.last.to == Last &&
      ranges.zip(ranges.drop(1)).forall { case (a, b) => a.to + 1 == b.from }

  /** Reads what `name` gives. */
  def ofName(name: String): Option[HashRange] =
    if (!name.matches("[0-9a-f]{8}-[0-9a-f]{8}")) None
    else {
      val from = java.lang.Long.parseLong(name.substring(0, 8), 16)
      val to = java.lang.Long.parseLong(name.substring(9), 16)
      if (from <= to) Some(HashRange(from, to)) else None
    }
}

/** Finds the range of a hash among ranges that tile the space. */
private[record] final class HashRouter(ranges: IndexedSeq[HashRange]) {
  require(HashRange.tiles(ranges), s"hash ranges do not tile the space: ${ranges.take(8).map(_.name).mkString(", ")}")
  private val starts: Array[Long] = ranges.map(_.from).toArray

  def groupOf(hash: Long): Int = {
    val at = java.util.Arrays.binarySearch(starts, hash)
    if (at >= 0) at else -at - 2
  }
}
