package hudiidx.spark.api

import scala.collection.JavaConverters._

import hudiidx.InvalidOption
import hudiidx.answer.JsonEncoder
import hudiidx.column.ColumnExpression
import hudiidx.engine.Tables
import hudiidx.spark.{HudiIdxSource, IndexAdvice}
import hudiidx.spark.pinned.PinnedTable
import hudiidx.spark.options.ReadOptions
import hudiidx.spark.plan.ScanReport
import hudiidx.table.query.QueryInstant
import org.apache.hadoop.conf.Configuration
import org.apache.spark.sql.catalyst.expressions.Alias
import org.apache.spark.sql.{DataFrame, SparkSession}

/** What queries of one table read, and which indexes decide that. Reads no rows. */
private[api] abstract class PlanningApi(
    spark: SparkSession,
    tablePath: String,
    protected val given: Map[String, String]
) {
  protected val read: ReadOptions = ReadOptions.of(given, HudiIdxSource.sessionOptions(spark))
  protected val hadoop: Configuration = spark.sessionState.newHadoopConf()
  protected val path: String = Tables.qualified(tablePath, hadoop)

  /** What each scan of this table in a query reads, and why: a JSON array of `{path, reads, answered, file_filters, index_version,
    * instants_overlaid, fallback: {code, why}, partitions: {total, kept, why_not}, record_keys: {keys, file_groups, unknown_groups,
    * why_not}, columns: {partitions_skipped, files_skipped, parts: [{column, kinds, files, partitions, why_not}], why_not}, files_left: {partitions, record_keys,
    * bounds, blooms}, files_in_index, files_total, files_kept, bytes_kept, planning_millis, store_calls, store_calls_in_a_row, store_throttled, why_not: [{index, reason}]}`; what is
    * unknown is null.
    * No rows are read.
    */
  def explain(frame: DataFrame): AnyRef =
    AnswerPieces.of(JsonEncoder.text(ScanReport.of(frame, path).map(ScanAnswer.of)))

  /** The files that a query with this filter reads, as [[PrunedFiles]] has them. `asOf` may be null. No rows are read. */
  def prune(where: String, asOf: String): DataFrame = PrunedFiles.frame(filtered(where, asOf, Map.empty))

  /** Paths of the base files that hold all rows of a query with this filter: a JSON array. UnsupportedTable if one of the file
    * slices has log files, since those must be merged.
    *
    *  @param readOptimized log files do not count
    */
  def paths(where: String, asOf: String, readOptimized: Boolean): AnyRef =
    AnswerPieces.of(JsonEncoder.text(PrunedFiles.paths(filtered(where, asOf, kind(readOptimized)), path)))

  /** The same and the table's columns, for readers that know files alone: `{paths, schema, fixed}`, as [[PrunedFiles.dataset]]. */
  def dataset(where: String, asOf: String, readOptimized: Boolean): AnyRef =
    AnswerPieces.of(JsonEncoder.text(PrunedFiles.dataset(filtered(where, asOf, kind(readOptimized)), path)))

  private def kind(readOptimized: Boolean): Map[String, String] =
    if (readOptimized) Map(ReadOptions.QueryType -> ReadOptions.ReadOptimized) else Map.empty

  /** What bounds of columns would leave out of these queries' files, or, where there are none, of those of the scans that this
    * process has run or that are recorded: a JSON array of `{column, queries, files, skipped, bytes, bytes_skipped, is_indexed, pointed}`, as [[ColumnAdvice]].
    */
  def recommend(frames: java.util.List[DataFrame], sample: Int): String = {
    val advice = IndexAdvice.of(spark, PinnedTable.open(spark, path, read), frames.asScala.toVector, sample)
    JsonEncoder.text(advice.map(a => a.copy(column = ColumnExpression.typed(a.column))))
  }

  private def filtered(where: String, asOf: String, more: Map[String, String]): DataFrame = {
    val reader = spark.read.format(HudiIdxSource.Name).options(given ++ more)
    val timed = if (asOf == null) reader else reader.option(ReadOptions.AsOfInstant, asOf)
    requireFilter(where)
    timed.load(tablePath).where(where)
  }

  /** Spark's ParseException for a text that its parser takes for a filter with a name behind it, as `fare > 900 and`, too. */
  def requireFilter(where: String): Unit = spark.sessionState.sqlParser.parseExpression(where) match {
    case _: Alias =>
      spark.sessionState.sqlParser.parseExpression(s"($where\n)")
      throw new InvalidOption(
        s"'$where' is an expression with an alias, not a filter; remove the text after the filter"
      )
    case _ => ()
  }

  protected def instant(asOf: String): Option[String] =
    Option(asOf).map(QueryInstant.parse(ReadOptions.AsOfInstant, _))
}
