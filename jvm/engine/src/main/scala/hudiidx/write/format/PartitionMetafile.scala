package hudiidx.write.format

import hudiidx.storage.Storage
import hudiidx.table.listing.PartitionLister
import hudiidx.table.{PropertiesFile, TableFolder}

/** `.hoodie_partition_metadata`, by which a folder is a partition. Format notes §4.7. */
object PartitionMetafile {

  /** Makes it unless it is there.
    *
    * @param instant of the write that makes the partition
    */
  def ensure(storage: Storage, tablePath: String, partitionPath: String, instant: String): Unit = {
    val path = Storage.join(Storage.join(tablePath, partitionPath), PartitionLister.Metafile)
    if (storage.status(path).isEmpty) {
      val depth = if (partitionPath.isEmpty) 0 else partitionPath.count(_ == '/') + 1
      val properties = Map("commitTime" -> instant, "partitionDepth" -> depth.toString)
      TableFolder.of(storage, tablePath).publish(path, PropertiesFile.text(properties)): Unit
    }
  }
}
