package hudiidx.record

/** What to do with a hash group after an update. */
sealed trait GroupStep
object GroupStep {
  case object Keep extends GroupStep

  /** Merge the deltas from place `from` on (0 is the oldest) into one. */
  final case class MergeDeltas(from: Int) extends GroupStep

  /** Merge base and deltas into a new base. */
  case object NewBase extends GroupStep

  /** Merge base and deltas into the bases of two half ranges. */
  case object Split extends GroupStep
}

/** The rules of the record index as a log-structured merge tree; pure. Costs are spoken of in docs/format.md, "Record index".
  *
  *  @param targetBytes  size that a hash group is made with
  *  @param deltaPercent share of the base that its deltas may come to
  *  @param maxDeltas    most delta files of a group, so that a lookup opens at most one more
  */
final case class RecordPlan(
    targetBytes: Long = RecordPlan.TargetBytes,
    deltaPercent: Int = 20,
    maxDeltas: Int = 4
) {
  require(targetBytes > 0 && deltaPercent > 0 && maxDeltas > 0, s"$this")

  /** Hash groups for a new index.
    *
    *  @param mappings        rows that the footers of the base files count, and what the logs may add
    *  @param bytesPerMapping expected size, from a sample of keys or [[RecordPlan.UsualBytes]]
    *  @param least           at least so many, for the sake of parallel creation; ignored where groups would be tiny
    */
  def groups(mappings: Long, bytesPerMapping: Double = RecordPlan.UsualBytes, least: Int = 1): Int = {
    val bytes = mappings * bytesPerMapping
    val bySize = math.ceil(bytes / targetBytes)
    val forTasks = math.min(least.toDouble, bytes / RecordPlan.LeastBytes)
    math.max(1.0, math.min(HashRange.MaxGroups.toDouble, math.max(bySize, forTasks))).toInt
  }

  /** The step for a group with these file sizes, the newest delta included. A base is rewritten only when deltas have grown
    * to `deltaPercent` of it, so an entry of the base is written again about 100 / deltaPercent times while the group
    * doubles. Deltas that are not twice as large as all newer ones together are merged with them: sizes fall by a factor of
    * three, and a delta's entry is rewritten a logarithm of times.
    */
  def step(baseBytes: Long, deltaBytes: Vector[Long], range: HashRange): GroupStep = {
    val deltas = deltaBytes.sum
    if (deltas > 0 && (deltas * 100.0 >= baseBytes.toDouble * deltaPercent))
      if (splits(baseBytes + deltas, range)) GroupStep.Split else GroupStep.NewBase
    else if (splits(baseBytes + deltas, range)) GroupStep.Split
    else {
      val from = math.min(unsorted(deltaBytes), math.max(0, deltaBytes.size - 1))
      val first = if (from > maxDeltas - 1) maxDeltas - 1 else from
      if (first < deltaBytes.size - 1) GroupStep.MergeDeltas(first) else GroupStep.Keep
    }
  }

  /** True if any delta makes the group due for a new base, split or not: so small is its base. */
  def rewritesAtOnce(baseBytes: Long, deltaBytes: Vector[Long], range: HashRange): Boolean =
    withoutSplits.step(baseBytes, deltaBytes :+ RecordPlan.LeastDeltaBytes, range) == GroupStep.NewBase

  /** A group of twice the target is split. */
  def splits(bytes: Long, range: HashRange): Boolean = range.canSplit && bytes >= 2 * targetBytes

  /** Neighbours are merged when both together are below half the target, so that what was merged is far from a split. */
  def merges(lowerBytes: Long, upperBytes: Long): Boolean = lowerBytes + upperBytes < targetBytes / 2

  /** Neighbours that are to become one group, as ranges of places: each run is below half the target and has a group that
    * is written anew in any case, so that no group is rewritten for the sake of a merge alone.
    *
    *  @param bytes of all groups, in the order of their ranges
    *  @param due   places of groups that get a new base
    *  @param least so many groups are to be left
    */
  def neighbours(bytes: Vector[Long], due: Set[Int], least: Int): Vector[Range] = {
    var found = Vector.empty[Range]
    var spare = bytes.size - math.max(1, least)
    var i = 0
    while (i < bytes.size) {
      var to = i
      var sum = bytes(i)
      while (to + 1 < bytes.size && to - i < spare && merges(sum, bytes(to + 1))) {
        to += 1
        sum += bytes(to)
      }
      val run = i to to
      if (to > i && run.exists(due)) {
        found :+= run
        spare -= to - i
        i = to + 1
      } else i += 1
    }
    found
  }

  /** The same rules but no splits. */
  def withoutSplits: RecordPlan = copy(targetBytes = Long.MaxValue / 4)

  /** Segments of the dictionary to merge: those from this place on, None if sizes are in order. */
  def mergeSegments(bytes: Vector[Long]): Option[Int] = {
    val from = unsorted(bytes)
    if (from < bytes.size - 1) Some(from) else None
  }

  /** The oldest place whose size is not twice that of all newer ones together. */
  private def unsorted(sizes: Vector[Long]): Int = {
    var newer = 0L
    var from = sizes.size - 1
    var i = sizes.size - 1
    while (i >= 0) {
      if (sizes(i) < 2 * newer) from = i
      newer += sizes(i)
      i -= 1
    }
    math.max(0, from)
  }
}

object RecordPlan {
  val TargetBytes: Long = 64L << 20

  /** Bytes of a mapping with a UUID key. */
  val UsualBytes = 15.0

  /** No delta file is smaller: an HFile's trailer alone takes so much. */
  private val LeastDeltaBytes = 4096L

  /** Below this a group is not made smaller for the sake of tasks. */
  private val LeastBytes = 4.0 * (1 << 20)
}
