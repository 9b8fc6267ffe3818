package hudiidx.engine.record

import java.io.IOException

import hudiidx.DamagedIndex
import hudiidx.record.page.KeyCode
import hudiidx.record.VisibleGroup
import hudiidx.sync.TableAccess
import hudiidx.table.FileGroup

/** Keys of one hash group with each of their locations, as a reader of the moment sees them through the index. Where a file
  * of the index fails, the rest is read from the files of the table (law 5): those file groups that the index would have
  * answered for, one slice's keys in memory at a time. Must be closed.
  *
  *  @param instead the moment without its index, said why; it warns, or in strict mode raises DamagedIndex
  */
final class GroupMappings(
    moment: RecordIndexSnapshot,
    keys: IndexedKeys,
    group: Int,
    access: TableAccess,
    instead: String => RecordIndexSnapshot
) extends AutoCloseable {
  private val range = keys.index.groups(group).range
  private var cursor: LocationCursor = _
  private var rest: Iterator[(Array[Byte], VisibleGroup)] = _
  private var key0: Array[Byte] = _
  private var location0: VisibleGroup = _

  /** Locations given of the current key: the index gives keys in order, so all keys before it are done. */
  private var given = Set.empty[FileGroup]

  def next(): Boolean = if (rest == null) fromIndex() else fromFiles()

  /** As UTF-8. */
  def key: Array[Byte] = key0

  def location: VisibleGroup = location0

  private def fromIndex(): Boolean =
    try {
      if (cursor == null) cursor = keys.scan(group)
      cursor.next() && take(cursor.key, cursor.location)
    } catch {
      case e: DamagedIndex => goOn(e.getMessage)
      case e: IOException  => goOn(e.toString)
    }

  private def take(key: Array[Byte], location: VisibleGroup): Boolean = {
    if (key0 == null || !java.util.Arrays.equals(key0, key)) given = Set.empty
    key0 = key
    location0 = location
    given += FileGroup(location.partitionPath, location.fileId)
    true
  }

  private def goOn(why: String): Boolean = {
    val all = instead(why)
    val (last, done) = (if (key0 == null) null else KeyCode.encode(key0), given)
    def isLeft(key: Array[Byte], slice: FileGroup): Boolean =
      last == null || {
        val order = KeyCode.compare(KeyCode.encode(key), last)
        order > 0 || (order == 0 && !done(slice))
      }
    rest = SliceKeyChunks.wholeSlices(all).iterator.flatMap { input =>
      val slice = FileGroup(input.slice.partitionPath, input.slice.fileId)
      val location = all.sliceGroups(input.ordinal)
      if (moment.dirty(slice)) Iterator.empty
      else
        SliceKeyChunks
          .distinctKeys(all, access, input)
          .filter(k => range.contains(KeyCode.hash(k, 0, k.length)) && isLeft(k, slice))
          .map(_ -> location)
    }
    close()
    fromFiles()
  }

  private def fromFiles(): Boolean = rest.hasNext && {
    val (key, location) = rest.next()
    key0 = key
    location0 = location
    true
  }

  override def close(): Unit = if (cursor != null) {
    cursor.close()
    cursor = null
  }
}
