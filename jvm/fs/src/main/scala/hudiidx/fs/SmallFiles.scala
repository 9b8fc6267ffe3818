package hudiidx.fs

import java.io.EOFException

import hudiidx.storage.FileInfo
import org.apache.hadoop.fs.{FileSystem, Path}
import org.apache.hadoop.util.functional.FutureIO

/** Small files of S3 whose size nobody has told. */
private[fs] object SmallFiles {
  private val MostBytes = 64 << 10

  /** All of a file in one request, as if it were `MostBytes` long; its client asks first how long it is. None where it may be longer, or
    * is empty, which this cannot tell. FileNotFoundException if it is absent.
    */
  def read(fs: FileSystem, path: Path): Option[Array[Byte]] =
    if (!FileCreation.isS3(fs)) None
    else
      try {
        val status = KnownStatus.of(fs, path, FileInfo(path.toString, MostBytes.toLong, 0L, isDirectory = false))
        val stream = fs.openFile(path).withFileStatus(status).build()
        val in = FutureIO.awaitFuture(stream)
        try Some(in.readNBytes(MostBytes)).filter(bytes => bytes.nonEmpty && bytes.length < MostBytes)
        finally in.close()
      } catch { case _: EOFException => None }
}
