package hudiidx.spark.api

import java.io.StringWriter

import scala.collection.JavaConverters._

import com.fasterxml.jackson.core.JsonGenerator
import com.fasterxml.jackson.databind.node.JsonNodeFactory
import hudiidx.engine.record.{KeptOpen, RecordLookups}
import hudiidx.command.{InfoJson, ReportJson, SymlinkJson}
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
    extends PlanningApi(spark, tablePath, options.asScala.toMap) {
  private val access = Tables.access(hadoop)
  private val lookups = new RecordLookups(access, path, read.index, SparkEngine.of(spark))
  private lazy val rowLookups = new RowLookups(spark, access, path, read, given)

  private val index = new TableIndex(spark, path, hadoop, read.index)

  /** Makes the index. `{index_version, files, partitions, instants, rebuilt, merged, published, rebases, bytes_by_kind,
    * lag_millis, elapsed_millis}`; bytes by kind of index file; `lag_millis` as [[SyncResult]] has it, or null.
    */
  def create(): String = text(SyncJson.of(index.create()))

  /** As [[TableIndex.addIndex]]; answers as `create`. */
  def addIndex(kind: String): String = text(SyncJson.of(index.addIndex(kind)))

  /** As [[TableIndex.dropIndex]]; answers as `create`. */
  def dropIndex(kind: String): String = text(SyncJson.of(index.dropIndex(kind)))

  /** As [[TableIndex.addColumns]]; answers as `create`. */
  def addColumns(specs: String, wait: Boolean): String = text(SyncJson.of(index.addColumns(specs, wait)))

  /** As [[TableIndex.noteColumns]]; answers as `create`. */
  def noteColumns(specs: String): String = text(SyncJson.of(index.noteColumns(specs)))

  /** As [[TableIndex.dropColumns]]; answers as `create`. */
  def dropColumns(specs: String): String = text(SyncJson.of(index.dropColumns(specs)))

  /** As [[TableIndex.update]]; answers as `create`. */
  def update(): String = text(SyncJson.of(index.update()))

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
    new KeptOpen[KeyForm](access.storage, path, new IndexStore(access.storage, read.index.indexDir(path)))((_, _) =>
      KeyForm(KeyFormJson.of(spark, path, read))
    )

  /** Writes symlink manifests: `{path, partitions, files, written, removed, index_version}`, as
    * [[hudiidx.symlink.SymlinkExport.now]]. `folder` and `keep` may be null.
    */
  def exportSymlinks(folder: String, readOptimized: Boolean, keep: java.lang.Boolean): String = {
    val done = index.exportSymlinks(Option(folder), readOptimized, Option(keep).map(_.booleanValue))
    written(SymlinkJson.write(done, _))
  }

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
  def verify(): String = text(VerifyJson.of(index.verify()))

  /** As [[TableIndex.verify]], as `VerifyJson` writes it; `scratch` may be null. */
  def verifyParts(record: Boolean, columns: Boolean, samples: Int, scratch: String): String =
    text(VerifyJson.of(index.verify(record, columns, samples, Option(scratch))))

  /** As [[TableIndex.expire]]: a JSON array of names. */
  def expireVersions(): String = {
    val json = JsonNodeFactory.instance.arrayNode()
    index.expire().foreach(name => json.add(name))
    mapper.writeValueAsString(json)
  }

  /** As [[TableIndex.drop]]. */
  def drop(): Boolean = index.drop()

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

  private def table(): SharedTable = SharedTable.open(spark, path, read.index)
}
