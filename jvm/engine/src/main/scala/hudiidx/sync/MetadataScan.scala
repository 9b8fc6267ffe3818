package hudiidx.sync

import hudiidx.{Log, StaleIndex}
import hudiidx.manifest.{EncodedPartition, PartitionKey}
import hudiidx.storage.Storage
import hudiidx.table._
import hudiidx.table.listing.{ListingRules, MetadataTable, MetadataTableListing}

/** A table's files from Hudi's own metadata table, with what that does not say: completion times, replacements, and the sizes
  *  of log files that rollbacks on version 6 left behind, in tables that were upgraded since too. Format notes §10.
  */
private[sync] final class MetadataScan(table: TableContext, metadata: MetadataTableListing, rules: ListingRules)
    extends AutoCloseable {
  lazy val partitions: Vector[String] = metadata.partitions

  def scan(entriesPerPage: Int): Iterator[EncodedPartition] =
    PartitionKey.sorted(partitions).iterator.map(p => EncodedPartition.of(p, files(p), entriesPerPage))

  private def files(partition: String): Array[FileEntry] = metadata.files(partition).flatMap { f =>
    val sized = if (!f.isBase && f.sizeBytes <= 1) measured(f) else Some(f)
    sized.map { e =>
      e.copy(
        completionTime = if (e.isBase) None else rules.timeline.activeCompletionTime(e.instantTime),
        replacedAt = rules.replacementOf(partition, e.fileId)
      )
    }
  }

  /** None if the file is gone. */
  private def measured(f: FileEntry): Option[FileEntry] = {
    val path = Storage.join(Storage.join(table.tablePath, f.partitionPath), f.fileName)
    table.storage.status(path).map(s => f.copy(sizeBytes = s.sizeBytes))
  }

  override def close(): Unit = metadata.close()
}

private[sync] object MetadataScan {
  private val log = Log.of(classOf[MetadataScan])

  /** None where the files must come from a listing: the option says so, or `auto` and there is no metadata table in step. */
  def open(table: TableContext, rules: ListingRules, source: String): Option[MetadataScan] =
    if (source == "listing") None
    else {
      val opened = MetadataTable.open(
        table.storage,
        table.tablePath,
        table.config,
        table.timeline,
        table.contents,
        table.access.cache,
        (path, config) => table.access.histories.open(table.storage, path, config)
      )
      opened match {
        case Some(metadata) if metadata.inStep => Some(new MetadataScan(table, metadata, rules))
        case found                             =>
          found.foreach(_.close())
          val why = if (found.isEmpty) "it has none that lists files" else "its metadata table lacks completed instants"
          if (source == "metadata")
            throw new StaleIndex(
              s"${table.tablePath}: ${IndexOptions.Source} is metadata, but $why; use auto or listing"
            )
          log.debug(s"${table.tablePath}: files are listed: $why")
          None
      }
    }
}
