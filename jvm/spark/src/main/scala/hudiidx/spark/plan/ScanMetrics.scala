package hudiidx.spark.plan

import hudiidx.column.segment.LeafReport
import hudiidx.spark.options.ReadPushdowns
import hudiidx.spark.pinned.{ColumnStage, PinnedTable, PlanningCost}
import hudiidx.spark.read.{KeyGroups, RecordKeyFilter}
import org.apache.spark.sql.catalyst.expressions.Expression
import org.apache.spark.sql.connector.metric.{CustomMetric, CustomSumMetric, CustomTaskMetric}

/** Which partitions a scan reads.
  *
  *  @param whyNot why none was left out
  */
final case class PartitionStage(total: Int, kept: Int, whyNot: Option[String])

/** Which file groups hold the record keys that are asked for.
  *
  *  @param groups None: all file groups are read
  *  @param whyNot why all are
  */
final case class KeyStage(groups: Option[KeyGroups], whyNot: Option[String])

object KeyStage {

  def of(table: PinnedTable, filters: Seq[Expression]): KeyStage =
    if (!table.pushdowns.recordKeys) not(s"${ReadPushdowns.RecordKeys} is false")
    else if (table.increment.isDefined) not(PinnedTable.TakesItsCommits)
    else
      RecordKeyFilter.keys(filters, table.config, table.schema.struct) match {
        case Left(why)   => not(why)
        case Right(keys) => RecordKeyFilter.groups(keys, table).fold(not, g => KeyStage(Some(g), None))
      }

  private def not(why: String): KeyStage = KeyStage(None, Some(why))
}

/** What planning a scan came to.
  *
  *  @param filesTotal files in the index, those of older slices included; None without an index
  *  @param indexVersion None: the table was listed
  *  @param overlaidInstants instants taken from commit metadata on top of the index
  *  @param fallback why the index could not be used: code and message
  *  @param cost what was spent in hudiidx, opening the index included
  */
final case class PlanFacts(
    indexVersion: Option[Long],
    overlaidInstants: Int,
    fallback: Option[(String, String)],
    partitions: PartitionStage,
    keys: KeyStage,
    columns: ColumnStage,
    filesKept: Int,
    filesTotal: Option[Long],
    bytesKept: Long,
    cost: PlanningCost
) {

  /** One line for the plan's description. */
  def text: String = {
    val index = indexVersion match {
      case Some(v) => s"index version $v, $overlaidInstants instants overlaid"
      case None    =>
        s"no index (${fallback.fold("commit metadata names the files")(f => s"${f._1}: ${f._2}")})"
    }
    val files = filesTotal.fold(s"files kept $filesKept")(t => s"files kept $filesKept of $t in the index")
    s"$index, partitions ${partitions.kept} of ${partitions.total}${why(partitions.whyNot)}, $keyText, $columnText, $files, " +
      cost.text
  }

  private def keyText: String = keys.groups match {
    case None    => s"record keys not looked up${why(keys.whyNot)}"
    case Some(g) =>
      val more = if (g.unknown.isEmpty) "" else s" and ${g.unknown.size} that the index has not taken in"
      s"${g.keys} record keys in ${g.located.size} file groups$more"
  }

  private def columnText: String = columns.whyNot match {
    case Some(why) => s"column index left nothing out ($why)"
    case None      =>
      val blooms = if (columns.recordsSkipped == 0) "" else s", and ${columns.recordsSkipped} by blooms or values"
      s"column index left out ${columns.partitionsSkipped} partitions, and of others ${columns.boundsSkipped} files by " +
        s"bounds$blooms${parts(columns.leaves)}"
  }

  private def parts(leaves: Vector[LeafReport]): String = {
    val reasons = leaves.flatMap(ColumnStage.whyNot)
    why(if (reasons.isEmpty) None else Some(reasons.mkString("; ")))
  }

  private def why(reason: Option[String]): String = reason.fold("")(r => s" ($r)")

  def metrics: Array[CustomTaskMetric] = {
    val always = Seq(
      "partitionsTotal" -> partitions.total.toLong,
      "partitionsKept" -> partitions.kept.toLong,
      "filesKept" -> filesKept.toLong,
      "columnPartitionsSkipped" -> columns.partitionsSkipped.toLong,
      "columnFilesSkipped" -> columns.filesSkipped.toLong,
      "planningMillis" -> cost.millis,
      "storeCalls" -> cost.calls.all.toLong,
      "storeCallsInARow" -> cost.calls.inARow.toLong,
      "instantsOverlaid" -> overlaidInstants.toLong,
      "indexFallbacks" -> (if (fallback.isDefined) 1L else 0L)
    )
    val ofKeys = keys.groups.toSeq.flatMap { g =>
      Seq(
        "recordKeys" -> g.keys.toLong,
        "keyGroups" -> g.located.size.toLong,
        "keyGroupsUnknown" -> g.unknown.size.toLong
      )
    }
    val known = always ++ ofKeys ++ indexVersion.map("indexVersion" -> _) ++ filesTotal.map("filesTotal" -> _)
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
    new ColumnPartitionsSkippedMetric,
    new ColumnFilesSkippedMetric,
    new RecordKeysMetric,
    new KeyGroupsMetric,
    new KeyGroupsUnknownMetric,
    new PlanningMillisMetric,
    new StoreCallsMetric,
    new StoreCallsInARowMetric,
    new IndexFallbacksMetric
  )
}

// Spark makes these anew by their class names, so each is a class without arguments.
final class IndexVersionMetric extends Shown("indexVersion", "index version")
final class InstantsOverlaidMetric extends Shown("instantsOverlaid", "instants read on top of the index")
final class PartitionsTotalMetric extends Shown("partitionsTotal", "partitions in the table")
final class PartitionsKeptMetric extends Shown("partitionsKept", "partitions to read")
final class FilesTotalMetric extends Shown("filesTotal", "files in the index, older ones too")
final class FilesKeptMetric extends Shown("filesKept", "files to read")
final class ColumnPartitionsSkippedMetric
    extends Shown("columnPartitionsSkipped", "partitions left out by column indexes")
final class ColumnFilesSkippedMetric
    extends Shown("columnFilesSkipped", "files of other partitions left out by column indexes")
final class RecordKeysMetric extends Shown("recordKeys", "record keys looked up")
final class KeyGroupsMetric extends Shown("keyGroups", "file groups that the record index names")
final class KeyGroupsUnknownMetric extends Shown("keyGroupsUnknown", "file groups that the record index does not know")
final class PlanningMillisMetric extends Shown("planningMillis", "planning time in milliseconds")
final class StoreCallsMetric extends Shown("storeCalls", "calls of a remote store in planning")
final class StoreCallsInARowMetric extends Shown("storeCallsInARow", "calls of a remote store in planning, in a row")
final class IndexFallbacksMetric extends Shown("indexFallbacks", "listings in place of the index")

sealed abstract class Shown(override val name: String, override val description: String) extends CustomSumMetric
