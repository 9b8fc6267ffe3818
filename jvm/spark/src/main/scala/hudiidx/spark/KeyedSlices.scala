package hudiidx.spark

import hudiidx.bytes.RecentlyUsed
import hudiidx.hadoop.KeyedSlice
import org.apache.spark.sql.types.StructType

/** Keyed slices that were read, each with the types to read its base file with (see `BaseFileReaderFactory.rows`), the ones asked for last, up to so many bytes. Safe for several threads; what it hands out is for
  * one at a time.
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
      val bytes = slice._1.bytes + logBytes
      if (bytes <= budgetBytes) kept.put(key, KeyedSlices.Entry(slice, bytes))
      slice
    }
  }
}

private[spark] object KeyedSlices {
  type Keyed = (KeyedSlice, Option[StructType])

  final case class Entry(slice: Keyed, bytes: Long)
}
