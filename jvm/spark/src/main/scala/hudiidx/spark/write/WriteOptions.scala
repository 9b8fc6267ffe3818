package hudiidx.spark.write

import hudiidx.InvalidOption
import hudiidx.sync.{IndexOptions, OptionDoc}
import hudiidx.write.{HeartbeatOptions, KeyGenerators, LockOptions, NewTable, StockWriter}
import java.util.Locale

/** What a write does with its rows, named as in Hudi. */
sealed abstract class WriteOperation(val name: String) extends Product with Serializable {

  /** As commits name it. */
  def committedName: String = name.toUpperCase(Locale.ROOT)
}

object WriteOperation {
  case object Upsert extends WriteOperation("upsert")
  case object Insert extends WriteOperation("insert")
  case object BulkInsert extends WriteOperation("bulk_insert")
  case object Delete extends WriteOperation("delete")
  val All: Vector[WriteOperation] = Vector(Upsert, Insert, BulkInsert, Delete)
}

/** Settings of one write, by Hudi's names and `hudiidx.` ones; those about the table may be left out where there is one.
  *
  * @param isGlobal     a record key is unique in the table; false: in its partition
  * @param movesPartition a record that comes with another partition moves there; false: it stays where it is
  * @param createsIndex an index is made behind the write if there is none
  * @param lock         None: one writer at a time
  * @param stream       how batches of a stream are written
  * @param index        the settings of hudiidx' index, by name
  */
final case class WriteOptions(
    operation: WriteOperation,
    given: Map[String, String],
    isGlobal: Boolean,
    movesPartition: Boolean,
    createsIndex: Boolean,
    smallFileBytes: Long,
    maxFileBytes: Long,
    blockBytes: Int,
    heartbeat: HeartbeatOptions,
    lock: Option[LockOptions],
    base: BaseFileOptions,
    stream: StreamOptions,
    index: Map[String, String]
) {

  /** The first of these options that is given. */
  def text(names: String*): Option[String] =
    names.flatMap(n => given.get(n.toLowerCase(Locale.ROOT))).map(_.trim).find(_.nonEmpty)

  def list(names: String*): Vector[String] =
    text(names: _*).toVector.flatMap(_.split(',')).map(_.trim).filter(_.nonEmpty)

  def flag(name: String): Option[Boolean] =
    text(name).map(v => IndexOptions.boolean(Map(name -> v), name, default = false))
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
  val TableType = "hoodie.datasource.write.table.type"
  val TableVersion = "hoodie.write.table.version"
  val KeyFields = "hoodie.datasource.write.recordkey.field"
  val PartitionFields = "hoodie.datasource.write.partitionpath.field"
  val OrderingField = "hoodie.datasource.write.precombine.field"
  val KeyGenerator = "hoodie.datasource.write.keygenerator.class"
  val KeyGeneratorType = "hoodie.datasource.write.keygenerator.type"
  val HiveStyle = "hoodie.datasource.write.hive_style_partitioning"
  val UrlEncode = "hoodie.datasource.write.partitionpath.urlencode"
  val MergeMode = "hoodie.write.record.merge.mode"
  val SmallFile = "hoodie.parquet.small.file.limit"
  val MaxFile = "hoodie.parquet.max.file.size"
  val BlockSize = "hoodie.logfile.data.block.max.size"
  val Codec = "hoodie.parquet.compression.codec"
  val RowGroup = "hoodie.parquet.block.size"
  val HeartbeatInterval = "hoodie.client.heartbeat.interval_in_ms"
  val HeartbeatMisses = "hoodie.client.heartbeat.tolerable.misses"
  val StreamWriter = "hoodie.datasource.write.streaming.checkpoint.identifier"
  val StreamRetries = "hoodie.datasource.write.streaming.retry.count"
  val StreamRetryInterval = "hoodie.datasource.write.streaming.retry.interval.ms"
  val MovesPartition = "hoodie.record.index.update.partition.path"

  /** With stock Hudi's names of it for other indexes. */
  private val Moves =
    Vector(
      MovesPartition,
      "hoodie.bloom.index.update.partition.path",
      "hoodie.simple.index.update.partition.path"
    )
  val InsertOperation = "hoodie.spark.sql.insert.into.operation"
  val IndexType = "hoodie.index.type"
  val Global = "hudiidx.write.global"
  val Create = "hudiidx.write.create"

  private val Codecs = Vector("gzip", "snappy", "zstd", "lz4_raw", "uncompressed")

  val Docs: Vector[OptionDoc] = Vector(
    OptionDoc(Operation, "upsert", WriteOperation.All.map(_.name).mkString(", ") + "."),
    OptionDoc(InsertOperation, "upsert", "What `INSERT INTO` does: upsert, insert or bulk_insert."),
    OptionDoc(TableName, "-", "Name of a table that is to be made."),
    OptionDoc(TableType, "MERGE_ON_READ", "Of a table that is to be made; no other is written."),
    OptionDoc(TableVersion, "9", s"Of a table that is to be made: ${NewTable.Versions.mkString(" or ")}."),
    OptionDoc(KeyFields, "-", "Key fields of a table that is to be made, commas between them."),
    OptionDoc(PartitionFields, "none", "Partition fields of a table that is to be made."),
    OptionDoc(
      OrderingField,
      "none",
      "Ordering field of a table that is to be made; `hoodie.table.ordering.fields` too."
    ),
    OptionDoc(KeyGenerator, "by the fields", "Simple, complex or non-partitioned; or `…keygenerator.type`."),
    OptionDoc(HiveStyle, "false", "Partition folders of a table that is to be made are named field=value."),
    OptionDoc(UrlEncode, "false", "Partition values of a table that is to be made are URL-encoded."),
    OptionDoc(
      MergeMode,
      "by the ordering field",
      "Of a table that is to be made: EVENT_TIME_ORDERING or COMMIT_TIME_ORDERING."
    ),
    OptionDoc(SmallFile, "104857600", "File groups smaller than so many bytes take inserts; 0: none does."),
    OptionDoc(MaxFile, "125829120", "Inserts fill file groups up to so many bytes."),
    OptionDoc(BlockSize, "67108864", "Bytes of a log block's records, about."),
    OptionDoc(Codec, "gzip", s"Of base files: ${Codecs.mkString(", ")}."),
    OptionDoc(RowGroup, "125829120", "Bytes of a base file's row groups; a task holds about one in memory."),
    OptionDoc(HeartbeatInterval, "60000", "Milliseconds between a writer's signs of life."),
    OptionDoc(HeartbeatMisses, "2", "A writer that missed so many is taken for failed, and its write is rolled back."),
    OptionDoc(StreamWriter, "the query's id", "Whose batches are numbered: a batch that the table has is passed over."),
    OptionDoc(StreamRetries, "90", "Of a batch that meets another writer."),
    OptionDoc(StreamRetryInterval, "2000", "Milliseconds between them."),
    OptionDoc(
      MovesPartition,
      "false",
      "A record that comes with another partition moves there; `hoodie.bloom.…` and `hoodie.simple.…` too. Statements of SQL: true."
    ),
    OptionDoc(Global, "true", "A record key is unique in the whole table; false: within its partition."),
    OptionDoc(Create, "false", "true makes the index behind the write if there is none.")
  ) ++ LockSettings.Docs

  /** Does a session's setting of this name count for writes? */
  def isOfSession(name: String): Boolean = name.startsWith("hoodie.") || name == Global || name == Create ||
    IndexOptions.isKnown(name)

  /** InvalidOption for an unknown `hudiidx.` name or a bad value.
    *
    * @param options of the write, keys in any case
    */
  def of(options: Map[String, String]): WriteOptions = {
    val given = options.map { case (k, v) => k.toLowerCase(Locale.ROOT) -> v }
    val ours = given.filter(_._1.startsWith("hudiidx."))
    ours.keys.filterNot(k => k == Global || k == Create || IndexOptions.isKnown(k)).toVector.sorted.foreach { k =>
      throw new InvalidOption(s"$k: no such option of a write; known are $Global, $Create and those of the index")
    }
    given.get(IndexType).filter(_.trim.toUpperCase(Locale.ROOT).endsWith("BUCKET")).foreach { kind =>
      throw new InvalidOption(
        s"$IndexType: tables with '$kind', whose file groups are fixed by a hash of the key, are not written; ${StockWriter.Remedy}"
      )
    }
    val name = given.getOrElse(Operation, WriteOperation.Upsert.name).trim.toLowerCase(Locale.ROOT)
    WriteOptions(
      operation = WriteOperation.All.find(_.name == name).getOrElse {
        throw new InvalidOption(
          s"$Operation: '$name' is not served; known are ${WriteOperation.All.map(_.name).mkString(", ")}"
        )
      },
      given = given,
      isGlobal = IndexOptions.boolean(given, Global, default = true),
      movesPartition = Moves.exists(IndexOptions.boolean(given, _, default = false)),
      createsIndex = IndexOptions.boolean(given, Create, default = false),
      smallFileBytes = number(given, SmallFile, 104857600L, 0L),
      maxFileBytes = number(given, MaxFile, 125829120L, 1L),
      blockBytes = math.min(number(given, BlockSize, 67108864L, 1L), MostBlockBytes).toInt,
      heartbeat = HeartbeatOptions(
        number(given, HeartbeatInterval, 60000L, 100L),
        number(given, HeartbeatMisses, 2L, 1L).toInt
      ),
      lock = LockSettings.of(given, number(given, _, _, _)),
      base = BaseFileOptions(codec(given), number(given, RowGroup, 125829120L, 1L << 20)),
      stream = StreamOptions(
        given.get(StreamWriter).map(_.trim).filter(_.nonEmpty),
        number(given, StreamRetries, 90L, 0L).toInt,
        number(given, StreamRetryInterval, 2000L, 0L)
      ),
      index = ours.filter { case (k, _) => IndexOptions.isKnown(k) }
    )
  }

  private def codec(given: Map[String, String]): String = {
    val name = given.getOrElse(Codec, Codecs.head).trim.toLowerCase(Locale.ROOT)
    Codecs.find(_ == name).getOrElse {
      throw new InvalidOption(s"$Codec: '$name' is not served; known are ${Codecs.mkString(", ")}")
    }
  }

  /** Of a statement of SQL.
    *
    * @param settings  of the session and others; those that are not of writes do not count
    * @param operation None: what a setting names for inserts, else upsert. InvalidOption if that does not insert
    */
  def ofStatement(settings: Map[String, String], operation: Option[WriteOperation]): WriteOptions = {
    val given = settings.filter { case (k, _) => isOfSession(k.toLowerCase(Locale.ROOT)) }
    val insert = given.collectFirst { case (k, v) if k.equalsIgnoreCase(InsertOperation) => v.trim }.filter(_.nonEmpty)
    val name = operation.map(_.name).orElse(insert).getOrElse(WriteOperation.Upsert.name)
    // In SQL the partition is a column like others: the row that stands for a record says where it is.
    val moves = if (given.keys.exists(k => Moves.exists(k.equalsIgnoreCase))) None else Some(MovesPartition -> "true")
    val options = of(given.filterNot(_._1.equalsIgnoreCase(Operation)) ++ moves + (Operation -> name))
    if (operation.isEmpty && options.operation == WriteOperation.Delete)
      throw new InvalidOption(s"$InsertOperation: '$name' inserts nothing; known are upsert, insert and bulk_insert")
    options
  }

  /** A block is put together in memory, and its lengths are ints. */
  private val MostBlockBytes = 512L << 20

  private def number(given: Map[String, String], name: String, default: Long, least: Long): Long =
    given.get(name).map(_.trim).fold(default) { text =>
      val value = scala.util.Try(text.toLong).getOrElse(throw new InvalidOption(s"$name: '$text' is no number"))
      if (value < least) throw new InvalidOption(s"$name: $value is below $least")
      value
    }

  /** The table that the options describe. InvalidOption where they say too little, or what is not served. */
  def newTable(options: WriteOptions, path: String): NewTable = {
    def needed(name: String): Nothing = throw new InvalidOption(
      s"$name: there is no table at $path yet; to make one give $TableName, $KeyFields and, if it has them, $PartitionFields " +
        s"and $OrderingField"
    )
    val kind =
      options.text(TableType).map(k => TypeNames.getOrElse(k.toLowerCase(Locale.ROOT), k)).getOrElse("MERGE_ON_READ")
    if (!kind.equalsIgnoreCase("MERGE_ON_READ"))
      throw new InvalidOption(
        s"$TableType: hudiidx writes MERGE_ON_READ tables, not $kind ones; for those ${StockWriter.Remedy}"
      )
    val keys = options.list(KeyFields, "hoodie.table.recordkey.fields")
    if (keys.isEmpty) needed(KeyFields)
    val partitions = options.list(PartitionFields, "hoodie.table.partition.fields").map(_.takeWhile(_ != ':'))
    val ordering = options.list(OrderingField, "hoodie.table.ordering.fields", "hoodie.table.precombine.field")
    if (ordering.size > 1) throw new InvalidOption(s"$OrderingField: one field at most, not ${ordering.mkString(", ")}")
    NewTable(
      name = options.text(TableName).getOrElse(needed(TableName)),
      database = options.text("hoodie.database.name").getOrElse(""),
      version = tableVersion(options),
      keyFields = keys,
      partitionFields = partitions,
      orderingField = ordering.headOption,
      isComplex = isComplex(options, keys.size > 1 || partitions.size > 1),
      isEventTime = isEventTime(options, ordering.nonEmpty),
      hiveStyle = options.flag(HiveStyle).getOrElse(false),
      urlEncode = options.flag(UrlEncode).getOrElse(false)
    )
  }

  /** Short names, as in Hudi's SQL. */
  private val TypeNames = Map("mor" -> "MERGE_ON_READ", "cow" -> "COPY_ON_WRITE")

  private def tableVersion(options: WriteOptions): Int = {
    val text = options.text(TableVersion).getOrElse("9")
    NewTable.Versions.find(_.toString == text).getOrElse {
      throw new InvalidOption(s"$TableVersion: '$text' is not served; known are ${NewTable.Versions.mkString(", ")}")
    }
  }

  private def isComplex(options: WriteOptions, severalFields: Boolean): Boolean =
    options.text(KeyGenerator, KeyGeneratorType).fold(severalFields) { name =>
      val complex = KeyGenerators.of(name).getOrElse {
        throw new InvalidOption(s"$KeyGenerator: '$name' is not served; ${KeyGenerators.Served}")
      }
      if (severalFields && name.toUpperCase(Locale.ROOT).contains("SIMPLE"))
        throw new InvalidOption(s"$KeyGenerator: '$name' takes one key field and one partition field")
      complex
    }

  private def isEventTime(options: WriteOptions, isOrdered: Boolean): Boolean =
    options.text(MergeMode).map(_.toUpperCase(Locale.ROOT)) match {
      case None                                     => isOrdered
      case Some("COMMIT_TIME_ORDERING")             => false
      case Some("EVENT_TIME_ORDERING") if isOrdered => true
      case Some("EVENT_TIME_ORDERING")              =>
        throw new InvalidOption(s"$MergeMode: EVENT_TIME_ORDERING needs $OrderingField")
      case Some(other) =>
        throw new InvalidOption(
          s"$MergeMode: '$other' is not served; known are EVENT_TIME_ORDERING and COMMIT_TIME_ORDERING"
        )
    }
}
