package hudiidx.write

import hudiidx.{StockIndexClass, TableFormat, UnsupportedTable}
import hudiidx.log.MergeMode
import hudiidx.table.{KeyGenerator, KeyTexts, TableConfig, TableMergeRules, TableSchema}

/** Tables that hudiidx writes to. Whatever it would not keep in step or could not write as stock Hudi does is refused before
  * anything is written.
  */
object WritableTable {
  val AllowOperation = "hoodie.allow.operation.metadata.field"

  /** UnsupportedTable, with what to do, for a table that is not one.
    *
    * @param logInserts new records go to logs
    */
  def check(tablePath: String, config: TableConfig, logInserts: Boolean): Unit = {
    def refuse(what: String, remedy: String): Nothing = throw new UnsupportedTable(s"$tablePath: $what; $remedy")
    if (!config.isMergeOnRead)
      refuse("hudiidx writes to merge-on-read tables alone, this one is copy-on-write", StockWriter.Remedy)
    checkCommon(config, refuse(_, _), StockWriter.Remedy)
    if (
      logInserts &&
      (config.metadataPartitions ++ config.inflightMetadataPartitions).contains(MetadataTableWriter.RecordIndex)
    )
      refuse(
        "Hudi's metadata table has a record index, which this writer does not keep; without it stock Hudi's next write would " +
          "look for keys in base files alone, and insert again what is in logs",
        s"set ${TableConfig.LogInserts}=false, or ${StockWriter.Remedy}"
      )
    if (BucketIndex.isNamed(config)) throw BucketIndex.refusal(tablePath)
    if (TableMergeRules.orderingFields(config).size > 1)
      refuse("the table has several ordering fields", StockWriter.Remedy)
    val rules = TableMergeRules.of(config)
    if (TableMergeRules.mixesRows(config) || rules.mode == MergeMode.Custom || rules.deleteMarker.isDefined)
      refuse("the table merges records by a payload class or merger of its own", StockWriter.Remedy)
    KeyGenerators.check(tablePath, config)
  }

  /** Of writes and compactions: files of theirs would hide the column from all readers. */
  def hasOperation(tablePath: String): UnsupportedTable = new UnsupportedTable(
    s"$tablePath: its rows bear the meta column ${TableSchema.Operation}, which this writer does not keep; write and compact with stock " +
      s"Hudi and $AllowOperation=true"
  )

  /** As `check`, for compactions: rows are merged as readers merge them, and keys stay what they are. */
  def checkCompaction(tablePath: String, config: TableConfig): Unit = {
    def refuse(what: String, remedy: String): Nothing = throw new UnsupportedTable(s"$tablePath: $what; $remedy")
    if (!config.isMergeOnRead)
      refuse("the table is copy-on-write: it has no log files to compact", "nothing is to be done")
    checkCommon(config, refuse(_, _), "compact with stock Hudi")
  }

  /** What neither writes nor compactions serve.
    *
    * @param remedy where there is no other
    */
  private def checkCommon(config: TableConfig, refuse: (String, String) => Nothing, remedy: String): Unit = {
    if (!config.format.isWritten)
      refuse(
        s"hudiidx writes to tables of versions ${TableFormat.Written.map(_.version).mkString(" and ")}, this one has ${config.version}",
        remedy
      )
    unserved(config).foreach { case (name, value) =>
      refuse(s"$name is '$value', which this writer does not serve", remedy)
    }
  }

  /** A property whose value, other than the only one served, changes what files must look like. */
  private def unserved(config: TableConfig): Option[(String, String)] =
    Vector(
      "hoodie.populate.meta.fields" -> "true",
      "hoodie.datasource.write.drop.partition.columns" -> "false",
      "hoodie.table.base.file.format" -> "PARQUET",
      "hoodie.table.multiple.base.file.formats.enable" -> "false",
      "hoodie.table.cdc.enabled" -> "false",
      "hoodie.partition.metafile.use.base.format" -> "false",
      "hoodie.bootstrap.base.path" -> ""
    ).flatMap { case (name, served) =>
      config.text(name).filterNot(_.equalsIgnoreCase(served)).map(name -> _)
    }.headOption
}

/** Who writes what this writer does not. */
object StockWriter {
  val Remedy: String = s"use stock Hudi's writer, with hoodie.index.class=${StockIndexClass.Name} (docs/writers.md)"
}

/** Key generators of tables that hudiidx writes to. */
object KeyGenerators {
  private val Written: Set[KeyGenerator] =
    Set(KeyGenerator.Simple, KeyGenerator.Complex, KeyGenerator.NonPartitioned)

  /** UnsupportedTable for a table whose keys hudiidx would not make as the table's own generator does. */
  def check(tablePath: String, config: TableConfig): Unit =
    KeyTexts.of(config) match {
      case Left(why) => throw new UnsupportedTable(s"$tablePath: $why; $Served")
      case Right(_) if config.keyGenerator.flatMap(of).isDefined => ()
      case Right(_)                                              =>
        throw new UnsupportedTable(s"$tablePath: the table's keys are made by ${config.keyGenerator.get}; $Served")
    }

  /** By a class or type; None: not served. */
  def of(name: String): Option[KeyGenerator] = KeyGenerator.named(name).filter(Written)

  val Served = "served are the key generators simple, complex and non-partitioned"
}
