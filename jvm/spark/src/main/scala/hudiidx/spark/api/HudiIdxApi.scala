package hudiidx.spark.api

import java.io.StringWriter

import scala.collection.JavaConverters._

import com.fasterxml.jackson.core.JsonGenerator
import com.fasterxml.jackson.databind.node.JsonNodeFactory
import hudiidx.InvalidOption
import hudiidx.column.{IndexKind, IndexSpec}
import hudiidx.engine.column.{ColumnChange, ColumnPart, ColumnSettings, ColumnVerifier}
import hudiidx.engine.logindex.LogPart
import hudiidx.engine.record.{KeptOpen, RecordLookups, RecordPart, RecordVerifier, RecordVerifyOptions}
import hudiidx.command.{InfoJson, ReportJson, SymlinkJson}
import hudiidx.engine.Tables
import hudiidx.record.{PackedKeys, PackedLocations, RecordLocation}
import hudiidx.report.TableReport
import hudiidx.spark.build.{SparkPartitionScanner, SparkVerifier}
import hudiidx.spark.pinned.SharedRecords
import hudiidx.spark.tag.TagLocation
import hudiidx.spark.{HudiIdxSource, RowJson, RowLookups, SparkEngine, SparkExpressions}
import hudiidx.spark.views.LogBlocksView
import hudiidx.spark.options.{ReadOptions, ViewCall}
import hudiidx.spark.pinned.SharedTable
import hudiidx.spark.shims.Shims
import hudiidx.store.{IndexStore, IndexVersion}
import hudiidx.symlink.{SymlinkExport, SymlinkPart}
import hudiidx.sync._
import hudiidx.sync.build.{Indexer, SyncResult}
import org.apache.spark.sql.{DataFrame, SparkSession}

/** The index of one table as other languages call it: texts and maps in, JSON documents and DataFrames out. Names in
  * documents are in snake case; sizes are bytes. A document of an `AnyRef` is a text, or [[AnswerPieces]] where it is large.
  *
  *  @param options `hudiidx.*` settings by name; those of the session count too, these win
  */
final class HudiIdxApi(spark: SparkSession, tablePath: String, options: java.util.Map[String, String])
    extends PlanningApi(spark, tablePath, options.asScala.toMap) {
  private val access = Tables.access(hadoop)
  private val lookups = HudiIdxApi.lookups(spark, access, path, read.index)
  private lazy val rowLookups = new RowLookups(spark, access, path, read, given)
  SharedTable.cleaner.register(this, HudiIdxApi.closing(lookups))

  /** Makes the index. `{index_version, files, partitions, instants, rebuilt, merged, published, rebases, bytes_by_kind,
    * lag_millis, elapsed_millis}`; bytes by kind of index file; `lag_millis` as [[SyncResult]] has it, or null.
    */
  def create(): String = timed(following(indexer.create()))

  /** Makes a part of the index, or makes it anew; `kind` is one of [[HudiIdxApi.Kinds]]: the record index, or the index of log
    * blocks. A record index has the mode of `hudiidx.record.mode`, else that which it had, else it is global. Answers as `create`. IndexNotFound if there is no
    * index, InvalidOption for a kind that is unknown.
    */
  def addIndex(kind: String): String = {
    HudiIdxApi.checkKind(kind)
    val engine = SparkEngine.of(spark)
    val part =
      if (kind == HudiIdxApi.Logs) new LogPart(engine, Some(true))
      else recordPart(engine, Some(IndexOptions.GlobalMode))
    timed(indexer.addPart(part))
  }

  /** Removes a part of the index; answers as `create`. No such part is no error. */
  def dropIndex(kind: String): String = {
    HudiIdxApi.checkKind(kind)
    val engine = new LocalEngine(access)
    dropped(if (kind == HudiIdxApi.Logs) new LogPart(engine, Some(false)) else recordPart(engine))
  }

  private def dropped(part: IndexPart): String = timed {
    val number = new IndexStore(access.storage, read.index.indexDir(path)).nextNumber()
    val after = indexer.dropPart(part)
    SyncResult(after, Vector.empty, merged = false, rebuilt = false, published = after.number >= number, rebases = 0)
  }

  /** Makes indexes on columns, or makes them anew: [[IndexSpec]]s with semicolons between them, or expressions of columns. Answers as `create`. IndexNotFound
    * if there is no index, InvalidOption for a column or kind that is not there.
    *
    *  @param wait false: they are made in the background, or by a later `update` if this process ends before that
    */
  def addColumns(specs: String, wait: Boolean): String =
    if (wait) timed(addColumns(asked(specs)))
    else {
      val noted = noteColumns(specs)
      BackgroundWork.start(path, specs)(addColumns(asked(specs)))
      noted
    }

  /** Leaves indexes on columns to be made by the next `update`. Answers as `create`. */
  def noteColumns(specs: String): String = {
    val change = ColumnChange.Add(asked(specs), later = true)
    timed(indexer.addPart(columnPart(new LocalEngine(access), change)))
  }

  private def asked(specs: String): Vector[IndexSpec] = IndexSpec.asked(specs, IndexKind.Range)

  private def addColumns(specs: Vector[IndexSpec]): SyncResult =
    indexer.addPart(columnPart(SparkEngine.of(spark), ColumnChange.Add(specs)))

  /** Removes indexes on columns, in the same form; kind `any` stands for every kind. Answers as `create`. No such index is no
    * error.
    */
  def dropColumns(specs: String): String = {
    val table = TableContext.load(access, path)
    val change = ColumnChange.Drop(
      IndexSpec.asked(specs, ColumnSettings.AnyKind),
      ColumnSettings.columnsOf(table),
      Some(new SparkExpressions(spark).of(table.config, ColumnSettings.schemaOf(table)))
    )
    dropped(columnPart(new LocalEngine(access), change))
  }

  /** Where record keys are: keys and answer packed (docs/format.md, "Packed keys and locations"). No Spark job but where
    * much has to be read that the index has not taken in. `partition` and `asOf` may be null. The answer is an array of bytes,
    * or [[AnswerPieces]] where it is large.
    */
  def lookup(keys: Array[Byte], partition: String, asOf: String): AnyRef = {
    val answer = lookups.locate(PackedKeys.decode(keys), Option(partition), instant(asOf))
    val why = answer.use.fallback.fold("")(_.code)
    AnswerPieces.of(PackedLocations.encode(answer.locations, answer.windowDays, answer.use.counts, why))
  }

  /** The same for few keys, in their order. */
  private[spark] def locations(keys: Seq[String], partition: Option[String]): Vector[RecordLocation] = {
    val packed = PackedKeys.of(keys)
    lookups.locate(packed, partition, None).locations.records(packed)
  }

  /** The rows of record keys, packed as for `lookup`: a DataFrame of the table's columns whose rows are at hand. Each row comes
    * once, in no particular order. No Spark job but where much has to be read.
    */
  def lookupRows(keys: Array[Byte], partition: String, asOf: String): DataFrame =
    rowLookups.rows(PackedKeys.decode(keys), Option(partition), instant(asOf))

  /** See [[KeyFormJson]]; kept while the table stands still. */
  def keyForm(): String = keyForms.synchronized(keyForms.current(None).json)

  private lazy val keyForms =
    new KeptOpen[KeyForm](access.storage, path, new IndexStore(access.storage, read.index.indexDir(path)))(_ =>
      KeyForm(KeyFormJson.of(spark, path, read))
    )

  /** Takes in what completed since, and makes what [[addColumns]] left to be made; answers as `create`. IndexNotFound if there
    * is no index.
    */
  def update(): String = timed(following {
    val synced = indexer.update()
    val pending = if (BackgroundWork.isOn(path)) Vector.empty else makeable(synced.version)
    if (pending.isEmpty) synced
    else {
      val made = addColumns(pending)
      made.copy(
        instants = synced.instants ++ made.instants,
        published = true,
        lagMillis = (synced.lagMillis ++ made.lagMillis).reduceOption(_ max _)
      )
    }
  })

  /** What is noted, and what nobody can use any more since an earlier build made it. */
  private def makeable(version: IndexVersion): Vector[IndexSpec] = {
    val specs = ColumnSettings.of(version)
    if (specs == settled || !ColumnSettings.mayBeMakeable(version)) Vector.empty
    else {
      val found = ColumnSettings.makeable(version, TableContext.load(access, path), new SparkExpressions(spark))
      if (found.isEmpty && specs.pending.isEmpty) settled = specs
      found
    }
  }

  /** Indexes of which nothing is to be made, so that they are not resolved time and again. */
  @volatile private var settled = ColumnSettings(Vector.empty)

  /** Brings the symlink manifests up that the index keeps in step, if it does. */
  private def following(done: SyncResult): SyncResult = {
    symlinks.follow(done.version)
    done
  }

  /** Writes symlink manifests: `{path, partitions, files, written, removed, index_version}`, as
    * [[hudiidx.symlink.SymlinkExport.now]]. `folder` and `keep` may be null.
    */
  def exportSymlinks(folder: String, readOptimized: Boolean, keep: java.lang.Boolean): String = {
    val to = Option(folder).map(Tables.qualified(_, hadoop))
    val done = symlinks.now(to, readOptimized, Option(keep).map(_.booleanValue))
    written(SymlinkJson.write(done, _))
  }

  private def symlinks: SymlinkExport = new SymlinkExport(access, path, read.index)

  /** The state of the index, as `InfoJson` writes it for the command too. */
  def info(): String = written(InfoJson.write(IndexInfo.of(access, path, read.index), _))

  /** What there is to know of the table and its index, as `ReportJson` writes it for the command too. Commands that it advises have
    * the path as it was given.
    */
  def report(): String =
    written(ReportJson.write(TableReport.of(access, tablePath, read.index), System.currentTimeMillis(), _))

  private def written(write: JsonGenerator => Unit): String = {
    val out = new StringWriter
    val json = mapper.createGenerator(out)
    write(json)
    json.close()
    out.toString
  }

  /** Compares the index with a fresh listing, as `VerifyJson` writes it. IndexNotFound if there is no index. */
  def verify(): String = text(VerifyJson.of(compareFiles(verified())))

  /** As `verify`, and compares the record index with the table's keys, and with Hudi's own record index where there is one, and the
    * indexes on columns with the table's files. IndexNotFound if there is no such index, IndexNotWritable if the folder for sorted
    * keys takes no files.
    *
    *  @param samples most differences of a kind that are told one by one
    *  @param scratch folder for sorted keys; null: the index folder
    */
  def verifyParts(record: Boolean, columns: Boolean, samples: Int, scratch: String): String = {
    val table = verified()
    val files = compareFiles(table)
    val engine = SparkEngine.of(spark)
    val options = RecordVerifyOptions(samples, Option(scratch).map(Tables.qualified(_, hadoop)))
    text(
      VerifyJson.of(
        files,
        if (record) Some(new RecordVerifier(engine, options).verify(table.context, read.index)) else None,
        if (columns) Some(columnVerifier(engine, samples).verify(table.context, read.index)) else None
      )
    )
  }

  private def columnVerifier(engine: TaskEngine, samples: Int): ColumnVerifier =
    new ColumnVerifier(engine, samples, Some(new SparkExpressions(spark)))

  private def verified(): SharedTable = table(read.index.copy(enabled = true, strict = true))

  private def compareFiles(table: SharedTable): VerifyResult = new SparkVerifier(spark.sparkContext).verify(table)

  /** Removes index versions beyond those that are kept, and files that no version names: names of the files, as a JSON array.
    * IndexNotFound if there is no index.
    */
  def expireVersions(): String = {
    val json = JsonNodeFactory.instance.arrayNode()
    indexer.expire().foreach(name => json.add(name))
    mapper.writeValueAsString(json)
  }

  /** Removes the index and nothing else. InvalidOption if the folder holds files of others alone, or cannot be that of an index;
    * IndexNotWritable if it is a link.
    */
  def drop(): Unit = {
    val store = new IndexStore(access.storage, read.index.indexDir(path))
    store.requireOwn(path)
    if (!store.drop() && access.storage.list(store.dir).nonEmpty)
      throw new InvalidOption(
        s"${store.dir}: the folder holds no index but other files; remove it by hand if it is not needed"
      )
  }

  /** Partition paths, sorted, as a JSON array of texts. */
  def partitions(): AnyRef = {
    val json = JsonNodeFactory.instance.arrayNode()
    table().view.partitions.foreach(p => json.add(p))
    AnswerPieces.of(mapper.writeValueAsString(json))
  }

  /** One of the calls of `ViewCall` on one partition: a JSON array of its rows. `asOf` may be null. */
  def view(call: String, partition: String, asOf: String): AnyRef = {
    val known = ViewCall.of(call)
    AnswerPieces.of(RowJson.array(known.rows(table().view, partition, instant(asOf)), known.schema))
  }

  /** The blocks of the latest file slices' logs, as `LogBlocksView` has them; of one partition here and now, of all by tasks.
    * Both may be null.
    */
  def logBlocks(partition: String, asOf: String): DataFrame =
    if (partition == null) frame(LogBlocksView.Name, asOf)
    else
      Shims.localFrame(spark, LogBlocksView.Schema, LogBlocksView.rows(table(), partition, instant(asOf)).toVector)

  /** The same call on the whole table, computed by tasks. */
  def viewFrame(call: String, asOf: String): DataFrame = frame(ViewCall.of(call).name, asOf)

  private def frame(view: String, asOf: String): DataFrame = {
    val reader = spark.read.format(HudiIdxSource.Name).options(given).option(ReadOptions.ViewName, view)
    val timed = if (asOf == null) reader else reader.option(ReadOptions.AsOfInstant, asOf)
    timed.load(tablePath)
  }

  /** The DataFrame with the locations of its record keys: see [[TagLocation]]. `keys` is one column, or one for each key field;
    * `isText`: a text in the one column is the whole record key. `partition` may be null.
    */
  def tagLocation(frame: DataFrame, keys: java.util.List[String], isText: Boolean, partition: String): DataFrame = {
    val records = SharedRecords.of(table(), read.index, None)
    TagLocation.tag(frame, records, keys.asScala.toVector, isText, Option(partition), read.tagStrategy)
  }

  private def table(index: IndexOptions = read.index): SharedTable = SharedTable.open(spark, path, index)

  private def indexer: Indexer = {
    val conf = SharedTable.shared(spark, hadoop)
    val scanner = new SparkPartitionScanner(spark.sparkContext, conf)
    val engine = new SparkEngine(spark.sparkContext, conf)
    val parts =
      Vector(
        recordPart(engine),
        columnPart(engine, ColumnChange.Whole),
        new LogPart(engine, read.index.logs),
        SymlinkPart
      )
    new Indexer(access, path, read.index, scanner, parts)
  }

  private def columnPart(engine: TaskEngine, change: ColumnChange): ColumnPart =
    new ColumnPart(engine, read.index.columns, change, Some(new SparkExpressions(spark)))

  private def recordPart(engine: TaskEngine, orElse: Option[String] = None): RecordPart =
    new RecordPart(engine, read.index.record, orElse)

  private def timed(work: => SyncResult): String = {
    val from = System.nanoTime()
    val done = work
    text(SyncJson.of(done, (System.nanoTime() - from) / 1000000))
  }
}

object HudiIdxApi {
  private val Logs = "logs"

  /** Parts of an index beside the manifest. */
  val Kinds: Vector[String] = Vector("record", Logs)

  private def checkKind(kind: String): Unit =
    if (!Kinds.contains(kind))
      throw new InvalidOption(s"'$kind' is no kind of index; known: ${Kinds.mkString(", ")}")

  // Made here, so that neither what is kept open nor what closes it holds on to the API object.
  private def lookups(spark: SparkSession, access: TableAccess, path: String, options: IndexOptions): RecordLookups =
    new RecordLookups(access, path, options, SparkEngine.of(spark))

  private def closing(lookups: RecordLookups): Runnable = () => lookups.close()
}
