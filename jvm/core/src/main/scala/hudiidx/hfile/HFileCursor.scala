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
  private var started = false
  private var ended = false
  private var handOut = false // a cell found by `startAt` that `next` has not given yet
  private var fromStart = true
  private var seen = 0L

  /** Moves to the next cell (at first: the first one); false, and for ever false, behind the last. */
  def next(): Boolean =
    if (handOut) {
      handOut = false
      !ended
    } else advance()

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
    else if (!started) enter(path.find(key, keyFrom, keyLength)) && search(key, keyFrom, keyLength)
    else {
      val order = block.compareRow(cell, key, keyFrom, keyLength)
      if (order >= 0) order == 0
      else {
        if (path.moveTo(key, keyFrom, keyLength)) enter(true)
        search(key, keyFrom, keyLength)
      }
    }
  }

  /** True if the cursor is on a cell. */
  def hasCell: Boolean = started && !ended

  /** Offset in the file of the cell's block. */
  def blockOffset: Long = path.blockOffset

  def keyBytes: Array[Byte] = block.bytes
  def keyOffset: Int = block.rowFrom(cell)
  def keyLength: Int = block.rowLength(cell)
  def valueBytes: Array[Byte] = block.bytes
  def valueOffset: Int = block.valueFrom(cell)
  def valueLength: Int = block.valueLength(cell)

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
  }

  private def advance(): Boolean =
    if (ended) false
    else {
      if (!started) enter(path.first()) else step()
      if (!ended) seen += 1
      else if (fromStart) reader.checkEntryCount(seen)
      !ended
    }

  /** The next cell of the block, else the first of the next block. */
  private def step(): Unit =
    if (cellEnd < block.to) {
      cell = cellEnd
      cellEnd = block.cellEnd(cell)
    } else enter(path.next())

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
    if (more) {
      cell = block.from
      cellEnd = block.cellEnd(cell)
    } else ended = true
    more
  }

  /** From the current cell on, within this block or at most into the next. */
  private def search(key: Array[Byte], keyFrom: Int, keyLength: Int): Boolean = {
    var found = block.lowerBound(cell, key, keyFrom, keyLength)
    while (found == block.to && enter(path.next())) found = block.lowerBound(cell, key, keyFrom, keyLength)
    !ended && {
      cell = found
      cellEnd = block.cellEnd(cell)
      block.compareRow(cell, key, keyFrom, keyLength) == 0
    }
  }
}

/** A way from the root index down to a data block: one index block and one of its entries for each level. */
private[hfile] final class IndexPath(reader: HFileReader) {
  private val levels = reader.indexLevels
  private val nodes = new Array[BlockIndex](levels)
  private val entries = new Array[Int](levels)
  private val last = levels - 1
  nodes(0) = reader.rootIndex

  def blockOffset: Long = nodes(last).offset(entries(last))
  def blockSize: Int = nodes(last).size(entries(last))

  /** Points at the first data block; false if there is none. */
  def first(): Boolean = nodes(0).count > 0 && {
    entries(0) = 0
    descend(0)
    true
  }

  /** Moves to the following data block; false if there is none. */
  def next(): Boolean = {
    var level = last
    while (level >= 0 && entries(level) + 1 >= nodes(level).count) level -= 1
    level >= 0 && {
      entries(level) += 1
      descend(level)
      true
    }
  }

  /** Points at the data block that would hold the key, the first one for a key below all; false if there is none. */
  def find(key: Array[Byte], from: Int, length: Int): Boolean = nodes(0).count > 0 && {
    var level = 0
    while (level < levels) {
      entries(level) = math.max(0, nodes(level).floor(key, from, length, 0))
      if (level < last) nodes(level + 1) = reader.innerIndex(nodes(level), entries(level), level + 1)
      level += 1
    }
    true
  }

  /** Moves forward to the data block that would hold the key; false if that is the current one. */
  def moveTo(key: Array[Byte], from: Int, length: Int): Boolean = {
    var moved = false
    var level = 0
    while (level < levels) {
      val at = entries(level)
      val near = !moved && (at + 1 >= nodes(level).count || nodes(level).compareRow(at + 1, key, from, length) > 0)
      if (!near) {
        entries(level) = math.max(0, nodes(level).floor(key, from, length, if (moved) 0 else at + 1))
        moved = true
      }
      if (moved && level < last) nodes(level + 1) = reader.innerIndex(nodes(level), entries(level), level + 1)
      level += 1
    }
    moved
  }

  private def descend(from: Int): Unit = {
    var level = from
    while (level < last) {
      nodes(level + 1) = reader.innerIndex(nodes(level), entries(level), level + 1)
      entries(level + 1) = 0
      level += 1
    }
  }
}
