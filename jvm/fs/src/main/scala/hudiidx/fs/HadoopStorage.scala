package hudiidx.fs

import java.io.{FileNotFoundException, IOException, OutputStream}
import java.nio.ByteBuffer
import java.nio.file.{FileAlreadyExistsException, NoSuchFileException}

import hudiidx.Secrets
import hudiidx.storage.{Access, FarCalls, FileInfo, FileStamp, LocalStorage, RandomReader, Storage}
import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.statistics.IOStatisticsSupport
import org.apache.hadoop.fs.{
  EtagSource,
  FSDataInputStream,
  FileStatus,
  FileSystem,
  LocalFileSystem,
  Path,
  RawLocalFileSystem,
  UnsupportedFileSystemException
}
import org.apache.hadoop.util.functional.FutureIO

/** Files of any store that Hadoop's FileSystem reaches. Files of the local disk go through java.nio: Hadoop's local file
  *  system replaces files on rename, and writes checksum files beside them.
  */
final class HadoopStorage(conf: Configuration) extends Storage {
  import HadoopStorage.{infoOf, stampOf}

  override def list(dir: String): Vector[FileInfo] = asking(dir)(_.list(dir)) { (fs, path) =>
    val found = if (FileCreation.isS3(fs)) S3ConditionalPut.listed(fs, path, dir) else None
    found.getOrElse(HadoopStorage.listed(fs, path, dir)).filterNot(Storage.isChecksum).sortBy(_.name)
  }

  override def filesBelow(dir: String): Vector[FileInfo] =
    on(dir)(_.filesBelow(dir)) { (fs, path) =>
      val found = HadoopStorage.onS3(fs)(S3ConditionalPut.listed(fs, path, dir, deep = true))
      found.fold(super.filesBelow(dir))(_.filterNot(Storage.isChecksum).sortBy(_.path))
    }

  override def isThere(path: String): Boolean = on(path)(_.isThere(path)) { (fs, p) =>
    if (FileCreation.isS3(fs)) HadoopStorage.told(fs)(S3ConditionalPut.isThere(fs, p)) else status(path).isDefined
  }

  override def status(path: String): Option[FileInfo] = asking(path)(_.status(path)) { (fs, p) =>
    try Some(infoOf(path, fs.getFileStatus(p)))
    catch { case _: FileNotFoundException => None }
  }

  override def open(path: String): RandomReader = on(path)(_.open(path)) { (fs, p) =>
    HadoopReader.found(path) {
      val begun = HadoopStorage.onS3(fs)(S3ConditionalPut.begun(fs, p, path))
      begun.fold(asked(fs, p, path)) { case (file, first) =>
        opened(fs, p, file.stamp, KnownStatus.of(fs, p, file), first)
      }
    }
  }

  private def asked(fs: FileSystem, p: Path, path: String): RandomReader = {
    val status = HadoopStorage.told(fs)(fs.getFileStatus(p))
    if (status.isDirectory) throw new IOException(s"$path: a folder, where a file was expected")
    opened(fs, p, stampOf(path, status), status)
  }

  override def open(file: FileInfo): RandomReader = on(file.path)(_.open(file)) { (fs, p) =>
    HadoopReader.found(file.path)(opened(fs, p, file.stamp, KnownStatus.of(fs, p, file)))
  }

  /** With the status in hand the store need not be asked for it again; the policy spares range reads a read-ahead.
    *
    *  @param first bytes with which the file begins, as far as they are known
    */
  private def opened(
      fs: FileSystem,
      p: Path,
      stamp: FileStamp,
      status: FileStatus,
      first: Array[Byte] = Array.emptyByteArray
  ): RandomReader = {
    val stream = fs
      .openFile(p)
      .withFileStatus(status)
      .opt("fs.option.openfile.read.policy", "random")
      .opt("fs.s3a.experimental.input.fadvise", "random")
      .build()
    new HadoopReader(fs, stamp, FutureIO.awaitFuture(stream), first)
  }

  override def readAll(path: String): Array[Byte] = on(path)(_.readAll(path)) { (fs, p) =>
    val small = HadoopReader.found(path)(HadoopStorage.onS3(fs)(S3ConditionalPut.small(fs, p, path)))
    small.fold(whole(open(path)))(_.fold(large => whole(open(large)), identity))
  }

  override def readAll(file: FileInfo): Array[Byte] = on(file.path)(_.readAll(file))((_, _) => whole(open(file)))

  private def whole(reader: RandomReader): Array[Byte] =
    try reader.read(0, Storage.requireWhole(reader.path, reader.sizeBytes)).array()
    finally reader.close()

  override def write(path: String)(content: OutputStream => Unit): Unit = writing(path)(_.write(path)(content)) {
    (fs, p) =>
      val place = FileCreation.of(fs, p)
      if (!place.how.create(place.fs, place.path)(content)) throw new FileAlreadyExistsException(path)
  }

  override def writeOnce(path: String)(content: OutputStream => Unit): Unit =
    writing(path)(_.writeOnce(path)(content)) { (fs, p) =>
      val place = FileCreation.of(fs, p)
      if (!place.how.createOnce(place.fs, place.path)(content)) throw new FileAlreadyExistsException(path)
    }

  override def writeBehind(path: String)(content: OutputStream => Unit): () => Unit =
    writing(path)(_.writeBehind(path)(content)) { (fs, p) =>
      val place = FileCreation.of(fs, p)
      val end = place.how.beginOnce(place.fs, place.path)(content)
      CallsAtOnce.begin(() => Storage.writing(path)(end()))
    }

  override def writeScratch(path: String)(content: OutputStream => Unit): Unit =
    on(path)(_.writeScratch(path)(content))((_, _) => writeOnce(path)(content))

  override def writeInPlace(path: String)(content: OutputStream => Unit): Unit =
    writing(path)(_.writeInPlace(path)(content)) { (fs, p) =>
      val place = FileCreation.of(fs, p)
      if (!place.how.createInPlace(place.fs, place.path)(content)) throw new FileAlreadyExistsException(path)
    }

  override def createEmpty(path: String): Boolean = writing(path)(_.createEmpty(path)) { (fs, p) =>
    val place = FileCreation.of(fs, p)
    place.how.createEmpty(place.fs, place.path)
  }

  override def replace(path: String, content: Array[Byte]): Unit =
    writing(path)(_.replace(path, content)) { (fs, p) =>
      val place = FileCreation.of(fs, p)
      place.how.replace(place.fs, place.path, content)
    }

  override def touch(path: String): Unit = on(path)(_.touch(path)) { (fs, p) =>
    val place = FileCreation.of(fs, p)
    place.how.touch(place.fs, place.path)
  }

  override def publish(path: String, content: Array[Byte]): Boolean = writing(path)(_.publish(path, content)) {
    (fs, p) =>
      val place = FileCreation.of(fs, p)
      place.how.publish(place.fs, place.path, content)
  }

  override def delete(path: String): Boolean = on(path)(_.delete(path)) { (fs, p) =>
    val place = FileCreation.of(fs, p)
    place.how.deleteAll(place.fs, place.path)
  }

  override def deleteOne(path: String): Boolean = on(path)(_.deleteOne(path)) { (fs, p) =>
    try fs.delete(p, false)
    // Stores say in several ways that a folder is not empty.
    catch { case e: IOException => if (isFilled(fs, p)) false else throw e }
  }

  override def deleteFile(path: String): Unit = on(path)(_.deleteFile(path)) { (fs, p) =>
    val place = FileCreation.of(fs, p)
    place.how.deleteFile(place.fs, place.path)
  }

  private def isFilled(fs: FileSystem, path: Path): Boolean =
    fs.getFileStatus(path).isDirectory && fs.listStatus(path).nonEmpty

  /** Of stores that rename in one step, which are those with rights of their own; what object stores tell is made up. */
  override def access(path: String): Option[Access] = on(path)(_.access(path)) { (fs, p) =>
    if (StoreRights.isKnown(fs, p)) StoreRights.of(fs, p) else None
  }

  override def makeFolder(path: String, model: String, most: Option[Access]): Unit =
    on(path)(_.makeFolder(path, model, most)) { (fs, p) =>
      if (StoreRights.isKnown(fs, p)) access(model).foreach(StoreRights.makeFolder(fs, p, new Path(model), _, most))
    }

  /** Of a store that has no client the next call tells what is wrong. */
  override def isFar(path: String): Boolean =
    try on(path)(_ => false)((_, _) => true)
    catch { case _: IOException => false }

  override def atOnce[A](path: String)(calls: Vector[() => A]): Vector[A] =
    if (calls.size > 1 && isFar(path)) CallsAtOnce(calls) else calls.map(_())

  /** Links of other stores than the local disk are not resolved: Hadoop's clients refuse them unless told otherwise. */
  override def isLink(path: String): Boolean = on(path)(_.isLink(path))((_, _) => false)

  override def resolved(path: String): String =
    on(path)(_.resolved(path))((fs, p) => fs.makeQualified(p).toString.stripSuffix("/"))

  private def asking[A](path: String)(local: Storage => A)(remote: (FileSystem, Path) => A): A =
    on(path)(local)((fs, p) => HadoopStorage.told(fs)(remote(fs, p)))

  private def writing[A](path: String)(local: Storage => A)(remote: (FileSystem, Path) => A): A =
    on(path)(local)((fs, p) => Storage.writing(path)(remote(fs, p)))

  /** As `LocalStorage.requireRegular`. Other stores have files and folders alone. */
  def requireRegular(path: String): Unit = on(path)(_ => LocalStorage.requireRegular(path))((_, _) => ())

  private def on[A](path: String)(local: Storage => A)(remote: (FileSystem, Path) => A): A = conf match {
    case command: CommandSettings if command.isLocal(path) => local(LocalStorage)
    case _                                                 =>
      Secrets.refuse(path)
      val p = new Path(path)
      HadoopStorage.clientOf(p, conf) match {
        case _: LocalFileSystem                                        => local(LocalStorage)
        case raw: RawLocalFileSystem if raw.getUri.getScheme == "file" => local(LocalStorage)
        case fs                                                        => HadoopStorage.able(fs)(remote(fs, p))
      }
  }
}

object HadoopStorage {

  /** Hadoop says in several ways that it has no client for a path: each is an IOException here, which says what to do. */
  private[hudiidx] def clientOf(path: Path, conf: Configuration): FileSystem = {
    def unreachable(what: String, e: Throwable) = {
      val why = Option(e.getCause).getOrElse(e)
      new IOException(s"$what (${why.getClass.getSimpleName}: ${why.getMessage})", e)
    }
    def noClient(e: Throwable) = unreachable(
      s"the class path has no client for ${path.toUri.getScheme}://; add the store's connector, by HUDIIDX_CLASSPATH for the " +
        "command, by spark.jars for a session",
      e
    )
    try path.getFileSystem(conf)
    catch {
      case e: UnsupportedFileSystemException                                      => throw noClient(e)
      case e: RuntimeException if e.getCause.isInstanceOf[ClassNotFoundException] => throw noClient(e)
      case e: IllegalArgumentException                                            =>
        throw unreachable("the store cannot be reached; check the address in the path", e)
      case e: LinkageError =>
        throw unreachable(
          s"the client for ${path.toUri.getScheme}:// lacks a class, or has one of another release; give it the libraries that its release " +
            "names, as --packages org.apache.hadoop:hadoop-aws:<release of Hadoop> does",
          e
        )
    }
  }

  private def listed(fs: FileSystem, path: Path, dir: String): Vector[FileInfo] =
    try {
      val found = fs.listStatus(path)
      // Hadoop lists a file as itself.
      if (found.length == 1 && found(0).isFile && found(0).getPath == fs.makeQualified(path))
        throw new IOException(s"$dir: a file, where a folder was expected")
      found.toVector.map(s => infoOf(Storage.join(dir, s.getPath.getName), s))
    } catch { case _: FileNotFoundException => Vector.empty }

  /** A request of hudiidx's own, for who counts them; None elsewhere, and where hadoop-aws is to ask. */
  private def onS3[A](fs: FileSystem)(call: => Option[A]): Option[A] =
    if (FileCreation.isS3(fs)) told(fs)(call) else None

  /** A call of a store, for who counts them. */
  private[fs] def told[A](fs: FileSystem)(call: => A): A = FarCalls.told(fs, refused(fs))(call)

  /** How often the store has told its client to slow down, where the client counts that. */
  private def refused(fs: FileSystem): Long =
    Option(IOStatisticsSupport.retrieveIOStatistics(fs))
      .flatMap(s => Option(s.counters.get(HadoopStorage.Throttled)))
      .fold(0L)(_.longValue)

  /** Of S3's client. */
  private val Throttled = "store_io_throttled"

  /** Clients that list or write nothing say so by an error that is no IOException. */
  private def able[A](fs: FileSystem)(call: => A): A =
    try call
    catch {
      case e: UnsupportedOperationException =>
        throw new IOException(
          s"the store's client ${fs.getClass.getName} cannot do this; take a store that lists and writes",
          e
        )
    }

  /** Of what a store tells of a file, which another one under its name is not. */
  def stampOf(path: String, status: FileStatus): FileStamp = infoOf(path, status).stamp

  private def infoOf(path: String, s: FileStatus): FileInfo =
    FileInfo(path, if (s.isDirectory) 0L else s.getLen, s.getModificationTime, s.isDirectory, tagOf(s))

  private def tagOf(s: FileStatus): String = s match {
    case tagged: EtagSource if tagged.getEtag != null => tagged.getEtag
    case _                                            => ""
  }
}

/** @param first bytes with which the file begins, as far as they are known */
private final class HadoopReader(
    fs: FileSystem,
    override val stamp: FileStamp,
    in: FSDataInputStream,
    first: Array[Byte]
) extends RandomReader {
  override def path: String = stamp.path
  override def sizeBytes: Long = stamp.sizeBytes

  override def read(offset: Long, length: Int): ByteBuffer = {
    RandomReader.requireRange(this, offset, length)
    val bytes = new Array[Byte](length)
    readFully(offset, length, bytes)
    ByteBuffer.wrap(bytes)
  }

  override def readInto(offset: Long, length: Int, target: Array[Byte]): Unit = {
    RandomReader.requireRange(this, offset, length)
    readFully(offset, length, target)
  }

  private def readFully(offset: Long, length: Int, target: Array[Byte]): Unit =
    if (offset + length <= first.length) System.arraycopy(first, offset.toInt, target, 0, length)
    else HadoopReader.found(path)(HadoopStorage.told(fs)(in.readFully(offset, target, 0, length)))

  override def close(): Unit = in.close()
}

private object HadoopReader {

  /** NoSuchFileException for a file that is not there, when it is opened or, where nobody asked for it then, when it is read. */
  def found[A](path: String)(body: => A): A =
    try body
    catch {
      case e: FileNotFoundException =>
        val missing = new NoSuchFileException(path)
        missing.initCause(e)
        throw missing
    }
}
