package hudiidx.write

import hudiidx.write.format.WrittenFile
import hudiidx.{TableFormat, WriteConflict}
import hudiidx.storage.{FileInfo, Storage}
import hudiidx.table.{FileName, TableConfig, TableFolder}
import java.io.OutputStream
import scala.util.control.NonFatal

/** A data file that a write announced before it made it.
  *
  * @param path relative to the table's base path
  */
final case class Marked(path: String)

/** Direct markers below `.hoodie/.temp/<instant>/`: by them whoever rolls a failed write back, stock Hudi too, finds its files.
  * One is there before the file is.
  */
final class Markers(store: Storage, tablePath: String, format: TableFormat, instant: String) {
  private val storage = TableFolder.of(store, tablePath)
  private val heartbeats = new Heartbeats(storage, tablePath)
  private val dir = s"${Storage.join(tablePath, TableConfig.HoodieFolder)}/.temp/$instant"

  /** Stock's rollback expects log files of several writes to be appended to, those of one to be made; base files always. */
  private def suffix(path: String): String = Markers.Infix + (if (isAppendedTo(path)) "APPEND" else "CREATE")

  private def isAppendedTo(path: String): Boolean =
    !format.logsOfOneWrite && FileName.isLog(path.substring(path.lastIndexOf('/') + 1))

  /** Has the file what another write has put there? */
  def isShared(path: String): Boolean =
    isAppendedTo(path) && SharedLogs.hasOthers(storage, Storage.join(tablePath, path), instant)

  private def create(path: String): Unit = storage.createEmpty(s"$dir/$path${suffix(path)}"): Unit

  /** Makes a file of the write, announced. Tasks may outlive their write, or be stopped with it: who ended it may not have seen the
    * file, so it goes again, its marker, and folders that this one made anew; WriteConflict then, if nothing else failed.
    *
    * @param writer of the heartbeat that the write goes on by
    */
  def write(writer: String, partitionPath: String, fileName: String)(content: OutputStream => Unit): Unit = {
    val path = WrittenFile.path(partitionPath, fileName)
    val file = Storage.join(tablePath, path)
    def isOver = !heartbeats.isOpen(instant, writer)
    try {
      create(path)
      storage.writeInPlace(file)(content)
    } catch {
      case e: Throwable =>
        try if (isOver) remove(path)
        catch { case NonFatal(other) => e.addSuppressed(other) }
        throw e
    }
    if (isOver) {
      remove(path)
      throw new WriteConflict(s"$file: the write $instant ended before this file of it was made; it is removed")
    }
  }

  private def remove(path: String): Unit = if (!isShared(path)) {
    storage.delete(Storage.join(tablePath, path))
    storage.delete(s"$dir/$path${suffix(path)}")
    if (all.isEmpty) delete()
  }

  /** Removes the files announced but those that count, and those that another write counts on.
    *
    * @param announced as listed
    */
  def deleteOthers(counted: Set[String], announced: => Vector[Marked] = all): Unit = announced
    .filterNot(m => counted(m.path) || isShared(m.path))
    .foreach(m => storage.deleteOne(Storage.join(tablePath, m.path)))

  /** At the end of the write, whose records say that it is over: removes files of tasks that are late, and all that tells of them.
    *
    * @param counted what stays
    * @param last    number of its records
    */
  def end(counted: Set[String], last: Int): Unit = {
    deleteOthers(counted)
    delete()
    heartbeats.removeTo(instant, last)
  }

  /** All files announced. Who put a marker there may have had fewer rights than who goes by it: what is no name of a file that
    * this write makes is skipped.
    */
  def all: Vector[Marked] = storage.filesBelow(dir).flatMap(marked(_)).filter(m => isOfWrite(m.path))

  private def isOfWrite(path: String): Boolean = {
    val name = path.substring(path.lastIndexOf('/') + 1)
    !path.startsWith(TableConfig.HoodieFolder + "/") &&
    FileName.parse("", name, 0L).exists { f =>
      // A log of several writes bears the time of its slice; it is looked into.
      f.instantTime == instant || (!f.isBase && !format.logsOfOneWrite)
    }
  }

  private def marked(f: FileInfo): Option[Marked] = {
    val at = f.name.lastIndexOf(Markers.Infix)
    val folder = s"/.temp/$instant/"
    if (at < 0) None
    else Some(Marked(f.path.substring(f.path.lastIndexOf(folder) + folder.length, f.path.length - f.name.length + at)))
  }

  def delete(): Unit = storage.delete(dir): Unit
}

object Markers {
  private val Infix = ".marker."
}
