package hudiidx.hfile

import java.io.{FilterInputStream, IOException, InputStream}
import java.util.concurrent.ConcurrentLinkedQueue

import com.github.luben.zstd.{Zstd, ZstdDecompressCtx, ZstdException, ZstdInputStream}
import io.airlift.compress.zstd.{ZstdCompressor, ZstdDecompressor, ZstdInputStream => JavaZstdInputStream}

/** zstd as some library does it. Safe for several threads. */
private[hfile] trait ZstdLibrary {

  /** A frame of the first `length` bytes: an array, and how many bytes of it count.
    *
    * @param level from 1 to 22; a library may have but one
    */
  def compress(bytes: Array[Byte], length: Int, level: Int): (Array[Byte], Int)

  /** What the frame at `from` says it holds; 0 or less if it does not, or is none. */
  def plainSize(bytes: Array[Byte], from: Int, length: Int): Long

  /** Fills `target` from its start with at most `most` bytes of the frame, and tells how many. IOException for a damaged one. */
  def decompress(bytes: Array[Byte], from: Int, length: Int, target: Array[Byte], most: Int): Int

  /** The plain bytes of frames; reading gives an IOException for damaged ones. */
  def open(in: InputStream): InputStream
}

private[hfile] object ZstdLibrary {

  /** zstd-jni where it is on the class path and its native part runs here, as in Spark; else aircompressor, which is Java. */
  lazy val current: ZstdLibrary = if (isNativeThere) NativeZstd else JavaZstd

  private def isNativeThere: Boolean =
    try {
      Class.forName("com.github.luben.zstd.Zstd")
      Zstd.compressBound(1L) > 0
    } catch { case _: ClassNotFoundException | _: LinkageError => false }
}

private[hfile] object NativeZstd extends ZstdLibrary {
  // A context takes longer to make than a block to decompress. As many as threads that ever decompressed at once.
  private val idle = new ConcurrentLinkedQueue[ZstdDecompressCtx]

  override def compress(bytes: Array[Byte], length: Int, level: Int): (Array[Byte], Int) = {
    val target = new Array[Byte](Zstd.compressBound(length.toLong).toInt)
    val size = Zstd.compressByteArray(target, 0, target.length, bytes, 0, length, level)
    if (Zstd.isError(size)) throw new IllegalStateException(s"zstd: ${Zstd.getErrorName(size)} for $length bytes")
    (target, size.toInt)
  }

  override def plainSize(bytes: Array[Byte], from: Int, length: Int): Long = Zstd.decompressedSize(bytes, from, length)

  override def decompress(bytes: Array[Byte], from: Int, length: Int, target: Array[Byte], most: Int): Int = {
    val context = Option(idle.poll()).getOrElse(new ZstdDecompressCtx)
    try context.decompressByteArray(target, 0, most, bytes, from, length)
    catch { case e: ZstdException => throw new IOException(e.getMessage, e) }
    finally idle.offer(context)
  }

  override def open(in: InputStream): InputStream = new ZstdInputStream(in)
}

/** For class paths without zstd-jni, such as Hive's. It has one level. */
private[hfile] object JavaZstd extends ZstdLibrary {

  override def compress(bytes: Array[Byte], length: Int, level: Int): (Array[Byte], Int) = {
    val compressor = new ZstdCompressor
    val target = new Array[Byte](compressor.maxCompressedLength(length))
    (target, compressor.compress(bytes, 0, length, target, 0, target.length))
  }

  override def plainSize(bytes: Array[Byte], from: Int, length: Int): Long =
    try ZstdDecompressor.getDecompressedSize(bytes, from, length)
    catch { case _: RuntimeException => 0L }

  override def decompress(bytes: Array[Byte], from: Int, length: Int, target: Array[Byte], most: Int): Int =
    guarded(new ZstdDecompressor().decompress(bytes, from, length, target, 0, most))

  override def open(in: InputStream): InputStream = new FilterInputStream(new JavaZstdInputStream(in)) {
    override def read(): Int = guarded(super.read())
    override def read(target: Array[Byte], offset: Int, count: Int): Int = guarded(super.read(target, offset, count))
  }

  /** Its errors for damaged bytes are no IOExceptions. */
  private def guarded[A](body: => A): A =
    try body
    catch { case e: RuntimeException => throw new IOException(e.getMessage, e) }
}
