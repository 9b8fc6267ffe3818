package hudiidx.log

import java.nio.ByteBuffer
import java.nio.channels.FileChannel
import java.nio.file.{Files, Path, StandardOpenOption}

/** Sorted entries in a temporary file: key length, value length (int32 each), key, value. The file is removed when the run
  * is closed; where the system lets open files lose their name, it has none from the start.
  */
private[log] final class SpilledRun private (file: FileChannel, val sizeBytes: Long, val level: Int)
    extends AutoCloseable {

  def cursor(): EntryCursor = new EntryCursor {
    private var window = ByteBuffer.allocate(SpilledRun.WindowBytes).limit(0).asInstanceOf[ByteBuffer]
    private var at = 0L // offset in the file of the window's end

    override def next(): Boolean = (window.hasRemaining || at < sizeBytes) && {
      need(8)
      val keyLength = window.getInt()
      val valueLength = window.getInt()
      need(keyLength + valueLength)
      key.set(window.array, window.position(), keyLength)
      value.set(window.array, window.position() + keyLength, valueLength)
      window.position(window.position() + keyLength + valueLength)
      true
    }

    private def need(bytes: Int): Unit = if (window.remaining < bytes) {
      val larger =
        if (bytes > window.capacity) ByteBuffer.allocate(math.max(bytes, window.capacity * 2))
        else ByteBuffer.allocate(window.capacity)
      larger.put(window)
      larger.limit(math.min(larger.capacity.toLong, larger.position() + sizeBytes - at).toInt)
      while (larger.hasRemaining) {
        val read = file.read(larger, at)
        if (read < 0) throw new java.io.EOFException(s"temporary file ends at $at of $sizeBytes bytes")
        at += read
      }
      larger.flip()
      window = larger
    }
  }

  override def close(): Unit = file.close()
}

private[log] object SpilledRun {
  private val WindowBytes = 64 << 10

  def write(entries: EntryCursor, dir: Path, level: Int): SpilledRun = {
    val file = open(dir)
    try {
      var buffer = ByteBuffer.allocate(WindowBytes)
      var size = 0L
      def flush(): Unit = {
        buffer.flip()
        size += buffer.remaining
        while (buffer.hasRemaining) file.write(buffer)
        buffer.clear()
      }
      while (entries.next()) {
        val needed = 8 + entries.key.length + entries.value.length
        if (needed > buffer.remaining) flush()
        if (needed > buffer.capacity) buffer = ByteBuffer.allocate(needed)
        buffer.putInt(entries.key.length).putInt(entries.value.length)
        buffer.put(entries.key.bytes, entries.key.from, entries.key.length)
        buffer.put(entries.value.bytes, entries.value.from, entries.value.length)
      }
      flush()
      new SpilledRun(file, size, level)
    } catch {
      case e: Throwable =>
        file.close()
        throw e
    }
  }

  private def open(dir: Path): FileChannel = {
    val path = Files.createTempFile(dir, "hudiidx-keys-", ".tmp")
    FileChannel.open(
      path,
      StandardOpenOption.READ,
      StandardOpenOption.WRITE,
      StandardOpenOption.DELETE_ON_CLOSE
    )
  }
}
