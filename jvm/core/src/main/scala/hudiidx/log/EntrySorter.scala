package hudiidx.log

import hudiidx.IndexNotWritable
import hudiidx.bytes.ByteSlice
import java.io.IOException
import java.nio.file.Path
import scala.collection.mutable

/** Sorts entries of a key and a value by key (unsigned bytes), entries of one key in the order in which they came, in
  * bounded memory: what passes the budget is sorted and spilled to a temporary file. Not safe for several threads.
  *
  * @param budgetBytes bytes of entries held in memory, 12 bytes for each entry included; the array that holds them grows to
  *                    that by doubling. Merging runs takes 64 KiB for each of at most a few dozen runs more
  * @param tempDir     folder for temporary files. They have no name from the moment they are open, so that nothing stays
  *                    even if the process is killed
  */
private[hudiidx] final class EntrySorter(budgetBytes: Long, tempDir: Path) extends AutoCloseable {
  private val arena = new EntryArena(budgetBytes)
  private val runs = mutable.ArrayBuffer.empty[SpilledRun]

  /** Bytes written to temporary files so far. */
  var spilledBytes: Long = 0L

  def add(key: ByteSlice, value: ByteSlice): Unit = {
    arena.add(key, value)
    if (arena.isFull) spill()
  }

  /** All entries in order; add nothing behind it. The cursor reads from this sorter, which is closed after it. */
  def sorted(): EntryCursor = {
    val memory = arena.sorted()
    if (runs.isEmpty) memory else new MergedEntries(runs.map(_.cursor()).toVector :+ memory)
  }

  private def spill(): Unit = {
    push(write(arena.sorted(), level = 0))
    arena.clear()
  }

  /** Runs stand in the order in which their entries came. As many of one level as a merge takes become one of the next. */
  private def push(run: SpilledRun): Unit = {
    runs += run
    val same = runs.reverseIterator.takeWhile(_.level == run.level).size
    if (same >= EntrySorter.FanIn) {
      val merged = runs.takeRight(same).toVector
      val whole = write(new MergedEntries(merged.map(_.cursor())), run.level + 1)
      merged.foreach(_.close())
      runs.remove(runs.size - same, same)
      push(whole)
    }
  }

  private def write(entries: EntryCursor, level: Int): SpilledRun =
    try {
      val run = SpilledRun.write(entries, tempDir, level)
      spilledBytes += run.sizeBytes
      run
    } catch {
      case e: IOException =>
        throw new IndexNotWritable(
          s"$tempDir: a temporary file for sorting keys cannot be written ($e); free space there, or start Java with " +
            "another java.io.tmpdir",
          e
        )
    }

  override def close(): Unit = {
    runs.foreach(_.close())
    runs.clear()
  }
}

private[hudiidx] object EntrySorter {
  private val FanIn = 32
}

/** Walks entries in order. The ranges are good until the next `next`. */
private[hudiidx] abstract class EntryCursor {
  val key = new ByteSlice
  val value = new ByteSlice

  def next(): Boolean
}

/** Merges cursors of runs; of equal keys those of earlier runs come first. */
private final class MergedEntries(runs: Vector[EntryCursor]) extends EntryCursor {
  private val heap =
    new java.util.PriorityQueue[Integer](math.max(1, runs.size), (a: Integer, b: Integer) => order(a, b))
  runs.indices.foreach(i => if (runs(i).next()) heap.add(i))
  private var current = -1

  private def order(a: Int, b: Int): Int = {
    val (x, y) = (runs(a).key, runs(b).key)
    val byKey = hudiidx.bytes.Bytes.compare(x.bytes, x.from, x.length, y.bytes, y.from, y.length)
    if (byKey != 0) byKey else Integer.compare(a, b)
  }

  override def next(): Boolean = {
    if (current >= 0 && runs(current).next()) heap.add(current)
    if (heap.isEmpty) {
      current = -1
      false
    } else {
      current = heap.poll()
      val run = runs(current)
      key.set(run.key.bytes, run.key.from, run.key.length)
      value.set(run.value.bytes, run.value.from, run.value.length)
      true
    }
  }
}
