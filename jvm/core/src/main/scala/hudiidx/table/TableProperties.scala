package hudiidx.table

import hudiidx.UnsupportedTable

/** What a key of `hoodie.properties` is to who reads or writes the table; docs/properties.md has the list. */
sealed abstract class PropertyUse(val name: String) extends Product with Serializable {
  def why: String
}

object PropertyUse {

  /** Rows, files or writes go by it. */
  final case class Honoured(why: String) extends PropertyUse("honoured")

  /** No row, file or path depends on it. */
  final case class Irrelevant(why: String) extends PropertyUse("irrelevant")

  /** It changes what rows or paths mean: with another value than those `served` the table is refused.
    *
    * @param served in capitals
    */
  final case class Refused(served: Set[String], why: String) extends PropertyUse("refused")
}

/** All keys that stock Hudi 0.15.0 to 1.2.0 keeps in `hoodie.properties`, and those of version 10, each with a decision. */
object TableProperties {
  import PropertyUse._

  /** How stock Hudi spreads the records of a write, which it asks its options for and, without one, the table's properties. */
  val WriteLayout = "hoodie.storage.layout.type"
  val BucketLayout = "BUCKET"

  private val OtherForms = "files of other forms are not known by their names"
  private val BaseFile = Refused(Set("PARQUET", "ORC", "HFILE"), OtherForms)
  private val LogFile = Refused(Set("HOODIE_LOG"), OtherForms)

  val Known: Map[String, PropertyUse] = Map(
    // What the table is
    "hoodie.table.name" -> Honoured("the identity of an index's table"),
    "hoodie.database.name" -> Irrelevant("stock Hudi sets it on a later write; catalogs have names of their own"),
    "hoodie.table.type" -> Honoured("copy-on-write or merge-on-read"),
    "hoodie.table.version" -> Honoured("6, 8 and 9 are served"),
    "hoodie.table.initial.version" -> Honoured("tells upgraded tables, whose older files follow older rules"),
    "hoodie.table.format" -> Refused(Set("NATIVE"), "which files are the table's is for that format to say"),
    "hoodie.table.checksum" -> Honoured("tells a file that is half written"),
    "hoodie.table.create.schema" -> Honoured("the schema of a table without commits"),
    // The timeline
    "hoodie.timeline.layout.version" -> Honoured("where instants are"),
    "hoodie.timeline.path" -> Honoured("the folder of the timeline"),
    "hoodie.timeline.history.path" -> Honoured("the folder of the archived timeline of layout 2"),
    "hoodie.archivelog.folder" -> Honoured("the folder of the archived timeline of layout 1"),
    "hoodie.table.timeline.timezone" -> Honoured("the zone in which instants are written"),
    // Keys
    "hoodie.table.recordkey.fields" -> Honoured("fields of the record key"),
    "hoodie.table.keygenerator.class" -> Honoured("how keys and partition paths are made"),
    "hoodie.table.keygenerator.type" -> Honoured("how keys and partition paths are made"),
    "hoodie.populate.meta.fields" -> Honoured("whether rows hold their keys"),
    // Partitions
    "hoodie.table.partition.fields" -> Honoured("partition columns"),
    "hoodie.datasource.write.hive_style_partitioning" -> Honoured("names of partition folders"),
    "hoodie.datasource.write.partitionpath.urlencode" -> Honoured("names of partition folders"),
    "hoodie.datasource.write.drop.partition.columns" -> Honoured("whether data files hold partition columns"),
    TableConfig.SlashDates -> Honoured(
      "the folder of 2026-01-05 is 2026/01/05; refused beside other partition fields, hive style or escapes"
    ),
    TableConfig.Extractor -> Honoured(
      "where it says that folders of dates have slashes, hudiidx writes no date with dashes, unless the property above is set"
    ),
    "hoodie.meta.fields.mode" -> Refused(
      Set("ALL", "NONE"),
      "rows may have some of Hudi's columns alone, as in tables of version 10"
    ),
    "hoodie.partition.metafile.use.base.format" -> Honoured("the form of the files that mark partitions"),
    // Merging
    "hoodie.table.precombine.field" -> Honoured("orders records of a key"),
    "hoodie.table.ordering.fields" -> Honoured("orders records of a key"),
    "hoodie.record.merge.mode" -> Honoured("how records of a key are merged"),
    "hoodie.record.merge.strategy.id" -> Honoured("how records of a key are merged"),
    "hoodie.compaction.record.merger.strategy" -> Honoured("its older name"),
    "hoodie.compaction.payload.class" -> Honoured("how records of a key are merged"),
    "hoodie.table.legacy.payload.class" -> Irrelevant(
      "the payload class before merge modes took its place; version 9 merges by the mode"
    ),
    "hoodie.table.partial.update.mode" -> Honoured("how records with some of their fields are merged"),
    // Files
    "hoodie.table.base.file.format" -> BaseFile,
    "hoodie.table.ro.file.format" -> BaseFile,
    "hoodie.table.log.file.format" -> LogFile,
    "hoodie.table.rt.file.format" -> LogFile,
    "hoodie.table.storage.layout" -> Refused(
      Set("DEFAULT"),
      "sorted logs, which tables of version 10 may have, are not known"
    ),
    WriteLayout -> Refused(
      Set("DEFAULT", BucketLayout),
      "stock Hudi has no such layout; it keeps none here, but writes by one that it finds"
    ),
    "hoodie.table.multiple.base.file.formats.enable" -> Honoured(
      "files tell their formats; those that are not Parquet are refused where rows are read"
    ),
    "hoodie.bootstrap.base.path" -> Honoured("rows of bootstrapped tables are refused"),
    "hoodie.bootstrap.index.enable" -> Irrelevant("bootstrapped tables are known by their base path"),
    "hoodie.bootstrap.index.class" -> Irrelevant("bootstrapped tables are known by their base path"),
    "hoodie.bootstrap.index.type" -> Irrelevant("bootstrapped tables are known by their base path"),
    "hoodie.table.cdc.enabled" -> Honoured(
      "logs of changes are not data, and queries of changes are answered; tables with it are not written"
    ),
    "hoodie.table.cdc.supplemental.logging.mode" -> Honoured("what logs of changes hold, for queries of changes"),
    "hoodie.allow.operation.metadata.field" -> Honoured("whether rows bear their operation"),
    // Hudi's metadata table and indexes
    "hoodie.table.metadata.partitions" -> Honoured("parts of the metadata table that may be read"),
    "hoodie.table.metadata.partitions.inflight" -> Honoured("parts of the metadata table that are being made"),
    "hoodie.table.secondary.indexes.metadata" -> Irrelevant("stock Hudi's own indexes"),
    "hoodie.table.index.defs.path" -> Irrelevant("stock Hudi's own indexes"),
    // hudiidx's own
    TableConfig.RemadeSince -> Honoured("the instant with which the table was made anew"),
    TableConfig.LogInserts -> Honoured("new records may stand in logs alone")
  )

  /** By what keys begin with. */
  val Families: Map[String, PropertyUse] = Map(
    "hoodie.record.merge.property." -> Honoured("settings of how records are merged"),
    "hoodie.keygen.timebased." -> Honoured(
      "keys and paths of timestamps have texts of their own, which are not taken for values"
    ),
    "hoodie.deltastreamer.keygen.timebased." -> Honoured("their older names"),
    "hoodie.keygen.datetime.parser." -> Honoured("the same"),
    "hoodie.deltastreamer.keygen.datetime.parser." -> Honoured("its older name"),
    "hoodie.datasource.write.keygenerator." -> Honoured("how keys are made, where a table states it"),
    "hoodie.write.complex.keygen." -> Honoured("the same")
  )

  /** None: stock Hudi of 0.15.0 to 1.2.0 has no such property. */
  def use(key: String): Option[PropertyUse] =
    Known.get(key).orElse(Families.collectFirst { case (prefix, use) if key.startsWith(prefix) => use })

  /** UnsupportedTable by the first property that changes what rows, paths or files mean in a way that is not served, or may do so as
    * far as its name tells.
    */
  def check(file: String, properties: Map[String, String]): Unit = {
    properties.toVector.sorted.foreach { case (key, value) =>
      use(key) match {
        case Some(Refused(served, why)) if value.trim.nonEmpty && !served(value.trim.toUpperCase) =>
          throw UnsupportedTable.having(file, s"$key is '$value'", why, "use stock Hudi for this table")
        case _ => ()
      }
    }
    unknown(properties).find(mayTell).foreach { key =>
      throw UnsupportedTable.having(
        file,
        s"the table has the property $key",
        "it does not know the property, which by its name says what rows, paths or files mean",
        "use a newer hudiidx, or stock Hudi for this table; where nobody needs the property, remove it with hudi-cli (table delete-configs)"
      )
    }
  }

  /** Hudi's properties of which nothing is known here, in order. */
  def unknown(properties: Map[String, String]): Vector[String] =
    properties.keys.filter(k => k.startsWith("hoodie.") && use(k).isEmpty).toVector.sorted

  /** Of the unknown ones of a table that is served; None if there are none. */
  def warning(config: TableConfig): Option[String] = {
    val found = config.unknownProperties
    if (found.isEmpty) None
    else
      Some(
        s"${config.file}: hudiidx does not know ${found.mkString(", ")}; look what that means in the notes of the Hudi release that wrote it: " +
          "rows or paths may go by it, and hudiidx does not"
      )
  }

  private val Telling = Vector("partition", "key", "merge", "layout", "storage", "format")

  /** The name says that rows, paths or files depend on the property. A catalog is no log. */
  def mayTell(key: String): Boolean = {
    val words = key.toLowerCase.replace('_', '.').replace('-', '.').split('.')
    words.exists(word => Telling.exists(word.contains(_)) || word.startsWith("log"))
  }
}
