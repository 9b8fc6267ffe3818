package hudiidx.parquet

import java.util.{HashMap => JMap}

import hudiidx.bytes.Bytes
import hudiidx.log.{KeyState, LoggedKey}

/** A key as a range of bytes; what looks one up is set anew for each. */
private[hudiidx] final class KeyRange {
  private var bytes: Array[Byte] = Array.emptyByteArray
  private var from = 0
  private var length = 0

  def set(bytes: Array[Byte], from: Int, length: Int): KeyRange = {
    this.bytes = bytes
    this.from = from
    this.length = length
    this
  }

  override def hashCode: Int = {
    var h = 0
    var i = from
    while (i < from + length) {
      h = 31 * h + bytes(i)
      i += 1
    }
    h
  }

  override def equals(other: Any): Boolean = other match {
    case k: KeyRange => java.util.Arrays.equals(bytes, from, from + length, k.bytes, k.from, k.from + k.length)
    case _           => false
  }
}

/** A key whose presence in a slice is in question.
  *
  * @param state what the slice's log makes of it; null if that does not touch it
  * @param day   of the commit that wrote the log's row
  */
private[hudiidx] final class KeyInQuestion(
    val key: Array[Byte],
    val state: KeyState,
    val mayBeDeleted: Boolean,
    val day: Int
) {
  private var repeated = false
  private var firstRow = -1L
  private var firstDay = 0
  private var baseDay = -1

  def isLoggedLive: Boolean = state == KeyState.Live

  /** A row of the base file has the key. Of several rows of one key the log may take the first alone, or each by its position: that only
    * the merged slice tells.
    *
    * @param isDropped by its number, a row of the base file is not in the slice as it is
    */
  def meet(row: KeyRows, isDropped: Long => Boolean): Unit =
    if (firstRow < 0) {
      firstRow = row.row
      firstDay = row.commitDay
      if (staysAlone(row)) baseDay = firstDay
    } else if (state == null) baseDay = row.commitDay
    else if (!isLoggedLive) {
      if (!repeated) baseDay = if (isDropped(firstRow)) -1 else firstDay
      repeated = true
      if (!isDropped(row.row)) baseDay = row.commitDay
    }

  private def staysAlone(row: KeyRows): Boolean = state match {
    case null                                      => true
    case unless: KeyState.DeletedUnlessBaseIsNewer => unless.spares(row.ordering)
    case _                                         => false
  }

  /** True if the slice has the key, by its log or by the base rows met. */
  def isLive: Boolean = isLoggedLive || baseDay >= 0

  /** The log deletes the key, and another row of it stays: a compaction may leave none. Or a payload class decides. */
  def isDoubtful: Boolean = mayBeDeleted || (repeated && !isLoggedLive)

  def liveDay: Int = if (isLoggedLive) day else math.max(baseDay, 0)
}

/** Keys in question, as many as fit into a budget: the next run of a sorted stream of them. */
private[hudiidx] final class KeyTable(budgetBytes: Long) {
  private val entries = new JMap[KeyRange, KeyInQuestion]
  private val probe = new KeyRange
  private var above: Array[Byte] = _
  private var last: Array[Byte] = _
  private var used = 0L

  /** Takes keys off the stream until it ends or the budget is used up, in place of those from before. */
  def fill(keys: Iterator[KeyInQuestion]): Unit = {
    clear()
    above = last
    last = null
    while (keys.hasNext && used < budgetBytes) {
      val next = keys.next()
      last = next.key
      add(next)
    }
    if (!keys.hasNext) last = null
  }

  def clear(): Unit = {
    entries.clear()
    used = 0
  }

  def add(key: KeyInQuestion): Unit = {
    entries.put(new KeyRange().set(key.key, 0, key.key.length), key)
    used += key.key.length + KeyTable.EntryBytes
  }

  def isFull: Boolean = used >= budgetBytes

  def isEmpty: Boolean = entries.isEmpty

  /** True if the stream's keys up to this one and from the run before on were filled in: then `find` answers for it. */
  def covers(row: KeyRows): Boolean =
    (above == null || Bytes.compare(row.bytes, row.from, row.length, above, 0, above.length) > 0) &&
      (last == null || Bytes.compare(row.bytes, row.from, row.length, last, 0, last.length) <= 0)

  /** Null if the key is not in question. */
  def find(row: KeyRows): KeyInQuestion =
    if (entries.isEmpty) null else entries.get(probe.set(row.bytes, row.from, row.length))

  def remove(row: KeyRows): Unit = entries.remove(probe.set(row.bytes, row.from, row.length)): Unit

  def foreach(use: KeyInQuestion => Unit): Unit = entries.values.forEach(k => use(k))

  def exists(what: KeyInQuestion => Boolean): Boolean = entries.values.stream.anyMatch(k => what(k))
}

private[hudiidx] object KeyTable {

  /** Objects and table slots of an entry, on top of its key's bytes. */
  private val EntryBytes = 160

  def inQuestion(logged: LoggedKey): KeyInQuestion =
    new KeyInQuestion(logged.keyUtf8, logged.state, logged.mayBeDeleted, CommitDay.of(logged.commitTime.orNull))
}
