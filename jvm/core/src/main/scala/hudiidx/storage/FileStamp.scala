package hudiidx.storage

import java.util.concurrent.atomic.AtomicLong

/** Which file it is that stands under a name now. Hudi and its users make files anew under names that others had (base files of
  * metadata tables, log files of version 6, tables that are overwritten each night), so whatever is kept of a file beyond the call
  * that read it is kept by this, never by a path alone.
  *
  *  @param path           full, or with the place of a part in it, as `RangeReader` has it
  *  @param modifiedMillis when the store says it was modified
  *  @param tag            what the store calls this content (an entity tag, an inode); empty if it says nothing
  */
final case class FileStamp(path: String, sizeBytes: Long, modifiedMillis: Long, tag: String) {

  // Block caches ask for it with each block.
  override val hashCode: Int =
    ((path.hashCode * 31 + sizeBytes.hashCode) * 31 + modifiedMillis.hashCode) * 31 + tag.hashCode

  /** A part of the file, or its bytes after a filter, by a name of its own. */
  def part(named: String): FileStamp = copy(path = named)
}

object FileStamp {
  private val made = new AtomicLong

  /** Of bytes that are no file: no two are the same. */
  def ofMemory(path: String, sizeBytes: Long): FileStamp =
    FileStamp(path, sizeBytes, 0L, s"memory ${made.incrementAndGet()}")
}
