package hudiidx.table.listing

import hudiidx.DamagedTable
import hudiidx.storage.{FileInfo, Storage}
import hudiidx.table.TableConfig

/** The folders of a table below one of them, for every walk over it. A link to a folder is one, as it is to stock Hudi; but no
  * link makes a walk endless.
  */
private[hudiidx] object Subfolders {

  /** So many links may stand in one path: each may multiply what a walk visits. */
  val MostLinks = 3

  /** As paths below the table. DamagedTable for a link to a folder that it lies in, and for one too many.
    *
    * @param path  of the folder below the table; `""` is the table itself
    * @param found what lies in it
    */
  def of(storage: Storage, tablePath: String, path: String, found: Vector[FileInfo]): Vector[String] =
    found.filter(f => f.isDirectory && !(path.isEmpty && f.name == TableConfig.HoodieFolder)).map { f =>
      val below = Storage.join(path, f.name).stripPrefix("/")
      if (storage.isLink(f.path)) requireEnd(storage, tablePath, below, f.path)
      below
    }

  private def requireEnd(storage: Storage, tablePath: String, below: String, link: String): Unit = {
    val names = below.split('/').toVector
    val onTheWay = names.indices.map(n => Storage.join(tablePath, names.take(n).mkString("/")))
    val target = storage.resolved(link)
    if (onTheWay.map(storage.resolved).exists(at => at == target || at.startsWith(target.stripSuffix("/") + "/")))
      throw new DamagedTable(
        s"$link: a link to $target, in which it lies itself, so that folders below it have no end; remove the link"
      )
    if (onTheWay.count(storage.isLink) > MostLinks)
      throw new DamagedTable(s"$link: a link behind $MostLinks others in one path; put its folder in the link's place")
  }
}
