package hudiidx.spark.write

import java.util.Locale

import hudiidx.log.MergeMode
import hudiidx.table.{KeyGenerator, TableConfig, TableLogRules}
import hudiidx.write.{KeyGenerators, NewTable}

/** What makes a table the one that it is, by the options that say so when it is made. */
private[write] object TableShape {
  import WriteOptions.{MergeMode => MergeModeOption, _}

  /** Options that a write may repeat and not change. */
  val OfEveryWrite: Vector[String] =
    Vector(KeyFields, PartitionFields, OrderingField, TableType, KeyGeneratorClass, SlashDates)

  /** Those that an overwrite may not change either: it might seem to. */
  val All: Vector[String] = OfEveryWrite ++ Vector(TableVersion, HiveStyle, UrlEncode, MergeModeOption)

  private val Spellings: Map[String, Vector[String]] = Map(
    KeyFields -> Vector("hoodie.table.recordkey.fields"),
    PartitionFields -> Vector("hoodie.table.partition.fields"),
    OrderingField -> Vector("hoodie.table.ordering.fields", "hoodie.table.precombine.field"),
    KeyGeneratorClass -> Vector(KeyGeneratorType)
  )

  /** Of a table that is there; without what this writer knows no value of. */
  def of(config: TableConfig): Map[String, String] = {
    val mode = TableLogRules.of(config).mode match {
      case MergeMode.EventTime  => Some("EVENT_TIME_ORDERING")
      case MergeMode.CommitTime => Some("COMMIT_TIME_ORDERING")
      case _                    => None
    }
    val generator = config.keyGenerator.flatMap(KeyGenerators.of)
    Map(
      KeyFields -> config.recordKeyFields.mkString(","),
      PartitionFields -> config.partitionFields.mkString(","),
      OrderingField -> TableLogRules.orderingFields(config).mkString(","),
      TableType -> config.tableType.name,
      TableVersion -> config.version.toString,
      HiveStyle -> config.hiveStyle.toString,
      UrlEncode -> config.urlEncode.toString,
      SlashDates -> config.slashDates.toString
    ) ++ mode.map(MergeModeOption -> _) ++ generator.map(g => KeyGeneratorClass -> nameOf(g))
  }

  /** Of the options that are given, in the same words. */
  def asked(options: WriteOptions): Map[String, String] = All.flatMap { name =>
    options.text(name +: Spellings.getOrElse(name, Vector.empty): _*).map(text => name -> plain(name, text))
  }.toMap

  private def plain(name: String, text: String): String = name match {
    case PartitionFields                    => list(text).map(_.takeWhile(_ != ':')).mkString(",")
    case TableType                          => WriteOptions.typeName(text).toUpperCase(Locale.ROOT)
    case KeyGeneratorClass                  => KeyGenerators.of(text).fold(text)(nameOf)
    case MergeModeOption                    => text.toUpperCase(Locale.ROOT)
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
    val (given, has) = (asked(options), of(config))
    names.flatMap(n => given.get(n).filterNot(has.get(n).contains).map(v => (n, v, has.getOrElse(n, "another"))))
  }

  /** The table that is to take the place of one: what options leave out stays as it is. */
  def anew(options: WriteOptions, tablePath: String, config: TableConfig): NewTable = {
    val served = if (config.format.isWritten) Some(config.version) else None
    val kept = of(config) - KeyGeneratorClass - TableType - TableVersion - MergeModeOption ++
      served.map(v => TableVersion -> v.toString) +
      (TableName -> config.tableName) + ("hoodie.database.name" -> config.databaseName)
    val isGiven = (name: String) =>
      (name +: Spellings.getOrElse(name, Vector.empty)).exists(n => options.given.contains(n.toLowerCase(Locale.ROOT)))
    val all = kept.filterNot { case (name, value) => value.isEmpty || isGiven(name) }
    WriteOptions.newTable(
      options.copy(given = all.map { case (k, v) => k.toLowerCase(Locale.ROOT) -> v } ++ options.given),
      tablePath
    )
  }
}
