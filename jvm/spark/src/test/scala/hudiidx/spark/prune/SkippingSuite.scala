package hudiidx.spark.prune

import hudiidx.spark.plan.HudiIdxScan
import hudiidx.spark.options.ReadPushdowns
import hudiidx.spark.SparkSuite
import org.apache.spark.sql.execution.datasources.v2.DataSourceV2ScanRelation
import org.apache.spark.sql.{DataFrame, Row}

/** What suites of skipping share: rows as texts, and what a frame's scan left out. */
abstract class SkippingSuite extends SparkSuite {
  protected val off: (String, String) = ReadPushdowns.ColumnStats -> "false"

  protected def rows(frame: DataFrame): Vector[String] = frame.collect().map(text(_)).toVector.sorted

  private def text(value: Any): String = value match {
    case row: Row           => row.toSeq.map(text(_)).mkString("[", ",", "]")
    case bytes: Array[Byte] => bytes.mkString("0x", " ", "")
    case other              => String.valueOf(other)
  }

  /** None where the optimizer finds that no row satisfies the filters. */
  protected def scanOf(frame: DataFrame): Option[HudiIdxScan] =
    frame.queryExecution.optimizedPlan.collectFirst { case r: DataSourceV2ScanRelation => r.scan }.collect {
      case s: HudiIdxScan => s
    }

  /** Partitions as a whole, and files of others. */
  protected def skipped(frame: DataFrame): Int =
    scanOf(frame).map(_.facts.columns).fold(0)(c => c.partitionsSkipped + c.filesSkipped)
}
