package hudiidx.storage

import hudiidx.Causes
import java.io.{EOFException, IOException, OutputStream}
import java.nio.ByteBuffer
import java.nio.file.FileAlreadyExistsException

/** A file or folder as a listing shows it. `path` is the full path or URI; sizes are bytes, times epoch milliseconds; `tag` as in
  * [[FileStamp]].
  */
final case class FileInfo(
    path: String,
    sizeBytes: Long,
    modifiedMillis: Long,
    isDirectory: Boolean,
    tag: String = ""
) {
  def stamp: FileStamp = FileStamp(path, sizeBytes, modifiedMillis, tag)

  /** The last path element. */
  def name: String = path.substring(path.lastIndexOf('/') + 1)
}

/** An open file. Reads are positional and may come from several threads. */
trait RandomReader extends AutoCloseable {
  def path: String

  def sizeBytes: Long

  /** Which file it was when it was opened: by this its bytes may be kept. */
  def stamp: FileStamp

  /** Exactly `length` bytes from `offset`; EOFException if the file ends sooner. */
  def read(offset: Long, length: Int): ByteBuffer

  /** As `read`, at the start of `target`. */
  def readInto(offset: Long, length: Int, target: Array[Byte]): Unit = read(offset, length).get(target, 0, length)
}

object RandomReader {

  /** Refuses a range outside the file before anything is allocated for it. */
  def requireRange(reader: RandomReader, offset: Long, length: Int): Unit = {
    require(offset >= 0 && length >= 0, s"${reader.path}: offset $offset and length $length must not be negative")
    if (offset > reader.sizeBytes - length)
      throw new EOFException(
        s"${reader.path}: $length bytes at offset $offset pass the end of the file (${reader.sizeBytes} bytes)"
      )
  }
}

/** The only door to files. Paths are full paths or URIs without a trailing slash; offsets and sizes are bytes. */
trait Storage {

  /** Files and folders directly under `dir`, sorted by name; empty if `dir` does not exist. Checksum side files
    *  (`.name.crc`) of Hadoop's local file system are left out.
    */
  def list(dir: String): Vector[FileInfo]

  /** None if there is nothing at `path`. */
  def status(path: String): Option[FileInfo]

  /** All files below `dir`, in whatever folders, but not through links; none if it does not exist. */
  def filesBelow(dir: String): Vector[FileInfo] = {
    val found = Vector.newBuilder[FileInfo]
    Storage.walk(dir) { folder =>
      val (folders, files) = list(folder).partition(_.isDirectory)
      found ++= files
      folders.map(_.path).filterNot(isLink)
    }: Unit
    found.result()
  }

  /** Something is at the path of a file. A store that is asked for files and for folders one by one is asked for a file alone. */
  def isThere(path: String): Boolean = status(path).isDefined

  /** Opens for positional reads; NoSuchFileException if absent. */
  def open(path: String): RandomReader

  /** As `open`, of a file that is known, as a listing or the one who wrote it tells: a store where each question takes time is
    * not asked what it is. There a file that is absent or shorter is found out when it is read: NoSuchFileException, EOFException.
    */
  def open(file: FileInfo): RandomReader = open(file.path)

  /** As `readAll`, of a file that is known: see `open`. */
  def readAll(file: FileInfo): Array[Byte] = readAll(file.path)

  /** The whole content; NoSuchFileException if absent, IOException for more bytes than `Storage.requireWhole` lets through. */
  def readAll(path: String): Array[Byte]

  /** Writes a new file by streaming; parents are made. On any failure nothing stays at `path`.
    *  The caller guarantees that no other writer uses the same name.
    */
  def write(path: String)(content: OutputStream => Unit): Unit

  /** As `write`, of a name that no other file ever bore or will: a store where each question takes time is not asked whether one does. */
  def writeOnce(path: String)(content: OutputStream => Unit): Unit = write(path)(content)

  /** As `writeOnce`, begun: the file is there once the result has been called, as often as one likes, which raises what its end did. A
    * store where each question takes time ends it while others are written.
    */
  def writeBehind(path: String)(content: OutputStream => Unit): () => Unit = {
    writeOnce(path)(content)
    () => ()
  }

  /** As `write`, but where the machine stops (not only the process) the file may be lost, cut or hold wrong bytes: for what
    *  is checked when it is read, and can be made again. Spares waiting for the disk.
    */
  def writeScratch(path: String)(content: OutputStream => Unit): Unit = write(path)(content)

  /** As `write`, but the file grows under its own name and under no other: a process that ends meanwhile leaves what it had
    * written there, and nothing beside it. For files whose place tells whether they count.
    */
  def writeInPlace(path: String)(content: OutputStream => Unit): Unit = write(path)(content)

  /** Makes an empty file as `writeInPlace` does; false if there is one. */
  def createEmpty(path: String): Boolean =
    try {
      writeInPlace(path)(_ => ())
      true
    } catch { case _: FileAlreadyExistsException => false }

  /** Puts a small file in the place of what is at `path`, if anything is: a reader finds the one or the other, whole. */
  def replace(path: String, content: Array[Byte]): Unit =
    throw new UnsupportedOperationException(s"$path: files are not replaced here")

  /** Makes now the modification time of a file, which stays whole. */
  def touch(path: String): Unit = throw new UnsupportedOperationException(s"$path: times are not set here")

  /** The whole file becomes visible at `path` at once, and only if nothing is there: false when somebody else was first. */
  def publish(path: String, content: Array[Byte]): Boolean

  /** Removes a file, or a folder with all below it; false if nothing was there. */
  def delete(path: String): Boolean

  /** Removes a file, a link or an empty folder; false if nothing was there, or a folder with something in it, which stays. */
  def deleteOne(path: String): Boolean =
    if (!isLink(path) && status(path).exists(_.isDirectory) && list(path).nonEmpty) false else delete(path)

  /** Removes what is known to be a file, if it is there still: a store where each question takes time is not asked what it is, nor
    * what else is in its folder.
    */
  def deleteFile(path: String): Unit = delete(path): Unit

  /** Rights at a path; None where the store has none, or nothing is there. */
  def access(path: String): Option[Access] = None

  /** Makes a folder that is no more open than `model`, with its group, and those above it that are missing likewise; access
    * control lists are those of `model`. Nothing is done where the folder is there, or the store knows no rights.
    *
    *  @param model an existing folder
    *  @param most  rights beyond which the folder has none
    */
  def makeFolder(path: String, model: String, most: Option[Access]): Unit = ()

  /** True where the store of a path is a network away, so that each call takes as long as many calls of the local disk. */
  def isFar(path: String): Boolean = false

  /** What each of the calls gives, in their order. Where the store of `path` is far they are made at the same time, and end all
    * before the first error, by their order, is raised; elsewhere one after the other.
    */
  def atOnce[A](path: String)(calls: Vector[() => A]): Vector[A] = calls.map(_())

  /** True for a link that leads elsewhere. Stores without links have none. */
  def isLink(path: String): Boolean = false

  /** The path in the one form that two paths of the same place have in common: what links lead to, without `.` and `..`. */
  def resolved(path: String): String = path
}

object Storage {

  /** Two calls that do not wait for each other, see [[Storage.atOnce]]. */
  def both[A, B](storage: Storage, path: String)(a: => A, b: => B): (A, B) = {
    val found = storage.atOnce[Either[A, B]](path)(Vector(() => Left(a), () => Right(b)))
    (found.collectFirst { case Left(value) => value }.get, found.collectFirst { case Right(value) => value }.get)
  }

  /** `io` writes the file, and its errors name it: a disk says no more than "No space left on device". */
  def writing[A](path: String)(io: => A): A =
    try io
    catch {
      case e: IOException if e.getClass == classOf[IOException] && !namesIt(path, e.getMessage) =>
        throw new IOException(s"$path: ${shortReason(e)}", e)
    }

  /** Where a message is none, what failed below says enough. */
  private def shortReason(e: IOException): String =
    Causes.of(e).map(_.getMessage).find(isReason).getOrElse(e.getClass.getName)

  private def namesIt(path: String, message: String): Boolean =
    isReason(message) && message.contains(path.substring(path.lastIndexOf('/')))

  private def isReason(message: String): Boolean = message != null && Causes.isReason(message)

  /** A checksum side file of Hadoop's local file system. A folder of such a name is one as any other: a partition may have it. */
  private[hudiidx] def isChecksum(f: FileInfo): Boolean =
    !f.isDirectory && f.name.startsWith(".") && f.name.endsWith(".crc")

  /** The size of a file that is read whole. IOException, before memory is taken for it, where that would be more than a quarter of
    * what the process may have: a file of any size, of which nothing is on the disk, is made by whoever may write to the folder.
    */
  def requireWhole(path: String, sizeBytes: Long): Int = {
    val most = math.min(Runtime.getRuntime.maxMemory / 4, Int.MaxValue - 64L)
    if (sizeBytes > most)
      throw new UnreadableFile(
        s"$path: $sizeBytes bytes are too many to read at once, $most are the most with this process's memory"
      )
    sizeBytes.toInt
  }

  /** Joins a base path and a relative path; an empty relative path is the base itself. */
  def join(base: String, relative: String): String =
    if (relative.isEmpty) base else if (base.endsWith("/")) base + relative else base + "/" + relative

  /** The folders above a path, the nearest first, without the root of its store. */
  def above(path: String): Iterator[String] = Iterator.iterate(parent(path))(parent).takeWhile(_.nonEmpty)

  /** What there is below, each before what is below it. Folders in one another take no stack: whoever makes them makes as many as he
    * likes.
    */
  def walk[A](first: A)(below: A => Seq[A]): Vector[A] = {
    val found = Vector.newBuilder[A]
    var left = List(first)
    while (left.nonEmpty) {
      val next = left.head
      found += next
      left = below(next).toList ::: left.tail
    }
    found.result()
  }

  private def parent(path: String): String = {
    val at = path.lastIndexOf('/')
    if (at <= 0 || path.charAt(at - 1) == '/' || path.charAt(at - 1) == ':') "" else path.substring(0, at)
  }

  /** The folders and files on the way from a folder to a path below it, that one included; empty for a path elsewhere. */
  def folders(base: String, path: String): Vector[String] = {
    val root = plain(base)
    val inside = if (root.endsWith("/")) root else root + "/"
    val own = plain(path)
    if (!own.startsWith(inside)) Vector.empty
    else own.substring(inside.length).split('/').toVector.filter(_.nonEmpty).scanLeft(base)(join).drop(1)
  }

  /** Letters of a path; HDFS takes no longer ones, and other stores fewer. What is longer in a file of the table was put there by hand. */
  val LongestPath = 8000

  /** A path of the local disk without its scheme. */
  private[hudiidx] def plain(path: String): String =
    if (path.startsWith("file:")) "/" + path.substring("file:".length).dropWhile(_ == '/') else path

  /** True if a path that is joined to a base would lead out of it, or is meant for a place that is not below one. What files of
    * a table say of paths is asked this before it is joined.
    */
  def leaves(relative: String): Boolean =
    isAbsolute(relative) || (relative.contains("..") && relative.split('/').contains(".."))

  /** False for a path with empty parts or `.`, which lead to where another path does. */
  def isPlain(relative: String): Boolean =
    !relative.isEmpty && relative != "." && !relative.startsWith("/") && !relative.endsWith("/") &&
      !relative.contains("//") && !relative.startsWith("./") && !relative.endsWith("/.") && !relative.contains("/./")

  /** True for `/x`, and for `s3a://x` and `file:/x`: a scheme where Hadoop's Path sees one. Values of partitions may hold a
    * colon (`ts=2026-01-01 10:00:00`, `10:00`).
    */
  def isAbsolute(path: String): Boolean = path.startsWith("/") || {
    val at = path.indexOf(":/")
    at > 0 && isLetter(path.charAt(0)) && (1 until at).forall(i => isOfScheme(path.charAt(i)))
  }

  private def isOfScheme(c: Char): Boolean = isLetter(c) || (c >= '0' && c <= '9') || c == '+' || c == '-' || c == '.'

  private def isLetter(c: Char): Boolean = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z')
}
