package hudiidx.engine.record

import hudiidx.storage.{FileInfo, LocalStorage, RandomReader, Storage}
import java.io.{IOException, OutputStream}
import java.util.concurrent.ConcurrentLinkedQueue
import scala.collection.JavaConverters._

/** Tells what files were opened, and calls `before` with the path of each file that is to be written. */
final class HookedStorage(before: String => Unit = _ => (), instead: String => String = p => p) extends Storage {
  private val opens = new ConcurrentLinkedQueue[String]

  /** Names of the Parquet files opened so far. */
  def baseFiles: Set[String] =
    opens.asScala.filter(_.endsWith(".parquet")).map(p => p.substring(p.lastIndexOf('/') + 1)).toSet

  override def list(dir: String): Vector[FileInfo] = LocalStorage.list(dir)
  override def status(path: String): Option[FileInfo] = LocalStorage.status(path)
  override def readAll(path: String): Array[Byte] = LocalStorage.readAll(path)
  override def delete(path: String): Boolean = LocalStorage.delete(path)
  override def isLink(path: String): Boolean = LocalStorage.isLink(path)
  override def publish(path: String, content: Array[Byte]): Boolean = LocalStorage.publish(path, content)

  override def open(path: String): RandomReader = {
    opens.add(path)
    LocalStorage.open(instead(path))
  }

  override def write(path: String)(content: OutputStream => Unit): Unit = {
    before(path)
    LocalStorage.write(path)(content)
  }
}

object HookedStorage {

  /** Fails every write from the `n`-th of a file on whose path has `part`. */
  def failingAt(part: String, n: Int): HookedStorage = {
    var seen = 0
    new HookedStorage(path => {
      if (path.contains(part)) seen += 1
      if (seen >= n) throw new IOException(s"$path: killed by the test")
    })
  }
}
