package hudiidx.storage

import java.io.{ByteArrayOutputStream, OutputStream}

/** Small scratch files that are handed from task to task and never reach the store.
  *
  *  @param held those that other tasks made, by their paths
  */
private[hudiidx] final class CarriedFiles(under: Storage, held: Map[String, Array[Byte]])
    extends ForwardingStorage(under) {
  private var own = Map.empty[String, Array[Byte]]

  /** Those that were written here. */
  def made: Map[String, Array[Byte]] = synchronized(own)

  override def writeScratch(path: String)(content: OutputStream => Unit): Unit = {
    val bytes = new ByteArrayOutputStream
    content(bytes)
    synchronized(own += path -> bytes.toByteArray)
  }

  private def found(path: String): Option[Array[Byte]] = held.get(path).orElse(made.get(path))

  override def open(path: String): RandomReader = found(path).fold(under.open(path))(new BytesReader(path, _))

  override def open(file: FileInfo): RandomReader =
    found(file.path).fold(under.open(file))(new BytesReader(file.path, _))

  override def readAll(path: String): Array[Byte] = found(path).getOrElse(under.readAll(path))

  override def readAll(file: FileInfo): Array[Byte] = found(file.path).getOrElse(under.readAll(file))
}

private[hudiidx] object CarriedFiles {
  private val MostBytes = 64L << 10

  /** A file of about so many bytes may be carried. */
  def isSmall(bytes: Long): Boolean = bytes <= MostBytes
}
