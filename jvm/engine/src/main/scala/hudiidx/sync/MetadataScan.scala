package hudiidx.sync

import hudiidx.{DamagedTable, Log, StaleIndex}
import hudiidx.manifest.{EncodedPartition, PartitionKey}
import hudiidx.table._
import hudiidx.table.listing.{MetadataTable, MetadataTableListing, SizeCheck, TableListing}
import hudiidx.timeline.Action

/** A table's files from Hudi's own metadata table, with what that does not say: completion times, replacements, and the sizes
  *  of log files that rollbacks on version 6 left behind, in tables that were upgraded since too. Format notes §10.
  */
private[sync] final class MetadataScan(table: TableContext, metadata: MetadataTableListing, listing: TableListing)
    extends AutoCloseable {
  private val rules = listing.lister.rules

  /** DamagedTable, as from `scan`, where the metadata table lacks what the timeline says must be there. */
  lazy val partitions: Vector[String] = {
    val found = metadata.partitions
    val known = found.toSet
    listing.expectedPartitions.find(!known(_)).foreach(p => damaged(s"lacks partition '$p'"))
    found
  }

  def scan(entriesPerPage: Int): Iterator[EncodedPartition] =
    PartitionKey.sorted(partitions).iterator.map(p => EncodedPartition.of(p, files(p), entriesPerPage))

  /** Names that restores removed, by partition. Stock Hudi from 1.1 on leaves them in metadata tables of version 6. */
  private lazy val restored: Map[String, Set[String]] = table.timeline.completed
    .filter(_.action == Action.Restore)
    .flatMap(table.contents.restore(_).rollbacks)
    .flatMap(_.partitions)
    .groupBy(_._1)
    .map { case (partition, all) => partition -> all.flatMap(_._2.deletedFileNames).toSet }

  private def files(partition: String): Array[FileEntry] = {
    val removed = restored.getOrElse(partition, Set.empty[String])
    val found = recorded(partition).flatMap { f =>
      // A later log may have the name of one that was removed.
      val isKnown = !removed(f.fileName) && (if (f.isBase) FileEntry.isUsual(f.sizeBytes) else f.sizeBytes > 1)
      val sized = if (isKnown) Some(f) else SizeCheck.measured(table.storage, table.tablePath, f)
      sized.map { e =>
        e.copy(
          completionTime = if (e.isBase) None else rules.timeline.activeCompletionTime(e.instantTime),
          replacedAt = rules.replacementOf(partition, e.fileId)
        )
      }
    }
    listing.expected(partition).suspects(found).headOption.foreach { s =>
      damaged(s"lacks a file of partition '$partition', or its size, that instant ${s.instant.requestedTime} wrote")
    }
    found
  }

  /** A partition that is listed has a record, be it an empty one. */
  private def recorded(partition: String): Array[FileEntry] =
    metadata.recorded(partition).getOrElse(damaged(s"lists partition '$partition' and has no record of its files"))

  private def damaged(what: String): Nothing = throw new DamagedTable(
    s"${MetadataTable.path(table.tablePath)}: the metadata table $what; rebuild it with Hudi, or list without it"
  )

  override def close(): Unit = metadata.close()
}

private[sync] object MetadataScan {
  private val log = Log.of(classOf[MetadataScan])

  /** None where the files must come from a listing: the option says so, or `auto` and there is no metadata table in step. */
  def open(table: TableContext, listing: TableListing, source: String): Option[MetadataScan] =
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
        case Some(metadata) if metadata.inStep =>
          try metadata.requireOrdered()
          catch {
            case e: DamagedTable =>
              metadata.close()
              throw e
          }
          Some(new MetadataScan(table, metadata, listing))
        case found =>
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
