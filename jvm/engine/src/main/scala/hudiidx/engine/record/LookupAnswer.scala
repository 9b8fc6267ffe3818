package hudiidx.engine.record

import hudiidx.record.Locations
import hudiidx.storage.FarCalls
import hudiidx.sync.Fallback

/** What lookups in an opened record index did; its numbers only grow.
  *
  *  @param groupsOpened hash groups that lookups and scans went into
  *  @param filesOpened  files opened, those still open from before not counted again
  *  @param pagesDecoded pages that lookups searched
  *  @param bytesRead    from storage: what the block cache held is not among them
  *  @param notLive      mappings that were found and are no locations: their file group is dirty, replaced, or not visible, or
  *                      the record has left the window
  */
final case class IndexWork(
    groupsOpened: Long,
    filesOpened: Long,
    pagesDecoded: Long,
    bytesRead: Long,
    notLive: Long
) {
  def values: Vector[Long] = Vector(groupsOpened, filesOpened, pagesDecoded, bytesRead, notLive)

  /** What was done since. */
  def minus(before: IndexWork): IndexWork = IndexWork(
    groupsOpened - before.groupsOpened,
    filesOpened - before.filesOpened,
    pagesDecoded - before.pagesDecoded,
    bytesRead - before.bytesRead,
    notLive - before.notLive
  )
}

object IndexWork {
  val None: IndexWork = IndexWork(0, 0, 0, 0, 0)
}

/** How a lookup came to its answer.
  *
  *  @param indexVersion None: without the index
  *  @param work         of the index in this lookup
  *  @param slicesRead   file slices whose key columns were read by this lookup, since the index does not know their keys
  *  @param slicesKept   likewise, whose keys a lookup before had read and kept
  *  @param calls        of the table's store, where that is far: those of this process, not of its tasks
  */
final case class LookupUse(
    indexVersion: Option[Long],
    work: IndexWork,
    slicesRead: Int,
    slicesKept: Int,
    fallback: Option[Fallback],
    calls: FarCalls = FarCalls.None
) {

  /** As they go to other languages (docs/format.md, "Packed keys and locations"): the index version (0: none), the index's work
    * in the order of [[IndexWork]], slices read, slices kept, and the calls of the store in that of [[FarCalls]].
    */
  def counts: Vector[Long] =
    ((indexVersion.getOrElse(0L) +: work.values) :+ slicesRead.toLong :+ slicesKept.toLong) ++ calls.values
}

/** Locations of keys, and how they were found.
  *
  *  @param windowDays days of the index's window: a key without a location may then be in the table, outside the window
  */
final case class LookupAnswer(locations: Locations, windowDays: Option[Int], use: LookupUse) {

  /** Keys asked for that have a location; those asked twice count twice. */
  def hits: Int = (0 until locations.keys).count(locations.count(_) > 0)

  /** Those that have none. */
  def misses: Int = locations.keys - hits
}
