package hudiidx.write.format

import hudiidx.storage.Storage
import hudiidx.table.listing.PartitionLister
import hudiidx.table.{NestedPartitions, PropertiesFile, TableConfig, TableFolder}

/** `.hoodie_partition_metadata`, by which a folder is a partition. Format notes §4.7. */
object PartitionMetafile {

  /** Makes it unless it is there. InvalidOption where the partition would lie inside another one, or another inside it.
    *
    * @param instant of the write that makes the partition
    */
  def ensure(storage: Storage, tablePath: String, config: TableConfig, partitionPath: String, instant: String): Unit = {
    val path = PartitionLister.metafile(tablePath, partitionPath)
    if (!storage.isThere(path)) {
      if (partitionPath.nonEmpty) requireApart(storage, tablePath, partitionPath, config.partitionFields.size)
      val depth = if (partitionPath.isEmpty) 0 else partitionPath.count(_ == '/') + 1
      val properties = Map("commitTime" -> instant, "partitionDepth" -> depth.toString)
      TableFolder.of(storage, tablePath).publish(path, PropertiesFile.text(properties)): Unit
    }
  }

  private def requireApart(storage: Storage, tablePath: String, partitionPath: String, fields: Int): Unit = {
    // Of as many folders as fields none is a partition: each value is one folder at least.
    NestedPartitions
      .above(partitionPath)
      .drop(fields - 1)
      .find(path => storage.isThere(PartitionLister.metafile(tablePath, path)))
      .foreach(outer => throw NestedPartitions.refused(partitionPath, outer))
    Storage.walk(partitionPath) { path =>
      val found = storage.list(Storage.join(tablePath, path))
      if (path != partitionPath && found.exists(_.name == PartitionLister.Metafile))
        throw NestedPartitions.refused(path, partitionPath)
      found.filter(f => f.isDirectory && !storage.isLink(f.path)).map(f => Storage.join(path, f.name))
    }: Unit
  }
}
