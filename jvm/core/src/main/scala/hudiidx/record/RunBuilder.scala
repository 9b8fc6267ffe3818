package hudiidx.record

import hudiidx.record.page.{EntryCursor, EntryFlag, KeyCode, ParsedKey}
import java.io.OutputStream

/** Sorted entries that are ready to be written as one run file. Holds until the builder goes on. */
trait SortedRun {
  def entries: Long

  /** About the bytes of its file, at most. */
  def bytes: Long

  /** Numbers of the hash groups that it has entries of, ascending. */
  def groups: Array[Int]

  /** Writes the run file to `out`, which stays open.
    *
    *  @param inputs   names of the inputs that are complete with this run and those of `previous`
    *  @param previous names of runs written before that hold the beginning of these inputs
    */
  def write(out: OutputStream, inputs: Seq[String] = Vector.empty, previous: Seq[String] = Vector.empty): Unit
}

/** Takes keys in any order and hands sorted runs of bounded size to `flush`. Design §3.3; docs/format.md, "Run file".
  * Not safe for several threads.
  *
  *  @param ranges      the hash groups, tiling the hash space
  *  @param budgetBytes about the memory that the entries held, with what sorting needs, may take
  *  @param flush       writes a run; called by `add` when the budget is reached, and by `flushRest`
  */
final class RunBuilder(ranges: IndexedSeq[HashRange], budgetBytes: Long, flush: SortedRun => Unit) {
  private val router = new HashRouter(ranges)
  private val numbers, uuids = new KeySorter(isText = false)
  private val texts = new KeySorter(isText = true)
  private val key = new ParsedKey

  /** Entries held. */
  def pending: Long = numbers.count.toLong + uuids.count + texts.count

  def pendingBytes: Long = numbers.bytesHeld + uuids.bytesHeld + texts.bytesHeld

  /** Adds a mapping of the key that is `length` bytes of `bytes` from `from` on, in UTF-8; they are copied.
    *
    *  @param ordinal the file group's, from the dictionary
    *  @param stamp   epoch day of the commit time, 0 to 65,535; 0 without a window
    *  @param flags   of [[EntryFlag]]
    */
  def add(bytes: Array[Byte], from: Int, length: Int, ordinal: Int, stamp: Int = 0, flags: Int = 0): Unit = {
    require(stamp >= 0 && stamp <= EntryValue.MaxStamp, s"stamp is day $stamp")
    val grown = pendingBytes + length + KeySorter.EntryBytes
    if (grown > budgetBytes || !texts.takes(length) || !uuids.takes(0) || !numbers.takes(0))
      flushRest()
    val value = EntryValue(router.groupOf(KeyCode.hash(bytes, from, length)), ordinal, stamp, flags)
    key.set(bytes, from, length)
    key.kind match {
      case KeyCode.Number => numbers.addFixed(key.high, 0L, value)
      case KeyCode.Uuid   => uuids.addFixed(key.high, key.low, value)
      case _              => texts.addText(bytes, from, length, value)
    }
  }

  /** Hands over what is held, if anything. */
  def flushRest(): Unit = if (pending > 0) {
    flush(new SorterRun(ranges, Vector(numbers, uuids, texts)))
    numbers.clear()
    uuids.clear()
    texts.clear()
  }
}

/** The entries of three sorters, one for each key class in the order of their numbers. */
private[record] final class SorterRun(ranges: IndexedSeq[HashRange], sorters: Vector[KeySorter]) extends SortedRun {
  private val starts: Vector[Array[Int]] = sorters.map(_.sort(ranges.size))

  def entries: Long = sorters.map(_.count.toLong).sum

  def bytes: Long = sorters.map(_.bytesHeld).sum + ranges.size * SorterRun.SectionBytes

  def groups: Array[Int] = ranges.indices.filter(g => starts.exists(s => s(g) < s(g + 1))).toArray

  /** Entries of one group in order. */
  def group(g: Int): EntryCursor = new SorterCursor(sorters, starts, g)

  def write(out: OutputStream, inputs: Seq[String], previous: Seq[String]): Unit = {
    val file = new RunWriter(out, ranges)
    ranges.indices.foreach { g =>
      file.beginSection(g)
      val cursor = group(g)
      while (cursor.next()) file.append(cursor)
    }
    file.close(inputs, previous)
  }
}

private object SorterRun {

  /** Of a group in a file's directory. */
  private val SectionBytes = 16L
}

/** Walks one group of sorted sorters, class after class. A key and ordinal comes once, as [[MergeCursor]] has it for
  * sources of one rank.
  */
private[record] final class SorterCursor(sorters: Vector[KeySorter], starts: Vector[Array[Int]], group: Int)
    extends EntryCursor {
  private var class0 = 0
  private var sorter = sorters(0)
  private var at = starts(0)(group)
  private var behind = at // the first entry of another key or ordinal than the current one
  private var end = starts(0)(group + 1)
  private var flags0 = 0
  private var stamp0 = 0

  def next(): Boolean = {
    at = behind
    while (at >= end && class0 + 1 < sorters.size) {
      class0 += 1
      sorter = sorters(class0)
      at = starts(class0)(group)
      end = starts(class0)(group + 1)
    }
    behind = at + 1
    at < end && {
      flags0 = EntryValue.flags(sorter.value(at))
      stamp0 = EntryValue.stamp(sorter.value(at))
      while (behind < end && sorter.sameMapping(at, behind)) {
        flags0 = EntryFlag.together(flags0, EntryValue.flags(sorter.value(behind)))
        stamp0 = math.max(stamp0, EntryValue.stamp(sorter.value(behind)))
        behind += 1
      }
      true
    }
  }

  def kind: Int = class0 + 1
  def high: Long = sorter.high(at)
  def low: Long = sorter.low(at)
  def text: Array[Byte] = sorter.text
  def textFrom: Int = sorter.textFrom(at)
  def textLength: Int = sorter.textLength(at)
  def ordinal: Int = EntryValue.ordinal(sorter.value(at))
  def flags: Int = flags0
  def stamp: Int = stamp0
}
