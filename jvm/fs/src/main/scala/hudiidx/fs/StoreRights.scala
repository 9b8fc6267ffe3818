package hudiidx.fs

import java.io.{FileNotFoundException, IOException}

import scala.collection.JavaConverters._

import hudiidx.storage.Access
import org.apache.hadoop.fs.permission.{AclEntry, FsPermission}
import org.apache.hadoop.fs.{FileSystem, Path}

/** Rights on HDFS, and on stores that have the same. What lies in a folder is guarded by the folder: each access passes those above. */
private[hudiidx] object StoreRights {
  private val Owners = 0x1c0

  def isKnown(fs: FileSystem, path: Path): Boolean = FileCreation.of(fs, path).how == ByRename

  /** None if nothing is there. */
  def of(fs: FileSystem, path: Path): Option[Access] =
    try {
      val found = fs.getFileStatus(path)
      Some(Access(found.getPermission.toShort & 0x1ff, found.getGroup, entries(fs, path).map(_.toString).toSet))
    } catch { case _: FileNotFoundException => None }

  /** Entries of the access control list, defaults for what is made in the folder included; none where the store has no lists. */
  private def entries(fs: FileSystem, path: Path): Vector[AclEntry] =
    try fs.getAclStatus(path).getEntries.asScala.toVector
    catch { case _: UnsupportedOperationException | _: IOException => Vector.empty }

  /** As [[hudiidx.storage.Storage.makeFolder]]. */
  def makeFolder(fs: FileSystem, folder: Path, model: Path, like: Access, most: Option[Access]): Unit =
    if (!fs.exists(folder)) {
      val wanted = most.fold(like)(m => like.copy(mode = like.mode & m.of(like.group).mode))
      val above = folder.getParent
      if (above != null && !fs.exists(above)) makeFolder(fs, above, model, like, most)
      fs.mkdirs(folder, new FsPermission((wanted.mode | Owners).toShort)): Unit
      setGroup(fs, folder, like.group)
      copyEntries(fs, folder, model)
      of(fs, folder).foreach { now =>
        val mode = now.mode & wanted.of(now.group).mode | Owners
        if (mode != now.mode) fs.setPermission(folder, new FsPermission(mode.toShort))
      }
    }

  /** Who is not in the group cannot give it. */
  private def setGroup(fs: FileSystem, folder: Path, group: String): Unit =
    try if (fs.getFileStatus(folder).getGroup != group) fs.setOwner(folder, null, group)
    catch { case _: IOException => () }

  /** A list that the folder above gave by default is another's: only the model's count. */
  private def copyEntries(fs: FileSystem, folder: Path, model: Path): Unit = {
    val own = model.getFileSystem(fs.getConf)
    val wanted = if (own.getUri == fs.getUri) entries(own, model) else Vector.empty
    val has = entries(fs, folder)
    if (has.toSet != wanted.toSet) {
      fs.removeAcl(folder)
      if (wanted.nonEmpty) fs.modifyAclEntries(folder, wanted.asJava)
    }
  }
}
