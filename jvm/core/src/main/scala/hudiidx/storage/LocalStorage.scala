package hudiidx.storage

import java.io.{BufferedOutputStream, EOFException, IOException, OutputStream}
import java.nio.ByteBuffer
import java.nio.channels.{Channels, FileChannel}
import java.nio.file.LinkOption.NOFOLLOW_LINKS
import java.nio.file.attribute.{BasicFileAttributes, FileTime}
import java.nio.file.{
  AccessDeniedException,
  DirectoryIteratorException,
  DirectoryNotEmptyException,
  FileAlreadyExistsException,
  FileSystemException,
  FileSystems,
  FileVisitResult,
  Files,
  InvalidPathException,
  NoSuchFileException
}
import java.nio.file.{Path, SimpleFileVisitor, StandardCopyOption, StandardOpenOption}
import java.util.UUID
import scala.util.control.NonFatal

/** Files of the local disk through java.nio. Paths are plain, or URIs that start with `file:` (not percent-encoded, as
  *  Hadoop prints them). I/O errors name the file.
  */
object LocalStorage extends Storage {

  override def list(dir: String): Vector[FileInfo] = {
    val entries = Vector.newBuilder[FileInfo]
    try {
      val stream = Files.newDirectoryStream(toPath(dir))
      try {
        val it = stream.iterator()
        while (it.hasNext) entryOf(dir, it.next()).foreach(entries += _)
      } finally stream.close()
    } catch {
      case _: NoSuchFileException        => ()
      case e: DirectoryIteratorException => throw e.getCause
    }
    entries.result().sortBy(_.name)
  }

  private def entryOf(dir: String, child: Path): Option[FileInfo] = {
    val name = child.getFileName.toString
    infoOf(Storage.join(dir, name), child).filterNot(Storage.isChecksum)
  }

  override def status(path: String): Option[FileInfo] =
    try infoOf(path, toPath(path))
    catch { case _: NoSuchFileException => None }

  /** None also for a file that went away meanwhile, for a link that leads to itself, and for a name that no file can have. */
  private def infoOf(path: String, file: Path): Option[FileInfo] =
    try {
      val a = Files.readAttributes(file, classOf[BasicFileAttributes])
      val size = if (a.isDirectory) 0L else a.size
      Some(FileInfo(path, size, a.lastModifiedTime.toMillis, a.isDirectory, tagOf(a)))
    } catch {
      case _: NoSuchFileException                                                                         => None
      case e: FileSystemException if !e.isInstanceOf[AccessDeniedException] && Files.isSymbolicLink(file) => None
      case e: FileSystemException if e.getReason == "File name too long"                                  => None
    }

  /** Another file under a name may have the size and time of the one before: copies that keep times do. */
  private def tagOf(a: BasicFileAttributes): String = a.fileKey match {
    case null => ""
    case key  => Integer.toHexString(key.hashCode)
  }

  /** Looks at the file before it opens it: if another takes its place in between, what is read is not kept as the other's. */
  override def open(path: String): RandomReader = {
    val file = toPath(path)
    val info = infoOf(path, file).getOrElse(throw new NoSuchFileException(path))
    refuseOthers(path, file)
    new LocalReader(info.stamp, FileChannel.open(file, StandardOpenOption.READ))
  }

  override def readAll(path: String): Array[Byte] = {
    val file = toPath(path)
    refuseOthers(path, file)
    Storage.requireWhole(path, Files.size(file))
    Files.readAllBytes(file)
  }

  /** IOException for what is there and is no regular file. For readers that are not ours, before they open one. */
  def requireRegular(path: String): Unit = refuseOthers(path, toPath(path))

  /** Also behind a link: a device has no end, and a pipe waits for somebody to write to it. */
  private def refuseOthers(path: String, file: Path): Unit =
    if (!Files.isRegularFile(file))
      if (Files.isDirectory(file)) throw aFolder(path)
      else if (Files.exists(file)) throw new UnreadableFile(s"$path: no regular file, but a device, a pipe or a socket")

  private def aFolder(path: String): IOException = new UnreadableFile(s"$path: a folder, where a file was expected")

  override def write(path: String)(content: OutputStream => Unit): Unit = Storage.writing(path) {
    if (!createWhole(toPath(path), isForced = true)(content)) throw new FileAlreadyExistsException(path)
  }

  override def writeScratch(path: String)(content: OutputStream => Unit): Unit = Storage.writing(path) {
    if (!createWhole(toPath(path), isForced = false)(content)) throw new FileAlreadyExistsException(path)
  }

  override def writeInPlace(path: String)(content: OutputStream => Unit): Unit = Storage.writing(path) {
    val target = toPath(path)
    LocalRights.makeFolders(target.getParent)
    if (Files.exists(target)) throw new FileAlreadyExistsException(path)
    try fill(target, isForced = true, content)
    catch {
      case e: FileAlreadyExistsException =>
        isTaken(target): Unit
        throw e
      case NonFatal(e) =>
        Files.deleteIfExists(target)
        throw e
    }
    ForcedFolders.force(target.getParent)
  }

  override def replace(path: String, content: Array[Byte]): Unit = Storage.writing(path) {
    val target = toPath(path)
    LocalRights.makeFolders(target.getParent)
    val temporary = temporaryFor(target)
    try {
      fill(temporary, isForced = true, _.write(content))
      // Hadoop's local file system would hold the checksum of the file before against this one.
      Files.deleteIfExists(checksumOf(target))
      Files.move(temporary, target, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING)
      ForcedFolders.force(target.getParent)
    } finally Files.deleteIfExists(temporary): Unit
  }

  /** Java opens a file to set its time. */
  override def touch(path: String): Unit = {
    requireRegular(path)
    Files.setLastModifiedTime(toPath(path), FileTime.fromMillis(System.currentTimeMillis())): Unit
  }

  override def publish(path: String, content: Array[Byte]): Boolean = Storage.writing(path) {
    val target = toPath(path)
    !Files.exists(target) && createWhole(target, isForced = true)(_.write(content))
  }

  /** Fills a hidden file beside the target, forces it to disk and links it to its name: the link is made at once or not
    *  at all, and never replaces anything. (A rename would.) False if the target was there.
    *
    *  @param isForced false: whether a power cut leaves the file does not matter
    */
  private def createWhole(target: Path, isForced: Boolean)(content: OutputStream => Unit): Boolean = {
    LocalRights.makeFolders(target.getParent)
    val temporary = temporaryFor(target)
    try {
      fill(temporary, isForced, content)
      link(target, temporary, isForced)
    } finally Files.deleteIfExists(temporary)
  }

  private def temporaryFor(target: Path): Path =
    target.resolveSibling(s".${target.getFileName}.${UUID.randomUUID()}.tmp")

  private def checksumOf(file: Path): Path = file.resolveSibling(s".${file.getFileName}.crc")

  private def fill(file: Path, isForced: Boolean, content: OutputStream => Unit): Unit = {
    val channel = LocalRights.newFile(file)
    try {
      val out = new BufferedOutputStream(Channels.newOutputStream(channel), BufferBytes)
      content(out)
      out.flush()
      if (isForced) channel.force(true)
    } finally channel.close()
  }

  private def link(target: Path, existing: Path, isForced: Boolean): Boolean =
    try {
      Files.createLink(target, existing)
      if (isForced) ForcedFolders.force(target.getParent)
      true
    } catch {
      case _: FileAlreadyExistsException    => isTaken(target)
      case e: UnsupportedOperationException =>
        throw new IOException(s"$target: this file system has no hard links; put the index on one that has", e)
    }

  /** False, as there is a file under the name. A link that leads nowhere takes the name of a file that nobody lists or reads, so that one
    * who waits for the next name would ask for this one again and again.
    */
  private def isTaken(target: Path): Boolean =
    if (Files.isSymbolicLink(target) && !Files.exists(target))
      throw new UnreadableFile(
        s"$target: a link that leads nowhere has the name of a file that is to be made; remove it"
      )
    else false

  override def delete(path: String): Boolean = {
    val root = toPath(path)
    if (!Files.exists(root, NOFOLLOW_LINKS)) false
    else {
      Files.walkFileTree(root, Remover)
      true
    }
  }

  override def deleteFile(path: String): Unit = deleteOne(path): Unit

  override def deleteOne(path: String): Boolean = {
    val file = toPath(path)
    try {
      if (!Files.isDirectory(file, NOFOLLOW_LINKS)) Files.deleteIfExists(checksumOf(file))
      Files.deleteIfExists(file)
    } catch { case _: DirectoryNotEmptyException => false }
  }

  override def access(path: String): Option[Access] = LocalRights.of(toPath(path))

  override def makeFolder(path: String, model: String, most: Option[Access]): Unit =
    LocalRights.makeFolder(toPath(path), toPath(model), most)

  override def isLink(path: String): Boolean = Files.isSymbolicLink(toPath(path).normalize())

  /** Of what is not there yet, as far as it is there. */
  override def resolved(path: String): String = {
    val plain = toPath(path).normalize()
    var there = plain
    while (there.getParent != null && !Files.exists(there)) there = there.getParent
    there.toRealPath().resolve(there.relativize(plain)).normalize().toString
  }

  private object Remover extends SimpleFileVisitor[Path] {
    override def visitFile(file: Path, attributes: BasicFileAttributes): FileVisitResult = {
      // A checksum that stays behind would be held against the next file of this name.
      Files.deleteIfExists(checksumOf(file))
      Files.deleteIfExists(file)
      FileVisitResult.CONTINUE
    }
    override def visitFileFailed(file: Path, e: IOException): FileVisitResult = e match {
      case _: NoSuchFileException => FileVisitResult.CONTINUE
      case _                      => throw e
    }
    override def postVisitDirectory(dir: Path, e: IOException): FileVisitResult = {
      if (e != null) throw e
      Files.deleteIfExists(dir)
      FileVisitResult.CONTINUE
    }
  }

  private val BufferBytes = 1 << 16

  /** The path from the root, without `.`, `..` and a slash at its end. InvalidPathException for what no path can be. */
  def absolute(path: String): String = named(path).normalize().toString

  private def toPath(path: String): Path =
    try named(path)
    catch {
      case e: InvalidPathException => throw new NoSuchFileException(path, null, s"no name of a file: ${e.getReason}")
    }

  private def named(path: String): Path = {
    val plain = if (path.startsWith("file:")) "/" + path.substring("file:".length).dropWhile(_ == '/') else path
    FileSystems.getDefault.getPath(plain).toAbsolutePath
  }
}

private final class LocalReader(seen: FileStamp, channel: FileChannel) extends RandomReader {
  override val path: String = seen.path
  override val sizeBytes: Long = channel.size()

  // A log may have grown since it was looked at.
  override def stamp: FileStamp = if (sizeBytes == seen.sizeBytes) seen else seen.copy(sizeBytes = sizeBytes)
  private val mapped = new MappedFile(path, channel, sizeBytes)

  override def read(offset: Long, length: Int): ByteBuffer = {
    RandomReader.requireRange(this, offset, length)
    val target = new Array[Byte](length)
    fill(offset, length, target)
    ByteBuffer.wrap(target)
  }

  override def readInto(offset: Long, length: Int, target: Array[Byte]): Unit = {
    RandomReader.requireRange(this, offset, length)
    fill(offset, length, target)
  }

  private def fill(offset: Long, length: Int, target: Array[Byte]): Unit =
    if (!mapped.copy(offset, length, target)) {
      val buffer = ByteBuffer.wrap(target, 0, length)
      while (buffer.hasRemaining)
        if (channel.read(buffer, offset + buffer.position()) < 0)
          throw new EOFException(s"$path: the file ends before offset ${offset + length}; it was cut while being read")
    }

  override def close(): Unit = {
    mapped.close()
    channel.close()
  }
}
