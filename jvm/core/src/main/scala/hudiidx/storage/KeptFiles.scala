package hudiidx.storage

import hudiidx.RecentlyUsed

/** Small files of stores that are far, kept for the process by which files they are: nobody changes them, and what was read once need
  * not be asked for again.
  */
private[hudiidx] object KeptFiles {
  private val MostBytes = 16L << 20

  /** Of one file. */
  private val Largest = 1L << 20
  private val kept = new RecentlyUsed[FileStamp, Array[Byte]](MostBytes)(_.length.toLong)

  /** As `storage.readAll(file)`; not to be changed. Two callers at once may both read. */
  def readAll(storage: Storage, file: FileInfo): Array[Byte] =
    if (storage.isFar(file.path) && file.sizeBytes <= Largest) kept.getOrPut(file.stamp)(storage.readAll(file))
    else storage.readAll(file)

  /** The first of these that are kept together, all of them. */
  def fitting(files: Vector[FileInfo]): Vector[FileInfo] = {
    val small = files.filter(_.sizeBytes <= Largest)
    val bytes = small.scanLeft(0L)(_ + _.sizeBytes).drop(1)
    small.zip(bytes).takeWhile(_._2 <= MostBytes / 2).map(_._1)
  }

  /** Forgets all, as a process that begins. */
  def clear(): Unit = kept.clear()
}
