package hudiidx.rows

import java.util.BitSet

import hudiidx.DamagedTable
import hudiidx.merge.PartialMergePlan
import hudiidx.slice.{KeptRecords, MergedSlice}

/** The rows of a merged file slice: those of the log that are kept as they are, then those of the base file as they remain or
  * are mixed with the log, then those mixed of the log alone. What is held of the log is let go as soon as no row needs it.
  *
  * @param columns of the rows
  * @param base    opens the base file's rows with these columns, without those of some numbers; None for a slice without one
  * @param mixer   makes mixed rows; not asked where there are none
  * @param limits  of a batch; one may have the bytes of one of `base`'s more
  */
private[hudiidx] final class MergedSliceBatches(
    slice: MergedSlice,
    columns: ValueType.Struct,
    blocks: LogRows,
    base: Option[BitSet => Batches],
    mixer: => PartialRowMerger,
    limits: BatchLimits = BatchLimits.Usual
) extends Batches {
  private val mixedRows = slice.rows.mixedRows
  private val isMixed = mixedRows.size > 0
  private val dropped = slice.rows.droppedBase
  private lazy val mixed = mixer
  private val log = new KeptRecords(slice, slice.rows.keptLog, blocks)
  private var inLog = true
  private var inBase = base.isDefined
  private var mixedRow = 0
  private var file: Batches = _
  private var batch: RowBatch = _ // of the base file, of which rows are mixed
  private var first = 0 // number of its first row in the file
  private var at = 0 // its next row

  override def next(): RowBatch = {
    val made = if (inLog || isMixed) gathered() else null
    if (made == null && inBase) nextOfFile() else made
  }

  private def gathered(): RowBatch = {
    val made = new BatchBuilder(columns, limits.rows)
    while (made.rows < limits.rows && made.bytes < limits.bytes && addSome(made)) {}
    if (made.rows == 0) null else made.result
  }

  /** Numbers of rows that are mixed count all rows. */
  private def nextOfFile(): RowBatch = {
    if (file == null) file = base.get(if (isMixed) new BitSet else dropped)
    val found = file.next()
    inBase = found != null
    found
  }

  /** False behind the last row, and where the base file's batches are left as they are. */
  private def addSome(made: BatchBuilder): Boolean =
    if (inLog) fromLog(made)
    else if (!isMixed) false
    else if (inBase) {
      if (hasBase()) fromBase(made)
      true
    } else mixedRow < mixedRows.size && mix(made, null)

  private def fromLog(made: BatchBuilder): Boolean = {
    inLog = log.next()
    if (inLog) log.rows.addTo(made)
    else {
      log.close()
      if (mixedRows.size == 0) slice.release()
    }
    true
  }

  /** Is there a further row of the base file? */
  private def hasBase(): Boolean = {
    while (inBase && (batch == null || at == batch.rows)) {
      if (batch != null) first += batch.rows
      at = 0
      batch = nextOfFile()
    }
    inBase
  }

  private def fromBase(made: BatchBuilder): Unit =
    if (nextMixed == at) {
      mix(made, batch)
      at += 1
    } else if (dropped.get(first + at)) at = math.min(nextMixed, until(dropped.nextClearBit(first + at)))
    else {
      val end = math.min(keptUntil, at + limits.rows - made.rows)
      made.addAll(batch, at, end - at)
      at = end
    }

  /** The next row of the batch that is dropped or mixed. */
  private def keptUntil: Int = {
    val next = dropped.nextSetBit(first + at)
    math.min(nextMixed, if (next < 0) batch.rows else until(next))
  }

  private def nextMixed: Int = {
    val row = if (mixedRow < mixedRows.size) mixedRows.baseRow(mixedRow) else -1
    if (row < first + at) batch.rows else until(row)
  }

  /** The place of a row in the batch, or its end. */
  private def until(row: Int): Int = math.min(row - first, batch.rows)

  private def mix(made: BatchBuilder, from: RowBatch): Boolean = {
    if (from == null && mixedRows.baseRow(mixedRow) != PartialMergePlan.NoBase)
      throw new DamagedTable(
        s"${slice.parts.head.counted.file}: its base file has fewer rows than before; read it again"
      )
    mixed.addTo(made, mixedRow, from, at)
    mixedRow += 1
    true
  }

  override def progress: Float = if (file == null) 0f else file.progress

  override def close(): Unit =
    try log.close()
    finally if (file != null) file.close()
}
