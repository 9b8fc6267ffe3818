package hudiidx.manifest

import hudiidx.DamagedIndex
import hudiidx.table.{FileEntry, FileOrder}
import java.util.{Map => JMap}
import scala.collection.mutable

/** What instants did to the files of one partition, taken in the order in which they completed. */
final class PartitionChange(val partitionPath: String) {
  private val added = mutable.LinkedHashMap.empty[String, FileEntry]
  private val removed = mutable.Set.empty[String]
  private val replaced = mutable.Map.empty[String, String]
  private var unmarking = Unmarking.None
  private var cleared = false
  private var filled = false
  // What is said of removals, to be held against what else is known.
  private var isAllCleaned = false
  private val cleaned, doubted = mutable.Set.empty[String]
  private val everReplaced = mutable.Map.empty[String, String]
  private val gone, marked = mutable.Map.empty[String, String]
  private val dropped = mutable.LinkedHashMap.empty[String, FileEntry]

  def add(entry: FileEntry): Unit = {
    filled = true
    val name = entry.fileName
    removed -= name
    cleaned -= name
    dropped.remove(name)
    added.remove(name)
    added(name) = entry
  }

  def remove(fileName: String): Unit = {
    added.remove(fileName)
    removed += fileName
  }

  /** As `remove`, by a clean: see `requireCredible`. */
  def clean(fileName: String): Unit = {
    added.get(fileName).foreach(dropped(fileName) = _)
    remove(fileName)
    cleaned += fileName
  }

  /** Says that a rollback names this file, which it did not roll back. */
  def doubt(fileName: String): Unit = doubted += fileName

  /** The file group was replaced by the instant requested at `instantTime`; the earliest replacement counts. */
  def replace(fileId: String, instantTime: String): Unit =
    Seq(replaced, everReplaced).foreach(m => if (m.get(fileId).forall(_ > instantTime)) m(fileId) = instantTime)

  /** As `replace`, by an instant that is archived. Of a group that is still there, as a savepoint keeps its files, readers of the timeline do
    * not know that it was replaced: stock Hudi has its rows again, and writes to it.
    *
    * @param isCovered files from before bear its mark, or came when it was archived
    */
  private[manifest] def replaceArchived(fileId: String, instantTime: String, isCovered: Boolean): Unit =
    if (isCovered) marked(fileId) = instantTime
    else {
      if (everReplaced.get(fileId).forall(_ > instantTime)) everReplaced(fileId) = instantTime
      gone(fileId) = instantTime
    }

  /** As `replace`, of the files that came until now: those from before are known to be replaced.
    *
    * @param instants the replacement's by file id
    */
  private[manifest] def replaceAdded(instants: JMap[String, String]): Unit = Seq(added, dropped).foreach { files =>
    files.foreach { case (name, e) =>
      val instant = instants.get(e.fileId)
      if (instant != null) files(name) = replacedBy(e, instant)
    }
  }

  /** File groups whose replacement was rolled back are there again, unless another one replaced them too. */
  private[manifest] def unmark(takenBack: Unmarking): Unit = unmarking = takenBack

  /** As `clear`, by a clean: see `requireCredible`. */
  def cleanAll(): Unit = {
    dropped ++= added
    isAllCleaned = true
    clear()
  }

  /** The partition's folder is gone with all that it held. */
  def clear(): Unit = {
    cleared = true
    filled = false
    added.clear()
    removed.clear()
    replaced.clear()
  }

  /** What comes to a group after its replacement, as of a compaction that was planned before, goes with it. */
  def addedEntries: Vector[FileEntry] =
    added.valuesIterator.map(e => everReplaced.get(e.fileId).fold(e)(replacedBy(e, _))).toVector

  /** All that was there before is gone. */
  def isCleared: Boolean = cleared

  /** True if the partition is there after the change, given that it was or was not there before. */
  def exists(before: Boolean): Boolean = filled || (before && !cleared)

  /** True if a file that was there before may be gone, replaced or given anew by this change. */
  def touchesExisting: Boolean = cleared || removed.nonEmpty || replaced.nonEmpty || unmarking.instants.nonEmpty

  /** True if an entry that was there before stays as it was. */
  def keeps(entry: FileEntry): Boolean =
    !cleared && !replaced.contains(entry.fileId) && !unmarking.concerns(entry) && (removed.isEmpty || !removed(
      entry.fileName
    ))

  /** An entry from before with this change's replacement; None if it is removed. */
  def amended(entry: FileEntry): Option[FileEntry] =
    if (cleared || removed(entry.fileName)) None else Some(markReplaced(entry))

  /** Entries before this change -> entries after it, in [[FileOrder]]. DamagedIndex as `requireCredible`. */
  def applyTo(entries: Array[FileEntry]): Array[FileEntry] = {
    requireCredible(entries)
    after(entries)
  }

  /** True if there are removals that have to be held against the entries. */
  def isToBeHeld: Boolean = isAllCleaned || cleaned.nonEmpty || doubted.nonEmpty || gone.nonEmpty || marked.nonEmpty

  /** DamagedIndex if a file of `entries`, or one that came since, is said to be gone that may well be there: a clean removes what newer
    * files of its group hide or another group replaced, and a rollback what its commits wrote. Whoever can put a file into the timeline can
    * say otherwise; a listing has what is there. DamagedIndex too for what is left of a group that an archived instant replaced.
    */
  def requireCredible(entries: Array[FileEntry]): Unit = if (isToBeHeld) {
    val left = after(entries)
    for (e <- left; instant <- gone.get(e.fileId).orElse(marked.get(e.fileId).filter(e.replacedAt.contains(_))))
      throw new DamagedIndex(
        s"partition '$partitionPath': ${e.fileName} is there, and instant $instant, which replaced its file group, is archived; " +
          "an index cannot follow that"
      )
    val newest = mutable.HashMap.empty[String, String]
    left.foreach(e => if (e.isBase && newest.get(e.fileId).forall(_ < e.instantTime)) newest(e.fileId) = e.instantTime)
    val there = left.iterator.map(_.fileName).toSet
    (entries.iterator ++ dropped.valuesIterator)
      .find(e => !there(e.fileName) && (doubted(e.fileName) || isShown(e, newest)))
      .foreach { e =>
        throw new DamagedIndex(
          s"partition '$partitionPath': a clean or rollback says that it removed ${e.fileName}, which nothing newer hides; an index cannot follow that"
        )
      }
  }

  /** True for a file that a clean removed, and readers would see. */
  private def isShown(e: FileEntry, newest: collection.Map[String, String]): Boolean =
    (isAllCleaned || cleaned(e.fileName)) && e.replacedAt.isEmpty && !everReplaced.contains(e.fileId) &&
      newest.get(e.fileId).forall(_ <= e.instantTime)

  private def after(entries: Array[FileEntry]): Array[FileEntry] = {
    val kept = if (touchesExisting) entries.flatMap(e => if (keeps(e)) Some(e) else amended(e)) else entries
    FileMerge.merge(kept, addedEntries.toArray)
  }

  private def markReplaced(e: FileEntry): FileEntry = {
    val known = unmarking(partitionPath, e)
    replaced.get(e.fileId).fold(known)(replacedBy(known, _))
  }

  private def replacedBy(e: FileEntry, instantTime: String): FileEntry =
    if (e.replacedAt.forall(_ > instantTime)) e.copy(replacedAt = Some(instantTime)) else e
}

private[manifest] object FileMerge {

  /** Merges entries in [[FileOrder]] with newer ones; of two with the same name the newer one stays. */
  def merge(older: Array[FileEntry], newer: Array[FileEntry]): Array[FileEntry] =
    if (newer.isEmpty) older
    else {
      val late = FileOrder.sorted(newer)
      val out = new Array[FileEntry](older.length + late.length)
      var (i, j, n) = (0, 0, 0)
      while (i < older.length || j < late.length) {
        val c = if (i == older.length) 1 else if (j == late.length) -1 else FileOrder.compare(older(i), late(j))
        if (c < 0) {
          out(n) = older(i)
          i += 1
        } else {
          if (c == 0) i += 1
          out(n) = late(j)
          j += 1
        }
        n += 1
      }
      if (n == out.length) out else java.util.Arrays.copyOf(out, n)
    }
}
