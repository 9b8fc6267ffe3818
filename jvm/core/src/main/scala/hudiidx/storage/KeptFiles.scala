package hudiidx.storage

/** Small files of stores that are far, kept for the process by which files they are: nobody changes them, and what was read once need
  * not be asked for again. Those that were asked for least recently go first.
  */
private[hudiidx] object KeptFiles {
  private val MostBytes = 16L << 20

  /** Of one file. */
  private val Largest = 1L << 20
  private val kept = new java.util.LinkedHashMap[FileStamp, Array[Byte]](16, 0.75f, true)
  private var heldBytes = 0L

  /** As `storage.readAll(file)`; not to be changed. Two callers at once may both read. */
  def readAll(storage: Storage, file: FileInfo): Array[Byte] =
    if (storage.isFar(file.path) && file.sizeBytes <= Largest) {
      val known = synchronized(kept.get(file.stamp))
      if (known != null) known else keep(file.stamp, storage.readAll(file))
    } else storage.readAll(file)

  private def keep(stamp: FileStamp, content: Array[Byte]): Array[Byte] = synchronized {
    val before = kept.put(stamp, content)
    heldBytes += content.length - (if (before == null) 0 else before.length)
    val oldest = kept.values.iterator
    while (heldBytes > MostBytes) {
      heldBytes -= oldest.next().length
      oldest.remove()
    }
    content
  }

  /** The first of these that are kept together, all of them. */
  def fitting(files: Vector[FileInfo]): Vector[FileInfo] = {
    val small = files.filter(_.sizeBytes <= Largest)
    val bytes = small.scanLeft(0L)(_ + _.sizeBytes).drop(1)
    small.zip(bytes).takeWhile(_._2 <= MostBytes / 2).map(_._1)
  }

  /** Forgets all, as a process that begins. */
  def clear(): Unit = synchronized {
    kept.clear()
    heldBytes = 0L
  }
}
