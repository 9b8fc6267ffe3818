package hudiidx.slice

import java.util.{Arrays, BitSet}

import hudiidx.UnsupportedTable
import hudiidx.bytes.ByteSlice
import hudiidx.parquet.{BaseFileKeys, KeyColumns, KeyRows}
import hudiidx.log.LogRules
import hudiidx.merge.{HeldFiles, LogRecordKeys, PartialMergePlan}
import hudiidx.storage.Storage

/** Rows of a slice.
  *
  * @param base   numbers of rows of the base file, ascending; parts of mixed rows are among them
  * @param merged what of the log belongs to them; None for a slice without a log
  */
final case class FoundRows(base: Array[Int], merged: Option[MergedSlice]) {
  def isEmpty: Boolean =
    base.isEmpty && merged.forall(m => m.rows.keptLog.isEmpty && m.rows.mixedRows.size == 0)
}

object FoundRows {

  /** Those of a slice that was merged.
    *
    * @param base numbers of rows of the base file that were held against the log, ascending
    */
  def of(base: Array[Int], merged: MergedSlice): FoundRows = {
    val rows = new BitSet
    base.foreach(rows.set(_))
    rows.andNot(merged.rows.droppedBase)
    val mixedRows = merged.rows.mixedRows
    (0 until mixedRows.size).map(mixedRows.baseRow).filter(_ != PartialMergePlan.NoBase).foreach(rows.set)
    FoundRows(rows.stream.toArray, Some(merged))
  }
}

/** What the keys of a slice are read by.
  *
  * @param base    path of the base file, if there is one
  * @param merged  the slice with its log merged, and the log's rules; None without a log
  */
final case class SliceKeySource(
    storage: Storage,
    base: Option[String],
    columns: KeyColumns,
    merged: Option[(MergedSlice, LogRules)]
) {

  /** Walks the rows of the base file. DamagedTable if it is gone or damaged. */
  private[hudiidx] def foreachBase(use: (Int, KeyRows) => Unit): Unit = base.foreach { path =>
    val file = BaseFileKeys.open(storage, path, columns)
    try {
      if (file.rows > SliceKeySource.MostRows)
        throw new UnsupportedTable(
          s"$path: rows of a file of more than ${SliceKeySource.MostRows} cannot be looked up, and it says that it has ${file.rows}; cluster it"
        )
      val rows = file.read()
      try while (rows.next()) use(rows.row.toInt, rows)
      finally rows.close()
    } finally file.close()
  }

  /** Walks the records of the log. */
  private[hudiidx] def foreachRecord(use: (Int, ByteSlice) => Unit): Unit = merged.foreach { case (slice, rules) =>
    LogRecordKeys.foreach(slice.storage, slice.parts.map(_.counted), rules, LogReaders.all)(use)
  }
}

object SliceKeySource {

  /** Of a base file, which takes four bytes for each in memory. A file of few bytes may hold any number of equal rows. */
  private val MostRows = 1 << 27
}

/** A hash of the key of each row of a slice, by which the rows of a key are found without reading the others again. For one
  * thread at a time.
  *
  * @param base of the base file's rows
  * @param log  of the log's records
  */
final class KeyedSlice private (source: SliceKeySource, base: Array[Int], log: Array[Int]) {

  /** Memory that it takes, without the log's files. */
  val bytes: Long = 4L * (base.length + log.length)

  /** The rows whose keys have the hash of a wanted key. */
  def rowsOf(keys: WantedKeys): FoundRows = {
    val found = rowsWith(base, keys)
    source.merged match {
      case None             => FoundRows(found.stream.toArray, None)
      case Some((whole, _)) =>
        val rows = whole.rows
        val kept = rowsWith(log, keys)
        kept.and(rows.keptLog)
        val mixedRows = rows.mixedRows.filter(r => keys.mayHave(hashOf(rows.mixedRows, r)))
        found.andNot(rows.droppedBase)
        (0 until mixedRows.size).map(mixedRows.baseRow).filter(_ != PartialMergePlan.NoBase).foreach(found.set)
        // Whoever reads the rows lets the slice's files go; those here stay for the next ones.
        val some =
          whole.copy(
            storage = new HeldFiles(whole.storage, 0L),
            rows = rows.copy(keptLog = kept, mixedRows = mixedRows)
          )
        FoundRows(found.stream.toArray, Some(some))
    }
  }

  /** Of these the rows whose keys are wanted. Reads all keys of the slice: for tables that do not store them with the rows. */
  def confirmed(found: FoundRows, keys: WantedKeys): FoundRows = {
    val (rows, records) = (new BitSet, new BitSet)
    source.foreachBase((row, k) => if (keys.contains(k.bytes, k.from, k.length)) rows.set(row))
    source.foreachRecord((record, k) => if (keys.contains(k.bytes, k.from, k.length)) records.set(record))
    val merged = found.merged.map { slice =>
      val kept = slice.rows.keptLog.clone.asInstanceOf[BitSet]
      kept.and(records)
      val mixedRows = slice.rows.mixedRows
      slice.copy(rows =
        slice.rows.copy(
          keptLog = kept,
          mixedRows = mixedRows.filter { r =>
            val part = mixedRows.part(r, 0)
            if (part == PartialMergePlan.Base) rows.get(mixedRows.baseRow(r)) else records.get(part)
          }
        )
      )
    }
    FoundRows(found.base.filter(rows.get), merged)
  }

  /** All parts of a row have one key. */
  private def hashOf(mixedRows: PartialMergePlan, mixedRow: Int): Int = {
    val part = mixedRows.part(mixedRow, 0)
    if (part == PartialMergePlan.Base) base(mixedRows.baseRow(mixedRow)) else log(part)
  }

  private def rowsWith(hashes: Array[Int], keys: WantedKeys): BitSet = {
    val found = new BitSet
    var i = 0
    while (i < hashes.length) {
      if (keys.mayHave(hashes(i))) found.set(i)
      i += 1
    }
    found
  }
}

object KeyedSlice {

  /** Reads all keys of the slice. Errors as [[BaseFileKeys]] and [[hudiidx.merge.SliceMerge]]. */
  def read(source: SliceKeySource): KeyedSlice = {
    var base, log = Array.emptyIntArray
    var rows, records = 0
    // As many as there are: what a footer says of a file costs nothing to say.
    source.foreachBase { (row, k) =>
      base = withRoom(base, row)
      base(row) = WantedKeys.hash(k.bytes, k.from, k.length)
      rows = row + 1
    }
    source.foreachRecord { (record, k) =>
      log = withRoom(log, record)
      log(record) = WantedKeys.hash(k.bytes, k.from, k.length)
      records = record + 1
    }
    new KeyedSlice(source, Arrays.copyOf(base, rows), Arrays.copyOf(log, records))
  }

  private def withRoom(hashes: Array[Int], at: Int): Array[Int] =
    if (at < hashes.length) hashes else Arrays.copyOf(hashes, math.max(1024, at + (at >> 1) + 1))
}
