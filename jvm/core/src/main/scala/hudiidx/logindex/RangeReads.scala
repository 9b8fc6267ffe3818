package hudiidx.logindex

import hudiidx.storage.RandomReader

/** Many small ranges of a file, those that stand close together at once. */
private[logindex] object RangeReads {

  /** Bytes between two ranges that are cheaper to read than to ask a second time. */
  private val Gap = 512
  private val MaxBytes = 1 << 20

  /** Calls `use(i, bytes, from)` for each range in order: range `i` is `bytes` from index `from` on.
    *
    * @param starts ascending offsets in the file
    */
  def foreach(reader: RandomReader, starts: Array[Long], lengths: Array[Int])(
      use: (Int, Array[Byte], Int) => Unit
  ): Unit = {
    var i = 0
    while (i < starts.length) {
      val from = starts(i)
      var until = from + lengths(i)
      var n = i + 1
      while (n < starts.length && starts(n) <= until + Gap && starts(n) + lengths(n) - from <= MaxBytes) {
        until = math.max(until, starts(n) + lengths(n))
        n += 1
      }
      val bytes = TailReader.bytes(reader, from, Math.toIntExact(until - from))
      while (i < n) {
        use(i, bytes, (starts(i) - from).toInt)
        i += 1
      }
    }
  }
}
