package hudiidx.parquet

import java.io.EOFException
import java.nio.ByteBuffer

import hudiidx.storage.{FileStamp, RandomReader, Storage}
import org.apache.parquet.io.{InputFile, SeekableInputStream}

/** A file of a Storage as Parquet's readers want it. Opening a stream opens the file. */
final class StorageInputFile(storage: Storage, path: String) extends InputFile {

  override def getLength: Long = {
    val reader = storage.open(path)
    try reader.sizeBytes
    finally reader.close()
  }

  override def newStream(): SeekableInputStream = new StorageInputStream(storage.open(path))

  override def toString: String = path
}

/** An open file, or a part of one, as Parquet's readers want it. Closing a stream of it leaves the file open. */
final class ReaderInputFile(reader: RandomReader) extends InputFile {
  private val unclosed = new RandomReader {
    override def path: String = reader.path
    override def sizeBytes: Long = reader.sizeBytes
    override def stamp: FileStamp = reader.stamp
    override def read(offset: Long, length: Int): ByteBuffer = reader.read(offset, length)
    override def readInto(offset: Long, length: Int, target: Array[Byte]): Unit =
      reader.readInto(offset, length, target)
    override def close(): Unit = ()
  }

  override def getLength: Long = reader.sizeBytes

  override def newStream(): SeekableInputStream = new StorageInputStream(unclosed)

  override def toString: String = reader.path
}

private final class StorageInputStream(reader: RandomReader) extends SeekableInputStream {
  private var position = 0L

  override def getPos: Long = position

  override def seek(to: Long): Unit = position = to

  override def read(): Int = if (position >= reader.sizeBytes) -1 else take(1).get() & 0xff

  override def read(bytes: Array[Byte], from: Int, length: Int): Int = {
    val available = clip(length)
    if (available > 0) take(available).get(bytes, from, available)
    if (available == 0 && length > 0) -1 else available
  }

  override def read(buffer: ByteBuffer): Int = {
    val wanted = buffer.remaining
    val available = clip(wanted)
    if (available > 0) buffer.put(take(available))
    if (available == 0 && wanted > 0) -1 else available
  }

  override def readFully(bytes: Array[Byte]): Unit = readFully(bytes, 0, bytes.length)

  override def readFully(bytes: Array[Byte], from: Int, length: Int): Unit = take(length).get(bytes, from, length): Unit

  /** Parquet reads the whole of a column so, into an array of its own: no other is made of that size. */
  override def readFully(buffer: ByteBuffer): Unit =
    if (buffer.hasArray && buffer.arrayOffset + buffer.position() == 0) {
      val length = buffer.remaining
      requireLeft(length)
      reader.readInto(position, length, buffer.array)
      position += length
      buffer.position(length): Unit
    } else buffer.put(take(buffer.remaining)): Unit

  private def clip(length: Int): Int = math.max(0L, math.min(length.toLong, reader.sizeBytes - position)).toInt

  private def requireLeft(length: Int): Unit =
    if (length > reader.sizeBytes - position)
      throw new EOFException(s"${reader.path}: $length bytes at $position pass the end (${reader.sizeBytes})")

  private def take(length: Int): ByteBuffer = {
    requireLeft(length)
    val bytes = reader.read(position, length)
    position += length
    bytes
  }

  override def close(): Unit = reader.close()
}
