package hudiidx.spark.write.options

import hudiidx.TableFormat
import hudiidx.log.RecordKeyForm
import hudiidx.spark.write.options.WriteOptions._
import hudiidx.sync.OptionDoc
import hudiidx.sync.OptionKind.{Flag, IntRange, OneOf, Text}
import hudiidx.write.HeartbeatOptions

/** The options of writes, with their defaults, as docs/options.md shows them. */
object WriteOptionDocs {
  private val usualBeat = HeartbeatOptions()
  private val usualBase = BaseFileOptions()
  private val OfNew = "Of a table that is to be made: "

  val operation = OptionDoc(
    Operation,
    OneOf(WriteOperation.All.map(_.name)),
    WriteOperation.Upsert.name,
    "`insert` and `bulk_insert` look nothing up and write each row, also several of one key; the second fills no file groups that are " +
      "there; for `delete` rows need key and partition fields only. `insert_overwrite` replaces the partitions that rows come for, `insert_overwrite_table` all rows; neither " +
      "looks anything up."
  )
  val tableType =
    OptionDoc(TableType, OneOf(Vector("MERGE_ON_READ")), "MERGE_ON_READ", OfNew + "no other is written.")
  val version = OptionDoc(
    TableVersion,
    OneOf(TableFormat.Written.map(_.version.toString)),
    TableFormat.Written.last.version.toString,
    OfNew + "its version."
  )
  val hiveStyle =
    OptionDoc(HiveStyle, Flag, "false", OfNew + "its partition folders are named `field=value`.")
  val urlEncode =
    OptionDoc(UrlEncode, Flag, "false", OfNew + "its partition values are URL-encoded.")
  val slashDates = OptionDoc(
    SlashDates,
    Flag,
    "false",
    OfNew + "folders of its dates have slashes, `2026/01/05` for the value `2026-01-05`. With one partition field, without the two above, in version 9."
  )

  /** Those that say which of several texts a record key has. */
  val keyTexts: Vector[OptionDoc] = Vector(
    OptionDoc(
      RecordKeyForm.ConsistentTimestamps,
      OneOf(Vector("true", "false")),
      "(none)",
      "How timestamps stand in the table's record keys, needed where one is a key field: `false` as numbers, `true` formatted in " +
        "the zone of the JVM ([keys.md](keys.md))."
    ),
    OptionDoc(
      RecordKeyForm.PlainSingleField,
      OneOf(Vector("true", "false")),
      "(none)",
      "New records' keys where the complex generator has one field, before table version 9: `false` as `field:value`, `true` as " +
        "the value ([keys.md](keys.md))."
    )
  )
  val smallFile = OptionDoc(
    SmallFile,
    IntRange(0),
    "104857600",
    "File groups smaller than so many bytes take inserts; `0`: none does. With inserts to base files those that have a base file " +
      "and no log, which is written anew; with inserts to logs a byte of log counts as 0.35."
  )
  val smallGroups = OptionDoc(
    SmallGroups,
    IntRange(0),
    "1",
    "So many of them in a partition, smallest first, take the inserts of a write; not with inserts to logs."
  )
  val maxFile =
    OptionDoc(MaxFile, IntRange(1), "125829120", "Inserts fill file groups up to so many bytes.")
  val blockSize = OptionDoc(
    BlockSize,
    IntRange(1),
    "67108864",
    "Bytes of a log block's records, about; a block is put together in memory."
  )
  val codec = OptionDoc(
    Codec,
    OneOf(Vector("gzip", "snappy", "zstd", "lz4_raw", "uncompressed")),
    usualBase.codec,
    "Compression of base files."
  )
  val rowGroup = OptionDoc(
    RowGroup,
    IntRange(1L << 20),
    usualBase.groupBytes.toString,
    "Bytes of a base file's row groups; a task holds about one in memory."
  )
  val beatInterval = OptionDoc(
    HeartbeatInterval,
    IntRange(100),
    usualBeat.intervalMillis.toString,
    "Milliseconds between a writer's signs of life."
  )
  val beatMisses = OptionDoc(
    HeartbeatMisses,
    IntRange(1),
    usualBeat.misses.toString,
    "A writer that is silent for so many intervals failed, and its write is rolled back."
  )
  val streamRetries =
    OptionDoc(StreamRetries, IntRange(0), "90", "Of a batch of a stream that meets another writer.")
  val streamPause = OptionDoc(StreamRetryInterval, IntRange(0), "2000", "Milliseconds between them.")
  val moves = OptionDoc(
    MovesPartition,
    Flag,
    "false",
    "`true`: a record that comes with another partition moves there. `hoodie.bloom.index.update.partition.path` and the same of `simple` " +
      "and `hbase` say so too; with `hoodie.index.type` that of its kind alone counts ([writer-options.md](writer-options.md)). Statements of SQL: `true`."
  )
  val global = OptionDoc(
    Global,
    Flag,
    "true",
    "A record key is unique in the whole table; `false`: within its partition. Where it is not given Hudi's `hoodie.index.type` tells " +
      "([writer-options.md](writer-options.md))."
  )
  val remakes = OptionDoc(
    Remake,
    Flag,
    "false",
    "`true`: an overwrite of the whole table makes it anew where columns, key, partitions, order or version are other ones than the " +
      "table's ([writing.md](writing.md#making-a-table-anew)); `false`: that is refused."
  )
  val creates = OptionDoc(Create, Flag, "false", "`true` makes the index with the write if there is none.")

  val logInserts = OptionDoc(
    LogInserts,
    Flag,
    "(as the table says; `false`)",
    "Where new records go: `false`, to base files, as stock Hudi writes them; `true`, to log files, so that no base file is written anew. All writers " +
      "of the table must then look for keys in logs, which stock Hudi's BLOOM, SIMPLE and GLOBAL_SIMPLE do not: let stock " +
      "writers use [our index class](writers.md). The table keeps the setting (in its `hoodie.properties`) for writes that do " +
      "not give it. Stock writers with our index class take it too, but with Hudi 0.15.0 not where records move to other " +
      "partitions: it cannot read them there (`InvalidOption`)."
  )

  /** Ours, which stock Hudi's writers with our index class take too. */
  val Own: Vector[OptionDoc] = Vector(global, creates, logInserts)

  val All: Vector[OptionDoc] = Own ++ Vector(
    remakes,
    operation,
    OptionDoc(
      InsertOperation,
      OneOf(WriteOperation.Inserts.map(_.name)),
      WriteOperation.Upsert.name,
      "What `INSERT INTO` does ([sql.md](sql.md))."
    ),
    moves,
    OptionDoc(TableName, Text("name"), "(none)", OfNew + "its name."),
    tableType,
    version,
    OptionDoc(KeyFields, Text("columns, commas between them"), "(none)", OfNew + "its key fields."),
    OptionDoc(PartitionFields, Text("columns, commas between them"), "(none)", OfNew + "its partition fields."),
    OptionDoc(
      OrderingField,
      Text("column"),
      "(none)",
      OfNew + "its ordering field; `hoodie.table.ordering.fields` too."
    ),
    OptionDoc(
      KeyGeneratorClass,
      Text("class"),
      "(by the fields)",
      s"${OfNew}simple, complex or non-partitioned; or `$KeyGeneratorType`."
    ),
    hiveStyle,
    urlEncode,
    slashDates
  ) ++ keyTexts ++ Vector(
    OptionDoc(
      MergeMode,
      OneOf(Vector("EVENT_TIME_ORDERING", "COMMIT_TIME_ORDERING")),
      "(by the ordering field)",
      OfNew + "`EVENT_TIME_ORDERING` where there is an ordering field, else `COMMIT_TIME_ORDERING`."
    ),
    smallFile,
    smallGroups,
    maxFile,
    blockSize,
    codec,
    rowGroup,
    beatInterval,
    beatMisses,
    OptionDoc(
      StreamWriter,
      Text("name"),
      "(the query's id)",
      "Whose batches are numbered: a batch that the table has is skipped, one that is older than its last is an error."
    ),
    streamRetries,
    streamPause
  ) ++ LockSettings.Docs
}
