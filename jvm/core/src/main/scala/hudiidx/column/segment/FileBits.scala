package hudiidx.column.segment

/** A bit for each file of a segment. */
private[column] final class FileBits(val size: Int) {
  private val words = new Array[Long]((size + 63) >>> 6)

  def set(i: Int): Unit = words(i >>> 6) |= 1L << (i & 63)

  def get(i: Int): Boolean = (words(i >>> 6) & (1L << (i & 63))) != 0

  def clear(i: Int): Unit = words(i >>> 6) &= ~(1L << (i & 63))

  /** Leaves those set that are set in `other` as well. */
  def retain(other: FileBits): Unit = {
    var i = 0
    while (i < words.length) {
      words(i) &= other.words(i)
      i += 1
    }
  }

  def setAll(from: Int, until: Int): Unit = {
    var i = from
    while (i < until) {
      if ((i & 63) == 0 && i + 64 <= until) {
        words(i >>> 6) = -1L
        i += 64
      } else {
        set(i)
        i += 1
      }
    }
  }

  /** A file of these is set. */
  def any(from: Int, until: Int): Boolean = {
    var i = from
    while (i < until) {
      if ((i & 63) == 0 && i + 64 <= until && words(i >>> 6) == 0) i += 64
      else if (get(i)) return true
      else i += 1
    }
    false
  }

  /** Files set among these. */
  def countSet(from: Int, until: Int): Int = {
    var (i, n) = (from, 0)
    while (i < until) {
      if ((i & 63) == 0 && i + 64 <= until) {
        n += java.lang.Long.bitCount(words(i >>> 6))
        i += 64
      } else {
        if (get(i)) n += 1
        i += 1
      }
    }
    n
  }
}
