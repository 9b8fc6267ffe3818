package hudiidx.fs

import java.lang.reflect.Constructor

import scala.util.Try

import hudiidx.storage.FileInfo
import org.apache.hadoop.fs.{FileStatus, FileSystem, Path}

/** The status of a file that a client need not ask its store for. */
private[fs] object KnownStatus {

  /** The block size of what has no blocks. */
  private val BlockBytes = 32L << 20

  def of(fs: FileSystem, path: Path, file: FileInfo): FileStatus = {
    val full = fs.makeQualified(path)
    s3a(fs).fold(new FileStatus(file.sizeBytes, false, 1, BlockBytes, file.modifiedMillis, full)) { status =>
      val tag = if (file.tag.isEmpty) null else file.tag
      status.newInstance(
        Long.box(file.sizeBytes),
        Long.box(file.modifiedMillis),
        full,
        Long.box(BlockBytes),
        "",
        tag,
        null
      )
    }
  }

  /** hadoop-aws 3.3 takes no other status than its own for one. */
  private def s3a(fs: FileSystem): Option[Constructor[_ <: FileStatus]] =
    if (!FileCreation.isS3(fs)) None
    else
      Try {
        val status = Class.forName("org.apache.hadoop.fs.s3a.S3AFileStatus", true, fs.getClass.getClassLoader)
        val (long, text) = (classOf[Long], classOf[String])
        status.asSubclass(classOf[FileStatus]).getConstructor(long, long, classOf[Path], long, text, text, text)
      }.toOption
}
