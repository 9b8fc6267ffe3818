package hudiidx.spark.rows

import hudiidx.DamagedTable
import hudiidx.bytes.{ByteCursor, ByteSlice}
import hudiidx.hfile.{BlockCache, HFileReader}
import hudiidx.log.{AvroRecordWalk, LogBlock, LogFile}
import hudiidx.storage.RandomReader
import org.apache.spark.sql.execution.vectorized.WritableColumnVector

/** Rows of an Avro block, or some of them (format notes §6.3). */
private[rows] final class AvroBlockRows(records: AvroRecordWalk, columns: AvroColumns) extends BlockRows {
  private var from = 0

  override def next(): Boolean = {
    val more = records.next()
    if (more) from = records.cursor.position
    more
  }

  override def append(into: Array[WritableColumnVector]): Unit = {
    records.cursor.moveTo(from)
    columns.append(records.cursor, records.length, into)
  }

  override def key: ByteSlice = null

  override def present(column: Int): Boolean = columns.present(column)

  override def close(): Unit = ()
}

/** Rows of an HFile block: the values of its cells are Avro data (format notes §6.4). */
private[rows] final class HFileBlockRows(reader: RandomReader, block: LogBlock, columns: AvroColumns)
    extends BlockRows {
  private val content = LogFile.contentReader(reader, block)
  private val cells = HFileReader.open(content, new BlockCache(0L), new DamagedTable(_)).scan()
  private val cellKey = new ByteSlice

  override def next(): Boolean = cells.next()

  override def append(into: Array[WritableColumnVector]): Unit = {
    val from = cells.valueOffset
    val end = from + cells.valueLength
    // The cell's place in the log file is not known once its block is decompressed.
    val in = new ByteCursor(cells.valueBytes, from, end, content.path, 0L, new DamagedTable(_))
    columns.append(in, cells.valueLength, into)
  }

  override def key: ByteSlice = {
    cellKey.set(cells.keyBytes, cells.keyOffset, cells.keyLength)
    cellKey
  }

  override def present(column: Int): Boolean = columns.present(column)

  override def close(): Unit = ()
}
