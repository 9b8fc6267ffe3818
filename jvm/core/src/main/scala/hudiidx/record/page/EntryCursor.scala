package hudiidx.record.page

import hudiidx.DamagedIndex

/** Flags of an entry. */
object EntryFlag {

  /** Deltas only: the mapping is gone. */
  val Remove = 1

  /** The key may have been deleted by a payload class that only stock Hudi can ask. */
  val Doubt = 2

  /** What two entries of one age for one key and ordinal come to. */
  private[record] def together(a: Int, b: Int): Int = (a & b & Remove) | ((a | b) & Doubt)
}

/** Walks entries in ascending order of key code, then ordinal. The parts of the current one hold until the next call of
  * `next`. Not safe for several threads.
  */
abstract class EntryCursor extends KeyParts with AutoCloseable {

  /** Moves to the next entry; at first to the first one. False, and for ever false, behind the last. */
  def next(): Boolean

  /** The file group, by its place in the dictionary. */
  def ordinal: Int

  /** Of [[EntryFlag]]. */
  def flags: Int

  /** Epoch day of the record's commit time, 0 without a window. */
  def stamp: Int

  /** The record key, as UTF-8 bytes. */
  def keyBytes: Array[Byte] = KeyParts.bytes(this)

  def isRemove: Boolean = (flags & EntryFlag.Remove) != 0

  override def close(): Unit = ()
}

/** Entries of another cursor, some of them or all: the current one is that cursor's. */
private[record] abstract class EntriesOf extends EntryCursor {
  protected def all: EntryCursor

  def kind: Int = all.kind
  def high: Long = all.high
  def low: Long = all.low
  def text: Array[Byte] = all.text
  def textFrom: Int = all.textFrom
  def textLength: Int = all.textLength
  def ordinal: Int = all.ordinal
  def flags: Int = all.flags
  def stamp: Int = all.stamp

  override def close(): Unit = all.close()
}

private[record] object EntryCursor {

  def compare(a: EntryCursor, b: EntryCursor): Int = {
    val order = KeyParts.compare(a, b)
    if (order != 0) order else Integer.compare(a.ordinal, b.ordinal)
  }
}

/** Entries of page after page. `nextPage` opens the next one in `pageReader`, false behind the last. */
private[record] abstract class PagedCursor(where: => String) extends EntryCursor {
  protected val pageReader = new PageReader
  private val columns = new EntryColumns
  private var at = -1

  protected def nextPage(): Boolean

  def kind: Int = columns.kind
  def high: Long = columns.high(at)
  def low: Long = columns.low(at)
  def text: Array[Byte] = columns.texts
  def textFrom: Int = if (at == 0) 0 else columns.ends(at - 1)
  def textLength: Int = columns.ends(at) - textFrom
  def ordinal: Int = columns.ordinals(at)
  def flags: Int = columns.flags(at)
  def stamp: Int = columns.stamps(at)

  def next(): Boolean = {
    at += 1
    at < columns.count || {
      val more = nextPage()
      if (more) DamagedPage.guard(where)(pageReader.decode(columns)) else columns.count = 0
      at = 0
      more
    }
  }
}

private[record] object DamagedPage {

  /** Turns what a malformed page raises into DamagedIndex. */
  def guard[A](where: => String)(read: => A): A =
    try read
    catch {
      case e @ (_: IllegalArgumentException | _: IndexOutOfBoundsException | _: ArithmeticException) =>
        throw damaged(where, e.getMessage, e)
    }

  def damaged(where: String, what: String, e: Throwable = null): DamagedIndex =
    new DamagedIndex(s"$where: entry page cannot be decoded ($what); `hudiidx create` makes a new index", e)
}

/** One stream of entries out of several, with one entry for each key and ordinal. Of several for one key and ordinal the
  * source with the highest rank decides; among sources of one rank an add beats a remove, the latest stamp counts, and a
  * doubt of any is a doubt.
  *
  *  @param ranks for each source its age: a later change has a higher number
  */
private[record] final class MergeCursor(sources: IndexedSeq[EntryCursor], ranks: Array[Int]) extends EntryCursor {
  private val heap = new Array[Int](sources.size)
  // Of each source's current key: what decides most comparisons.
  private val kinds = new Array[Int](sources.size)
  private val leads = new Array[Long](sources.size)
  private var size = 0
  private var top: EntryCursor = _
  private var started = false
  private var flags0 = 0
  private var stamp0 = 0
  private var rank = 0

  def kind: Int = top.kind
  def high: Long = top.high
  def low: Long = top.low
  def text: Array[Byte] = top.text
  def textFrom: Int = top.textFrom
  def textLength: Int = top.textLength
  def ordinal: Int = top.ordinal
  def flags: Int = flags0
  def stamp: Int = stamp0

  def next(): Boolean = {
    if (!started) start() else if (size > 0) advance(0)
    size > 0 && {
      top = sources(heap(0))
      flags0 = top.flags
      stamp0 = top.stamp
      rank = ranks(heap(0))
      absorb(1)
      absorb(2)
      true
    }
  }

  override def close(): Unit = sources.foreach(_.close())

  private def start(): Unit = {
    started = true
    var i = 0
    while (i < sources.size) {
      if (step(i)) {
        heap(size) = i
        size += 1
      }
      i += 1
    }
    i = size / 2 - 1
    while (i >= 0) {
      sift(i)
      i -= 1
    }
  }

  /** Takes in all entries from `place` of the heap on that equal the top one. */
  private def absorb(place: Int): Unit =
    while (place < size && compare(heap(place), heap(0)) == 0) {
      val other = sources(heap(place))
      val otherRank = ranks(heap(place))
      if (otherRank > rank) {
        flags0 = other.flags
        stamp0 = other.stamp
        rank = otherRank
      } else if (otherRank == rank) {
        flags0 = EntryFlag.together(flags0, other.flags)
        stamp0 = math.max(stamp0, other.stamp)
      }
      advance(place)
    }

  private def advance(place: Int): Unit = {
    if (!step(heap(place))) {
      size -= 1
      heap(place) = heap(size)
    }
    if (place < size) sift(place)
  }

  /** Moves a source on; false behind its last entry. */
  private def step(source: Int): Boolean = {
    val cursor = sources(source)
    cursor.next() && {
      kinds(source) = cursor.kind
      leads(source) = KeyParts.lead(cursor)
      true
    }
  }

  private def compare(a: Int, b: Int): Int =
    if (kinds(a) != kinds(b)) Integer.compare(kinds(a), kinds(b))
    else if (leads(a) != leads(b)) java.lang.Long.compareUnsigned(leads(a), leads(b))
    else EntryCursor.compare(sources(a), sources(b))

  private def sift(from: Int): Unit = {
    val moved = heap(from)
    var at = from
    var child = 2 * at + 1
    var settled = false
    while (!settled && child < size) {
      if (child + 1 < size && compare(heap(child + 1), heap(child)) < 0) child += 1
      settled = compare(moved, heap(child)) <= 0
      if (!settled) {
        heap(at) = heap(child)
        at = child
        child = 2 * at + 1
      }
    }
    heap(at) = moved
  }
}
