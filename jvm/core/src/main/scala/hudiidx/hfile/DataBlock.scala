package hudiidx.hfile

import hudiidx.bytes.Bytes
import java.nio.ByteBuffer

/** The cells of one data block, decompressed: `bytes` from `from` until `to`. Never changed once made. */
private[hfile] final class DataBlock(
    damage: Damage,
    val fileOffset: Long,
    val bytes: Array[Byte],
    val from: Int,
    val to: Int,
    hasMvcc: Boolean
) extends CachedBlock {
  private val buffer = ByteBuffer.wrap(bytes)

  def weightBytes: Int =
    math.min(Int.MaxValue.toLong, bytes.length + bytes.length / 32 + CachedBlock.OverheadBytes).toInt

  // A cell's parts by the index of its first byte. Only `cellEnd` checks; call it first.
  def rowLength(cell: Int): Int = buffer.getShort(cell + 8) & 0xffff

  /** Key and value length, the key's in the upper half. */
  def lengthsAt(cell: Int): Long = buffer.getLong(cell)

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
    damage.fail(s"$what at byte ${cell - from} of the data block", fileOffset)

  /** The cell has the lengths of one that was checked, so that all `cellEnd` would check of it holds, and the next one is
    * `size` bytes after it.
    */
  def repeats(cell: Int, lengths: Long, row: Int, size: Int): Boolean =
    size <= to - cell && lengthsAt(cell) == lengths && rowLength(cell) == row &&
      (!hasMvcc || bytes(cell + size - 1) >= DataBlock.LeastShortVersion)

  /** Bytes from a checked cell to its end, for `repeats`; more than any block has where its version number takes several. */
  def stepOf(cell: Int, end: Int, lengths: Long): Int = {
    val step = 8 + (lengths >> 32).toInt + lengths.toInt + (if (hasMvcc) 1 else 0)
    if (end - cell == step) step else Int.MaxValue
  }

  def compareRow(cell: Int, key: SeekKey): Int = {
    val length = rowLength(cell)
    if (length >= 8 && key.length >= 8) {
      val head = buffer.getLong(cell + 10)
      if (head != key.head) java.lang.Long.compareUnsigned(head, key.head)
      else Bytes.compare(bytes, cell + 18, length - 8, key.bytes, key.from + 8, key.length - 8)
    } else Bytes.compare(bytes, cell + 10, length, key.bytes, key.from, key.length)
  }

  // Starts of every eighth cell, once the block was scanned twice: a sorted batch walks over it once, and a block
  // that a cache keeps is searched again and again. Two threads may both make them.
  @volatile private var marks: Array[Int] = _
  private var walkedBytes = 0L

  /** The first cell at or behind `start`, itself a checked cell, whose row is not below the key; `to` if there is none. */
  def lowerBound(start: Int, key: SeekKey): Int = {
    var cell = if (marks == null) stride(start, key) else skip(start, key)
    while (cell < to && compareRow(cell, key) < 0) cell = walk(cell, 1)
    cell
  }

  /** A cell at or behind `start` that is at most a few cells before the first whose row is not below the key. */
  private def stride(start: Int, key: SeekKey): Int = {
    var near = start
    var ahead = walk(start, DataBlock.CellsPerMark)
    while (ahead < to && compareRow(ahead, key) < 0) {
      near = ahead
      ahead = walk(near, DataBlock.CellsPerMark)
    }
    walkedBytes += near - start
    if (walkedBytes > 2L * (to - from)) marks = markedCells
    near
  }

  /** The cell that is `count` cells behind a checked one, checked as all in between; `to` if there are fewer. Mostly all
    * cells have the same lengths: then the way to the next one does not wait for the bytes of this one.
    */
  private def walk(start: Int, count: Int): Int = {
    var cell = start
    var end = cellEnd(cell)
    var lengths = lengthsAt(cell)
    var row = rowLength(cell)
    var size = stepOf(cell, end, lengths)
    var left = count
    while (left > 0 && end < to) {
      cell = end
      if (repeats(cell, lengths, row, size)) end += size
      else {
        end = cellEnd(cell)
        lengths = lengthsAt(cell)
        row = rowLength(cell)
        size = stepOf(cell, end, lengths)
      }
      left -= 1
    }
    if (left > 0) to else cell
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
  private def skip(start: Int, key: SeekKey): Int = {
    val cells = marks
    var low = 0
    var high = cells.length - 1
    while (low <= high) {
      val middle = (low + high) >>> 1
      val cell = cells(middle)
      if (cell <= start || compareRow(cell, key) < 0) low = middle + 1 else high = middle - 1
    }
    if (high < 0) start else math.max(start, cells(high))
  }
}

private[hfile] object DataBlock {
  val CellsPerMark = 8

  /** First bytes from here on are version numbers of one byte. */
  val LeastShortVersion: Byte = -112
}

/** A key that is looked for: `length` bytes from `from` on. */
private[hfile] final class SeekKey(val bytes: Array[Byte], val from: Int, val length: Int) {

  /** The first eight bytes, where there are as many: they mostly decide. */
  val head: Long = if (length >= 8) ByteBuffer.wrap(bytes).getLong(from) else 0L
}
