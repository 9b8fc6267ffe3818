package hudiidx.answer

import hudiidx.engine.column.{ColumnDifference, ColumnVerifyResult}
import hudiidx.engine.record.{MappingDifference, RecordVerifyResult, StockComparison}
import hudiidx.sync.{Difference, VerifyResult}

/** What comparisons of index and table found; counts are by kind. A part that was not compared is left out.
  *
  * @param ok               of all of it, but nothing of Hudi's own index
  * @param stockRecordIndex against Hudi's own record index, if the table has one
  */
final case class VerifyAnswer(
    ok: Boolean,
    differences: Vector[DifferenceAnswer],
    counts: Map[String, Long],
    record: Part[RecordVerifyAnswer],
    stockRecordIndex: Part[StockAnswer],
    columns: Part[ColumnVerifyAnswer]
)

object VerifyAnswer {
  def of(
      ok: Boolean,
      files: VerifyResult,
      record: Option[RecordVerifyResult],
      columns: Option[ColumnVerifyResult]
  ): VerifyAnswer = VerifyAnswer(
    ok,
    files.differences.map(DifferenceAnswer.of),
    Map("partitions" -> files.partitions, "files" -> files.files),
    Part(record.map(RecordVerifyAnswer.of)),
    Part(record.flatMap(_.stock).map(StockAnswer.of)),
    Part(columns.map(ColumnVerifyAnswer.of))
  )
}

final case class DifferenceAnswer(kind: String, partition: String, file: String, detail: String, cause: String)

object DifferenceAnswer {
  def of(d: Difference): DifferenceAnswer = DifferenceAnswer(d.kind, d.partitionPath, d.file, d.detail, d.cause)
}

/** @param keys     of the table
  * @param mappings of the index
  */
final case class RecordVerifyAnswer(
    ok: Boolean,
    counts: Map[String, Long],
    samples: Vector[MappingDifferenceAnswer],
    keys: Long,
    mappings: Long,
    fileGroups: Long,
    overlaidFileGroups: Long,
    seconds: Double
)

object RecordVerifyAnswer {
  def of(r: RecordVerifyResult): RecordVerifyAnswer = RecordVerifyAnswer(
    r.ok,
    r.counts,
    r.samples.map(MappingDifferenceAnswer.of),
    r.keys,
    r.mappings,
    r.fileGroups,
    r.overlaidGroups,
    r.seconds
  )
}

final case class MappingDifferenceAnswer(
    kind: String,
    key: String,
    partition: String,
    fileId: String,
    detail: String,
    cause: String
)

object MappingDifferenceAnswer {
  def of(d: MappingDifference): MappingDifferenceAnswer =
    MappingDifferenceAnswer(d.kind, d.key, d.partitionPath, d.fileId, d.detail, d.cause)
}

final case class StockAnswer(
    skipped: String,
    equal: Long,
    onlyInHudi: Map[String, Long],
    onlyInIndex: Map[String, Long],
    samples: Vector[MappingDifferenceAnswer]
)

object StockAnswer {
  def of(s: StockComparison): StockAnswer =
    StockAnswer(s.skipped, s.equal, s.onlyInHudi, s.onlyInIndex, s.samples.map(MappingDifferenceAnswer.of))
}

final case class ColumnVerifyAnswer(
    ok: Boolean,
    counts: Map[String, Long],
    samples: Vector[ColumnDifferenceAnswer],
    files: Long,
    uncovered: Long,
    equal: Long,
    seconds: Double
)

object ColumnVerifyAnswer {
  def of(c: ColumnVerifyResult): ColumnVerifyAnswer = ColumnVerifyAnswer(
    c.ok,
    c.counts,
    c.samples.map(ColumnDifferenceAnswer.of),
    c.files,
    c.uncovered,
    c.equal,
    c.seconds
  )
}

final case class ColumnDifferenceAnswer(kind: String, partition: String, file: String, column: String, detail: String)

object ColumnDifferenceAnswer {
  def of(d: ColumnDifference): ColumnDifferenceAnswer =
    ColumnDifferenceAnswer(d.kind, d.partitionPath, d.file, d.column, d.detail)
}
