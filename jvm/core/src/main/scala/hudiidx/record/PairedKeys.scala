package hudiidx.record

import hudiidx.record.page.{EntryCursor, KeyCode, KeyParts, ParsedKey}
import hudiidx.storage.RandomReader
import java.nio.charset.StandardCharsets.UTF_8

/** The entries of one key, in the order of their ordinals. Holds until its owner goes on. */
final class KeyEntries private[record] {
  private var ordinals, flags0, stamps = new Array[Int](4)
  private var size = 0

  def count: Int = size
  def ordinal(n: Int): Int = ordinals(n)
  def flags(n: Int): Int = flags0(n)
  def stamp(n: Int): Int = stamps(n)

  /** Place of an ordinal; -1 if it is not among them. */
  def find(ordinal: Int): Int = {
    val at = java.util.Arrays.binarySearch(ordinals, 0, size, ordinal)
    if (at < 0) -1 else at
  }

  private[record] def clear(): Unit = size = 0

  private[record] def add(entry: EntryCursor): Unit = {
    if (size == ordinals.length) {
      ordinals = java.util.Arrays.copyOf(ordinals, size * 2)
      flags0 = java.util.Arrays.copyOf(flags0, size * 2)
      stamps = java.util.Arrays.copyOf(stamps, size * 2)
    }
    ordinals(size) = entry.ordinal
    flags0(size) = entry.flags
    stamps(size) = entry.stamp
    size += 1
  }
}

/** Walks two streams of entries key by key, holding the entries of one key. */
final class PairedKeys(first: EntryCursor, second: EntryCursor, isSecondKept: Int => Boolean) {
  private val key0 = new ParsedKey
  private var text = Array.emptyByteArray
  private var hasFirst = first.next()
  private var hasSecond = second.next()

  /** What either stream has of the key; of the second only ordinals that are kept. */
  val inFirst, inSecond = new KeyEntries

  def key: String = new String(KeyParts.bytes(key0), UTF_8)

  /** Moves to the next key that either stream has; at first to the first one. */
  def next(): Boolean = (hasFirst || hasSecond) && {
    hold(if (!hasSecond || (hasFirst && KeyParts.compare(first, second) <= 0)) first else second)
    inFirst.clear()
    inSecond.clear()
    while (hasFirst && KeyParts.compare(first, key0) == 0) {
      inFirst.add(first)
      hasFirst = first.next()
    }
    while (hasSecond && KeyParts.compare(second, key0) == 0) {
      if (isSecondKept(second.ordinal)) inSecond.add(second)
      hasSecond = second.next()
    }
    true
  }

  private def hold(entry: EntryCursor): Unit = {
    key0.copy(entry)
    if (entry.kind == KeyCode.Text) {
      if (text.length < entry.textLength) text = new Array[Byte](math.max(entry.textLength, text.length * 2))
      System.arraycopy(entry.text, entry.textFrom, text, 0, entry.textLength)
      key0.text = text
      key0.textFrom = 0
    }
  }
}

object PairedKeys {

  /** Keys of one hash group: first as run files have them, second as an index has them.
    *
    *  @param group  number of the hash group in the index and in the runs
    *  @param open   gives a new reader of each run file
    *  @param isKept ordinals of the index that count
    */
  def ofRuns[A](open: IndexedSeq[() => RandomReader], index: RecordIndex, group: Int, isKept: Int => Boolean)(
      use: PairedKeys => A
  ): A = {
    val sections = new RunSections(open, group, index.groups(group).range)
    try {
      val entries = index.scan(group)
      try use(new PairedKeys(sections.merged(), entries, isKept))
      finally entries.close()
    } finally sections.close()
  }
}
