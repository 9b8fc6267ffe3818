package hudiidx.hfile

import java.nio.ByteBuffer

/** Walks the cells of an HFile in ascending order of key. Not safe for several threads.
  *
  * After `next` or `seek` the key is `keyBytes` from `keyOffset`, `keyLength` bytes long, and the value likewise. The arrays
  * must never be changed. Those of `HFileReader.cursor` stay valid when the cursor moves on; those of `HFileReader.scan`
  * hold until it moves.
  *
  * @param room where blocks that nobody keeps are read one after another; null if every block has arrays of its own
  */
final class HFileCursor private[hfile] (reader: HFileReader, room: BlockRoom) {
  private val path = new IndexPath(reader)
  private var block: DataBlock = _
  private var cell = 0 // first byte of the current cell
  private var cellEnd = 0

  // Of the current cell, and the bytes from it to the next where that may hold of other cells as well.
  private var lengths = 0L
  private var row = 0
  private var size = 0

  private var walkEnd = 0 // where the block ends, if `next` has nothing to do but go to the cell behind
  private var started = false
  private var ended = false
  private var handOut = false // a cell found by `startAt` that `next` has not given yet
  private var fromStart = true
  private var seen = 0L

  /** Moves to the next cell (at first: the first one); false, and for ever false, behind the last. */
  def next(): Boolean = {
    val at = cellEnd
    if (at < walkEnd) {
      if (block.repeats(at, lengths, row, size)) {
        cell = at
        cellEnd = at + size
      } else moveTo(at)
      seen += 1
      true
    } else if (handOut) {
      handOut = false
      if (!ended) walkEnd = block.to
      !ended
    } else advance()
  }

  /** Moves forward to the first cell whose key is not below `key`; it may stay where it is. Keys must be asked in
    * ascending order.
    *
    * @return true if that cell's key equals `key`. If false, `hasCell` tells whether there is such a cell
    */
  def seek(key: Array[Byte]): Boolean = seek(key, 0, key.length)

  def seek(key: Array[Byte], keyFrom: Int, keyLength: Int): Boolean = {
    fromStart = false
    handOut = false
    if (ended) false
    else {
      val wanted = new SeekKey(key, keyFrom, keyLength)
      if (!started) enter(path.find(key, keyFrom, keyLength)) && search(wanted)
      else {
        walkEnd = block.to
        val order = block.compareRow(cell, wanted)
        if (order >= 0) order == 0
        else {
          if (path.moveTo(key, keyFrom, keyLength)) enter(true)
          search(wanted)
        }
      }
    }
  }

  /** True if the cursor is on a cell. */
  def hasCell: Boolean = started && !ended

  /** Offset in the file of the cell's block. */
  def blockOffset: Long = path.blockOffset

  def keyBytes: Array[Byte] = block.bytes
  def keyOffset: Int = cell + 10
  def keyLength: Int = row
  def valueBytes: Array[Byte] = block.bytes
  def valueOffset: Int = cell + 8 + (lengths >> 32).toInt
  def valueLength: Int = lengths.toInt

  /** A copy of the key. */
  def key: Array[Byte] = java.util.Arrays.copyOfRange(keyBytes, keyOffset, keyOffset + keyLength)

  /** A copy of the value. */
  def value: Array[Byte] = java.util.Arrays.copyOfRange(valueBytes, valueOffset, valueOffset + valueLength)

  /** A view of the value, from position 0. */
  def valueBuffer: ByteBuffer = ByteBuffer.wrap(valueBytes, valueOffset, valueLength).slice()

  /** Lets the coming `next` give the first cell whose key is not below `key`. */
  private[hfile] def startAt(key: Array[Byte]): Unit = {
    seek(key)
    handOut = true
    walkEnd = 0
  }

  /** Goes to the first block, or to the one behind the current one. */
  private def advance(): Boolean =
    if (ended) false
    else {
      enter(if (started) path.next() else path.first())
      if (!ended) seen += 1
      else if (fromStart) reader.checkEntryCount(seen)
      !ended
    }

  /** Goes to the first cell of the block that the path points at. */
  private def enter(found: Boolean): Boolean = {
    started = true
    var more = found
    var empty = true
    while (more && empty) {
      block = reader.dataBlock(path.blockOffset, path.blockSize, room)
      empty = block.from == block.to
      if (empty) more = path.next()
    }
    if (more) moveTo(block.from)
    else ended = true
    walkEnd = if (more) block.to else 0
    more
  }

  /** Makes the cell that starts at `at` the current one. */
  private def moveTo(at: Int): Unit = {
    cellEnd = block.cellEnd(at)
    cell = at
    lengths = block.lengthsAt(at)
    row = block.rowLength(at)
    size = block.stepOf(at, cellEnd, lengths)
  }

  /** From the current cell on, within this block or at most into the next. */
  private def search(key: SeekKey): Boolean = {
    var found = block.lowerBound(cell, key)
    while (found == block.to && enter(path.next())) found = block.lowerBound(cell, key)
    !ended && {
      moveTo(found)
      block.compareRow(cell, key) == 0
    }
  }
}

/** A way from the root index down to a data block: one index block and one of its entries for each level. It leads forward
  * alone, so that on the whole way each block of the index is read once.
  */
private[hfile] final class IndexPath(reader: HFileReader) {
  private val levels = reader.indexLevels
  private val nodes = new Array[BlockIndex](levels)
  private val entries = new Array[Int](levels)
  // Of the blocks that the entries point at.
  private val froms, ends = new Array[Long](levels)
  private val last = levels - 1
  nodes(0) = reader.rootIndex
  java.util.Arrays.fill(froms, -1L)

  def blockOffset: Long = nodes(last).offset(entries(last))
  def blockSize: Int = nodes(last).size(entries(last))

  /** Points at the first data block; false if there is none. */
  def first(): Boolean = nodes(0).count > 0 && {
    point(0, 0)
    descend(0)
    true
  }

  /** Moves to the following data block; false if there is none. */
  def next(): Boolean = {
    val before = blockOffset
    var level = last
    while (level >= 0 && entries(level) + 1 >= nodes(level).count) level -= 1
    level >= 0 && {
      point(level, entries(level) + 1)
      descend(level)
      requireBehind(before)
      true
    }
  }

  /** Data blocks stand in the order of their keys. By an index that leads back, few bytes are a walk without end. */
  private def requireBehind(before: Long): Unit = {
    val at = blockOffset
    if (at <= before) reader.fail(s"the index leads from the data block at $before back to the one", at)
  }

  /** Points at the data block that would hold the key, the first one for a key below all; false if there is none. Keys must be
    * asked in ascending order.
    */
  def find(key: Array[Byte], from: Int, length: Int): Boolean = nodes(0).count > 0 && {
    var level = 0
    while (level < levels) {
      point(level, math.max(0, nodes(level).floor(key, from, length, 0)))
      level += 1
    }
    true
  }

  /** Moves forward to the data block that would hold the key; false if that is the current one. */
  def moveTo(key: Array[Byte], from: Int, length: Int): Boolean = {
    val before = blockOffset
    var moved = false
    var level = 0
    while (level < levels) {
      val at = entries(level)
      val near = !moved && (at + 1 >= nodes(level).count || nodes(level).compareRow(at + 1, key, from, length) > 0)
      if (!near) {
        point(level, math.max(0, nodes(level).floor(key, from, length, if (moved) 0 else at + 1)))
        moved = true
      }
      level += 1
    }
    if (moved) requireBehind(before)
    moved
  }

  private def descend(from: Int): Unit = {
    var level = from + 1
    while (level < levels) {
      point(level, 0)
      level += 1
    }
  }

  /** Takes an entry of the level's index block, and the index block that it points at unless that is the last one taken. */
  private def point(level: Int, entry: Int): Unit = {
    val node = nodes(level)
    val offset = node.offset(entry)
    entries(level) = entry
    if (offset != froms(level)) {
      if (offset < ends(level))
        reader.fail(s"the index leads from the block that ends at ${ends(level)} back to the one", offset)
      if (level < last) nodes(level + 1) = reader.innerIndex(node, entry, level + 1)
      froms(level) = offset
      ends(level) = offset + node.size(entry)
    }
  }
}
