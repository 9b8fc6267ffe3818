package hudiidx.spark.compact

import scala.collection.JavaConverters._

import hudiidx.answer.JsonEncoder
import hudiidx.engine.Tables
import hudiidx.spark.options.ReadOptions
import hudiidx.spark.write.options.WriteOptions
import hudiidx.sync.IndexOptions
import org.apache.spark.sql.SparkSession

/** Compaction as other languages call it: texts in, a JSON document out. */
object CompactionApi {

  /** `{scheduled, compactions: [{instant, file_groups, log_files, rows, bytes_read, bytes_written, elapsed_millis}]}`; `scheduled`
    * is the instant of the plan that was made, or null; sizes are bytes, those read of log files. Errors as
    * `TableCompaction.run`; InvalidOption for steps that are unknown.
    *
    *  @param options    `hoodie.*` and `hudiidx.*` settings by name; those of the session count too, these win
    *  @param op         `schedule_and_execute`, `schedule` or `execute`
    *  @param partitions paths that are planned for; null: all
    */
  def run(
      spark: SparkSession,
      tablePath: String,
      options: java.util.Map[String, String],
      op: String,
      partitions: java.util.List[String]
  ): String = {
    val report = compact(spark, tablePath, options.asScala.toMap, op, Option(partitions).map(_.asScala.toSet))
    JsonEncoder.text(CompactionAnswer(report.scheduled, report.done))
  }

  private[spark] def compact(
      spark: SparkSession,
      tablePath: String,
      options: Map[String, String],
      op: String,
      partitions: Option[Set[String]]
  ): CompactionReport = {
    val path = Tables.qualified(tablePath, spark.sessionState.newHadoopConf())
    // Settings of reads go with a table too.
    val own = options.filter { case (k, _) => !k.startsWith("hudiidx.") || IndexOptions.isKnown(k) }
    val release = ReadOptions.mergeReleaseOf(spark.conf.getAll, options)
    new TableCompaction(spark, path, WriteOptions.ofCompaction(own, spark.conf.getAll), release)
      .run(CompactionSteps.named(op), partitions)
  }
}

private final case class CompactionAnswer(scheduled: Option[String], compactions: Vector[CompactionDone])
