package hudiidx.store

import hudiidx.{IndexNotWritable, InvalidOption, Log}
import hudiidx.storage.{FileInfo, Storage}

/** An index folder as a place that others can write to: where an index may lie, and the only door through which files of it
  * are removed. Nothing goes that has no name of ours, and no link is followed.
  */
final class IndexFolder(storage: Storage, val dir: String) {
  private val log = Log.of(classOf[IndexFolder])

  /** Before anything is written or removed. InvalidOption if the folder is the table's own or one above it; IndexNotWritable if
    * it, or a folder between it and the table, is a link: whoever writes the table would say where ours lie.
    */
  def requireOwn(tablePath: String): Unit = {
    val table = storage.resolved(tablePath)
    val own = storage.resolved(dir)
    if (table == own || table.startsWith(IndexFolder.inside(own)))
      throw new InvalidOption(
        s"$dir: the folder of the table $tablePath, or one above it, cannot be that of its index; set hudiidx.index.path to a " +
          "folder of its own"
      )
    (ownFolders(tablePath, table) :+ below(IndexNames.Versions) :+ below(IndexNames.Scans))
      .find(storage.isLink)
      .foreach { link =>
        throw new IndexNotWritable(
          s"$link: a link to another folder, and an index is not written through links; remove the link, or set " +
            "hudiidx.index.path to the folder that it leads to"
        )
      }
  }

  /** The index folder, and those between it and the table if it is in there, under whatever name of the table's folder. */
  private def ownFolders(tablePath: String, table: String): Vector[String] = {
    val inTable = Storage.folders(tablePath, dir)
    if (inTable.nonEmpty) inTable
    else if (!Storage.plain(dir).startsWith("/")) Vector(dir)
    else {
      val (below, other) = Storage.above(dir).toVector.span(storage.resolved(_) != table)
      if (other.isEmpty) Vector(dir) else below.reverse :+ dir
    }
  }

  /** Names of what is in the folder and not of an index. */
  def others(): Vector[String] = storage.list(dir).filterNot(isOurs).map(_.name)

  private def isOurs(f: FileInfo): Boolean =
    if (f.isDirectory) IndexNames.isFolder(f.name) else IndexNames.isFile(f.name)

  /** Removes a file of the index folder, by its name in it; false if it is not there. */
  def remove(name: String): Boolean = storage.deleteOne(file(name))

  /** The same, of what is known to be a file. */
  def removeFile(name: String): Unit = storage.deleteFile(file(name))

  private def file(name: String): String = {
    require(IndexNames.isFile(IndexFolder.last(name)), s"${below(name)}: no name of a file of an index")
    below(name)
  }

  /** Path of a work folder whose name others can foresee, for use: a link that lies in its place goes, and leads nobody elsewhere. */
  def workFolder(name: String): String = {
    require(IndexNames.isWorkFolder(name), s"${below(name)}: no name of a work folder of an index")
    val path = below(name)
    if (storage.isLink(path)) {
      log.warn("{}: a link in the place of a folder of the index; it is removed, and nothing that it leads to", path)
      storage.deleteOne(path): Unit
    }
    path
  }

  /** Removes a folder with work, by its name, and the files in it; what else is in it stays, and so does the folder then. */
  def removeWork(name: String): Boolean = {
    require(IndexNames.isWorkFolder(IndexFolder.last(name)), s"${below(name)}: no name of a work folder of an index")
    removeFolder(below(name), f => IndexNames.isFile(f.name))
  }

  /** Removes a folder with work that this process has made, under a token that nobody else knows: all that is in it. */
  def removeMade(name: String): Boolean = {
    require(IndexNames.isMade(name), s"${below(name)}: no name that a process gives to a work folder of its own")
    storage.delete(below(name))
  }

  /** Removes a path that is a file of the index folder, or a work folder in it. */
  def removeAny(path: String): Boolean = {
    require(path.startsWith(IndexFolder.inside(dir)), s"$path: not in the index folder $dir")
    val name = path.substring(IndexFolder.inside(dir).length)
    if (IndexNames.isWorkFolder(name)) removeWork(name) else remove(name)
  }

  /** Where nothing else is in a folder it goes at once: on an object store that is one request, not one for each file. False if
    * nothing of it was removed.
    */
  private def removeFolder(path: String, isOurs: FileInfo => Boolean): Boolean =
    if (storage.isLink(path)) storage.deleteOne(path)
    else {
      val (ours, others) = storage.list(path).partition(f => !f.isDirectory && isOurs(f))
      others.headOption match {
        case None    => storage.delete(path)
        case Some(f) =>
          log.warn("{}: stays, for {} is not one of hudiidx's files", path: Any, f.name: Any)
          removeAll(ours)
      }
    }

  private def removeAll(files: Vector[FileInfo]): Boolean = files.count(f => storage.deleteOne(f.path)) > 0

  /** Removes all files of the index, its oldest versions first, so that what a drop leaves that was killed is an index or none.
    * Then the folder, if nothing else is in it; false if nothing was removed.
    */
  def drop(): Boolean = {
    val folder = below(IndexNames.Versions)
    val files = if (storage.isLink(folder)) Vector.empty else storage.list(folder)
    val versions = removeAll(files.filter(f => !f.isDirectory && IndexNames.isFile(f.name)))
    val (ours, others) = storage.list(dir).partition(isOurs)
    val (folders, plain) = ours.partition(_.isDirectory)
    val emptied = folders.count { f =>
      if (f.name == IndexNames.SymlinkManifests) removeManifests(f.path)
      else removeFolder(f.path, inside => IndexNames.isFile(inside.name))
    }
    val removed = removeAll(plain)
    others.headOption.foreach(f => log.warn("{}: stays, for {} is not one of hudiidx's files", dir: Any, f.name: Any))
    if (others.isEmpty) storage.deleteOne(dir): Unit
    versions || removed || emptied > 0
  }

  /** Manifests lie in a folder for each partition. */
  private def removeManifests(path: String): Boolean = {
    val inside = if (storage.isLink(path)) Vector.empty else storage.list(path)
    val removed = inside.count { f =>
      if (f.isDirectory) removeManifests(f.path) else IndexNames.isOfSymlinks(f.name) && storage.deleteOne(f.path)
    }
    storage.deleteOne(path) || removed > 0
  }

  private def below(name: String): String = Storage.join(dir, name)
}

private object IndexFolder {
  private def last(name: String): String = name.substring(name.lastIndexOf('/') + 1)

  /** What paths below a folder begin with. */
  private def inside(folder: String): String = if (folder.endsWith("/")) folder else folder + "/"
}
