package hudiidx.sync

import java.util.concurrent.ConcurrentHashMap
import java.util.concurrent.atomic.LongAdder

import hudiidx.store.IndexStore

/** Why a reader lists the table instead of using its index. */
final case class Fallback(code: String, why: String) {

  /** What to run against it; empty where the state is wanted. */
  def remedy(tablePath: String, indexDir: String): String = {
    def run(command: String, more: String*): String =
      s"run ${IndexStore.command(command, tablePath, indexDir, more: _*).quoted}"
    code match {
      case FallbackCode.Disabled            => ""
      case FallbackCode.ReadFailed          => run("doctor")
      case c if FallbackCode.isOfRecords(c) => run("add-index", "record")
      case _                                => run("create")
    }
  }

  /** @param strict it is asked for the index alone: nothing is done instead */
  def message(tablePath: String, indexDir: String, strict: Boolean): String = {
    val instead =
      if (strict) s"cannot use the index in $indexDir"
      else if (FallbackCode.isOfRecords(code)) s"reading record keys from files instead of using the index in $indexDir"
      else if (code == FallbackCode.DamagedColumnIndex)
        s"reading files whatever their columns hold instead of using the index in $indexDir"
      else s"listing files instead of using the index in $indexDir"
    val remedy = this.remedy(tablePath, indexDir)
    s"$tablePath: $instead ($code): $why" + (if (remedy.isEmpty) "" else s"; $remedy")
  }

  /** Says it once, or in strict mode raises it: IndexNotFound, DamagedIndex or StaleIndex. */
  def warn(tablePath: String, indexDir: String, strict: Boolean): Unit =
    new FallbackWarning(tablePath, indexDir, strict).raiseOrLog(this, None)
}

object FallbackCode {
  val NoIndex = "NO_INDEX"
  val Disabled = "DISABLED"
  val DamagedIndex = "DAMAGED_INDEX"
  val ForeignIndex = "FOREIGN_INDEX"

  /** Instants were archived, or taken off the timeline, that the index cannot account for. */
  val TimelineGap = "TIMELINE_GAP"

  /** The store failed while a file of the index was being read. */
  val ReadFailed = "READ_FAILED"

  /** Keys are looked up, and the index has no record index. */
  val NoRecordIndex = "NO_RECORD_INDEX"

  /** A file of the record index failed while keys were looked up. */
  val DamagedRecordIndex = "DAMAGED_RECORD_INDEX"

  /** A file of the column index failed while a read was planned. */
  val DamagedColumnIndex = "DAMAGED_COLUMN_INDEX"

  /** Record keys are read from files; the listing is not concerned. */
  def isOfRecords(code: String): Boolean = code == NoRecordIndex || code == DamagedRecordIndex

  val All: Vector[String] =
    Vector(
      NoIndex,
      Disabled,
      DamagedIndex,
      ForeignIndex,
      TimelineGap,
      ReadFailed,
      NoRecordIndex,
      DamagedRecordIndex,
      DamagedColumnIndex
    )
}

/** Counts fallbacks by index and code over the life of the process, for metrics and `info`. */
object FallbackCounters {
  private val counts = new ConcurrentHashMap[(String, String), LongAdder]

  def count(indexDir: String, code: String): Unit =
    counts.computeIfAbsent((indexDir, code), _ => new LongAdder).increment()

  /** Code -> times, of one index; only codes that occurred. */
  def snapshot(indexDir: String): Map[String, Long] =
    FallbackCode.All.flatMap(c => Option(counts.get((indexDir, c))).map(n => c -> n.sum)).toMap
}
