package hudiidx.answer

import hudiidx.log.LogBlock
import hudiidx.logindex.LogBlockFacts

/** The blocks of a log file. */
final case class LogFileAnswer(file: String, size: Long, blocks: Vector[LogBlockAnswer])

/** @param offset  of its first byte in the file
  * @param records None where nothing tells them
  * @param indexed where its index tail stands
  */
final case class LogBlockAnswer(
    block: Int,
    offset: Long,
    kind: String,
    instantTime: Option[String],
    size: Long,
    records: Option[Long],
    minKey: Option[String],
    maxKey: Option[String],
    indexed: String
)

/** Where record keys are in a log file, and what finding them took. */
final case class LogHitsAnswer(file: String, hits: Vector[LogHitAnswer], missing: Vector[String], work: LogWork)

/** @param recordOffset of the record in its block; None where the block does not tell it */
final case class LogHitAnswer(
    key: String,
    block: Int,
    offset: Long,
    kind: String,
    instantTime: Option[String],
    recordOffset: Option[Long],
    isDelete: Boolean
)

object LogHitAnswer {
  def of(key: String, number: Int, block: LogBlock, recordOffset: Option[Long], isDelete: Boolean): LogHitAnswer =
    LogHitAnswer(
      key,
      number,
      block.offset,
      LogBlockFacts.kindOf(block),
      block.instantTime,
      recordOffset,
      isDelete
    )
}

final case class LogWork(filters: Int, keyLists: Int, wholeBlocks: Int, damaged: Int, bytesRead: Long)
