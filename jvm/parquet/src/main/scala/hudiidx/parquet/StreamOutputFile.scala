package hudiidx.parquet

import java.io.OutputStream

import org.apache.parquet.io.{OutputFile, PositionOutputStream}

/** A stream as Parquet's writers want a file. Closing the writer leaves the stream open. */
final class StreamOutputFile(out: OutputStream) extends OutputFile {
  private val stream = new CountedStream(out)

  /** Bytes of the file so far. */
  def written: Long = stream.getPos

  override def create(blockSizeHint: Long): PositionOutputStream = stream

  override def createOrOverwrite(blockSizeHint: Long): PositionOutputStream = create(blockSizeHint)

  override def supportsBlockSize(): Boolean = false

  override def defaultBlockSize(): Long = 0L
}

private final class CountedStream(out: OutputStream) extends PositionOutputStream {
  private var position = 0L

  override def getPos: Long = position

  override def write(b: Int): Unit = {
    out.write(b)
    position += 1
  }

  override def write(bytes: Array[Byte], from: Int, length: Int): Unit = {
    out.write(bytes, from, length)
    position += length
  }

  override def flush(): Unit = out.flush()

  override def close(): Unit = out.flush()
}
