package hudiidx.manifest

import hudiidx.table.{FileEntry, FileOrder}
import scala.collection.mutable

/** What instants did to the files of one partition, taken in the order in which they completed. */
final class PartitionChange(val partitionPath: String) {
  private val added = mutable.LinkedHashMap.empty[String, FileEntry]
  private val removed = mutable.Set.empty[String]
  private val replaced = mutable.Map.empty[String, String]
  private var unmarking = Unmarking.None
  private var cleared = false
  private var filled = false

  def add(entry: FileEntry): Unit = {
    filled = true
    val name = entry.fileName
    removed -= name
    added.remove(name)
    added(name) = entry
  }

  def remove(fileName: String): Unit = {
    added.remove(fileName)
    removed += fileName
  }

  /** The file group was replaced by the instant requested at `instantTime`; the earliest replacement counts. */
  def replace(fileId: String, instantTime: String): Unit = {
    added.foreach { case (name, e) => if (e.fileId == fileId) added(name) = replacedBy(e, instantTime) }
    if (replaced.get(fileId).forall(_ > instantTime)) replaced(fileId) = instantTime
  }

  /** File groups whose replacement was taken back are there again, unless another one replaced them too. */
  private[manifest] def unmark(takenBack: Unmarking): Unit = unmarking = takenBack

  /** The partition's folder is gone with all that it held. */
  def clear(): Unit = {
    cleared = true
    filled = false
    added.clear()
    removed.clear()
    replaced.clear()
  }

  def addedEntries: Vector[FileEntry] = added.values.toVector

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

  /** Entries before this change -> entries after it, in [[FileOrder]]. */
  def applyTo(entries: Array[FileEntry]): Array[FileEntry] = {
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
