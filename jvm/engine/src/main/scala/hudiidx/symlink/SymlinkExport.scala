package hudiidx.symlink

import hudiidx.{IndexNotFound, InvalidOption, Log}
import hudiidx.storage.Storage
import hudiidx.store.{Current, IndexFolder, IndexNames, IndexStore, IndexVersion}
import hudiidx.sync.{IndexOptions, TableAccess, TableSnapshot}
import hudiidx.sync.build.Indexer
import hudiidx.table.TableConfig

/** Symlink manifests of one table: exported once, or kept in step by each update of its index. */
final class SymlinkExport(access: TableAccess, tablePath: String, options: IndexOptions) {
  private val log = Log.of(classOf[SymlinkExport])
  private val path = tablePath.stripSuffix("/")
  private val indexDir = options.indexDir(path)
  private val ownFolder = Storage.join(indexDir, IndexNames.SymlinkManifests)

  /** Exports now, as [[SymlinkManifest.export]]. InvalidOption where the index keeps manifests in a folder elsewhere, and neither
    * `folder` nor an option says the same.
    *
    *  @param folder None: where the index keeps manifests, else `symlink_manifest` in the index folder
    *  @param keep   true: each update of the index exports too from now on; false: none does; None: as it is. True raises
    *                IndexNotFound without an index
    */
  def now(folder: Option[String], readOptimized: Boolean, keep: Option[Boolean]): SymlinkResult = {
    // Of a table that is not read nothing else is said.
    TableConfig.read(access.storage, path): Unit
    val inForce = version
    if (keep.contains(true) && inForce.isEmpty)
      throw new IndexNotFound(
        s"$path: there is no index in $indexDir whose updates could keep manifests in step; " +
          s"run ${IndexStore.command("create", path, indexDir).quoted}"
      )
    val settings = settingsOf(inForce, folder, readOptimized)
    // First, so that what cannot be exported is not asked of every update.
    val result = exported(settings)
    if (inForce.isDefined) keep.foreach(k => set(if (k) Some(stored(settings)) else None))
    result
  }

  /** Called behind an update that made, or found, this version in force. None if the index has no manifests to keep, they are
    * in step, or they are in a folder elsewhere that the caller's option does not name: then a warning says so.
    */
  def follow(inForce: IndexVersion): Option[SymlinkResult] =
    keptIn(Some(inForce)).flatMap { kept =>
      trusted(kept) match {
        case None =>
          log.warn("{}: {}", path: Any, untrusted(kept.path): Any)
          None
        case Some(ours) => if (manifest(ours).isInStep(inForce.number, newest)) None else Some(exported(ours))
      }
    }

  /** What a version says of a folder is a word of who wrote the version. It counts in the index folder; elsewhere only if the caller
    * says the same, and then it is the caller's path that is gone to. The index folder's own is known by its name: a link in its place
    * would make any folder the same.
    */
  private def trusted(stored: SymlinkSettings): Option[SymlinkSettings] = {
    val place = if (isOwn(stored.path)) Some(ownFolder) else options.symlinkPaths.find(isSame(_, stored.path))
    place.map(p => stored.copy(path = p.stripSuffix("/")))
  }

  private def isOwn(folder: String): Boolean = Storage.plain(folder.stripSuffix("/")) == Storage.plain(ownFolder)

  /** Also in another spelling, of the folders above it. */
  private def asOwn(callers: String): String = {
    def above = access.storage.resolved(indexDir)
    if (isOwn(callers) || access.storage.resolved(callers) == Storage.join(above, IndexNames.SymlinkManifests))
      ownFolder
    else callers
  }

  /** @param stored where a version says: no store is asked of a file system that only the version names */
  private def isSame(callers: String, stored: String): Boolean = {
    lazy val resolved = access.storage.resolved(callers.stripSuffix("/"))
    val place = SymlinkExport.placeOf(stored)
    (place == SymlinkExport.placeOf(callers) || place == SymlinkExport.placeOf(resolved)) &&
    resolved == access.storage.resolved(stored.stripSuffix("/"))
  }

  private def untrusted(folder: String): String =
    s"the index in $indexDir says that its symlink manifests are kept in $folder, outside its folder: they are left as they " +
      s"are; set ${IndexOptions.SymlinkPath} to that folder if it is yours, or end the keeping: " +
      "`hudiidx export symlink-manifest TABLE -o PATH --no-keep`"

  private def keptIn(inForce: Option[IndexVersion]): Option[SymlinkSettings] =
    inForce.flatMap(SymlinkSettings.of).map(_.in(indexDir))

  /** Of the index folder's own by name alone: the index may move. */
  private def stored(settings: SymlinkSettings): SymlinkSettings =
    if (isOwn(settings.path)) settings.copy(path = IndexNames.SymlinkManifests) else settings

  private def set(to: Option[SymlinkSettings]): Unit =
    new Indexer(access, path, options).setPart(SymlinkPart)(_ => SymlinkPart.of(to)): Unit

  private def settingsOf(
      inForce: Option[IndexVersion],
      folder: Option[String],
      readOptimized: Boolean
  ): SymlinkSettings =
    (folder, keptIn(inForce)) match {
      case (None, Some(kept)) =>
        val ours = trusted(kept).getOrElse(throw new InvalidOption(s"$path: ${untrusted(kept.path)}"))
        ours.copy(readOptimized = readOptimized || kept.readOptimized)
      case _ => SymlinkSettings(folder.map(_.stripSuffix("/")).fold(ownFolder)(asOwn), readOptimized)
    }

  private def newest: Long = new IndexStore(access.storage, indexDir).versionNumbers().lastOption.getOrElse(0L)

  private def version: Option[IndexVersion] = new IndexStore(access.storage, indexDir).current() match {
    case Current.Found(version, _) => Some(version)
    case _                         => None
  }

  private def exported(settings: SymlinkSettings): SymlinkResult = {
    if (isOwn(settings.path)) new IndexFolder(access.storage, indexDir).requireOwn(path)
    manifest(settings).export(() => version.fold(0L)(_.number), () => TableSnapshot.open(access, path, options))
  }

  private def manifest(settings: SymlinkSettings): SymlinkManifest =
    new SymlinkManifest(access.storage, path, settings, isOwn(settings.path))
}

private object SymlinkExport {
  private val Place = "(?s)([A-Za-z][A-Za-z0-9+.-]*):(//[^/]*)?.*".r

  /** Scheme and authority of a path. */
  private def placeOf(path: String): (String, String) = path match {
    case Place(scheme, authority) => (scheme.toLowerCase(java.util.Locale.ROOT), Option(authority).fold("")(_.drop(2)))
    case _                        => ("file", "")
  }
}
