package hudiidx.record

import hudiidx.record.page.{EntryCursor, EntryFlag, ParsedKey}

/** Of entries that a delta is to hold those that change something: adds of mappings that the index has as they are fall away,
  * and removes of mappings that it does not have. Looks the index up in batches, so that a small delta of a large group does
  * not read the group.
  */
private[record] final class ChangedEntries(entries: EntryCursor, index: RecordIndex) extends EntryCursor {
  private val keys = new java.util.ArrayList[Array[Byte]]
  private val ordinals, flagsOf, stamps = new Array[Int](ChangedEntries.Batch)
  private val places = new Array[Int](ChangedEntries.Batch) // of an entry's key among the keys
  private val kept = new Array[Boolean](ChangedEntries.Batch)
  private val key = new ParsedKey
  private var count = 0
  private var at = -1

  def next(): Boolean = {
    at += 1
    while (at < count && !kept(at)) at += 1
    while (at == count && fill()) while (at < count && !kept(at)) at += 1
    if (at < count) {
      val bytes = keys.get(places(at))
      key.set(bytes, 0, bytes.length)
      true
    } else false
  }

  /** Takes the next batch; false at the end. */
  private def fill(): Boolean = {
    keys.clear()
    count = 0
    at = 0
    while (count < ChangedEntries.Batch && entries.next()) {
      val bytes = entries.keyBytes
      if (keys.isEmpty || !java.util.Arrays.equals(keys.get(keys.size - 1), bytes)) keys.add(bytes)
      places(count) = keys.size - 1
      ordinals(count) = entries.ordinal
      flagsOf(count) = entries.flags
      stamps(count) = entries.stamp
      count += 1
    }
    if (count > 0) judge()
    count > 0
  }

  private def judge(): Unit = {
    val packed = PackedKeys.ofBytes((0 until keys.size).map(keys.get))
    val found = index.lookup(packed)
    (0 until count).foreach { i =>
      val known = (found.starts(places(i)) until found.starts(places(i) + 1)).find(found.ordinals(_) == ordinals(i))
      val removes = (flagsOf(i) & EntryFlag.Remove) != 0
      kept(i) = known match {
        case None    => !removes
        case Some(n) => removes || found.flags(n) != flagsOf(i) || found.stamps(n) != stamps(i)
      }
    }
  }

  def kind: Int = key.kind
  def high: Long = key.high
  def low: Long = key.low
  def text: Array[Byte] = key.text
  def textFrom: Int = key.textFrom
  def textLength: Int = key.textLength
  def ordinal: Int = ordinals(at)
  def flags: Int = flagsOf(at)
  def stamp: Int = stamps(at)

  override def close(): Unit = entries.close()
}

private[record] object ChangedEntries {
  val Batch = 8192
}
