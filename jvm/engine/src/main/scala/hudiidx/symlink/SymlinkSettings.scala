package hudiidx.symlink

import hudiidx.storage.Storage
import hudiidx.store.{IndexFile, IndexNames, IndexVersion}
import hudiidx.sync._

/** Where symlink manifests of a table are, and what they name.
  *
  *  @param path          folder of the manifests; in a version of the index `symlink_manifest` for the one in its own folder
  *  @param readOptimized base files alone, whatever logs there are beside them
  */
final case class SymlinkSettings(path: String, readOptimized: Boolean) {

  /** With the path of the folder, of an index in this one. */
  def in(indexDir: String): SymlinkSettings =
    if (path == IndexNames.SymlinkManifests) copy(path = Storage.join(indexDir, path)) else this
}

object SymlinkSettings {
  private val Prefix = "symlink."
  private val PathProperty = Prefix + "path"
  private val ReadOptimizedProperty = Prefix + "read_optimized"

  /** Those that updates of this index keep in step; None: there are none. */
  def of(version: IndexVersion): Option[SymlinkSettings] = version.properties.get(PathProperty).map { path =>
    SymlinkSettings(path, version.properties.get(ReadOptimizedProperty).contains("true"))
  }

  private[symlink] def owns(property: String): Boolean = property.startsWith(Prefix)

  private[symlink] def properties(settings: SymlinkSettings): Map[String, String] =
    Map(PathProperty -> settings.path, ReadOptimizedProperty -> settings.readOptimized.toString)
}

/** The settings as a part of the index, which has no files of its own: they go from version to version. */
object SymlinkPart extends IndexPart {

  override def owns(file: IndexFile): Boolean = false

  override def owns(property: String): Boolean = SymlinkSettings.owns(property)

  override def isIn(version: IndexVersion): Boolean = SymlinkSettings.of(version).isDefined

  override def build(state: IndexState, before: Option[IndexVersion]): PartFiles =
    of(before.flatMap(SymlinkSettings.of))

  override def update(state: IndexState, before: IndexVersion, unseen: Vector[UnseenInstant]): PartFiles =
    of(SymlinkSettings.of(before))

  /** A creation leaves them as they are. */
  override def withOthers(made: PartFiles, before: Option[IndexVersion], others: IndexVersion): PartFiles =
    of(SymlinkSettings.of(others))

  /** What a version has with these settings. */
  def of(settings: Option[SymlinkSettings]): PartFiles =
    PartFiles.None.copy(properties = settings.fold(Map.empty[String, String])(SymlinkSettings.properties))
}
