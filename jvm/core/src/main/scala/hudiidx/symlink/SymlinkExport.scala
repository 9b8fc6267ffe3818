package hudiidx.symlink

import hudiidx.IndexNotFound
import hudiidx.storage.Storage
import hudiidx.store.{Current, IndexStore, IndexVersion}
import hudiidx.sync.{IndexOptions, Indexer, TableAccess, TableSnapshot}

/** Symlink manifests of one table: exported once, or kept in step by each update of its index. */
final class SymlinkExport(access: TableAccess, tablePath: String, options: IndexOptions) {
  private val path = tablePath.stripSuffix("/")
  private val indexDir = options.indexDir(path)

  /** Exports now, as [[SymlinkManifest.export]].
    *
    *  @param folder None: where the index keeps manifests, else `symlink_manifest` in the index folder
    *  @param keep   true: each update of the index exports too from now on; false: none does; None: as it is. True raises
    *                IndexNotFound without an index
    */
  def now(folder: Option[String], readOptimized: Boolean, keep: Option[Boolean]): SymlinkResult = {
    val inForce = version
    if (keep.contains(true) && inForce.isEmpty)
      throw new IndexNotFound(
        s"$path: there is no index in $indexDir whose updates could keep manifests in step; run `hudiidx create $path`"
      )
    val settings = settingsOf(inForce, folder, readOptimized)
    // First, so that what cannot be exported is not asked of every update.
    val result = exported(settings)
    if (inForce.isDefined) keep.foreach(k => set(if (k) Some(settings) else None))
    result
  }

  /** Called behind an update that made, or found, this version in force. None if the index has no manifests to keep, or they are
    * in step.
    */
  def follow(inForce: IndexVersion): Option[SymlinkResult] =
    SymlinkSettings.of(inForce).filterNot(manifest(_).isInStep(inForce.number)).map(exported)

  private def set(to: Option[SymlinkSettings]): Unit =
    new Indexer(access, path, options).setPart(SymlinkPart)(_ => SymlinkPart.of(to)): Unit

  private def settingsOf(
      inForce: Option[IndexVersion],
      folder: Option[String],
      readOptimized: Boolean
  ): SymlinkSettings =
    (folder, inForce.flatMap(SymlinkSettings.of)) match {
      case (None, Some(kept)) => kept.copy(readOptimized = readOptimized || kept.readOptimized)
      case _                  =>
        val to = folder.getOrElse(Storage.join(indexDir, SymlinkSettings.Folder))
        SymlinkSettings(to.stripSuffix("/"), readOptimized)
    }

  private def version: Option[IndexVersion] = new IndexStore(access.storage, indexDir).current() match {
    case Current.Found(version, _) => Some(version)
    case _                         => None
  }

  private def exported(settings: SymlinkSettings): SymlinkResult =
    manifest(settings).export(() => version.fold(0L)(_.number), () => TableSnapshot.open(access, path, options))

  private def manifest(settings: SymlinkSettings): SymlinkManifest =
    new SymlinkManifest(access.storage, path, settings)
}
