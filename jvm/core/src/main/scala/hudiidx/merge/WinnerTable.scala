package hudiidx.merge

import hudiidx.bytes.{ByteSlice, SeededHash}
import hudiidx.log.{KeyMerge, KeyVersion, LogRules, OrderingKind, OrderingValue}
import java.nio.{ByteBuffer, ByteOrder}
import java.util.Arrays

/** The winning version of each key: a hash table in a few arrays, so that millions of keys cost neither objects nor
  * pointers. Entries are numbered from 0 in the order in which their keys first came.
  */
private[merge] final class WinnerTable(rules: LogRules) {
  import WinnerTable._

  // A slot holds the upper half of the key's hash and the entry's number plus one; 0 is an empty slot.
  private var slots = new Array[Long](FirstSlots)
  private var count = 0
  private var keys = new Array[Byte](FirstSlots * 8)
  private var keyStarts = new Array[Int](FirstSlots)
  private var notes = new Array[Int](FirstSlots)
  private var flags = new Array[Byte](FirstSlots)
  private var kinds = new Array[Byte](FirstSlots)
  private var orderings = new Array[Long](FirstSlots)
  private var others = Array.empty[OrderingValue] // by entry, of kinds that are no number
  private var otherBytes = 0L
  private val hashes = new SeededHash
  private var hashed: Array[Byte] = _
  private var hashedBuffer: ByteBuffer = _

  def size: Int = count

  /** Memory of the arrays. */
  def bytes: Long =
    8L * slots.length + keys.length + keyStarts.length * 18L + 4L * others.length + otherBytes

  /** Merges a version into the key's entry. */
  def add(key: ByteSlice, version: KeyVersion): Unit = {
    val hash = hashOf(key.bytes, key.from, key.length)
    val entry = find(hash, key.bytes, key.from, key.length)
    if (entry < 0) put(insert(hash, key), version)
    else {
      val winner = KeyMerge.latest(this.version(entry), version, rules)
      if (winner eq version) put(entry, version)
    }
  }

  /** The key's entry, -1 if it has none. */
  def find(bytes: Array[Byte], from: Int, length: Int): Int = find(hashOf(bytes, from, length), bytes, from, length)

  def key(entry: Int, into: ByteSlice): Unit = into.set(keys, keyStarts(entry), keyEnd(entry) - keyStarts(entry))

  def version(entry: Int): KeyVersion =
    KeyVersion((flags(entry) & IsDelete) != 0, (flags(entry) & FromDeleteBlock) != 0, ordering(entry), notes(entry))

  def note(entry: Int): Int = notes(entry)

  def isDelete(entry: Int): Boolean = (flags(entry) & IsDelete) != 0

  /** True from `meet` on: a row of the base file has taken the entry with it. */
  def isMet(entry: Int): Boolean = (flags(entry) & Met) != 0

  /** @param loses the base file's row stays in the winner's place */
  def meet(entry: Int, loses: Boolean): Unit =
    flags(entry) = (flags(entry) | Met | (if (loses) Lost else 0)).toByte

  /** True if the slice has the winner as a row. */
  def isKept(entry: Int): Boolean = (flags(entry) & (IsDelete | Lost)) == 0

  private def put(entry: Int, version: KeyVersion): Unit = {
    notes(entry) = version.note
    flags(entry) =
      ((if (version.isDelete) IsDelete else 0) | (if (version.fromDeleteBlock) FromDeleteBlock else 0)).toByte
    val kind = version.ordering.kind
    kinds(entry) = kind.code.toByte
    if (kind.isNumber) orderings(entry) = OrderingValue.bits(version.ordering)
    else putOther(entry, version.ordering)
  }

  private def putOther(entry: Int, value: OrderingValue): Unit = {
    if (entry >= others.length) others = Arrays.copyOf(others, notes.length)
    otherBytes += OtherBytes
    others(entry) = value
  }

  private def ordering(entry: Int): OrderingValue = {
    val kind = OrderingKind.All(kinds(entry).toInt)
    if (kind.isNumber) OrderingValue.ofBits(kind, orderings(entry)) else others(entry)
  }

  private def keyEnd(entry: Int): Int = if (entry + 1 < count) keyStarts(entry + 1) else keysUsed

  private var keysUsed = 0

  private def hashOf(bytes: Array[Byte], from: Int, length: Int): Long = {
    // Keys of one page or window share their array.
    if (bytes ne hashed) {
      hashed = bytes
      hashedBuffer = ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN)
    }
    hashes.hash(hashedBuffer, from, length)
  }

  private def find(hash: Long, bytes: Array[Byte], from: Int, length: Int): Int = {
    val mask = slots.length - 1
    val upper = hash & UpperHalf
    var at = hash.toInt & mask
    var slot = slots(at)
    var found = -1
    while (slot != 0 && found < 0) {
      if ((slot & UpperHalf) == upper && isKey((slot & LowerHalf).toInt - 1, bytes, from, length))
        found = (slot & LowerHalf).toInt - 1
      at = (at + 1) & mask
      slot = slots(at)
    }
    found
  }

  private def isKey(entry: Int, bytes: Array[Byte], from: Int, length: Int): Boolean =
    Arrays.equals(keys, keyStarts(entry), keyEnd(entry), bytes, from, from + length)

  private def insert(hash: Long, key: ByteSlice): Int = {
    if (count == notes.length) growEntries()
    if (count * 3L >= slots.length * 2L) growSlots()
    if (key.length > keys.length - keysUsed) growKeys(key.length)
    val entry = count
    keyStarts(entry) = keysUsed
    System.arraycopy(key.bytes, key.from, keys, keysUsed, key.length)
    keysUsed += key.length
    count += 1
    place(hash, entry)
    entry
  }

  private def place(hash: Long, entry: Int): Unit = {
    val mask = slots.length - 1
    var at = hash.toInt & mask
    while (slots(at) != 0) at = (at + 1) & mask
    slots(at) = (hash & UpperHalf) | (entry + 1L)
  }

  private def growEntries(): Unit = {
    val wanted = math.min(count * 2L, MostEntries.toLong).toInt
    if (wanted == count) throw new OutOfMemoryError(s"$count keys in one table")
    keyStarts = Arrays.copyOf(keyStarts, wanted)
    notes = Arrays.copyOf(notes, wanted)
    flags = Arrays.copyOf(flags, wanted)
    kinds = Arrays.copyOf(kinds, wanted)
    orderings = Arrays.copyOf(orderings, wanted)
    if (others.length > 0) others = Arrays.copyOf(others, wanted)
  }

  private def growSlots(): Unit = {
    slots = new Array[Long](slots.length * 2)
    var entry = 0
    while (entry < count) {
      place(hashOf(keys, keyStarts(entry), keyEnd(entry) - keyStarts(entry)), entry)
      entry += 1
    }
  }

  private def growKeys(more: Int): Unit = {
    val wanted = math.max(keysUsed.toLong + more, math.min(keys.length * 2L, MostKeyBytes.toLong))
    if (wanted > MostKeyBytes) throw new OutOfMemoryError(s"$wanted bytes of keys in one table")
    keys = Arrays.copyOf(keys, wanted.toInt)
  }
}

private object WinnerTable {
  private val FirstSlots = 1 << 10
  private val MostEntries = 1 << 29
  private val MostKeyBytes = Int.MaxValue - 16
  private val UpperHalf = 0xffffffff00000000L
  private val LowerHalf = 0xffffffffL

  /** An ordering value that is an object, roughly. */
  private val OtherBytes = 96L

  private val IsDelete = 1
  private val FromDeleteBlock = 2
  private val Met = 4
  private val Lost = 8
}
