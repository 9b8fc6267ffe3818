package hudiidx.storage

import java.io.IOException
import java.nio.channels.FileChannel
import java.nio.file.attribute.{FileAttribute, PosixFileAttributeView, PosixFileAttributes, PosixFilePermission}
import java.nio.file.attribute.PosixFilePermissions.asFileAttribute
import java.nio.file.{FileAlreadyExistsException, Files, NoSuchFileException, OpenOption, Path, StandardOpenOption}

import scala.collection.JavaConverters._

/** Rights on the local disk: what we make is never more open than the folder that it lies in. The system's mask counts besides. */
private[storage] object LocalRights {
  // From the highest bit on.
  private val bits: Vector[PosixFilePermission] = {
    import PosixFilePermission._
    Vector(
      OWNER_READ,
      OWNER_WRITE,
      OWNER_EXECUTE,
      GROUP_READ,
      GROUP_WRITE,
      GROUP_EXECUTE,
      OTHERS_READ,
      OTHERS_WRITE,
      OTHERS_EXECUTE
    )
  }
  private val AllOfFile = 0x1b6
  private val AllOfFolder = 0x1ff
  private val OwnersOfFile = 0x180
  private val OwnersOfFolder = 0x1c0
  private val FileCreation: Set[OpenOption] = Set(StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE)

  /** None if nothing is there, or the file system knows none. */
  def of(path: Path): Option[Access] =
    try
      Option(Files.getFileAttributeView(path, classOf[PosixFileAttributeView])).map { view =>
        val found: PosixFileAttributes = view.readAttributes()
        Access(modeOf(found.permissions.asScala.toSet), found.group.getName)
      }
    catch { case _: NoSuchFileException => None }

  private def modeOf(permissions: Set[PosixFilePermission]): Int =
    bits.zipWithIndex.collect { case (p, i) if permissions(p) => 1 << (8 - i) }.sum

  private def attribute(mode: Int): FileAttribute[_] =
    asFileAttribute(bits.zipWithIndex.collect { case (p, i) if (mode & (1 << (8 - i))) != 0 => p }.toSet.asJava)

  def newFile(file: Path): FileChannel = {
    val attributes = of(file.getParent).toVector.map(in => attribute((in.mode & AllOfFile) | OwnersOfFile))
    FileChannel.open(file, FileCreation.asJava, attributes: _*)
  }

  /** Those that are missing are no more open than the one above them. */
  def makeFolders(folder: Path): Unit = if (!Files.isDirectory(folder)) {
    if (folder.getParent != null) makeFolders(folder.getParent)
    val in = Option(folder.getParent).flatMap(of)
    make(folder, in.map(_.mode))
  }

  private def make(folder: Path, mode: Option[Int]): Unit =
    try {
      Files.createDirectory(folder, mode.toVector.map(m => attribute((m & AllOfFolder) | OwnersOfFolder)): _*)
      Option(folder.getParent).foreach(ForcedFolders.force)
    } catch { case _: FileAlreadyExistsException if Files.isDirectory(folder) => () }

  /** As [[Storage.makeFolder]]. Where the folder cannot have the model's group, its own has what others have. */
  def makeFolder(folder: Path, model: Path, most: Option[Access]): Unit = if (!Files.isDirectory(folder)) {
    of(model) match {
      case None       => makeFolders(folder)
      case Some(like) =>
        val wanted = most.foldLeft(like)(_ and _)
        if (folder.getParent != null && !Files.isDirectory(folder.getParent)) makeFolder(folder.getParent, model, most)
        make(folder, Some(wanted.mode))
        setGroup(folder, like.group)
        of(folder).foreach { now =>
          val mode = now.mode & wanted.of(now.group).mode | OwnersOfFolder
          if (mode != now.mode) setMode(folder, mode)
        }
    }
  }

  private def setGroup(folder: Path, group: String): Unit =
    try {
      val view = Files.getFileAttributeView(folder, classOf[PosixFileAttributeView])
      if (view.readAttributes().group.getName != group)
        view.setGroup(folder.getFileSystem.getUserPrincipalLookupService.lookupPrincipalByGroupName(group))
    } catch { case _: IOException => () } // who is not in the group cannot give it

  private def setMode(folder: Path, mode: Int): Unit =
    Files.setPosixFilePermissions(
      folder,
      bits.zipWithIndex.collect { case (p, i) if (mode & (1 << (8 - i))) != 0 => p }.toSet.asJava
    ): Unit
}
