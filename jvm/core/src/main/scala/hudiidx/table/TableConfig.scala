package hudiidx.table

import java.time.{ZoneId, ZoneOffset}

import hudiidx.log.RecordKeyForm
import hudiidx.storage.Storage
import hudiidx.{DamagedTable, TableFormat, UnsupportedTable}
import scala.util.Try

sealed abstract class TableType(val name: String) extends Product with Serializable
object TableType {
  case object CopyOnWrite extends TableType("COPY_ON_WRITE")
  case object MergeOnRead extends TableType("MERGE_ON_READ")
}

/** A typed view of `hoodie.properties`. Format notes §1.3.
  *
  *  @param file       path of the properties file, for messages
  *  @param properties every key as it stands in the file
  *  @param format     what the table's version means
  *  @param initialVersion version at creation; smaller than `version` for an upgraded table
  *  @param timelineLayout 1 (instant files in `.hoodie`) or 2 (in the timeline folder)
  *  @param partitionFields field names without the `:TYPE` of custom key generators; empty = not partitioned
  *  @param keyGenerator class name or, from version 8 on, type (`SIMPLE`, ...); the class wins when both are set; see [[KeyGenerator]]
  *  @param metadataPartitions partitions of the metadata table that may be read
  */
final case class TableConfig(
    file: String,
    properties: Map[String, String],
    tableName: String,
    databaseName: String,
    tableType: TableType,
    format: TableFormat,
    initialVersion: Int,
    timelineLayout: Int,
    partitionFields: Vector[String],
    recordKeyFields: Vector[String],
    keyGenerator: Option[String],
    baseFileFormat: String,
    metadataPartitions: Vector[String],
    tableFormat: String,
    timelineTimezone: String
) {

  def version: Int = format.version

  /** False: virtual keys; the meta columns are there but null. */
  def populateMetaFields: Boolean = flag("hoodie.populate.meta.fields", default = true)

  /** True: partition folders are named `field=value`. */
  def hiveStyle: Boolean = flag("hoodie.datasource.write.hive_style_partitioning", default = false)

  def urlEncode: Boolean = flag("hoodie.datasource.write.partitionpath.urlencode", default = false)

  /** True: a date's folder has slashes for its dashes, so that the path is not the column's value. */
  def slashDates: Boolean = flag(TableConfig.SlashDates, default = false)

  /** True: folders of dates have slashes, and the table does not say whether its writers make them of dates with dashes. */
  def dayFolders: Boolean = !slashDates && text(TableConfig.Extractor).exists(_.endsWith(TableConfig.SlashDays))

  /** True: all writers of the table look for keys in its logs too, so that new records may stand there alone. */
  def logInserts: Boolean = flag(TableConfig.LogInserts, default = false)

  /** Log files may be there from before each had an instant of its own: the table was upgraded. */
  def mayHaveLogsOfSlices: Boolean =
    format.logsOfOneWrite && !TableFormat.upTo(initialVersion).exists(_.logsOfOneWrite)

  /** True: a name of a file of the archive says between which instants all of its instants are. The upgrade to layout 2 takes the first and
    * the last row of a file for that, of rows that are in no order.
    */
  def archiveNamesAreBounds: Boolean =
    !TableFormat.upTo(initialVersion).exists(_.timelineLayout < timelineLayout)

  /** True: partition columns are not in the data files. */
  def dropPartitionColumns: Boolean = flag("hoodie.datasource.write.drop.partition.columns", default = false)

  @transient private lazy val partitionFieldNames: Set[String] = partitionFields.toSet

  def isPartitionField(column: String): Boolean = partitionFieldNames(column)

  /** Avro JSON: the schema of a table without commits. */
  def createSchema: Option[String] = text("hoodie.table.create.schema")

  /** Hudi's properties that are not known here, though nothing in their names says that rows depend on them. */
  def unknownProperties: Vector[String] = TableProperties.unknown(properties)

  def bootstrapBasePath: Option[String] = text("hoodie.bootstrap.base.path")

  /** How record keys are made where they are not stored; None if the table names no key fields, or a key generator whose keys
    * are not known.
    */
  def recordKeyForm: Option[RecordKeyForm] =
    if (recordKeyFields.isEmpty) None
    else if (keyGenerator.isEmpty)
      Some(RecordKeyForm.of(mayName = false, recordKeyFields, format, properties))
    else KeyTexts.of(this).toOption.map(_.forms.head)

  def isMergeOnRead: Boolean = tableType == TableType.MergeOnRead

  /** Zone in which instants are formatted: the writers' own when the table says LOCAL, taken to be this JVM's. */
  def timelineZone: ZoneId = if (timelineTimezone == "UTC") ZoneOffset.UTC else ZoneId.systemDefault()

  /** Partitions of the metadata table that are being built. */
  def inflightMetadataPartitions: Vector[String] =
    new TypedProperties(file, properties).folders(TableConfig.InflightMetadataPartitions)

  /** Folder of the active timeline's instant files. */
  def timelineDir(tablePath: String): String = {
    val hoodie = Storage.join(tablePath, TableConfig.HoodieFolder)
    if (timelineLayout == 1) hoodie else Storage.join(hoodie, ownTimeline)
  }

  /** hudiidx made it in the place of another one. */
  def isRemade: Boolean = text(TableConfig.RemadeSince).isDefined

  /** The folder below `.hoodie` that has the instants of layout 2, or gets those of layout 1 when the table is upgraded. */
  def timelineFolder: String = folder(TableConfig.TimelinePath, "timeline")

  /** DamagedTable where a table that was made anew is said to have another timeline than its own: stock Hudi's upgrade from
    * version 6 moves the instants to the folder that the properties name, and then names its default, where those of the table before are.
    */
  private def ownTimeline: String = {
    text(TableConfig.RemadeSince).map(TableConfig.remadeTimeline).filter(_ != timelineFolder).foreach { own =>
      throw new DamagedTable(
        s"$file: the table was made anew, with its timeline in .hoodie/$own, and ${TableConfig.TimelinePath} is '$timelineFolder', which has " +
          "none or that of the table before: stock Hudi's upgrade from version 6 names its default whatever the folder was. Set " +
          s"${TableConfig.TimelinePath}=$own; what was written since that upgrade is in .hoodie/$timelineFolder, and has to be written again"
      )
    }
    timelineFolder
  }

  /** Folder of the archived timeline of layout 2. */
  def historyDir(tablePath: String): String =
    Storage.join(timelineDir(tablePath), folder("hoodie.timeline.history.path", "history"))

  /** Folder of the archived timeline of layout 1. */
  def archiveDir(tablePath: String): String =
    Storage.join(Storage.join(tablePath, TableConfig.HoodieFolder), folder("hoodie.archivelog.folder", "archived"))

  /** A folder of the table that a property names. */
  private def folder(key: String, default: String): String = {
    val name = text(key).getOrElse(default)
    if (Storage.leaves(name))
      throw new DamagedTable(s"$file: $key is '$name', which leaves the table; restore the file from a backup")
    if (name.stripSuffix("/").split("/", -1).exists(p => p.isEmpty || p == ".") || name.exists(_.isControl))
      throw new DamagedTable(
        s"$file: $key is '$name', which is not a valid folder name; restore the file from a backup"
      )
    name
  }

  /** A key's value; None if absent or blank. */
  def text(key: String): Option[String] = properties.get(key).map(_.trim).filter(_.nonEmpty)

  /** As stock: any value but `true` is false. */
  private def flag(key: String, default: Boolean): Boolean = text(key).fold(default)(_.equalsIgnoreCase("true"))
}

object TableConfig {
  val HoodieFolder = ".hoodie"
  val MetadataPartitions = "hoodie.table.metadata.partitions"

  /** Property of ours: the instant with which the table took the place of another one. Stock Hudi takes properties for options of its
    * writers, in which `hudiidx.` begins options of our index class.
    */
  val RemadeSince = "hoodie.hudiidx.remade.instant"
  val TimelinePath = "hoodie.timeline.path"
  val Extractor = "hoodie.table.partition_extractor_class"
  private val SlashDays = ".SlashEncodedDayPartitionValueExtractor"
  val SlashDates = "hoodie.datasource.write.slash.separated.date.partitioning"

  /** The timeline's folder of a table that was made anew, by its first instant. */
  def remadeTimeline(instant: String): String = s"timeline_$instant"

  /** Ours; stock Hudi keeps what it does not know. Set by a write that sends new records to logs, before it is visible. */
  val LogInserts = "hudiidx.write.log.inserts"
  val InflightMetadataPartitions = "hoodie.table.metadata.partitions.inflight"

  /** The file by which a folder is a table. */
  /** Below the table. */
  val PropertiesPath: String = s"$HoodieFolder/hoodie.properties"

  def propertiesFile(tablePath: String): String = Storage.join(tablePath, PropertiesPath)

  /** Reads `<table>/.hoodie/hoodie.properties`, or its backup while a writer replaces it.
    *  NotAHudiTable if there is none, DamagedTable if it cannot be understood, UnsupportedTable for a table of a
    *  version, type or format that is not served.
    */
  def read(storage: Storage, tablePath: String): TableConfig =
    read(storage, tablePath, PropertiesFile.DefaultPause)

  /** With the pause between tries: it gets the number of the failed try, from 1. */
  def read(storage: Storage, tablePath: String, pause: Int => Unit): TableConfig = {
    val (file, properties) = PropertiesFile.read(storage, tablePath.stripSuffix("/"), pause)
    of(file, properties)
  }

  /** As they were when they were last read in this process: no more than a guess, to be held against those that are read. None where
    * reading them takes no time.
    */
  def lastKnown(storage: Storage, tablePath: String): Option[TableConfig] = {
    val file = propertiesFile(tablePath.stripSuffix("/"))
    if (storage.isFar(file)) KnownProperties.last(file).flatMap(p => Try(of(file, p)).toOption) else None
  }

  /** The typed view of properties already read; `file` is named in errors. */
  def of(file: String, properties: Map[String, String]): TableConfig = {
    val p = new TypedProperties(file, properties)
    val format = formatOf(file, p)
    TableProperties.check(file, properties)
    val config = TableConfig(
      file,
      properties,
      tableName = p.text("hoodie.table.name").getOrElse(""),
      databaseName = p.text("hoodie.database.name").getOrElse(""),
      tableType = tableType(file, p.text("hoodie.table.type").getOrElse("COPY_ON_WRITE")),
      format = format,
      initialVersion = p.int("hoodie.table.initial.version").getOrElse(format.version),
      timelineLayout = layout(file, p.int("hoodie.timeline.layout.version").getOrElse(format.timelineLayout)),
      partitionFields = p.fields("hoodie.table.partition.fields").map(_.takeWhile(_ != ':')),
      recordKeyFields = p.fields("hoodie.table.recordkey.fields"),
      keyGenerator = p.text("hoodie.table.keygenerator.class").orElse(p.text("hoodie.table.keygenerator.type")),
      baseFileFormat = p
        .text("hoodie.table.base.file.format")
        .orElse(p.text("hoodie.table.ro.file.format"))
        .getOrElse("PARQUET")
        .toUpperCase,
      metadataPartitions = p.folders(MetadataPartitions),
      tableFormat = p.text("hoodie.table.format").getOrElse("native"),
      timelineTimezone = p.text("hoodie.table.timeline.timezone").getOrElse("LOCAL").toUpperCase
    )
    Vector("hoodie.table.ordering.fields", "hoodie.table.precombine.field").foreach(p.fields)
    checkSlashDates(config)
    config
  }

  /** What folders of dates with slashes do not stand beside. Stock Hudi makes no such table with hive style. With more partition
    * fields it loses rows or throws, with escapes its writers differ.
    */
  private[hudiidx] def besideSlashDates(
      partitionFields: Vector[String],
      hiveStyle: Boolean,
      urlEncode: Boolean
  ): Option[String] =
    if (partitionFields.length > 1) Some(s"the partition fields ${partitionFields.mkString(", ")}")
    else if (hiveStyle) Some("hive style partitioning")
    else if (urlEncode) Some("escapes in partition paths")
    else None

  private def checkSlashDates(config: TableConfig): Unit = {
    val beside = besideSlashDates(config.partitionFields, config.hiveStyle, config.urlEncode)
    beside.filter(_ => config.slashDates).foreach { what =>
      throw UnsupportedTable.having(
        config.file,
        s"$SlashDates is true beside $what",
        "stock Hudi does not read such a table as it was written",
        "make it anew with one partition field and plain paths"
      )
    }
  }

  private def formatOf(file: String, p: TypedProperties): TableFormat = {
    val version = p.int("hoodie.table.version").getOrElse(0)
    TableFormat.find(version).getOrElse {
      val (why, remedy) = TableFormat.unsupported(version)
      throw UnsupportedTable.having(file, s"the table's version is $version", why, remedy)
    }
  }

  private def tableType(file: String, name: String): TableType = name match {
    case "COPY_ON_WRITE" => TableType.CopyOnWrite
    case "MERGE_ON_READ" => TableType.MergeOnRead
    case other           =>
      throw UnsupportedTable.having(
        file,
        s"hoodie.table.type is '$other'",
        "supported: COPY_ON_WRITE, MERGE_ON_READ",
        "correct the property"
      )
  }

  private def layout(file: String, version: Int): Int =
    if (version == 1 || version == 2) version
    else
      throw UnsupportedTable.having(
        file,
        s"hoodie.timeline.layout.version is $version",
        "supported are 1 and 2",
        "upgrade the table with Hudi"
      )
}

private final class TypedProperties(file: String, properties: Map[String, String]) {
  def text(key: String): Option[String] = properties.get(key).map(_.trim).filter(_.nonEmpty)

  def list(key: String): Vector[String] =
    text(key).toVector.flatMap(_.split(',')).map(_.trim).filter(_.nonEmpty)

  /** Names of columns, or paths of fields in them by dots. */
  def fields(key: String): Vector[String] = {
    val names = list(key)
    names.find(n => s".$n.".contains("..") || n.count(_ == '.') > TypedProperties.MostDots).foreach { name =>
      throw new DamagedTable(
        s"$file: $key has '$name', which names no field; correct the property, or restore the file from a backup"
      )
    }
    names
  }

  /** Names of folders that stand in one, none of them a path. */
  def folders(key: String): Vector[String] = {
    val names = list(key)
    names.find(n => n.contains('/') || n == "." || n == "..").foreach { name =>
      throw new DamagedTable(
        s"$file: $key has '$name', which is not a valid folder name; restore the file from a backup"
      )
    }
    names
  }

  def int(key: String): Option[Int] = text(key).map { value =>
    try value.toInt
    catch {
      case _: NumberFormatException =>
        throw new DamagedTable(s"$file: $key is '$value', not a number; restore the file from a backup")
    }
  }
}

private object TypedProperties {

  /** Structs in one another, of which schemas have no more. */
  private val MostDots = 200
}
