package hudiidx.merge

import java.util.Arrays

/** Rows that take their columns from several versions. In the order of the base file's rows; those without one come last.
  *
  * A row's parts stand from the one of lowest precedence to the highest: numbers of log records, and `PartialMergePlan.Base` for the
  * row of the base file.
  */
final class PartialMergePlan private (baseRows: Array[Int], starts: Array[Int], parts: Array[Int]) {
  def size: Int = baseRows.length

  /** The base file's row that has a part in it; `PartialMergePlan.NoBase` if there is none. */
  def baseRow(mixedRow: Int): Int = baseRows(mixedRow)

  def partCount(mixedRow: Int): Int = starts(mixedRow + 1) - starts(mixedRow)

  def part(mixedRow: Int, i: Int): Int = parts(starts(mixedRow) + i)

  /** Those by whose numbers `keeps` is true, in the same order. */
  def filter(keeps: Int => Boolean): PartialMergePlan = {
    val kept = new PartialMergePlan.Builder
    (0 until size).filter(keeps).foreach(r => kept.add(baseRow(r), (0 until partCount(r)).map(part(r, _))))
    kept.result()
  }
}

object PartialMergePlan {
  val Base: Int = -1
  val NoBase: Int = Int.MaxValue
  val Empty: PartialMergePlan = new PartialMergePlan(Array.emptyIntArray, Array(0), Array.emptyIntArray)

  private[merge] final class Builder {
    private var baseRows, starts, parts = new Array[Int](64)
    private var count, used = 0

    def add(baseRow: Int, all: IndexedSeq[Int]): Unit = {
      if (count + 1 >= starts.length) {
        baseRows = Arrays.copyOf(baseRows, count * 2)
        starts = Arrays.copyOf(starts, count * 2)
      }
      if (used + all.size > parts.length) parts = Arrays.copyOf(parts, math.max(used + all.size, used * 2))
      baseRows(count) = baseRow
      all.foreach { part =>
        parts(used) = part
        used += 1
      }
      count += 1
      starts(count) = used
    }

    /** Runs of keys come one after the other, each in the order of the base file. */
    def result(): PartialMergePlan = {
      val order = Array.tabulate(count)(i => (baseRows(i).toLong << 32) | i)
      Arrays.sort(order)
      val sorted = new Builder
      order.foreach { o =>
        val from = o.toInt
        sorted.add(baseRows(from), (starts(from) until starts(from + 1)).map(parts(_)))
      }
      sorted.asAdded
    }

    private def asAdded: PartialMergePlan =
      new PartialMergePlan(Arrays.copyOf(baseRows, count), Arrays.copyOf(starts, count + 1), Arrays.copyOf(parts, used))
  }
}
