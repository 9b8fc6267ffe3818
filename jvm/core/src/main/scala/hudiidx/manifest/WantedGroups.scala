package hudiidx.manifest

import hudiidx.table.FileEntry
import java.util.Arrays
import scala.collection.mutable

/** Which file groups of a partition a caller wants, and those found so far: the ones with a file of certain sizes, and all that
  * are not plain. A plain group has base files alone, none of them replaced, and nothing changed since the master was made:
  * exactly one slice of one file is what a reader of the latest would get of it.
  *
  *  @param sizes   ascending
  *  @param removed numbers of entries that are gone, ascending
  *  @param changed ids of groups that have newer files elsewhere
  */
private[manifest] final class WantedGroups(sizes: Array[Long], removed: Array[Int], changed: Set[String]) {
  private val found = mutable.ArrayBuilder.make[FileEntry]
  private var passed = 0

  def hasSize(size: Long): Boolean = Arrays.binarySearch(sizes, size) >= 0

  def isRemoved(number: Int): Boolean = removed.length > 0 && Arrays.binarySearch(removed, number) >= 0

  /** An entry of these numbers is gone. */
  def isChanged(from: Int, until: Int): Boolean = removed.length > 0 && {
    val at = Arrays.binarySearch(removed, from)
    at >= 0 || (-at - 1 < removed.length && removed(-at - 1) < until)
  }

  def hasIds: Boolean = changed.nonEmpty

  def hasId(id: String): Boolean = changed.contains(id)

  def add(entry: FileEntry): Unit = found += entry

  /** A plain group is left out. */
  def passOver(): Unit = passed += 1

  def entries: Array[FileEntry] = found.result()

  def passedOver: Int = passed
}
