package hudiidx.rows

import hudiidx.slice.{KeptRecords, MergedSlice}

/** Rows one after the other. */
private[hudiidx] trait Rows extends AutoCloseable {

  /** The next row; null behind the last. */
  def next(): Array[Any]

  /** Share of the rows that were read, roughly. */
  def progress: Float
}

/** The rows of a base file, or of a piece of one. */
private[hudiidx] final class BaseRows(file: ParquetRows) extends Rows {
  override def next(): Array[Any] = file.next()
  override def progress: Float = file.progress
  override def close(): Unit = file.close()
}

/** The rows of a merged file slice: those of the log that are kept as they are, then those of the base file as they remain or
  * are mixed with the log, then those mixed of the log alone. What is held of the log is let go as soon as no row needs it.
  *
  * @param base   opens the base file's rows, all of them; None for a slice without one
  * @param mixer  makes mixed rows; not asked where there are none
  */
private[hudiidx] final class MergedRows(
    slice: MergedSlice,
    blocks: LogRows,
    base: Option[() => ParquetRows],
    mixer: => PartialRowMerger
) extends Rows {
  private val recipes = slice.rows.recipes
  private lazy val mixed = mixer
  private val log = new KeptRecords(slice, slice.rows.keptLog, blocks)
  private var inLog = true
  private var file: ParquetRows = _
  private var inBase = base.isDefined
  private var number = -1 // of the base file's last row
  private var recipe = 0

  override def next(): Array[Any] = {
    val row = if (inLog) fromLog() else null
    val kept = if (row == null && inBase) fromBase() else row
    if (kept == null && recipe < recipes.size) mix(null) else kept
  }

  private def fromLog(): Array[Any] = {
    inLog = log.next()
    if (inLog) log.rows.row
    else {
      log.close()
      if (recipes.size == 0) slice.release()
      null
    }
  }

  private def fromBase(): Array[Any] = {
    if (file == null) file = base.get()
    var found: Array[Any] = null
    while (found == null && inBase) {
      val row = file.next()
      number += 1
      if (row == null) inBase = false
      else if (recipe < recipes.size && recipes.baseRow(recipe) == number) found = mix(row)
      else if (!slice.rows.droppedBase.get(number)) found = row
    }
    found
  }

  private def mix(base: Array[Any]): Array[Any] = {
    val row = mixed.row(recipe, base)
    recipe += 1
    row
  }

  override def progress: Float = if (file == null) 0f else file.progress

  override def close(): Unit =
    try log.close()
    finally if (file != null) file.close()
}
