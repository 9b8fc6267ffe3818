package hudiidx.spark

import hudiidx.hadoop.KeyedSlice
import org.apache.spark.sql.types.StructType

/** Keyed slices that were read, each with the types to read its base file with (see `BaseFileReaderFactory.rows`), the ones asked for last, up to so many bytes. Safe for several threads; what it hands out is for
  * one at a time.
  */
final private[spark] class KeyedSlices(budgetBytes: Long) {
  private val kept = new java.util.LinkedHashMap[AnyRef, KeyedSlices.Entry](16, 0.75f, true)
  private var held = 0L

  /** @param key      of the slice's rows: what changes them changes it
    * @param logBytes of the slice's logs, which stay in memory with it
    */
  def get(key: AnyRef, logBytes: Long)(read: => KeyedSlices.Keyed): KeyedSlices.Keyed = {
    val known = synchronized(kept.get(key))
    if (known != null) known.slice
    else {
      val slice = read
      keep(key, KeyedSlices.Entry(slice, slice._1.bytes + logBytes))
      slice
    }
  }

  private def keep(key: AnyRef, entry: KeyedSlices.Entry): Unit = synchronized {
    if (entry.bytes <= budgetBytes) {
      val before = kept.put(key, entry)
      held += entry.bytes - (if (before == null) 0L else before.bytes)
      val oldest = kept.values.iterator
      while (held > budgetBytes) {
        held -= oldest.next().bytes
        oldest.remove()
      }
    }
  }
}

private[spark] object KeyedSlices {
  type Keyed = (KeyedSlice, Option[StructType])

  final case class Entry(slice: Keyed, bytes: Long)
}
