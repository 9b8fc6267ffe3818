package hudiidx.spark

import org.apache.spark.sql.connector.metric.{CustomMetric, CustomSumMetric, CustomTaskMetric}

/** What planning a scan came to.
  *
  *  @param filesTotal files in the index, those of older slices included; None without an index
  *  @param indexVersion None: the table was listed
  *  @param overlaidInstants instants taken from commit metadata on top of the index
  *  @param fallback why the index could not be used: code and message
  *  @param planningMillis time spent in hudiidx, opening the index included
  */
final case class PlanFacts(
    indexVersion: Option[Long],
    overlaidInstants: Int,
    fallback: Option[(String, String)],
    partitionsTotal: Int,
    partitionsKept: Int,
    filesKept: Int,
    filesTotal: Option[Long],
    bytesKept: Long,
    planningMillis: Long
) {

  /** One line for the plan's description. */
  def text: String = {
    val index = indexVersion match {
      case Some(v) => s"index version $v, $overlaidInstants instants overlaid"
      case None    => s"no index (${fallback.fold("listing")(_._1)})"
    }
    val files = filesTotal.fold(s"files kept $filesKept")(t => s"files kept $filesKept of $t")
    s"$index, partitions $partitionsKept of $partitionsTotal, $files, planned in $planningMillis ms"
  }

  def metrics: Array[CustomTaskMetric] = {
    val always = Seq(
      "partitionsTotal" -> partitionsTotal.toLong,
      "partitionsKept" -> partitionsKept.toLong,
      "filesKept" -> filesKept.toLong,
      "planningMillis" -> planningMillis,
      "instantsOverlaid" -> overlaidInstants.toLong,
      "indexFallbacks" -> (if (fallback.isDefined) 1L else 0L)
    )
    val known = always ++ indexVersion.map("indexVersion" -> _) ++ filesTotal.map("filesTotal" -> _)
    known.map { case (name, value) => TaskValue(name, value): CustomTaskMetric }.toArray
  }
}

final private case class TaskValue(name: String, value: Long) extends CustomTaskMetric

/** The metrics that a scan shows in Spark's UI. */
object ScanMetrics {
  val All: Array[CustomMetric] = Array(
    new IndexVersionMetric,
    new InstantsOverlaidMetric,
    new PartitionsTotalMetric,
    new PartitionsKeptMetric,
    new FilesTotalMetric,
    new FilesKeptMetric,
    new PlanningMillisMetric,
    new IndexFallbacksMetric
  )
}

// Spark makes these anew by their class names, so each is a class without arguments.
final class IndexVersionMetric extends Shown("indexVersion", "index version")
final class InstantsOverlaidMetric extends Shown("instantsOverlaid", "instants read on top of the index")
final class PartitionsTotalMetric extends Shown("partitionsTotal", "partitions in the table")
final class PartitionsKeptMetric extends Shown("partitionsKept", "partitions to read")
final class FilesTotalMetric extends Shown("filesTotal", "files in the index")
final class FilesKeptMetric extends Shown("filesKept", "files to read")
final class PlanningMillisMetric extends Shown("planningMillis", "planning time in milliseconds")
final class IndexFallbacksMetric extends Shown("indexFallbacks", "listings in place of the index")

sealed abstract class Shown(override val name: String, override val description: String) extends CustomSumMetric
