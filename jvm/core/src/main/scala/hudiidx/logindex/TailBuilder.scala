package hudiidx.logindex

import hudiidx.bytes.{PackedOutput, XxHash64}
import hudiidx.record.{KeyPages, KeyPagesBuilder}
import hudiidx.storage.BytesReader

/** An index tail to stand behind the last record of a block. */
final case class BuiltTail(bytes: Array[Byte], summary: TailSummary) {

  /** The filters that a block behind this one builds on.
    *
    * @param file   name of the file that the tail goes to
    * @param offset of the tail's first byte in it
    */
  def chain(file: String, offset: Long): Vector[FilterRef] =
    summary.earlier :+ FilterRef(file, offset + summary.filterOffset, summary.filter)

  /** The entries of this tail's filter. */
  def entries: FilterEntries =
    TailReader.entries(new BytesReader("tail", bytes), FilterRef("", summary.filterOffset.toLong, summary.filter))
}

/** The tail of a block that has none of its own, and the hashes of its keys for the filter of its slice.
  *
  * @param min, max codes of its lowest and highest key, cut to `HashFilter.BoundBytes`
  */
final case class KeptTail(
    place: BlockPlace,
    bytes: Array[Byte],
    min: Array[Byte],
    max: Array[Byte],
    entries: FilterEntries
)

/** Makes the index tail of one block: pure, but for the earlier filters that the block's merges with. docs/format.md, "Index
  * tail".
  *
  * @param place where the block will stand
  */
final class TailBuilder(place: BlockPlace, pageEntries: Int = TailBuilder.PageEntries) {
  private val keys = new KeyPagesBuilder(pageEntries)
  private var hashes = new Array[Long](1024)
  private var count = 0

  /** A record's key, in any order. A key may come more than once.
    *
    * @param offset of the record in the block's content: of the four bytes of its length
    */
  def add(key: Array[Byte], from: Int, length: Int, offset: Int): Unit = {
    keys.add(key, from, length, offset)
    if (count == hashes.length) hashes = java.util.Arrays.copyOf(hashes, count * 2)
    hashes(count) = HashFilter.hash(key, from, length)
    count += 1
  }

  /** @param recordsEnd bytes of the content so far: from its first byte to behind the last record
    * @param earlier    filters of the slice's blocks before, `BuiltTail.chain` of the last one or `LogLookup.chain`
    * @param load       the entries of one of them; asked for those alone that the block's filter takes in
    */
  def build(recordsEnd: Long, earlier: Vector[FilterRef], load: FilterRef => FilterEntries): BuiltTail = {
    val own = entries
    val sorted = keys.build()
    val (taken, level) = TailBuilder.taken(earlier, own.entries.length)
    val merged = FilterEntries.merge(taken.map(load) :+ own)
    val withKeys = taken.map(_.shape).filter(_.entries > 0)
    val mins = withKeys.map(_.min) ++ Some(HashFilter.cut(sorted.min)).filter(_ => count > 0)
    val maxs = withKeys.map(_.max) ++ Some(HashFilter.cut(sorted.max)).filter(_ => count > 0)
    val filter = HashFilter.encode(merged, level, HashFilter.lowest(mins), HashFilter.highest(maxs))
    tail(sorted, recordsEnd, filter, earlier.filterNot(taken.contains))
  }

  /** A tail to be kept beside the log: its filters are those of the whole slice, and stand elsewhere. */
  def buildKept(recordsEnd: Long): KeptTail = {
    val built = tail(keys.build(), recordsEnd, (Array.emptyByteArray, FilterShape.None), Vector.empty)
    KeptTail(place, built.bytes, built.summary.min, built.summary.max, entries)
  }

  private def entries: FilterEntries = FilterEntries.of(place, java.util.Arrays.copyOf(hashes, count))

  private def tail(
      sorted: KeyPages,
      recordsEnd: Long,
      filter: (Array[Byte], FilterShape),
      earlier: Vector[FilterRef]
  ): BuiltTail = {
    val (filterBytes, shape) = filter
    val out = new PackedOutput(filterBytes.length + 1024)
    out.raw(TailFormat.Head, 0, TailFormat.Head.length)
    val pages = sorted.pages.map { p =>
      out.raw(p.bytes, 0, p.bytes.length)
      val sum = XxHash64.hash(p.bytes, 0, p.bytes.length, 0L)
      PageRef(p.lastCode, out.size - p.bytes.length, p.bytes.length, sum)
    }
    val filterOffset = out.size
    out.raw(filterBytes, 0, filterBytes.length)
    val directory = TailFormat.directory(pages)
    val summary = TailSummary(
      place.instant,
      recordsEnd,
      count,
      HashFilter.cut(sorted.min),
      HashFilter.cut(sorted.max),
      out.size,
      directory.length,
      XxHash64.hash(directory, 0, directory.length, 0L),
      filterOffset,
      shape,
      earlier
    )
    out.raw(directory, 0, directory.length)
    val end = TailFormat.end(summary, out.size)
    out.raw(end, 0, end.length)
    BuiltTail(out.toBytes, summary)
  }
}

object TailBuilder {
  val PageEntries = 256

  /** So many filters of a level become one of the next: a key's hash is written once a level, and a lookup looks at fewer
    * than so many filters of each.
    */
  val Fanout = 8

  /** Filters do not grow beyond: a merge holds all entries, of 8 bytes each. */
  private[logindex] val MaxEntries = 1 << 22

  /** The earlier filters that a new block's takes in, and the level of what comes of it. */
  private[logindex] def taken(earlier: Vector[FilterRef], newEntries: Int): (Vector[FilterRef], Int) = {
    var level = 0
    var taken = Vector.empty[FilterRef]
    var more = true
    while (more) {
      val all = earlier.filter(_.shape.level <= level)
      val entries = all.map(_.shape.entries.toLong).sum + newEntries
      more = earlier.count(_.shape.level == level) + 1 >= Fanout && entries <= MaxEntries
      if (more) {
        taken = all
        level += 1
      }
    }
    (taken, level)
  }
}
