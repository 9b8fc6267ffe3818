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
    val lengths = buffer.getLong(cell)
    val keyLength = (lengths >> 32).toInt
    val valueLength = lengths.toInt
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

  // Starts of every eighth cell, once walks have passed over the block twice: a sorted batch walks over it once, and a block
  // that a cache keeps is searched again and again. Two threads may both make them.
  @volatile private var marks: Array[Int] = _
  private var walkedBytes = 0L

  /** The first cell at or behind `start`, itself a checked cell, whose row is not below the key; `to` if there is none. */
  def lowerBound(start: Int, key: Array[Byte], keyFrom: Int, keyLength: Int): Int = {
    val near = if (marks == null) stride(start, key, keyFrom, keyLength) else skip(start, key, keyFrom, keyLength)
    var cell = near
    while (cell < to && compareRow(cell, key, keyFrom, keyLength) < 0) {
      cell = cellEnd(cell)
      if (cell < to) cellEnd(cell)
    }
    cell
  }

  /** A cell at or behind `start` that is at most a few cells before the first whose row is not below the key. */
  private def stride(start: Int, key: Array[Byte], keyFrom: Int, keyLength: Int): Int = {
    var near = start
    var ahead = start
    do {
      near = ahead
      var steps = 0
      while (steps < DataBlock.CellsPerMark && ahead < to) {
        ahead = cellEnd(ahead)
        steps += 1
      }
      if (ahead < to) cellEnd(ahead)
    } while (ahead < to && compareRow(ahead, key, keyFrom, keyLength) < 0)
    walkedBytes += near - start
    if (walkedBytes > 2L * (to - from)) marks = markedCells
    near
  }

  private def markedCells: Array[Int] = {
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
    java.util.Arrays.copyOf(found, n)
  }

  /** As `stride`, by the marks. */
  private def skip(start: Int, key: Array[Byte], keyFrom: Int, keyLength: Int): Int = {
    val cells = marks
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
}
