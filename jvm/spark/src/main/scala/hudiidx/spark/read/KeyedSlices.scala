package hudiidx.spark.read

import hudiidx.RecentlyUsed
import hudiidx.slice.KeyedSlice
import hudiidx.storage.FileStamp
import hudiidx.table.FileSlice

/** Keyed slices that were read, each with how its base file is read (see `BaseFileReaderFactory.rows`), the ones asked for
  * last, up to so many bytes. Safe for several threads; what it hands out is for one at a time.
  */
final private[spark] class KeyedSlices(budgetBytes: Long) {
  private val kept = new RecentlyUsed[KeyedSlices.Key, KeyedSlices.Entry](budgetBytes)(_.bytes)

  /** @param key      of the slice's rows: what changes them changes it
    * @param logBytes of the slice's logs, which stay in memory with it
    */
  def get(key: KeyedSlices.Key, logBytes: Long)(read: => KeyedSlices.Keyed): KeyedSlices.Keyed = {
    val known = kept.get(key)
    if (known != null) known.slice
    else {
      val slice = read
      val bytes = slice._1.bytes + logBytes + slice._2.fold(0L)(_.bytes)
      if (bytes <= budgetBytes) kept.put(key, KeyedSlices.Entry(slice, bytes))
      slice
    }
  }

  def clear(): Unit = kept.clear()
}

private[spark] object KeyedSlices {
  type Keyed = (KeyedSlice, Option[ReadBase])

  /** By what rows are known. */
  sealed trait Key

  /** The rows of a base file, whatever the table's moment. */
  final case class OfFile(file: FileStamp) extends Key

  /** Those of a slice with its logs: which blocks count may change with the timeline. `moment` is known by itself alone. */
  final case class OfSlice(moment: AnyRef, slice: FileSlice) extends Key

  final case class Entry(slice: Keyed, bytes: Long)
}
