package hudiidx.table

import hudiidx.storage.{Access, FileInfo, RandomReader, Storage}
import hudiidx.{DamagedTable, UnsupportedTable}
import java.io.OutputStream

/** A table's folder as a place that others can write to, and the only door through which files of a table are written and removed.
  * Nothing is through a link that lies in it: who put it there would say whose files a writer makes and takes away. Reads follow links.
  *
  * UnsupportedTable for a link on the way to what would be written or removed. The link itself is removed where it is asked for.
  */
private[hudiidx] final class TableFolder private (under: Storage, private val tablePath: String) extends Storage {

  private def own[A](path: String)(change: => A): A = {
    val folders = Storage.folders(tablePath, path)
    if (folders.nonEmpty && path.split('/').exists(p => p == "." || p == ".."))
      throw new DamagedTable(s"$path: no path that a file of the table has; remove what names it")
    folders.dropRight(1).find(under.isLink).foreach(refuse)
    change
  }

  private def refuse(link: String): Nothing = throw new UnsupportedTable(
    s"$link: a link, and nothing of a table is written or removed through links; put what it leads to in its place, or remove it"
  )

  override def list(dir: String): Vector[FileInfo] = under.list(dir)
  override def status(path: String): Option[FileInfo] = under.status(path)
  override def filesBelow(dir: String): Vector[FileInfo] = under.filesBelow(dir)
  override def isThere(path: String): Boolean = under.isThere(path)
  override def open(path: String): RandomReader = under.open(path)
  override def open(file: FileInfo): RandomReader = under.open(file)
  override def readAll(path: String): Array[Byte] = under.readAll(path)
  override def readAll(file: FileInfo): Array[Byte] = under.readAll(file)
  override def access(path: String): Option[Access] = under.access(path)
  override def isFar(path: String): Boolean = under.isFar(path)
  override def atOnce[A](path: String)(calls: Vector[() => A]): Vector[A] = under.atOnce(path)(calls)
  override def isLink(path: String): Boolean = under.isLink(path)
  override def resolved(path: String): String = under.resolved(path)

  override def write(path: String)(content: OutputStream => Unit): Unit = own(path)(under.write(path)(content))
  override def writeOnce(path: String)(content: OutputStream => Unit): Unit =
    own(path)(under.writeOnce(path)(content))
  override def writeScratch(path: String)(content: OutputStream => Unit): Unit =
    own(path)(under.writeScratch(path)(content))
  override def writeInPlace(path: String)(content: OutputStream => Unit): Unit =
    own(path)(under.writeInPlace(path)(content))

  override def createEmpty(path: String): Boolean = own(path)(under.createEmpty(path))
  override def replace(path: String, content: Array[Byte]): Unit = own(path)(under.replace(path, content))
  override def touch(path: String): Unit = own(path)(if (under.isLink(path)) refuse(path) else under.touch(path))
  override def publish(path: String, content: Array[Byte]): Boolean = own(path)(under.publish(path, content))
  override def delete(path: String): Boolean = own(path)(under.delete(path))
  override def deleteOne(path: String): Boolean = own(path)(under.deleteOne(path))
  override def deleteFile(path: String): Unit = own(path)(under.deleteFile(path))
  override def makeFolder(path: String, model: String, most: Option[Access]): Unit =
    own(path)(under.makeFolder(path, model, most))
}

private[hudiidx] object TableFolder {

  /** What a writer of the table goes through. */
  def of(storage: Storage, tablePath: String): Storage = storage match {
    case folder: TableFolder if folder.tablePath == tablePath => folder
    case other                                                => new TableFolder(other, tablePath)
  }
}
