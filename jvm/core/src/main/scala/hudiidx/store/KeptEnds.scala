package hudiidx.store

import hudiidx.RecentlyUsed
import hudiidx.storage.{EndReader, FileInfo, FileStamp, RandomReader, Storage}

/** Ends of files of indexes on stores that are far, kept for the process: no other file ever bears their names. */
private[hudiidx] object KeptEnds {
  private val MostBytes = 32L << 20
  private val kept = new RecentlyUsed[FileStamp, Array[Byte]](MostBytes)(_.length.toLong)

  def reader(file: FileInfo)(open: => RandomReader): EndReader = new EndReader(file.stamp, kept, () => open)

  /** Of a file whose size is known. */
  def reader(storage: Storage, path: String, sizeBytes: Long): EndReader = {
    val file = FileInfo(path, sizeBytes, 0L, isDirectory = false)
    reader(file)(storage.open(file))
  }

  /** Keeps a file that was written here, all of it. */
  def keep(path: String, content: Array[Byte]): Unit =
    kept.put(FileStamp(path, content.length.toLong, 0L, ""), content)

  /** Forgets all, as a process that begins. */
  def clear(): Unit = kept.clear()
}
