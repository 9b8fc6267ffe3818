package hudiidx.record

import hudiidx.record.page.{EntriesOf, EntryCursor, KeyHasher, MergeCursor}

/** The entries of one hash group's base file, if there is one, and of its deltas, oldest first. */
final case class GroupEntries(base: Option[EntryCursor], deltas: Vector[EntryCursor])

/** Streams of entries that become new base and delta files. All cursors given are closed with the one that comes out. */
object HashGroupMerge {

  /** The section of one hash group of every run: what a first base file holds. */
  def runs(sections: IndexedSeq[EntryCursor]): EntryCursor =
    if (sections.size == 1) sections.head else new MergeCursor(sections, new Array[Int](sections.size))

  /** The mappings of hash groups (one, or neighbours that become one): no removes, and none that `isLive` says no reader
    * asks for any more, by their ordinal and stamp.
    */
  def mappings(groups: Seq[GroupEntries], isLive: (Int, Int) => Boolean = (_, _) => true): EntryCursor = {
    val ranked = groups.flatMap(g => g.base.map(_ -> 0).toVector ++ g.deltas.zip(1 to g.deltas.size)).toVector
    new LiveCursor(new MergeCursor(ranked.map(_._1), ranked.map(_._2).toArray), isLive)
  }

  /** One delta with the effect of `deltas`, oldest first. */
  def delta(deltas: IndexedSeq[EntryCursor]): EntryCursor = new MergeCursor(deltas, deltas.indices.toArray)

  /** Hands each entry to the writer of its half. */
  def split(entries: EntryCursor, lowerRange: HashRange, lower: RecordFileWriter, upper: RecordFileWriter): Unit = {
    val hasher = new KeyHasher
    while (entries.next()) (if (lowerRange.contains(hasher.hash(entries))) lower else upper).append(entries)
  }
}

/** Entries that are no removes and live. */
private[record] final class LiveCursor(protected val all: EntryCursor, isLive: (Int, Int) => Boolean)
    extends EntriesOf {

  def next(): Boolean = {
    var more = all.next()
    while (more && (all.isRemove || !isLive(all.ordinal, all.stamp))) more = all.next()
    more
  }
}
