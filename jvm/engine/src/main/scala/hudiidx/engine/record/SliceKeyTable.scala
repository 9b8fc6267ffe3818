package hudiidx.engine.record

import java.nio.ByteBuffer
import java.util.Arrays

import hudiidx.record.page.KeyCode
import hudiidx.record.{Locations, PackedKeys, VisibleGroup}
import hudiidx.sync.{TableAccess, TaskEngine}

/** Reads the live keys of file slices and packs them by parts of the hash space: what stands in for the index where it does
  * not know a file group. A chunk is a row of entries: int32 hash, int32 place of the slice, int32 length, the key.
  */
object SliceKeyChunks {
  private[record] val EntryBytes = 12

  /** The share of the hash space, of so many equal ones, that a key belongs to. */
  def part(hash: Long, parts: Int): Int = ((hash * parts) >>> 32).toInt

  /** Pieces of work for tasks: slices of the moment, large base files in parts. */
  def shares(moment: RecordIndexSnapshot, slots: Int): Vector[Vector[SliceInput]] =
    Shares.ofBytes(inputs(moment), slots)(_.bytes)

  /** A slice each, undivided: whoever must see all keys of a slice. */
  def wholeSlices(moment: RecordIndexSnapshot): Vector[SliceInput] =
    moment.slices.zipWithIndex.map { case (s, place) => SliceInput.of(place, s).head.copy(part = 0, parts = 1) }

  private def inputs(moment: RecordIndexSnapshot): Vector[SliceInput] =
    moment.slices.zipWithIndex.flatMap { case (s, place) => SliceInput.of(place, s) }

  /** Chunks of an input's keys, with the parts that they belong to. Holds the keys of one input in memory. */
  def read(
      moment: RecordIndexSnapshot,
      access: TableAccess,
      input: SliceInput,
      parts: Int
  ): Iterator[(Int, Array[Byte])] = {
    val buffers = new Array[ByteBuffer](parts)
    moment.table.keys(access, input) { (bytes, from, length, _, _) =>
      val hash = KeyCode.hash(bytes, from, length)
      val at = part(hash, parts)
      buffers(at) = withRoom(buffers(at), EntryBytes + length)
      buffers(at).putInt(hash.toInt).putInt(input.ordinal).putInt(length).put(bytes, from, length)
    }
    buffers.iterator.zipWithIndex.collect {
      case (b, at) if b != null => (at, Arrays.copyOf(b.array, b.position()))
    }
  }

  /** Every live key of a slice once, as UTF-8. Holds them in memory. */
  def distinctKeys(moment: RecordIndexSnapshot, access: TableAccess, input: SliceInput): Iterator[Array[Byte]] = {
    val keys = new SliceKeyTable(read(moment, access, input, 1).map(_._2))
    keys.distinct
  }

  private def withRoom(buffer: ByteBuffer, more: Int): ByteBuffer =
    if (buffer != null && buffer.remaining >= more) buffer
    else {
      val held = if (buffer == null) 0 else buffer.position()
      val size = math.min(Int.MaxValue - 8L, math.max(held * 2L, held.toLong + more + 256)).toInt
      val grown = ByteBuffer.wrap(if (buffer == null) new Array[Byte](size) else Arrays.copyOf(buffer.array, size))
      grown.position(held)
      grown
    }
}

/** Keys of file slices in memory, found by their hash. Safe for several threads. */
final class SliceKeyTable(from: Iterator[Array[Byte]]) {
  private val chunks: Array[Array[Byte]] = from.toArray
  private val views: Array[ByteBuffer] = chunks.map(ByteBuffer.wrap)

  /** Entries by number: chunk above, offset of the entry below. Those of one slot are chained by `next`, from `heads` on. */
  private val places: Array[Long] = placesOf()
  private val heads: Array[Int] = Array.fill(slotCount)(-1)
  private val next: Array[Int] = new Array[Int](places.length)
  link()

  def isEmpty: Boolean = places.isEmpty

  private def slotCount: Int = Integer.highestOneBit(math.max(1, places.length)) << 1

  private def placesOf(): Array[Long] = {
    val out = Array.newBuilder[Long]
    chunks.indices.foreach { c =>
      var at = 0
      while (at < chunks(c).length) {
        out += (c.toLong << 32) | at
        at += 12 + views(c).getInt(at + 8)
      }
    }
    out.result()
  }

  private def hashAt(place: Long): Int = views((place >>> 32).toInt).getInt(place.toInt)
  private def sliceAt(place: Long): Int = views((place >>> 32).toInt).getInt(place.toInt + 4)
  private def lengthAt(place: Long): Int = views((place >>> 32).toInt).getInt(place.toInt + 8)

  private def slot(hash: Int): Int = (hash * 0x9e3779b1) >>> 1 & (heads.length - 1)

  private def link(): Unit = {
    var i = places.length - 1
    while (i >= 0) {
      val s = slot(hashAt(places(i)))
      next(i) = heads(s)
      heads(s) = i
      i -= 1
    }
  }

  private def holds(place: Long, key: Array[Byte], from: Int, length: Int): Boolean = {
    val at = place.toInt + 12
    lengthAt(place) == length &&
    Arrays.equals(chunks((place >>> 32).toInt), at, at + length, key, from, from + length)
  }

  /** Places of the slices that have the key, each once, ascending. */
  private[record] def slicesOf(key: Array[Byte], from: Int, length: Int): Array[Int] = {
    val hash = KeyCode.hash(key, from, length).toInt
    var found = SliceKeyTable.NoSlices
    var i = heads(slot(hash))
    while (i >= 0) {
      val place = places(i)
      if (hashAt(place) == hash && holds(place, key, from, length) && !found.contains(sliceAt(place)))
        found :+= sliceAt(place)
      i = next(i)
    }
    if (found.length > 1) Arrays.sort(found)
    found
  }

  /** Each key once, whatever slices have it. */
  private[record] def distinct: Iterator[Array[Byte]] = places.indices.iterator.flatMap { i =>
    val place = places(i)
    val at = place.toInt + 12
    val key = Arrays.copyOfRange(chunks((place >>> 32).toInt), at, at + lengthAt(place))
    // The first of a chain stands for all equal ones.
    var first = heads(slot(hashAt(place)))
    while (!holds(places(first), key, 0, key.length)) first = next(first)
    if (first == i) Iterator.single(key) else Iterator.empty
  }

  /** Puts what the index found and what these slices have together, in this order.
    *
    *  @param indexed of the same keys; None: there is no index
    *  @param slices  as locations name them, by their place
    */
  def locate(keys: PackedKeys, indexed: Option[Locations], slices: Vector[VisibleGroup]): Locations =
    if (isEmpty && indexed.isDefined) indexed.get
    else {
      val known = indexed.fold(Vector.empty[VisibleGroup])(_.groups.toVector)
      val starts = new Array[Int](keys.count + 1)
      val places = Array.newBuilder[Int]
      var k = 0
      while (k < keys.count) {
        val mine = slicesOf(keys.bytes, keys.from(k), keys.length(k))
        var n = mine.length
        indexed.foreach { l =>
          n += l.count(k)
          (l.starts(k) until l.starts(k + 1)).foreach(at => places += l.places(at))
        }
        mine.foreach(s => places += known.size + s)
        starts(k + 1) = starts(k) + n
        k += 1
      }
      new Locations(starts, places.result(), known ++ slices)
    }
}

private object SliceKeyTable {
  val NoSlices: Array[Int] = Array.emptyIntArray
}

/** The keys of a moment's slices, read once and kept for the lookups that follow: an index that is behind costs one reading,
  * not one a lookup. Keys of many bytes are not kept; large base files tell in their footers how many there are. Not safe for
  * several threads.
  *
  *  @param mostBytes  of keys with what is noted beside them
  *  @param localBytes of files that are read here without a look at their footers, and of log files in any case
  */
private[record] final class KeptSliceKeys(
    moment: RecordIndexSnapshot,
    access: TableAccess,
    mostBytes: Long = KeptSliceKeys.MostBytes,
    localBytes: Long = KeyScan.LocalBytes
) {
  private var isTried = false
  private var held = Option.empty[SliceKeyTable]

  /** True if `table` reads nothing any more. */
  def areHeld: Boolean = held.isDefined

  /** None if they are not to be kept. */
  def table: Option[SliceKeyTable] = {
    if (!isTried) {
      isTried = true
      if (moment.sliceBytes <= localBytes || fits) held = read()
    }
    held
  }

  /** By footers, as many as it takes to know. */
  private def fits: Boolean = moment.slices.flatMap(_.logFiles).map(_.sizeBytes).sum <= localBytes && {
    var bytes = 0L
    val left = moment.slices.iterator.flatMap(_.baseFile)
    while (left.hasNext && bytes <= mostBytes) {
      val file = moment.table.baseKeys(access, left.next())
      try bytes += file.rowGroups.map(g => g.keyBytes + g.rows * SliceKeyChunks.EntryBytes).sum
      finally file.close()
    }
    bytes <= mostBytes
  }

  private def read(): Option[SliceKeyTable] = {
    val chunks = Vector.newBuilder[Array[Byte]]
    var bytes = 0L
    val left = SliceKeyChunks.wholeSlices(moment).iterator
    while (left.hasNext && bytes <= mostBytes)
      SliceKeyChunks.read(moment, access, left.next(), 1).foreach { case (_, chunk) =>
        bytes += chunk.length
        chunks += chunk
      }
    if (bytes > mostBytes) None else Some(new SliceKeyTable(chunks.result().iterator))
  }
}

private object KeptSliceKeys {

  /** Of keys with what is noted beside them; finding them takes as much again. */
  val MostBytes: Long = 16L << 20
}

/** Looks few keys up by reading the moment's slices for them alone. */
object SliceKeyScan {

  /** @param indexed of the same keys; None: there is no index */
  def locate(engine: TaskEngine, moment: RecordIndexSnapshot, keys: PackedKeys, indexed: Option[Locations]): Locations =
    if (moment.slices.isEmpty && indexed.isDefined) indexed.get
    else
      LookupMerge.merge(keys.count, indexed, KeyScan.find(engine, moment.table, moment.slices, keys), moment.slices)
}
