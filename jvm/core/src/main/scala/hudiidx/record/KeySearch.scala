package hudiidx.record

import hudiidx.record.page.{EntryCursor, EntryFlag, KeyCode, KeyParts, PageReader, ParsedKey}

/** One lookup: keys sorted by group and code, what was found, and the answer in the order of the question. */
private[record] final class KeySearch(keys: PackedKeys, ranges: IndexedSeq[HashRange]) {
  private val sorters = Vector(new KeySorter(false), new KeySorter(false), new KeySorter(true))
  private val starts: Vector[Array[Int]] = sort()
  private val foundAt = new Array[Int](keys.count)
  private val foundCount = new Array[Int](keys.count)
  private var ordinals, flags, stamps = new Array[Int](math.max(16, keys.count))
  private var found = 0
  private val matches = new KeyMatches
  private var hits0 = 0

  /** Keys that have a mapping. */
  def hits: Int = hits0

  private def sort(): Vector[Array[Int]] = {
    val router = new HashRouter(ranges)
    val key = new ParsedKey
    var i = 0
    while (i < keys.count) {
      val from = keys.from(i)
      val length = keys.length(i)
      val value = EntryValue(router.groupOf(KeyCode.hash(keys.bytes, from, length)), i, 0, 0)
      key.set(keys.bytes, from, length)
      if (key.kind == KeyCode.Text) sorters(2).addText(keys.bytes, from, length, value)
      else sorters(key.kind - 1).addFixed(key.high, if (key.kind == KeyCode.Uuid) key.low else 0L, value)
      i += 1
    }
    sorters.map(_.sort(ranges.size))
  }

  /** Calls `use` for each group that is asked for keys, with their number and a cursor over them. The ordinals of its
    * entries are the keys' places.
    */
  def foreachGroup(use: (Int, Int, EntryCursor) => Unit): Unit = {
    var g = 0
    while (g < ranges.size) {
      val asked = starts.iterator.map(s => s(g + 1) - s(g)).sum
      if (asked > 0) use(g, asked, new SorterCursor(sorters, starts, g))
      g += 1
    }
  }

  /** Looks the keys of one group up in its files, the base first, then the deltas, oldest first. */
  def find(asked: EntryCursor, files: Array[EntryFinder]): Unit = {
    val before = new ParsedKey
    var beforeAt = -1
    while (asked.next()) {
      val at = asked.ordinal
      if (beforeAt >= 0 && KeyParts.compare(asked, before) == 0) {
        foundAt(at) = foundAt(beforeAt)
        foundCount(at) = foundCount(beforeAt)
      } else {
        matches.clear()
        var f = 0
        while (f < files.length) {
          files(f).find(asked)(matches.take)
          f += 1
        }
        foundAt(at) = found
        keep(matches.resolve())
        foundCount(at) = found - foundAt(at)
      }
      if (foundCount(at) > 0) hits0 += 1
      before.copy(asked)
      beforeAt = at
    }
  }

  private def keep(n: Int): Unit = {
    if (found + n > ordinals.length) {
      val size = math.max(found + n, ordinals.length * 2)
      ordinals = java.util.Arrays.copyOf(ordinals, size)
      flags = java.util.Arrays.copyOf(flags, size)
      stamps = java.util.Arrays.copyOf(stamps, size)
    }
    System.arraycopy(matches.ordinals, 0, ordinals, found, n)
    System.arraycopy(matches.flags, 0, flags, found, n)
    System.arraycopy(matches.stamps, 0, stamps, found, n)
    found += n
  }

  def result(): KeyMappings = {
    val at = new Array[Int](keys.count + 1)
    var i = 0
    while (i < keys.count) {
      at(i + 1) = Math.addExact(at(i), foundCount(i))
      i += 1
    }
    def inOrder(values: Array[Int]): Array[Int] = {
      val out = new Array[Int](at(keys.count))
      var k = 0
      while (k < keys.count) {
        System.arraycopy(values, foundAt(k), out, at(k), foundCount(k))
        k += 1
      }
      out
    }
    new KeyMappings(at, inOrder(ordinals), inOrder(flags), inOrder(stamps))
  }
}

/** What the files of a group say about one key, the oldest file first. */
private[record] final class KeyMatches {
  var ordinals, flags, stamps = new Array[Int](8)
  private var n = 0

  def clear(): Unit = n = 0

  val take: PageReader => Unit = page => {
    var i = page.first
    while (i < page.until) {
      add(page.ordinal(i), page.flag(i), page.stamp(i))
      i += 1
    }
  }

  private def add(ordinal: Int, flag: Int, stamp: Int): Unit = {
    if (n == ordinals.length) {
      ordinals = java.util.Arrays.copyOf(ordinals, n * 2)
      flags = java.util.Arrays.copyOf(flags, n * 2)
      stamps = java.util.Arrays.copyOf(stamps, n * 2)
    }
    ordinals(n) = ordinal
    flags(n) = flag
    stamps(n) = stamp
    n += 1
  }

  /** Leaves of each ordinal the latest entry, unless that is a remove, in ascending order; how many. */
  def resolve(): Int =
    if (n == 0 || (n == 1 && (flags(0) & EntryFlag.Remove) == 0)) n
    else {
      // The later of two places is the newer: files are asked from old to new.
      val order = Array.tabulate(n)(i => (ordinals(i).toLong << 32) | i)
      java.util.Arrays.sort(order)
      val old = (ordinals.clone(), flags.clone(), stamps.clone())
      var kept = 0
      var i = 0
      while (i < n) {
        val from = order(i).toInt
        val isLatest = i + 1 == n || (order(i + 1) >>> 32) != (order(i) >>> 32)
        if (isLatest && (old._2(from) & EntryFlag.Remove) == 0) {
          ordinals(kept) = old._1(from)
          flags(kept) = old._2(from)
          stamps(kept) = old._3(from)
          kept += 1
        }
        i += 1
      }
      kept
    }
}
