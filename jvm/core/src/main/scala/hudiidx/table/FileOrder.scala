package hudiidx.table

import java.util.{Arrays, Comparator}

/** The order in which a view walks a partition: file id, instant, base before log, version number, write token, kind.
  *  Within a file group it is stock Hudi's order of log files (format notes §4.1): `.log.10` comes after `.log.9`.
  */
object FileOrder extends Comparator[FileEntry] with Serializable {

  override def compare(a: FileEntry, b: FileEntry): Int = {
    var c = a.fileId.compareTo(b.fileId)
    if (c == 0) c = a.instantTime.compareTo(b.instantTime)
    if (c == 0) c = java.lang.Boolean.compare(b.isBase, a.isBase)
    if (c == 0) c = Integer.compare(a.logVersion, b.logVersion)
    if (c == 0) c = a.writeToken.compareTo(b.writeToken)
    if (c == 0) c = Integer.compare(a.kind.code, b.kind.code)
    c
  }

  /** The files in order: the array itself if it is in order already, else a sorted copy. */
  def sorted(files: Array[FileEntry]): Array[FileEntry] =
    if (isSorted(files)) files
    else {
      val copy = files.clone()
      Arrays.sort(copy, this)
      copy
    }

  private def isSorted(files: Array[FileEntry]): Boolean = {
    var i = 1
    while (i < files.length && compare(files(i - 1), files(i)) <= 0) i += 1
    i >= files.length
  }
}
