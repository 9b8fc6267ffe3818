package hudiidx.spark

import java.util.BitSet

import hudiidx.DamagedTable
import hudiidx.hadoop.MergedSlice
import hudiidx.log.SliceLog
import hudiidx.spark.rows.{BlockRows, BlockRowsReader}
import hudiidx.storage.RandomReader
import org.apache.spark.sql.connector.read.PartitionReader
import org.apache.spark.sql.execution.vectorized.WritableColumnVector
import org.apache.spark.sql.types.StructType
import org.apache.spark.sql.vectorized.ColumnarBatch

/** The log's rows that a merged slice has, in log order.
  *
  * @param blocks    opens data blocks as rows of `columns`
  * @param batchRows rows to a batch
  * @param complete  makes a batch of the columns read and the number of rows
  */
final class LogBatches(
    slice: MergedSlice,
    columns: StructType,
    blocks: BlockRowsReader,
    batchRows: Int,
    complete: (Array[WritableColumnVector], Int) => ColumnarBatch
) extends PartitionReader[ColumnarBatch] {
  private val records = new KeptRecords(slice, slice.rows.keptLog, blocks)
  private var vectors: Array[WritableColumnVector] = _
  private var batch: ColumnarBatch = _

  override def next(): Boolean = {
    if (vectors == null) vectors = Shims.vectors(batchRows, columns)
    vectors.foreach(_.reset())
    var count = 0
    while (count < batchRows && records.next()) {
      records.rows.append(vectors)
      count += 1
    }
    batch = if (count == 0) null else complete(vectors, count)
    batch != null
  }

  override def get(): ColumnarBatch = batch

  override def close(): Unit =
    try records.close()
    finally
      if (vectors != null) {
        vectors.foreach(_.close())
        vectors = null
      }
}

/** Walks chosen records of a slice's log; blocks without any are not opened. */
final private class KeptRecords(slice: MergedSlice, kept: BitSet, blocks: BlockRowsReader) extends AutoCloseable {
  private val first = slice.rows.firstRecord
  private var block = -1
  private var record = 0 // number of the next record
  private var file: String = _
  private var reader: RandomReader = _
  private var current: BlockRows = _
  private var columnsOfBlock: Array[Boolean] = _

  /** What the current record stands in. */
  def rows: BlockRows = current

  /** For each of `count` columns, whether the current record's block has it. One array for a block. */
  def present(count: Int): Array[Boolean] = {
    if (columnsOfBlock == null) columnsOfBlock = Array.tabulate(count)(current.present)
    columnsOfBlock
  }

  /** Moves to the next record that is kept; false behind the last. */
  def next(): Boolean = {
    val wanted = kept.nextSetBit(record)
    if (wanted >= 0) {
      if (current == null || wanted >= end(block)) openBlockOf(wanted)
      current.skip(wanted - record)
      if (!current.next()) throw new DamagedTable(s"$file: log file got shorter; read it again")
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
    current = blocks.open(reader, part.counted.block, part.records)
    columnsOfBlock = null
  }

  private def closeBlock(): Unit = if (current != null) {
    current.close()
    current = null
  }

  private def closeFile(): Unit = if (reader != null) {
    reader.close()
    reader = null
  }

  override def close(): Unit =
    try closeBlock()
    finally closeFile()
}
