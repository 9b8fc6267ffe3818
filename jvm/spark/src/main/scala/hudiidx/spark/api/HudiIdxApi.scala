package hudiidx.spark.api

import scala.collection.JavaConverters._

import hudiidx.engine.record.{CachedHandle, RecordLookups}
import hudiidx.api.{TimedSync, Verified}
import hudiidx.answer.{IndexAnswer, JsonEncoder, ReportAnswer, SyncAnswer, VerifyAnswer}
import hudiidx.engine.Tables
import hudiidx.record.{PackedKeys, PackedLocations, RecordLocation}
import hudiidx.report.TableReport
import hudiidx.spark.pinned.SharedRecords
import hudiidx.spark.tag.TagLocation
import hudiidx.spark.{HudiIdxSource, RowJson, RowLookups, SparkEngine}
import hudiidx.spark.views.LogBlocksView
import hudiidx.spark.options.{ReadOptions, ViewCall}
import hudiidx.spark.pinned.SharedTable
import hudiidx.spark.shims.Shims
import hudiidx.store.IndexStore
import hudiidx.sync._
import org.apache.spark.sql.{DataFrame, SparkSession}

/** The index of one table as other languages call it: texts and maps in, JSON documents and DataFrames out. Names in
  * documents are in snake case; sizes are bytes. A document of an `AnyRef` is a text, or [[AnswerPieces]] where it is large.
  *
  *  @param options `hudiidx.*` settings by name; those of the session count too, these win
  */
final class HudiIdxApi(spark: SparkSession, tablePath: String, options: java.util.Map[String, String])
    extends PlanningApi(spark, tablePath, options.asScala.toMap)
    with AutoCloseable {
  private val access = Tables.access(hadoop)
  private val lookups = new RecordLookups(access, path, read.index, SparkEngine.of(spark))
  private val rowLookups = new RowLookups(spark, access, path, read, given)

  private val index = SparkTableIndex.of(spark, path, hadoop, read.index)

  /** Makes the index. `{index_version, files, partitions, instants, rebuilt, merged, published, rebases, bytes_by_kind,
    * lag_millis, elapsed_millis}`; bytes by kind of index file; `lag_millis` as [[SyncResult]] has it, or null.
    */
  def create(): String = answer(index.create())

  /** As [[hudiidx.api.TableIndex.addIndex]]; answers as `create`. */
  def addIndex(kind: String): String = answer(index.addIndex(kind))

  /** As [[hudiidx.api.TableIndex.dropIndex]]; answers as `create`. */
  def dropIndex(kind: String): String = answer(index.dropIndex(kind))

  /** As [[hudiidx.api.TableIndex.addColumns]]; answers as `create`. */
  def addColumns(specs: String, wait: Boolean): String = answer(index.addColumns(specs, wait))

  /** As [[hudiidx.api.TableIndex.noteColumns]]; answers as `create`. */
  def noteColumns(specs: String): String = answer(index.noteColumns(specs))

  /** As [[hudiidx.api.TableIndex.dropColumns]]; answers as `create`. */
  def dropColumns(specs: String): String = answer(index.dropColumns(specs))

  /** As [[hudiidx.api.TableIndex.update]]; answers as `create`. */
  def update(): String = answer(index.update())

  private def answer(done: TimedSync): String = JsonEncoder.text(SyncAnswer.of(done.result, done.elapsedMillis))

  private def answer(found: Verified): String =
    JsonEncoder.text(VerifyAnswer.of(found.ok, found.files, found.record, found.columns))

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

  /** See [[KeyFormAnswer]]; kept while the table stands still. */
  def keyForm(): String = keyForms.synchronized(keyForms.current(None).json)

  private lazy val keyForms =
    new CachedHandle[KeyForm](access.storage, path, new IndexStore(access.storage, read.index.indexDir(path)))((_, _) =>
      KeyForm(JsonEncoder.text(KeyFormAnswer.of(spark, path, read)))
    )

  /** Writes symlink manifests: `{path, partitions, files, written, removed, index_version}`, as
    * [[hudiidx.symlink.SymlinkExport.now]]. `folder` and `keep` may be null.
    */
  def exportSymlinks(folder: String, readOptimized: Boolean, keep: java.lang.Boolean): String =
    JsonEncoder.text(
      index.exportSymlinks(
        Option(folder),
        readOptimized,
        Option(keep).map(_.booleanValue)
      )
    )

  /** The state of the index, an [[IndexAnswer]] as for the command. */
  def info(): String = JsonEncoder.text(IndexAnswer.of(IndexInfo.of(access, path, read.index)))

  /** What there is to know of the table and its index, a [[ReportAnswer]] as for the command. Commands that it advises have the path as
    * it was given.
    */
  def report(): String = {
    val made = TableReport.of(access, tablePath, read.index)
    JsonEncoder.text(ReportAnswer.of(made, System.currentTimeMillis()))
  }

  /** Compares the index with a fresh listing: a [[VerifyAnswer]]. IndexNotFound if there is no index. */
  def verify(): String = answer(index.verify())

  /** As [[hudiidx.api.TableIndex.verify]]: a [[VerifyAnswer]]; `scratch` may be null. */
  def verifyParts(record: Boolean, columns: Boolean, samples: Int, scratch: String): String =
    answer(index.verify(record, columns, samples, Option(scratch)))

  /** As [[hudiidx.api.TableIndex.expire]]: a JSON array of names. */
  def expireVersions(): String = JsonEncoder.text(index.expire())

  /** As [[hudiidx.api.TableIndex.drop]]. */
  def drop(): Boolean = index.drop()

  /** Partition paths, sorted, as a JSON array of texts. */
  def partitions(): AnyRef = AnswerPieces.of(JsonEncoder.text(table().view.partitions))

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

  /** Closes what lookups of keys keep open, and lets go what those of rows keep: the files that these read are the session's. A later call
    * opens them again.
    */
  override def close(): Unit = {
    lookups.close()
    rowLookups.close()
    keyForms.synchronized(keyForms.close())
  }

  private def table(): SharedTable = SharedTable.open(spark, path, read.index)
}
