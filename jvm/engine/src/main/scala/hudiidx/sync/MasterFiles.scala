package hudiidx.sync

import hudiidx.manifest._
import hudiidx.store.{IndexFile, IndexStore, IndexVersion}

/** Files that were written for a version that is yet to be published, with its properties. */
final case class WrittenFiles(files: Vector[IndexFile], properties: Map[String, String], merged: Boolean)

/** Names of the properties that describe the manifest in an index version. */
object ManifestProperty {
  val Prefix = "manifest."
  val MasterFiles = "manifest.master.files"
  val MasterPartitions = "manifest.master.partitions"
  val MasterInstant = "manifest.master.instant"
  val DeltaAdded = "manifest.delta.added"
  val DeltaRemoved = "manifest.delta.removed"
  val DeltaAddedPartitions = "manifest.delta.added.partitions"
  val DeltaRemovedPartitions = "manifest.delta.removed.partitions"
  val NextFileNumber = "manifest.next.file.number"
  val EntriesPerPage = "manifest.page.entries"
  val BlockBytes = "manifest.block.bytes"
}

/** Writes a master manifest with its partition index. Files are named as RFC-15 names them, plus a token that makes the name
  *  of each writer's try its own.
  */
private[sync] object MasterFiles {

  def write(store: IndexStore, table: TableContext, shape: ManifestShape)(
      partitions: Iterator[EncodedPartition]
  ): WrittenFiles = {
    val instant = table.completed.lastOption.map(_.requestedTime).getOrElse(NoInstant)
    val token = IndexStore.newToken()
    var writer: MasterWriter = null
    var index: IndexFile = null
    val master = store.write(s"$instant.$token.master_manifest", ManifestKind.Master) { masterOut =>
      index = store.write(s"$instant.$token._partition_.idx", ManifestKind.PartitionIndex) { indexOut =>
        writer = new MasterWriter(masterOut, indexOut, shape)
        partitions.foreach(writer.append)
        writer.close()
      }
    }
    val files = writer.nextNumber - MasterManifest.FirstNumber
    val properties = Map(
      ManifestProperty.MasterFiles -> files.toString,
      ManifestProperty.MasterPartitions -> writer.partitions.toString,
      ManifestProperty.MasterInstant -> instant,
      ManifestProperty.NextFileNumber -> writer.nextNumber.toString,
      ManifestProperty.EntriesPerPage -> shape.entriesPerPage.toString,
      ManifestProperty.BlockBytes -> shape.blockBytes.toString
    )
    WrittenFiles(Vector(master, index), properties, merged = true)
  }

  /** Stands for the instant in names of an index of a table without completed instants. */
  val NoInstant = "00000000000000000"
}

/** Writes what an update adds: a delta on the same master, or a new master where the delta has outgrown its share. */
private[sync] final class ManifestUpdate(store: IndexStore, open: OpenIndex, options: IndexOptions) {
  private val version = open.version

  /** DamagedIndex for changes that an index cannot follow. */
  def write(changes: ManifestChanges, table: TableContext): WrittenFiles = {
    changes.requireCredible(open.source(new ManifestChanges))
    val before = DeltaCounts(
      version.long(ManifestProperty.DeltaAdded),
      version.long(ManifestProperty.DeltaRemoved),
      version.long(ManifestProperty.DeltaAddedPartitions),
      version.long(ManifestProperty.DeltaRemovedPartitions),
      version.long(ManifestProperty.NextFileNumber).toInt
    )
    val delta = writeDelta(changes, table, before)
    if (outgrown(delta.properties)) merge(delta, table) else delta
  }

  private def writeDelta(changes: ManifestChanges, table: TableContext, before: DeltaCounts): WrittenFiles = {
    val instant = table.completed.lastOption.map(_.requestedTime).getOrElse(MasterFiles.NoInstant)
    val masterInstant = version.properties.getOrElse(ManifestProperty.MasterInstant, MasterFiles.NoInstant)
    val entries = math.max(1, version.long(ManifestProperty.EntriesPerPage).toInt)
    var counts = before
    val file = store.write(s"${instant}_$masterInstant.${IndexStore.newToken()}.delta_manifest", ManifestKind.Delta) {
      out =>
        val hfile = new hudiidx.hfile.HFileWriter(out, ManifestShape.delta)
        counts = new DeltaBuilder(open.master, open.delta, entries).write(hfile, changes, before)
        hfile.close()
    }
    val kept = version.files.filterNot(_.kind == ManifestKind.Delta)
    val properties = version.properties ++ Map(
      ManifestProperty.DeltaAdded -> counts.added.toString,
      ManifestProperty.DeltaRemoved -> counts.removed.toString,
      ManifestProperty.DeltaAddedPartitions -> counts.addedPartitions.toString,
      ManifestProperty.DeltaRemovedPartitions -> counts.removedPartitions.toString,
      ManifestProperty.NextFileNumber -> counts.nextNumber.toString
    )
    WrittenFiles(kept :+ file, properties, merged = false)
  }

  /** The merge rule: a delta of more than `mergePercent` of the master's files, and more than `mergeMinFiles`. */
  private def outgrown(properties: Map[String, String]): Boolean = {
    val size =
      Seq(ManifestProperty.DeltaAdded, ManifestProperty.DeltaRemoved).flatMap(IndexVersion.number(properties, _)).sum
    size > options.mergeMinFiles && size * 100 > version.long(ManifestProperty.MasterFiles) * options.mergePercent
  }

  /** Writes master and delta into a new master. Pages of partitions that the delta does not name are copied as they are. */
  private def merge(written: WrittenFiles, table: TableContext): WrittenFiles = {
    val file = written.files.find(_.kind == ManifestKind.Delta).get
    val unpublished = version.copy(files = written.files, properties = written.properties)
    val next = OpenIndex.open(store, unpublished, new hudiidx.hfile.BlockCache(8L << 20))
    try {
      val shape = ManifestShape.choose(IndexCounts.files(unpublished), IndexCounts.partitions(unpublished))
      MasterFiles.write(store, table, shape)(new MergedPartitions(next.master, next.delta.get, shape.entriesPerPage))
    } finally {
      next.close()
      store.delete(file)
    }
  }
}
