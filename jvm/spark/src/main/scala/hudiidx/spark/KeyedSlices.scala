package hudiidx.spark

import hudiidx.bytes.RecentlyUsed
import hudiidx.hadoop.KeyedSlice

/** Keyed slices that were read, each with how its base file is read (see `BaseFileReaderFactory.rows`), the ones asked for
  * last, up to so many bytes. Safe for several threads; what it hands out is for one at a time.
  */
final private[spark] class KeyedSlices(budgetBytes: Long) {
  private val kept = new RecentlyUsed[AnyRef, KeyedSlices.Entry](budgetBytes)(_.bytes)

  /** @param key      of the slice's rows: what changes them changes it
    * @param logBytes of the slice's logs, which stay in memory with it
    */
  def get(key: AnyRef, logBytes: Long)(read: => KeyedSlices.Keyed): KeyedSlices.Keyed = {
    val known = kept.get(key)
    if (known != null) known.slice
    else {
      val slice = read
      val bytes = slice._1.bytes + logBytes + slice._2.fold(0L)(_.bytes)
      if (bytes <= budgetBytes) kept.put(key, KeyedSlices.Entry(slice, bytes))
      slice
    }
  }
}

private[spark] object KeyedSlices {
  type Keyed = (KeyedSlice, Option[ReadBase])

  final case class Entry(slice: Keyed, bytes: Long)
}
