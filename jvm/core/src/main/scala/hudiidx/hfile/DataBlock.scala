package hudiidx.hfile

import hudiidx.bytes.Bytes
import java.nio.ByteBuffer

/** The cells of one data block, decompressed: `bytes` from `from` until `to`. Never changed once made. */
private[hfile] final class DataBlock(
    source: Source,
    fileOffset: Long,
    val bytes: Array[Byte],
    val from: Int,
    val to: Int,
    hasMvcc: Boolean
) extends CachedBlock {
  private val buffer = ByteBuffer.wrap(bytes)

  def weightBytes: Int = math.min(Int.MaxValue.toLong, bytes.length + bytes.length / 32 + 96L).toInt

  // A cell's parts by the index of its first byte. Only `cellEnd` checks; call it first.
  def rowFrom(cell: Int): Int = cell + 10
  def rowLength(cell: Int): Int = buffer.getShort(cell + 8) & 0xffff
  def valueFrom(cell: Int): Int = cell + 8 + buffer.getInt(cell)
  def valueLength(cell: Int): Int = buffer.getInt(cell + 4)

  /** Checks the cell that starts at `cell`; the index behind it. */
  def cellEnd(cell: Int): Int = {
    if (to - cell < HFileFormat.CellOverheadBytes) fail(s"cell is cut off after ${to - cell} bytes", cell)
    val keyLength = buffer.getInt(cell)
    val valueLength = buffer.getInt(cell + 4)
    val row = buffer.getShort(cell + 8) & 0xffff
    val end = cell + 8L + keyLength + valueLength
    if (keyLength < row + HFileFormat.KeyOverheadBytes || valueLength < 0 || end > to)
      fail(s"cell has lengths key $keyLength, value $valueLength, row $row; ${to - cell} bytes are left", cell)
    if (!hasMvcc) end.toInt
    else {
      val after = end + (if (end < to) hudiidx.bytes.Varint.hadoopSize(bytes(end.toInt)) else 1)
      if (after > to) fail("cell's version number is cut off", cell)
      after.toInt
    }
  }

  private def fail(what: String, cell: Int): Nothing =
    source.fail(s"$what at byte ${cell - from} of the data block", fileOffset)

  def compareRow(cell: Int, key: Array[Byte], keyFrom: Int, keyLength: Int): Int =
    Bytes.compare(bytes, rowFrom(cell), rowLength(cell), key, keyFrom, keyLength)

  // Starts of every eighth cell. Made by the first search; two threads may both make it.
  @volatile private var marks: Array[Int] = _

  /** Cells to walk before `skipTo` pays: a dense batch over a block that is read once should not make marks at all. */
  def walkLimit: Int = if (marks == null) DataBlock.WalkWithoutMarks else DataBlock.CellsPerMark

  private def markedCells: Array[Int] = {
    if (marks == null) {
      var found = new Array[Int](16)
      var n = 0
      var cell = from
      var i = 0
      while (cell < to) {
        if (i % DataBlock.CellsPerMark == 0) {
          if (n == found.length) found = java.util.Arrays.copyOf(found, n * 2)
          found(n) = cell
          n += 1
        }
        i += 1
        cell = cellEnd(cell)
      }
      marks = java.util.Arrays.copyOf(found, n)
    }
    marks
  }

  /** A cell at or behind `start` from which a short walk leads to the first cell whose row is not below the key. */
  def skipTo(start: Int, key: Array[Byte], keyFrom: Int, keyLength: Int): Int = {
    val cells = markedCells
    var low = 0
    var high = cells.length - 1
    while (low <= high) {
      val middle = (low + high) >>> 1
      val cell = cells(middle)
      if (cell <= start || compareRow(cell, key, keyFrom, keyLength) < 0) low = middle + 1 else high = middle - 1
    }
    if (high < 0) start else math.max(start, cells(high))
  }
}

private[hfile] object DataBlock {
  val CellsPerMark = 8
  val WalkWithoutMarks = 32
}
