package hudiidx.spark.api

import hudiidx.api.{IndexWorkers, TableIndex}
import hudiidx.engine.Tables
import hudiidx.engine.column.ExpressionEngine
import hudiidx.spark.build.{SparkPartitionScanner, SparkVerifier}
import hudiidx.spark.options.ReadOptions
import hudiidx.spark.pinned.SharedTable
import hudiidx.spark.{HudiIdxSource, SparkEngine, SparkExpressions}
import hudiidx.sync._
import org.apache.hadoop.conf.Configuration
import org.apache.spark.sql.SparkSession

/** Tasks of a session, and its SQL. */
private[api] final class SparkWorkers(spark: SparkSession, hadoop: Configuration) extends IndexWorkers {
  override def qualified(path: String): String = Tables.qualified(path, hadoop)

  override def tasks: TaskEngine = new SparkEngine(spark.sparkContext, SharedTable.shared(spark, hadoop))

  override def scanner: PartitionScanner =
    new SparkPartitionScanner(spark.sparkContext, SharedTable.shared(spark, hadoop))

  override def expressions: Option[ExpressionEngine] = Some(new SparkExpressions(spark))

  override def verified(tablePath: String, options: IndexOptions): (VerifyResult, TableContext) = {
    val table = SharedTable.open(spark, tablePath, options)
    (new SparkVerifier(spark.sparkContext).verify(table), table.context)
  }
}

/** Indexes of tables whose work a session does. */
object SparkTableIndex {

  /** @param given `hudiidx.*` settings by name; those of the session count too, these win */
  def of(spark: SparkSession, tablePath: String, given: Map[String, String]): TableIndex = {
    val hadoop = spark.sessionState.newHadoopConf()
    val options = ReadOptions.of(given, HudiIdxSource.sessionOptions(spark)).index
    of(spark, Tables.qualified(tablePath, hadoop), hadoop, options)
  }

  /** @param path qualified, by the configuration */
  private[api] def of(spark: SparkSession, path: String, hadoop: Configuration, options: IndexOptions): TableIndex =
    new TableIndex(Tables.access(hadoop), path, options, new SparkWorkers(spark, hadoop))
}
