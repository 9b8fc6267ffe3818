package hudiidx.storage

import java.io.OutputStream

/** Passes every call on; whoever extends it changes some. Not for what guards writes, as `TableFolder` does: a call that is added here would
  * pass by its guard.
  */
private[hudiidx] abstract class ForwardingStorage(under: Storage) extends Storage {
  override def list(dir: String): Vector[FileInfo] = under.list(dir)
  override def status(path: String): Option[FileInfo] = under.status(path)
  override def filesBelow(dir: String): Vector[FileInfo] = under.filesBelow(dir)
  override def isThere(path: String): Boolean = under.isThere(path)
  override def open(path: String): RandomReader = under.open(path)
  override def open(file: FileInfo): RandomReader = under.open(file)
  override def readAll(path: String): Array[Byte] = under.readAll(path)
  override def readAll(file: FileInfo): Array[Byte] = under.readAll(file)
  override def write(path: String)(content: OutputStream => Unit): Unit = under.write(path)(content)
  override def writeOnce(path: String)(content: OutputStream => Unit): Unit = under.writeOnce(path)(content)
  override def writeBehind(path: String)(content: OutputStream => Unit): () => Unit = under.writeBehind(path)(content)
  override def writeScratch(path: String)(content: OutputStream => Unit): Unit = under.writeScratch(path)(content)
  override def writeInPlace(path: String)(content: OutputStream => Unit): Unit = under.writeInPlace(path)(content)
  override def createEmpty(path: String): Boolean = under.createEmpty(path)
  override def replace(path: String, content: Array[Byte]): Unit = under.replace(path, content)
  override def touch(path: String): Unit = under.touch(path)
  override def publish(path: String, content: Array[Byte]): Boolean = under.publish(path, content)
  override def delete(path: String): Boolean = under.delete(path)
  override def deleteOne(path: String): Boolean = under.deleteOne(path)
  override def deleteFile(path: String): Unit = under.deleteFile(path)
  override def access(path: String): Option[Access] = under.access(path)
  override def makeFolder(path: String, model: String, most: Option[Access]): Unit = under.makeFolder(path, model, most)
  override def isFar(path: String): Boolean = under.isFar(path)
  override def atOnce[A](path: String)(calls: Vector[() => A]): Vector[A] = under.atOnce(path)(calls)
  override def isLink(path: String): Boolean = under.isLink(path)
  override def resolved(path: String): String = under.resolved(path)
}
