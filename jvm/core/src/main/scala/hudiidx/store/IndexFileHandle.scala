package hudiidx.store

import hudiidx.{DamagedIndex, Log}
import hudiidx.storage.{FileInfo, FilePool, FileStamp, RandomReader, Storage}
import java.io.{EOFException, FileNotFoundException, IOException}
import java.nio.ByteBuffer
import java.nio.file.NoSuchFileException

/** A file that a version of an index names. A store may find out only when it is read that it is gone or cut: DamagedIndex, as
  * when it is opened.
  */
private[store] final class IndexFileHandle(under: RandomReader) extends RandomReader {
  override def path: String = under.path
  override def sizeBytes: Long = under.sizeBytes
  override def stamp: FileStamp = under.stamp

  override def read(offset: Long, length: Int): ByteBuffer = within(offset, length)(under.read(offset, length))

  override def readInto(offset: Long, length: Int, target: Array[Byte]): Unit =
    within(offset, length)(under.readInto(offset, length, target))

  private def within[A](offset: Long, length: Int)(read: => A): A = {
    RandomReader.requireRange(this, offset, length)
    try IndexFileHandle.present(path)(read)
    catch { case e: EOFException => throw IndexFileHandle.damaged(path, "is shorter than its version says", e) }
  }

  override def close(): Unit = under.close()
}

private[store] object IndexFileHandle {
  private val log = Log.of(classOf[IndexFileHandle])

  /** DamagedIndex if the file is gone, cannot be read, or has another size than its version says; of a store that is far, when it is
    * read.
    */
  def open(storage: Storage, path: String, sizeBytes: Long): RandomReader = {
    val file = known(path, sizeBytes)
    if (storage.isFar(path)) new IndexFileHandle(KeptEnds.reader(file)(opened(storage, file)))
    else new IndexFileHandle(opened(storage, file))
  }

  private def opened(storage: Storage, file: FileInfo): RandomReader = {
    val reader =
      try present(file.path)(FilePool.shared.open(storage, file))
      catch {
        case e: IOException => throw new DamagedIndex(s"${file.path}: cannot be read ($e); check the index folder", e)
      }
    if (reader.sizeBytes != file.sizeBytes) {
      val found = reader.sizeBytes
      reader.close()
      throw new DamagedIndex(
        s"${file.path}: has $found bytes, its version says ${file.sizeBytes}; `hudiidx create` makes a new index"
      )
    }
    reader
  }

  // No other file ever bears its name, so that its time need not be known.
  private def known(path: String, sizeBytes: Long): FileInfo = FileInfo(path, sizeBytes, 0L, isDirectory = false)

  /** Reads the end of a file, if that can be read. */
  def fetchEnd(storage: Storage, path: String, sizeBytes: Long): Unit = {
    val reader = KeptEnds.reader(storage, path, sizeBytes)
    try reader.fetch()
    catch { case e: IOException => log.debug("{}: its end is read when it is opened: {}", path, e.toString) }
    finally reader.close()
  }

  private def present[A](path: String)(body: => A): A =
    try body
    catch {
      case e @ (_: NoSuchFileException | _: FileNotFoundException) => throw damaged(path, "is gone", e)
    }

  private def damaged(path: String, what: String, e: Throwable) =
    new DamagedIndex(s"$path: the file $what; `hudiidx create` makes a new index", e)
}
