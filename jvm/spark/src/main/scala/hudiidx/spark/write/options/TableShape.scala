package hudiidx.spark.write.options

import java.util.Locale

import hudiidx.log.MergeMode
import hudiidx.table.{KeyGenerator, TableConfig, TableMergeRules}
import hudiidx.write.{KeyGenerators, NewTable}

/** What makes a table the one that it is, by the options that say so when it is made. */
private[write] object TableShape {
  import WriteOptions.{MergeMode => MergeModeOption, _}

  /** Options that a write may repeat and not change. */
  val OfEveryWrite: Vector[String] =
    Vector(
      KeyFields,
      PartitionFields,
      OrderingField,
      TableType,
      KeyGeneratorClass,
      SlashDates,
      HiveStyle,
      UrlEncode,
      MergeModeOption,
      TimelineZone
    )

  /** What an overwrite may not change either: it might seem to. */
  val All: Vector[String] = OfEveryWrite :+ TableVersion

  /** Other names of them. */
  val Spellings: Map[String, Vector[String]] = Map(
    KeyFields -> Vector("hoodie.table.recordkey.fields"),
    PartitionFields -> Vector("hoodie.table.partition.fields"),
    OrderingField -> OrderingSpellings,
    TableType -> Vector("hoodie.datasource.write.storage.type", "hoodie.table.type"),
    KeyGeneratorClass -> Vector(
      KeyGeneratorType,
      "hoodie.table.keygenerator.class",
      "hoodie.table.keygenerator.type"
    )
  )

  /** What is given for one of them, under whichever name. */
  def given(options: WriteOptions, name: String): Option[String] = options.text(namesOf(name): _*)

  private def namesOf(name: String): Vector[String] = name +: Spellings.getOrElse(name, Vector.empty)

  /** Of a table that is there; without what this writer knows no value of. */
  def of(config: TableConfig): Map[String, String] = {
    val mode = TableMergeRules.of(config).mode match {
      case MergeMode.EventTime  => Some("EVENT_TIME_ORDERING")
      case MergeMode.CommitTime => Some("COMMIT_TIME_ORDERING")
      case _                    => None
    }
    val generator = config.keyGenerator.flatMap(KeyGenerators.of)
    Map(
      KeyFields -> config.recordKeyFields.mkString(","),
      PartitionFields -> config.partitionFields.mkString(","),
      OrderingField -> TableMergeRules.orderingFields(config).mkString(","),
      TableType -> config.tableType.name,
      TableVersion -> config.version.toString,
      HiveStyle -> config.hiveStyle.toString,
      UrlEncode -> config.urlEncode.toString,
      SlashDates -> config.slashDates.toString,
      TimelineZone -> config.timelineTimezone
    ) ++ mode.map(MergeModeOption -> _) ++ generator.map(g => KeyGeneratorClass -> nameOf(g))
  }

  /** Of the options that are given, in the same words. */
  private def asked(options: WriteOptions, isOrdered: Boolean): Map[String, String] = All.flatMap { name =>
    val text = if (name == MergeModeOption) AskedMergeMode.of(options, isOrdered) else given(options, name)
    text.map(t => name -> plain(name, t))
  }.toMap

  private def plain(name: String, text: String): String = name match {
    case PartitionFields                    => list(text).map(_.takeWhile(_ != ':')).mkString(",")
    case TableType                          => WriteOptions.typeName(text).toUpperCase(Locale.ROOT)
    case TimelineZone                       => text.toUpperCase(Locale.ROOT)
    case KeyGeneratorClass                  => KeyGenerators.of(text).fold(text)(nameOf)
    case HiveStyle | UrlEncode | SlashDates => text.toLowerCase(Locale.ROOT)
    case _                                  => list(text).mkString(",")
  }

  private def list(text: String): Vector[String] = text.split(',').toVector.map(_.trim).filter(_.nonEmpty)

  /** A simple generator and one without partitions make the same keys of one field, and of several there is no simple one. */
  private def nameOf(generator: KeyGenerator): String =
    if (generator == KeyGenerator.Complex) KeyGenerator.Complex.kind else KeyGenerator.Simple.kind

  /** Options with what they say and what the table has instead. */
  def differences(
      names: Vector[String],
      options: WriteOptions,
      config: TableConfig
  ): Vector[(String, String, String)] = {
    val has = of(config)
    val given = asked(options, isOrdered = has(OrderingField).nonEmpty)
    names.flatMap(n => given.get(n).filterNot(has.get(n).contains).map(v => (n, v, has.getOrElse(n, "another"))))
  }

  /** The table that is to take the place of one: what options leave out stays as it is. */
  def anew(options: WriteOptions, tablePath: String, config: TableConfig): NewTable = {
    val served = if (config.format.isWritten) Some(config.version) else None
    val kept = of(config) - KeyGeneratorClass - TableType - TableVersion - MergeModeOption - TimelineZone ++
      served.map(v => TableVersion -> v.toString) +
      (TableName -> config.tableName) + (DatabaseName -> config.databaseName)
    val isGiven = (name: String) => namesOf(name).exists(n => options.given.contains(n.toLowerCase(Locale.ROOT)))
    val all = kept.filterNot { case (name, value) => value.isEmpty || isGiven(name) }
    WriteOptions.newTable(
      options.copy(given = all.map { case (k, v) => k.toLowerCase(Locale.ROOT) -> v } ++ options.given),
      tablePath
    )
  }
}
