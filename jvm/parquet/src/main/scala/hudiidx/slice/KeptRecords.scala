package hudiidx.slice

import java.util.BitSet

import hudiidx.DamagedTable
import hudiidx.log.{LogBlock, SliceLog}
import hudiidx.storage.RandomReader

/** A walk over the rows of one data block of a log, in the order written. Before the first row until `next`. DamagedTable, with
  * file and offset, if they cannot be decoded. For one thread.
  */
trait BlockWalk extends AutoCloseable {

  /** Moves to the next row; false behind the last. */
  def next(): Boolean

  /** Skips so many rows, or to the end if there are fewer. */
  def skip(rows: Int): Unit = {
    var left = rows
    while (left > 0 && next()) left -= 1
  }

  /** True if the block has column `column` of those that were asked for; else it is filled with its default. */
  def present(column: Int): Boolean
}

/** Opens data blocks; closing a walk leaves the reader open. */
trait BlockOpener[B <: BlockWalk] {

  /** @param records of an Avro block alone, as in `BlockPart` */
  def open(reader: RandomReader, block: LogBlock, records: Option[Array[Int]]): B
}

/** Walks chosen records of a slice's log; blocks without any are not opened.
  *
  * @param kept numbers of the records, as in `MergedRows`
  */
final class KeptRecords[B <: BlockWalk](slice: MergedSlice, kept: BitSet, blocks: BlockOpener[B])
    extends AutoCloseable {
  private val first = slice.rows.firstRecord
  private var block = -1
  private var record = 0 // number of the next record
  private var file: String = _
  private var reader: RandomReader = _
  private var current: Option[B] = None
  private var columnsOfBlock: Array[Boolean] = _

  /** What the current record stands in. */
  def rows: B = current.get

  /** For each of `count` columns, whether the current record's block has it. One array for a block. */
  def present(count: Int): Array[Boolean] = {
    if (columnsOfBlock == null) columnsOfBlock = Array.tabulate(count)(rows.present)
    columnsOfBlock
  }

  /** Moves to the next record that is kept; false behind the last. */
  def next(): Boolean = {
    val wanted = kept.nextSetBit(record)
    if (wanted >= 0) {
      if (current.isEmpty || wanted >= end(block)) openBlockOf(wanted)
      rows.skip(wanted - record)
      if (!rows.next()) throw new DamagedTable(s"$file: log file got shorter; read it again")
      record = wanted + 1
    }
    wanted >= 0
  }

  private def end(block: Int): Int = if (block + 1 < first.length) first(block + 1) else Int.MaxValue

  private def openBlockOf(wanted: Int): Unit = {
    closeBlock()
    do block += 1 while (end(block) <= wanted)
    record = first(block)
    val part = slice.parts(block)
    if (part.counted.file != file) {
      closeFile()
      reader = SliceLog.open(slice.storage, part.counted.file)
      file = part.counted.file
    }
    current = Some(blocks.open(reader, part.counted.block, part.records))
    columnsOfBlock = null
  }

  private def closeBlock(): Unit = {
    current.foreach(_.close())
    current = None
  }

  private def closeFile(): Unit = if (reader != null) {
    reader.close()
    reader = null
  }

  override def close(): Unit =
    try closeBlock()
    finally closeFile()
}
