package hudiidx.hfile

import hudiidx.bytes.Varint

/** Entries of one index block being filled: where each child is, and its first key in full HBase form. */
private[hfile] final class IndexEntries {
  private var offsets = new Array[Long](64)
  private var sizes, keyEnds = new Array[Int](64)
  private val keys = new ByteSink(1024)
  private var n = 0

  def count: Int = n

  /** Bytes of a leaf block with these entries. */
  def leafBytes: Long = 4L + 4L * (n + 1) + 12L * n + keys.size

  /** Bytes of a root block with these entries, at most. */
  def rootBytes: Long = 17L * n + keys.size

  def add(offset: Long, size: Int, row: Array[Byte], rowLength: Int): Unit = {
    grow()
    offsets(n) = offset
    sizes(n) = size
    Cells.writeKey(keys, row, rowLength)
    keyEnds(n) = keys.size
    n += 1
  }

  /** Adds an entry whose key is that of the first entry of `child`. */
  def addChild(offset: Long, size: Int, child: IndexEntries, entry: Int): Unit = {
    grow()
    offsets(n) = offset
    sizes(n) = size
    keys.write(child.keys.array, child.keyFrom(entry), child.keyEnds(entry) - child.keyFrom(entry))
    keyEnds(n) = keys.size
    n += 1
  }

  private def grow(): Unit = if (n == offsets.length) {
    offsets = java.util.Arrays.copyOf(offsets, n * 2)
    sizes = java.util.Arrays.copyOf(sizes, n * 2)
    keyEnds = java.util.Arrays.copyOf(keyEnds, n * 2)
  }

  def clear(): Unit = {
    n = 0
    keys.clear()
  }

  private def keyFrom(i: Int): Int = if (i == 0) 0 else keyEnds(i - 1)

  /** The entry behind the last that fits into a leaf block of `maxBytes` starting at `from`; at least two entries. */
  def leafEnd(from: Int, maxBytes: Int): Int = {
    var to = math.min(n, from + 2)
    def bytes(end: Int): Long = 8L + 16L * (end - from) + keyEnds(end - 1) - keyFrom(from)
    while (to < n && bytes(to + 1) <= maxBytes) to += 1
    to
  }

  def writeLeaf(out: ByteSink, from: Int, to: Int): Unit = {
    out.int(to - from)
    (from to to).foreach(i => out.int(12 * (i - from) + keyFrom(i) - keyFrom(from)))
    (from until to).foreach { i =>
      out.long(offsets(i))
      out.int(sizes(i))
      out.write(keys.array, keyFrom(i), keyEnds(i) - keyFrom(i))
    }
  }

  def writeRoot(out: ByteSink): Unit = (0 until n).foreach { i =>
    out.long(offsets(i))
    out.int(sizes(i))
    Varint.writeHadoop(out, (keyEnds(i) - keyFrom(i)).toLong)
    out.write(keys.array, keyFrom(i), keyEnds(i) - keyFrom(i))
  }
}

private[hfile] object Cells {
  private val LatestTimestamp = Long.MaxValue

  /** A cell's key in HBase's form: row, no family, latest timestamp, type put. */
  def writeKey(out: ByteSink, row: Array[Byte], rowLength: Int): Unit = {
    out.short(rowLength)
    out.write(row, 0, rowLength)
    out.write(0)
    out.long(LatestTimestamp)
    out.write(HFileFormat.PutType.toInt)
  }
}
