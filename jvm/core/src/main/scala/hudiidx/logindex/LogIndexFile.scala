package hudiidx.logindex

import hudiidx.DamagedIndex
import hudiidx.bytes.{PackedInput, PackedInts, PackedOutput, XxHash64}
import hudiidx.hfile._
import hudiidx.manifest.PartitionKey
import hudiidx.storage.{RandomReader, RangeReader}
import hudiidx.table.FileGroup
import java.io.OutputStream
import java.nio.charset.StandardCharsets.UTF_8

/** Index tails of the blocks of file slices that their writers left without, and hash filters over them. docs/format.md, "Log
  * index file".
  */
object LogIndexFile {
  private[logindex] val Magic: Array[Byte] = "HDXLIX".getBytes("US-ASCII") ++ Array[Byte](0, 1)

  /** Offset of the directory (int64), checksum of that, magic. */
  private[logindex] val EndBytes = 8 + 8 + 8

  /** The directory's key of a file group: keys order by partition, then by file id. */
  def keyOf(group: FileGroup): Array[Byte] =
    PartitionKey.encode(group.partitionPath) ++ (0.toByte +: group.fileId.getBytes(UTF_8))

  def groupOf(key: Array[Byte]): FileGroup = {
    val text = PartitionKey.decode(key)
    val at = text.lastIndexOf(0)
    if (at < 0) throw new DamagedIndex(s"log index: a key without a file id: $text")
    FileGroup(text.substring(0, at), text.substring(at + 1))
  }

  /** DamagedIndex if the file is none. */
  def open(reader: RandomReader, cache: BlockCache): LogIndexFile = {
    val size = reader.sizeBytes
    val offset = TailReader.guard(reader.path, 0L) {
      val end = TailReader.bytes(reader, size - EndBytes, EndBytes)
      require(java.util.Arrays.equals(end, 16, EndBytes, Magic, 0, Magic.length), "no log index file ends here")
      val words = PackedInts.words(end)
      require(XxHash64.hash(end, 0, 8, 0L) == words.getLong(8), "checksum of a log index file's end differs")
      val at = words.getLong(0)
      require(at >= Magic.length && at <= size - EndBytes, s"directory at $at of $size bytes")
      at
    }
    new LogIndexFile(reader, HFileReader.open(new RangeReader(reader, offset, size - EndBytes - offset), cache))
  }
}

/** An open log index file; closing it is its reader's business. */
final class LogIndexFile private (val reader: RandomReader, directory: HFileReader) {

  /** What it keeps of a file group, packed; None if it has nothing of it. DamagedIndex as far as it cannot be read. */
  def cell(group: FileGroup): Option[Array[Byte]] = {
    val cursor = directory.cursor()
    if (cursor.seek(LogIndexFile.keyOf(group))) Some(cursor.value) else None
  }

  /** Walks all file groups in the order of their keys. */
  def groups(): Iterator[(FileGroup, KeptSlice)] = new Iterator[(FileGroup, KeptSlice)] {
    private val cursor = directory.scan()
    private var more = cursor.next()

    override def hasNext: Boolean = more

    override def next(): (FileGroup, KeptSlice) = {
      val found = LogIndexFile.groupOf(cursor.key) -> KeptSlice.decode(reader.path, cursor.value)
      more = cursor.next()
      found
    }
  }
}

/** What one log index file keeps of one file group.
  *
  * @param starts, ends offsets of each block's tail in the file
  * @param filters      over these blocks, all of them together
  */
final case class KeptSlice(
    path: String,
    places: Vector[BlockPlace],
    starts: Array[Long],
    ends: Array[Long],
    filters: Vector[KeptFilter]
) {
  lazy val numbers: Map[BlockPlace, Int] = places.zipWithIndex.toMap

  def tailBytes: Long = starts.indices.map(i => ends(i) - starts(i)).sum
}

object KeptSlice {

  /** @param path of the file that it stands in; DamagedIndex if the bytes are no cell */
  def decode(path: String, cell: Array[Byte]): KeptSlice = TailReader.guard(path, 0L) {
    val in = new PackedInput(cell)
    val places = BlockPlace.read(in)
    val starts = in.column(places.size)
    val ends = in.column(places.size)
    val count = in.count(8 * 12)
    val filters = Vector.fill(count)(KeptFilter(path, in.varint(), TailFormat.readShape(in)))
    require(in.remaining == 0, s"${in.remaining} bytes after a file group")
    KeptSlice(path, places, starts, ends, filters)
  }

  private[logindex] def encode(slice: KeptSlice): Array[Byte] = {
    val out = new PackedOutput()
    BlockPlace.write(out, slice.places)
    out.column(slice.starts, slice.places.size)
    out.column(slice.ends, slice.places.size)
    out.varint(slice.filters.size.toLong)
    slice.filters.foreach { f =>
      out.varint(f.offset)
      TailFormat.writeShape(out, f.shape)
    }
    out.toBytes
  }
}

/** The tails that log index files keep of one file group; can be sent.
  *
  * @param cells of each file that has some: its path, and the packed [[KeptSlice]]
  */
final class KeptCells(cells: Vector[(String, Array[Byte])]) extends KeptTails with Serializable {
  @transient private lazy val slices: Vector[KeptSlice] = cells.map { case (path, cell) =>
    KeptSlice.decode(path, cell)
  }

  def isEmpty: Boolean = cells.isEmpty

  override def of(place: BlockPlace): Option[TailPlace] = slices.iterator
    .map(s => s.numbers.get(place).map(i => TailPlace(s.path, s.starts(i), s.ends(i))))
    .collectFirst { case Some(found) => found }

  override def filters: Vector[KeptFilter] = slices.flatMap(_.filters)

  /** All blocks that have a tail. */
  def places: Set[BlockPlace] = slices.flatMap(_.places).toSet
}

/** Writes a log index file; file groups come in the order of their keys. Holds the hashes of one filter, and of each file
  * group where its tails and filters stand.
  */
final class LogIndexFileWriter(out: OutputStream) {
  private val counted = new CountedOutput(out)
  private var cells = Vector.empty[(Array[Byte], Array[Byte])]
  counted.write(LogIndexFile.Magic)

  /** Adds a file group; nothing if no tail is added to it. */
  def group(id: FileGroup)(add: KeptSliceWriter => Unit): Unit = {
    val slice = new KeptSliceWriter(counted)
    add(slice)
    slice.result().foreach(s => cells :+= LogIndexFile.keyOf(id) -> KeptSlice.encode(s))
  }

  def isEmpty: Boolean = cells.isEmpty

  /** Writes the directory; leaves the stream open. */
  def finish(): Unit = {
    val offset = counted.count
    val directory = new HFileWriter(counted, HFileOptions())
    cells.foreach { case (key, cell) => directory.append(key, cell) }
    directory.close()
    val end = new PackedOutput()
    end.long(offset)
    end.long(XxHash64.hash(end.array, 0, end.size, 0L))
    end.raw(LogIndexFile.Magic, 0, LogIndexFile.Magic.length)
    counted.write(end.toBytes)
    counted.flush()
  }
}

/** Adds the tails of one file group to a log index file. */
final class KeptSliceWriter private[logindex] (out: CountedOutput) {
  private val places = Vector.newBuilder[BlockPlace]
  private val starts, ends = Array.newBuilder[Long]
  private val filters = Vector.newBuilder[KeptFilter]
  private var waiting = Vector.empty[(FilterEntries, Array[Byte], Array[Byte])]
  private var waitingEntries, tails = 0

  def add(tail: KeptTail): Unit = {
    addTail(tail.place, tail.bytes)
    addHashes(tail.entries, tail.min, tail.max)
  }

  def addTail(place: BlockPlace, bytes: Array[Byte]): Unit = {
    places += place
    starts += out.count
    out.write(bytes)
    ends += out.count
    tails += 1
  }

  /** Hashes of blocks whose tails are added too; all of them must be.
    *
    * @param min, max of the keys, see [[FilterShape]]
    */
  def addHashes(entries: FilterEntries, min: Array[Byte], max: Array[Byte]): Unit = {
    if (waitingEntries + entries.entries.length > TailBuilder.MaxEntries) finishFilter()
    waiting :+= ((entries, min, max))
    waitingEntries += entries.entries.length
  }

  private def finishFilter(): Unit = if (waiting.nonEmpty) {
    val withKeys = waiting.filter(_._1.entries.nonEmpty)
    val (bytes, shape) = HashFilter.encode(
      FilterEntries.merge(waiting.map(_._1)),
      0,
      HashFilter.lowest(withKeys.map(_._2)),
      HashFilter.highest(withKeys.map(_._3))
    )
    filters += KeptFilter("", out.count, shape)
    out.write(bytes)
    waiting = Vector.empty
    waitingEntries = 0
  }

  private[logindex] def result(): Option[KeptSlice] = {
    finishFilter()
    if (tails == 0) None else Some(KeptSlice("", places.result(), starts.result(), ends.result(), filters.result()))
  }
}

private[logindex] final class CountedOutput(under: OutputStream) extends OutputStream {
  var count = 0L

  override def write(b: Int): Unit = {
    under.write(b)
    count += 1
  }

  override def write(b: Array[Byte], off: Int, len: Int): Unit = {
    under.write(b, off, len)
    count += len
  }

  override def flush(): Unit = under.flush()
}
