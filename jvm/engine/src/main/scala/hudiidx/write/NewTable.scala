package hudiidx.write

import hudiidx.TableFormat
import hudiidx.storage.Storage
import hudiidx.table.{KeyGenerator, PropertiesFile, TableConfig, TableFolder, TableMergeRules}
import hudiidx.table.listing.PartitionLister
import java.util.zip.CRC32

/** A merge-on-read table that is to be made.
  *
  * @param keyFields       at least one
  * @param partitionFields none: not partitioned
  * @param orderingField   None: the later write wins
  * @param keyGenerator    one that hudiidx writes with
  * @param format          one that hudiidx writes
  * @param logInserts      new records go to logs, where all writers look for them
  * @param slashDates      folders of dates have slashes
  * @param createSchema Avro JSON of the columns, without meta columns, until a commit tells them
  * @param isEventTime     the greater ordering value wins; false: the later write
  */
final case class NewTable(
    name: String,
    database: String,
    format: TableFormat,
    keyFields: Vector[String],
    partitionFields: Vector[String],
    orderingField: Option[String],
    keyGenerator: KeyGenerator,
    isEventTime: Boolean,
    hiveStyle: Boolean,
    urlEncode: Boolean,
    logInserts: Boolean = false,
    createSchema: Option[String] = None,
    slashDates: Boolean = false
) {

  /** Of hoodie.properties. Format notes §1.3. */
  def properties: Map[String, String] =
    common ++ (if (logInserts) Some(TableConfig.LogInserts -> "true") else None) ++
      (if (slashDates) Some(TableConfig.SlashDates -> "true") else None) ++
      createSchema.map("hoodie.table.create.schema" -> _) ++ (if (format.typedProperties) typed else untyped)

  private def common: Map[String, String] = Map(
    "hoodie.table.name" -> name,
    "hoodie.database.name" -> database,
    "hoodie.table.type" -> "MERGE_ON_READ",
    "hoodie.table.version" -> format.version.toString,
    "hoodie.table.checksum" -> NewTable.checksum(database, name).toString,
    "hoodie.table.recordkey.fields" -> keyFields.mkString(","),
    "hoodie.table.partition.fields" -> partitionFields.mkString(","),
    "hoodie.table.base.file.format" -> "PARQUET",
    "hoodie.table.timeline.timezone" -> "LOCAL",
    "hoodie.table.cdc.enabled" -> "false",
    "hoodie.populate.meta.fields" -> "true",
    "hoodie.partition.metafile.use.base.format" -> "false",
    "hoodie.datasource.write.drop.partition.columns" -> "false",
    "hoodie.datasource.write.hive_style_partitioning" -> hiveStyle.toString,
    "hoodie.datasource.write.partitionpath.urlencode" -> urlEncode.toString
  )

  private def untyped: Map[String, String] = Map(
    "hoodie.timeline.layout.version" -> format.timelineLayout.toString,
    "hoodie.archivelog.folder" -> "archived",
    "hoodie.table.keygenerator.class" -> (KeyGenerator.Package + keyGenerator.classes.head),
    "hoodie.compaction.record.merger.strategy" -> TableMergeRules.EventTimeStrategy,
    "hoodie.compaction.payload.class" -> ("org.apache.hudi.common.model." +
      (if (isEventTime) "DefaultHoodieRecordPayload" else "OverwriteWithLatestAvroPayload"))
  ) ++ orderingField.map("hoodie.table.precombine.field" -> _)

  private def typed: Map[String, String] = Map(
    "hoodie.table.initial.version" -> format.version.toString,
    "hoodie.table.format" -> "native",
    "hoodie.timeline.layout.version" -> format.timelineLayout.toString,
    "hoodie.timeline.path" -> "timeline",
    "hoodie.timeline.history.path" -> "history",
    "hoodie.archivelog.folder" -> "history",
    "hoodie.table.multiple.base.file.formats.enable" -> "false",
    "hoodie.table.keygenerator.type" -> keyGenerator.kind,
    "hoodie.record.merge.mode" -> (if (isEventTime) "EVENT_TIME_ORDERING" else "COMMIT_TIME_ORDERING")
  ) ++ orderingField.map("hoodie.table.ordering.fields" -> _)

  /** Writes hoodie.properties, by which the table is there; false if there is one already. */
  def create(storage: Storage, tablePath: String): Boolean =
    TableFolder.of(storage, tablePath).publish(TableConfig.propertiesFile(tablePath), PropertiesFile.text(properties))
}

object NewTable {

  /** Takes away a folder that was made for a table which nobody has written to. What others put there meanwhile stays.
    *
    * @param made the table's folder, or Hudi's in it
    */
  private[write] def remove(storage: Storage, tablePath: String, made: String): Unit = {
    def below(folder: String): Vector[String] = {
      val (folders, files) = storage.list(folder).partition(f => f.isDirectory && !storage.isLink(f.path))
      files.filter(_.name == PartitionLister.Metafile).foreach(f => storage.deleteOne(f.path))
      folders.map(_.path)
    }
    storage.delete(Storage.join(tablePath, TableConfig.HoodieFolder))
    if (made == tablePath) Storage.walk(tablePath)(below).reverse.foreach(f => storage.deleteOne(f))
  }

  /** CRC-32 of the names. Format notes §1.2. */
  private def checksum(database: String, name: String): Long = {
    val crc = new CRC32
    crc.update(s"$database.$name".getBytes("UTF-8"))
    crc.getValue
  }
}
