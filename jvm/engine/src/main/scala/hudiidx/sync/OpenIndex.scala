package hudiidx.sync

import hudiidx.DamagedIndex
import hudiidx.hfile.{BlockCache, HFileReader}
import hudiidx.manifest.{DeltaManifest, IndexFileSource, ManifestChanges, MasterManifest}
import hudiidx.storage.RandomReader
import hudiidx.store.{IndexFile, IndexStore, IndexVersion}

/** The manifest files of one index version, open. */
final class OpenIndex private (
    val version: IndexVersion,
    val master: MasterManifest,
    val delta: Option[DeltaManifest],
    readers: Vector[RandomReader]
) extends AutoCloseable {

  /** The table's files as of the version, and of `overlay` on top. */
  def source(overlay: ManifestChanges): IndexFileSource = new IndexFileSource(master, delta, overlay)

  override def close(): Unit = readers.foreach(_.close())
}

object OpenIndex {

  /** True for the files that `open` opens. */
  def needs(file: IndexFile): Boolean = ManifestKind.All(file.kind)

  /** DamagedIndex if a file is gone, has another size than the version says, or cannot be decoded. */
  def open(store: IndexStore, version: IndexVersion, cache: BlockCache): OpenIndex = {
    var opened = Vector.empty[RandomReader]
    def hfile(file: IndexFile): HFileReader = {
      val reader = store.openWhole(file)
      opened :+= reader
      HFileReader.open(reader, cache)
    }
    def part(kind: String): IndexFile = version
      .file(kind)
      .getOrElse(
        throw new DamagedIndex(
          s"${store.dir}: index version ${version.number} names no $kind; `hudiidx create` makes a new one"
        )
      )
    try {
      val masterFile = part(ManifestKind.Master)
      val master = new MasterManifest(hfile(masterFile), hfile(part(ManifestKind.PartitionIndex)), masterFile.name)
      val delta = version.file(ManifestKind.Delta).map(f => new DeltaManifest(hfile(f), f.name))
      new OpenIndex(version, master, delta, opened)
    } catch {
      case e: Throwable =>
        opened.foreach(_.close())
        throw e
    }
  }
}

/** Kinds of the manifest's files in an index version. */
object ManifestKind {
  val Master = "master_manifest"
  val Delta = "delta_manifest"
  val PartitionIndex = "partition_index"
  val All: Set[String] = Set(Master, Delta, PartitionIndex)
}
