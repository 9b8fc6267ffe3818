package hudiidx.log

/** What a log block holds. `number` is the type in the file. Format notes §6.1. */
sealed abstract class LogBlockKind(val number: Int) extends Product with Serializable

object LogBlockKind {
  case object Command extends LogBlockKind(0)
  case object Delete extends LogBlockKind(1)

  /** Never written: stands for bytes that a failed writer left. */
  case object Corrupt extends LogBlockKind(2)
  case object AvroData extends LogBlockKind(3)
  case object HFileData extends LogBlockKind(4)
  case object ParquetData extends LogBlockKind(5)
  case object CdcData extends LogBlockKind(6)

  private[log] val Written: Vector[LogBlockKind] = Vector(Command, Delete, AvroData, HFileData, ParquetData, CdcData)
}

/** Keys of a block's header, by their number in the file. */
object LogHeaderKey {
  val InstantTime = 0
  val TargetInstantTime = 1
  val Schema = 2
  val CommandType = 3
  val CompactedBlockTimes = 4
  val RecordPositions = 5
  val BlockIdentifier = 6
  val IsPartial = 7
  val BaseFileInstantTime = 8
}

/** One block of a log file: where it is and what its header says. Offsets and sizes are bytes of the file; the content is
  * read on demand. A corrupt block reaches from its magic to the next one or to the end of the file, without header.
  */
final case class LogBlock(
    kind: LogBlockKind,
    header: Map[Int, String],
    offset: Long,
    contentOffset: Long,
    contentLength: Long,
    endOffset: Long
) {

  /** Instant of the writer; None for a corrupt block and in archives. */
  def instantTime: Option[String] = header.get(LogHeaderKey.InstantTime)

  /** Avro schema of the block's records, as JSON. */
  def schema: Option[String] = header.get(LogHeaderKey.Schema)

  /** True for the command that undoes all blocks of the instant `targetInstantTime`. */
  def isRollback: Boolean = kind == LogBlockKind.Command && header.get(LogHeaderKey.CommandType).contains("0")

  def targetInstantTime: Option[String] = header.get(LogHeaderKey.TargetInstantTime)

  /** True if the records hold only the columns that changed. */
  def isPartial: Boolean = header.get(LogHeaderKey.IsPartial).exists(_.equalsIgnoreCase("true"))

  /** Instants whose records a log compaction has put into this block; empty for any other block. */
  def compactedInstants: Vector[String] =
    header.get(LogHeaderKey.CompactedBlockTimes).toVector.flatMap(_.split(',')).map(_.trim).filter(_.nonEmpty)

  def isLogCompaction: Boolean = header.contains(LogHeaderKey.CompactedBlockTimes)
}
