package hudiidx.storage

import java.io.IOException
import java.nio.file.attribute.{PosixFileAttributes, PosixFilePermission, UserPrincipal}
import java.nio.file.{Files, Path, Paths}
import scala.util.Try

/** Who may write to a local file. */
private[storage] object FileOwner {

  // Where there is no such folder, an account has its user's name.
  private lazy val ours: Option[UserPrincipal] =
    Try(Files.getOwner(Paths.get("/proc/self"))).orElse {
      val path = Paths.get(System.getProperty("user.home"))
      Try(path.getFileSystem.getUserPrincipalLookupService.lookupPrincipalByName(System.getProperty("user.name")))
    }.toOption

  /** True if the file is this process's user's, and no other one may write to it; false where the file system does not say. */
  def isOursAlone(path: Path): Boolean =
    try {
      val found = Files.readAttributes(path, classOf[PosixFileAttributes])
      val permissions = found.permissions
      ours.contains(found.owner) &&
      !permissions.contains(PosixFilePermission.GROUP_WRITE) && !permissions.contains(PosixFilePermission.OTHERS_WRITE)
    } catch { case _: IOException | _: UnsupportedOperationException => false }
}
