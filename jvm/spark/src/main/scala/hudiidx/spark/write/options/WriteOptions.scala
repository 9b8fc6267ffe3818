package hudiidx.spark.write.options

import hudiidx.{InvalidOption, TableFormat}
import hudiidx.sync.{IndexOptions, OptionDoc}
import hudiidx.table.{KeyGenerator, TableConfig}
import hudiidx.write.{HeartbeatOptions, KeyGenerators, LockOptions, NewTable, StockWriter, StreamBatch, WritableTable}
import java.util.Locale

/** Settings of one write, by Hudi's names and `hudiidx.` ones; those about the table may be left out where there is one.
  *
  * @param isGlobal     a record key is unique in the table; false: in its partition
  * @param logInserts   new records go to logs; None: as the table says
  * @param movesPartition a record that comes with another partition moves there; false: it stays where it is
  * @param createsIndex an index is made after the write if there is none
  * @param remakes      an overwrite may make another table of it
  * @param lock         None: one writer at a time
  * @param stream       how batches of a stream are written
  * @param index        the settings of hudiidx' index, by name
  * @param commitExtra  what more the metadata of the commit has
  */
final case class WriteOptions(
    operation: WriteOperation,
    given: Map[String, String],
    isGlobal: Boolean,
    logInserts: Option[Boolean],
    movesPartition: Boolean,
    createsIndex: Boolean,
    remakes: Boolean,
    smallFileBytes: Long,
    maxFileBytes: Long,
    smallGroups: Int,
    blockBytes: Int,
    heartbeat: HeartbeatOptions,
    lock: Option[LockOptions],
    base: BaseFileOptions,
    stream: StreamOptions,
    index: Map[String, String],
    commitExtra: Map[String, String]
) {

  /** The first of these options that is given. */
  def text(names: String*): Option[String] =
    names.flatMap(n => given.get(n.toLowerCase(Locale.ROOT))).map(_.trim).find(_.nonEmpty)

  def list(names: String*): Vector[String] =
    text(names: _*).toVector.flatMap(_.split(',')).map(_.trim).filter(_.nonEmpty)

  /** Of an option that may be given or not. */
  def flag(option: OptionDoc): Option[Boolean] = text(option.name).map(v => option.flag(Map(option.name -> v)))
}

/** How batches of a stream are written.
  *
  * @param writer      whose batches are numbered; None: the query's
  * @param retries     of a batch that met another writer
  * @param retryMillis between them
  */
final case class StreamOptions(writer: Option[String], retries: Int, retryMillis: Long)

object WriteOptions {
  val Operation = "hoodie.datasource.write.operation"
  val TableName = "hoodie.table.name"
  val DatabaseName = "hoodie.database.name"
  val TableType = "hoodie.datasource.write.table.type"
  val TableVersion = "hoodie.write.table.version"
  val KeyFields = "hoodie.datasource.write.recordkey.field"
  val PartitionFields = "hoodie.datasource.write.partitionpath.field"
  val OrderingField = "hoodie.datasource.write.precombine.field"
  val OrderingSpellings: Vector[String] = Vector("hoodie.table.ordering.fields", "hoodie.table.precombine.field")
  val KeyGeneratorClass = "hoodie.datasource.write.keygenerator.class"
  val KeyGeneratorType = "hoodie.datasource.write.keygenerator.type"
  val HiveStyle = "hoodie.datasource.write.hive_style_partitioning"
  val UrlEncode = "hoodie.datasource.write.partitionpath.urlencode"
  val SlashDates: String = TableConfig.SlashDates
  val MergeMode = "hoodie.write.record.merge.mode"
  val SmallFile = "hoodie.parquet.small.file.limit"
  val MaxFile = "hoodie.parquet.max.file.size"
  val SmallGroups = "hoodie.merge.small.file.group.candidates.limit"
  val BlockSize = "hoodie.logfile.data.block.max.size"
  val Codec = "hoodie.parquet.compression.codec"
  val RowGroup = "hoodie.parquet.block.size"
  val HeartbeatInterval = "hoodie.client.heartbeat.interval_in_ms"
  val HeartbeatMisses = "hoodie.client.heartbeat.tolerable.misses"
  val StreamWriter: String = StreamBatch.Writer
  val StreamRetries = "hoodie.datasource.write.streaming.retry.count"
  val StreamRetryInterval = "hoodie.datasource.write.streaming.retry.interval.ms"
  val MovesPartition = "hoodie.record.index.update.partition.path"
  val MovesBloom = "hoodie.bloom.index.update.partition.path"
  val MovesSimple = "hoodie.simple.index.update.partition.path"
  val MovesHbase = "hoodie.hbase.index.update.partition.path"

  /** With stock Hudi's names of it for other indexes. */
  val Moves: Vector[String] = Vector(MovesPartition, MovesBloom, MovesSimple, MovesHbase)
  val InsertOperation = "hoodie.spark.sql.insert.into.operation"
  val AllowOperation: String = WritableTable.AllowOperation
  val TimelineZone = "hoodie.table.timeline.timezone"
  val CommitPrefix = "hoodie.datasource.write.commitmeta.key.prefix"
  val IndexType = "hoodie.index.type"
  val Global = "hudiidx.write.global"
  val Create = "hudiidx.write.create"
  val Remake = "hudiidx.write.remake"
  val LogInserts: String = TableConfig.LogInserts

  /** Ours that are not of the index. */
  private[write] val Own: Set[String] = Set(Global, Create, LogInserts, Remake)

  def Docs: Vector[OptionDoc] = WriteOptionDocs.All

  /** Does a session's setting of this name count for writes? */
  def isOfSession(name: String): Boolean = name.startsWith("hoodie.") || Own(name) ||
    IndexOptions.isKnown(name)

  /** InvalidOption for an unknown `hudiidx.` name, a bad value, or an option of Hudi's that is not followed.
    *
    * @param own      of the write itself, keys in any case; what Hudi does not have among them is refused, or warned of
    * @param session  the session's configuration; what is not of writes does not count
    * @param isInsert it is a statement `INSERT`
    */
  def of(
      own: Map[String, String],
      session: Map[String, String] = Map.empty,
      isInsert: Boolean = false
  ): WriteOptions = {
    requireKnown(own)
    checked(under(own, ofSession(session)), isInsert)
  }

  /** Names may be written in any case: what is given itself counts under each. */
  private def under(own: Map[String, String], session: Map[String, String]): Map[String, String] = {
    val named = own.keySet.map(_.toLowerCase(Locale.ROOT))
    session.filterNot { case (k, _) => named(k.toLowerCase(Locale.ROOT)) } ++ own
  }

  private def ofSession(session: Map[String, String]) = session.filter { case (k, _) => isOfSession(k) }

  private def checked(options: Map[String, String], isInsert: Boolean): WriteOptions = {
    val read = unchecked(options)
    StockWriteOptions.check(read.given, read.operation, isInsert)
    read
  }

  /** The same, of a compaction. */
  def ofCompaction(own: Map[String, String], session: Map[String, String] = Map.empty): WriteOptions = {
    requireKnown(own)
    val read = unchecked(under(own, ofSession(session)))
    StockWriteOptions.checkCompaction(read.given)
    read
  }

  /** Options of a write itself are those of a release of Hudi's, or begin as what goes to the commit's metadata. InvalidOption if not. */
  private def requireKnown(own: Map[String, String]): Unit = {
    val given = own.map { case (k, v) => k.toLowerCase(Locale.ROOT) -> v }
    StockWriteOptions.requireKnown((given -- commitExtra(given).keys).keys)
  }

  private def unchecked(options: Map[String, String]): WriteOptions = {
    val given = options.map { case (k, v) => k.toLowerCase(Locale.ROOT) -> v }
    val ours = given.filter(_._1.startsWith("hudiidx."))
    ours.keys.filterNot(k => Own(k) || IndexOptions.isKnown(k)).toVector.sorted.foreach { k =>
      throw new InvalidOption(
        s"$k: unknown write option; supported: ${Own.toVector.sorted.mkString(", ")} and those of the index"
      )
    }
    val index = StockIndexType.of(given)
    val name = WriteOptionDocs.operation.text(given).toLowerCase(Locale.ROOT)
    WriteOptions(
      operation = WriteOperation.All.find(_.name == name).getOrElse {
        throw new InvalidOption(
          s"$Operation: unsupported value '$name'; supported: ${WriteOperation.All.map(_.name).mkString(", ")}"
        )
      },
      given = given,
      isGlobal = if (given.contains(Global)) WriteOptionDocs.global.flag(given) else index.forall(_.isGlobal),
      logInserts = given.get(LogInserts).map(_ => WriteOptionDocs.logInserts.flag(given)),
      movesPartition = StockIndexType.moves(index, given),
      createsIndex = WriteOptionDocs.creates.flag(given),
      remakes = WriteOptionDocs.remakes.flag(given),
      smallFileBytes = WriteOptionDocs.smallFile.whole(given),
      maxFileBytes = WriteOptionDocs.maxFile.whole(given),
      smallGroups = math.min(WriteOptionDocs.smallGroups.whole(given), Int.MaxValue).toInt,
      blockBytes = math.min(WriteOptionDocs.blockSize.whole(given), MostBlockBytes).toInt,
      heartbeat =
        HeartbeatOptions(WriteOptionDocs.beatInterval.whole(given), WriteOptionDocs.beatMisses.whole(given).toInt),
      lock = LockSettings.of(given),
      base = BaseFileOptions(WriteOptionDocs.codec.choice(given), WriteOptionDocs.rowGroup.whole(given)),
      stream = StreamOptions(
        given.get(StreamWriter).map(_.trim).filter(_.nonEmpty),
        WriteOptionDocs.streamRetries.whole(given).toInt,
        WriteOptionDocs.streamPause.whole(given)
      ),
      index = ours.filter { case (k, _) => IndexOptions.isKnown(k) },
      commitExtra = commitExtra(given)
    )
  }

  /** What stock adds to the metadata of a commit: options whose names begin so. */
  private def commitExtra(given: Map[String, String]): Map[String, String] = {
    val prefix = given.get(CommitPrefix).map(_.trim).filter(_.nonEmpty).getOrElse("_").toLowerCase(Locale.ROOT)
    given.filter { case (k, _) => k.startsWith(prefix) }
  }

  /** Of a statement of SQL.
    *
    * @param session   its settings and others; those that are not of writes do not count
    * @param operation None: what the statement names, else what a setting names for inserts, else upsert. InvalidOption if the setting's
    *                  does not insert
    * @param stated    by the statement itself, which is as the options of a write are
    */
  def ofStatement(
      session: Map[String, String],
      operation: Option[WriteOperation],
      stated: Map[String, String] = Map.empty
  ): WriteOptions = {
    requireKnown(stated)
    val settings = under(stated, session)
    val given = settings.filter { case (k, _) => isOfSession(k.toLowerCase(Locale.ROOT)) }
    def textOf(of: Map[String, String], name: String) =
      of.collectFirst { case (k, v) if k.equalsIgnoreCase(name) => v.trim }.filter(_.nonEmpty)
    val doing = textOf(stated, Operation)
    if (
      operation
        .contains(WriteOperation.InsertOverwriteTable) && doing.exists(_.equalsIgnoreCase(WriteOperation.Delete.name))
    )
      throw noRows
    val name =
      operation.map(_.name).orElse(doing).orElse(textOf(given, InsertOperation)).getOrElse(WriteOperation.Upsert.name)
    val own = given.filterNot { case (k, v) => k.equalsIgnoreCase(Operation) || isSparksMode(settings, k, v) }
    val read = checked(own + (Operation -> name), isInsert = operation.isEmpty)
    // In SQL the partition is a column like others: the row that stands for a record says where it is.
    val options = if (Moves.exists(read.given.contains)) read else read.copy(movesPartition = true)
    if (operation.isEmpty && doing.isEmpty && !WriteOperation.Inserts.contains(options.operation))
      throw new InvalidOption(
        s"$InsertOperation: unsupported value '$name' for INSERT INTO; supported: ${WriteOperation.Inserts.map(_.name).mkString(", ")}"
      )
    options
  }

  /** Of an overwrite by deletes. */
  private[write] def noRows: InvalidOption =
    new InvalidOption(s"$Operation: 'delete' has no rows to put in the place of others")

  /** Which partitions `INSERT OVERWRITE` replaces, in stock's words: as Spark does it anyway. */
  private def isSparksMode(settings: Map[String, String], name: String, value: String): Boolean =
    name.equalsIgnoreCase(RefusedWriteOptions.OverwriteMode) &&
      value.trim.equalsIgnoreCase(settings.getOrElse("spark.sql.sources.partitionOverwriteMode", "static"))

  /** A block is put together in memory, and its lengths are ints. */
  private val MostBlockBytes = 512L << 20

  /** The table that the options describe. InvalidOption where they say too little, or what is not served. */
  def newTable(options: WriteOptions, path: String): NewTable = {
    def needed(name: String): Nothing = throw new InvalidOption(
      s"$name: there is no table at $path yet; to make one give $TableName, $KeyFields and, if it has them, $PartitionFields " +
        s"and $OrderingField (with CREATE TABLE the properties primaryKey and preCombineField)"
    )
    val kind = TableShape.given(options, TableType).map(typeName).getOrElse(WriteOptionDocs.tableType.default)
    if (!kind.equalsIgnoreCase("MERGE_ON_READ"))
      throw new InvalidOption(
        s"$TableType: hudiidx writes MERGE_ON_READ tables, not $kind ones; for those ${StockWriter.Remedy}"
      )
    options.text(TimelineZone).filterNot(_.equalsIgnoreCase("LOCAL")).foreach { zone =>
      throw new InvalidOption(
        s"$TimelineZone: unsupported value '$zone'; a new table's instants are what the clock of the writer's process shows; leave it out, or " +
          "make the table with stock Hudi"
      )
    }
    val keys = options.list(KeyFields, "hoodie.table.recordkey.fields")
    if (keys.isEmpty) needed(KeyFields)
    val partitions = options.list(PartitionFields, "hoodie.table.partition.fields").map(_.takeWhile(_ != ':'))
    val ordering = options.list(OrderingField +: OrderingSpellings: _*)
    if (ordering.size > 1) throw new InvalidOption(s"$OrderingField: one field at most, not ${ordering.mkString(", ")}")
    val made = NewTable(
      name = options.text(TableName).getOrElse(needed(TableName)),
      database = options.text(DatabaseName).getOrElse(""),
      format = tableFormat(options),
      keyFields = keys,
      partitionFields = partitions,
      orderingField = ordering.headOption,
      keyGenerator = generator(options, keys, partitions),
      isEventTime = AskedMergeMode.isEventTime(options, ordering.nonEmpty),
      hiveStyle = options.flag(WriteOptionDocs.hiveStyle).getOrElse(false),
      urlEncode = options.flag(WriteOptionDocs.urlEncode).getOrElse(false),
      logInserts = options.logInserts.contains(true),
      slashDates = options.flag(WriteOptionDocs.slashDates).getOrElse(false)
    )
    val isFit = made.format.knowsSlashDates && partitions.nonEmpty &&
      TableConfig.besideSlashDates(partitions, made.hiveStyle, made.urlEncode).isEmpty
    if (made.slashDates && !isFit)
      throw new InvalidOption(
        s"$SlashDates: stock Hudi does not read such a table as it was written but with one partition field, without $HiveStyle and $UrlEncode, " +
          s"and not in version ${TableFormat.V6.version}, whose readers do not know it; leave one of them out"
      )
    made
  }

  /** Short names, as in Hudi's SQL. */
  private val TypeNames = Map("mor" -> "MERGE_ON_READ", "cow" -> "COPY_ON_WRITE")

  private[write] def typeName(text: String): String = TypeNames.getOrElse(text.toLowerCase(Locale.ROOT), text)

  private def tableFormat(options: WriteOptions): TableFormat = {
    val text = options.text(TableVersion).getOrElse(WriteOptionDocs.version.default)
    TableFormat.Written.find(_.version.toString == text).getOrElse {
      throw new InvalidOption(
        s"$TableVersion: unsupported value '$text'; supported: ${TableFormat.Written.map(_.version).mkString(", ")}"
      )
    }
  }

  /** That which is asked for, else the one that Hudi takes for such fields. */
  private def generator(options: WriteOptions, keys: Vector[String], partitions: Vector[String]): KeyGenerator = {
    val several = keys.size > 1 || partitions.size > 1
    TableShape.given(options, KeyGeneratorClass) match {
      case None if partitions.isEmpty => KeyGenerator.NonPartitioned
      case None if several            => KeyGenerator.Complex
      case None                       => KeyGenerator.Simple
      case Some(name)                 =>
        KeyGenerators.of(name) match {
          case None =>
            throw new InvalidOption(s"$KeyGeneratorClass: unsupported value '$name'; ${KeyGenerators.Served}")
          case Some(KeyGenerator.Simple) if several =>
            throw new InvalidOption(s"$KeyGeneratorClass: '$name' takes one key field and one partition field")
          case Some(KeyGenerator.NonPartitioned) if partitions.nonEmpty =>
            throw new InvalidOption(s"$KeyGeneratorClass: '$name' takes no partition field")
          case Some(KeyGenerator.Simple) if partitions.isEmpty => KeyGenerator.NonPartitioned
          case Some(g)                                         => g
        }
    }
  }
}
