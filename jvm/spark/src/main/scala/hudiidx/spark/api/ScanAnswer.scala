package hudiidx.spark.api

import hudiidx.spark.plan.{KeyStage, PartitionStage, ScanReport}

/** What a scan reads and why, as `HudiIdxApi.explain` gives it; what is unknown is None. */
private[api] final case class ScanAnswer(
    path: String,
    reads: String,
    answered: String,
    fileFilters: Vector[String],
    indexVersion: Option[Long],
    instantsOverlaid: Int,
    fallback: Option[FallbackAnswer],
    partitions: PartitionStage,
    recordKeys: KeysAnswer,
    columns: ColumnsAnswer,
    filesLeft: FilesLeft,
    filesInIndex: Option[Long],
    filesTotal: Int,
    filesKept: Int,
    bytesKept: Long,
    planningMillis: Long,
    storeCalls: Int,
    storeCallsInARow: Int,
    storeThrottled: Long,
    whyNot: Vector[UnusedIndex]
)

private[api] object ScanAnswer {
  def of(scan: ScanReport): ScanAnswer = {
    val (facts, stages) = (scan.facts, scan.stages)
    ScanAnswer(
      scan.path,
      scan.reads,
      scan.answered,
      scan.fileFilters,
      facts.indexVersion,
      facts.overlaidInstants,
      facts.fallback.map { case (code, why) => FallbackAnswer(code, why) },
      facts.partitions,
      KeysAnswer.of(facts.keys),
      ColumnsAnswer.of(scan),
      FilesLeft(stages.partitions, stages.keys, stages.bounds, stages.records),
      facts.filesTotal,
      stages.total,
      facts.filesKept,
      facts.bytesKept,
      facts.cost.millis,
      facts.cost.calls.all,
      facts.cost.calls.inARow,
      facts.cost.calls.throttled,
      scan.whyNot.map { case (index, reason) => UnusedIndex(index, reason) }
    )
  }
}

private[api] final case class FallbackAnswer(code: String, why: String)

private[api] final case class UnusedIndex(index: String, reason: String)

/** Files that are left behind each of these. */
private[api] final case class FilesLeft(partitions: Int, recordKeys: Int, bounds: Int, blooms: Int)

private[api] final case class KeysAnswer(
    keys: Option[Int],
    fileGroups: Option[Int],
    unknownGroups: Option[Int],
    whyNot: Option[String]
)

private[api] object KeysAnswer {
  def of(stage: KeyStage): KeysAnswer = KeysAnswer(
    stage.groups.map(_.keys),
    stage.groups.map(_.located.size),
    stage.groups.map(_.unknown.size),
    stage.whyNot
  )
}

/** Files of partitions that were left out as a whole count too. */
private[api] final case class ColumnsAnswer(
    partitionsSkipped: Int,
    filesSkipped: Int,
    parts: Vector[ConditionAnswer],
    whyNot: Option[String]
)

/** A part of the query's condition. */
private[api] final case class ConditionAnswer(
    column: String,
    kinds: Vector[String],
    files: Long,
    partitions: Long,
    whyNot: Option[String]
)

private[api] object ColumnsAnswer {
  def of(scan: ScanReport): ColumnsAnswer = {
    val (stage, stages) = (scan.facts.columns, scan.stages)
    ColumnsAnswer(
      stage.partitionsSkipped,
      stages.keys - stages.records,
      stage.leaves.map(l => ConditionAnswer(l.path, l.kinds, l.files, l.partitions, l.why)),
      stage.whyNot
    )
  }
}
