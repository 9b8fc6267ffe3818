package hudiidx.sync

import hudiidx.column.NeverColumns
import hudiidx.manifest.ManifestChanges
import hudiidx.storage.FileInfo
import hudiidx.store.{IndexFile, IndexStore, IndexVersion}
import hudiidx.table.{FileSystemView, ViewTimeline}

/** A table as one index version is to describe it.
  *
  *  @param table pinned properties and timeline
  *  @param view  the table's files from the manifest of that version
  *  @param store the index folder
  *  @param show  is told how much of the part is done, from 0 to 1
  *  @param never columns of which the index is to hold nothing, Hudi's own that have their values included
  *  @param listed what is in the index folder, where it was listed a moment ago
  */
final case class IndexState(
    table: TableContext,
    view: FileSystemView,
    store: IndexStore,
    show: Double => Unit = _ => (),
    never: NeverColumns = NeverColumns.None,
    listed: Option[Vector[FileInfo]] = None
) {

  /** DamagedIndex if one of these files of the index is gone or cut short. */
  def requireFiles(files: Vector[IndexFile]): Unit = store.requireFiles(files, listed.getOrElse(store.list()))

  /** Requested time of the newest instant taken in, for the names of files. */
  def instant: String = table.newestInstant
}

object IndexState {

  /** The table as a version has it that takes in all of the timeline, published or not. */
  private[sync] def opened[A](
      store: IndexStore,
      table: TableContext,
      version: IndexVersion,
      show: Double => Unit,
      listed: Option[Vector[FileInfo]] = None
  )(use: IndexState => A): A = {
    val open = OpenIndex.open(store, version, table.access.cache)
    try {
      val view = ViewTimeline.load(table.config, table.timeline, table.contents, table.history.completionTime(_))
      val never = NeverColumns.of(version).of(table.config)
      use(IndexState(table, new FileSystemView(open.source(new ManifestChanges), view), store, show, never, listed))
    } finally open.close()
  }
}

/** What a part of an index has written, or keeps, for a version that is yet to be published.
  *
  *  @param leftovers paths of files that served only the making, removed once the version is published
  */
final case class PartFiles(files: Vector[IndexFile], properties: Map[String, String], leftovers: Vector[String])

object PartFiles {
  val None: PartFiles = PartFiles(Vector.empty, Map.empty, Vector.empty)

  /** What a version has of a part. */
  def of(part: IndexPart, version: IndexVersion): PartFiles =
    PartFiles(version.files.filter(part.owns), version.properties.filter(p => part.owns(p._1)), Vector.empty)
}

/** A part of the index beside the manifest, published in the same versions: the record index, for one. */
trait IndexPart {

  /** True for files that are this part's. */
  def owns(file: IndexFile): Boolean

  /** True for properties that are this part's. */
  def owns(property: String): Boolean

  def isIn(version: IndexVersion): Boolean

  /** Reads what the part asks of the table at first, where the store is far and other parts are made meanwhile. */
  def fetch(table: TableContext): Unit = ()

  /** Made anew for a version that `create` makes. `before`: the version in force until then, whose settings of the part
    * stay unless options say otherwise. Nothing if the index is not to have the part.
    */
  def build(state: IndexState, before: Option[IndexVersion]): PartFiles

  /** What the part has after the instants that `before` has not taken in. Called only if `before` has the part. */
  def update(state: IndexState, before: IndexVersion, unseen: Vector[UnseenInstant]): PartFiles

  /** What [[Indexer.addPart]] adds to the part of a version. Of a part that is made of pieces it is those that are asked for, so
    * that what others add to the part meanwhile stays. It is brought up by `update`, as a version that has nothing else.
    */
  def piece(state: IndexState, before: IndexVersion): PartFiles = build(state, Some(before))

  /** The part of `version` with a piece that is as of the same instants. */
  def joined(state: IndexState, version: IndexVersion, piece: PartFiles): PartFiles = piece

  /** What a creation made of the part, with what others gave it since `before` and the creation does not know.
    *
    *  @param others the version in force
    */
  def withOthers(made: PartFiles, before: Option[IndexVersion], others: IndexVersion): PartFiles = made

  /** The part of a version may hold values of columns that are forbidden, Hudi's own that have their values included. */
  def holds(version: IndexVersion, never: NeverColumns): Boolean = false

  /** What is left of the part where it is dropped: of one that is made of pieces those that stay. */
  def drop(before: IndexVersion): PartFiles = PartFiles.None
}
