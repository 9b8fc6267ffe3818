package hudiidx.logindex

import hudiidx.bytes.{PackedInput, PackedInts, PackedOutput, XxHash64}
import hudiidx.log.CountedBlock
import hudiidx.storage.RandomReader
import java.io.OutputStream
import scala.collection.mutable

/** Index tails kept beside a log, of blocks whose writers made none. docs/format.md, "Log index file". */
object LogIndexFile {
  private[logindex] val Magic: Array[Byte] = "HDXLIX".getBytes("US-ASCII") ++ Array[Byte](0, 1)

  /** Directory length (int32), checksum of the directory and of that, magic. */
  private[logindex] val EndBytes = 4 + 8 + 8

  /** The tails of a file. DamagedIndex if its directory cannot be read; the tails are checked when they are. */
  def open(reader: RandomReader): KeptTails = TailReader.guard(reader.path, 0L) {
    val size = reader.sizeBytes
    val end = TailReader.bytes(reader, size - EndBytes, EndBytes)
    require(java.util.Arrays.equals(end, 12, EndBytes, Magic, 0, Magic.length), "no log index file ends here")
    val length = PackedInts.words(end).getInt(0)
    val directory = TailReader.bytes(reader, size - EndBytes - length, length + 4)
    val sum = XxHash64.hash(directory, 0, directory.length, 0L)
    require(sum == PackedInts.words(end).getLong(4), "checksum of a log index file's directory differs")
    val in = new PackedInput(directory, 0, length)
    val places = BlockPlace.read(in)
    val ends = in.column(places.size)
    val starts = Magic.length.toLong +: ends.toVector
    val byPlace = places.indices.map(i => places(i) -> TailPlace(reader.path, starts(i), ends(i))).toMap
    new KeptTails {
      override def of(place: BlockPlace): Option[TailPlace] = byPlace.get(place)
    }
  }
}

/** Writes a log index file: reads each block once, and holds of its own filters those that may still be merged.
  *
  * @param name    of the file, without folder
  * @param earlier filters of blocks before, in files of the same folder
  * @param load    all entries of one of them
  */
final class LogIndexFileWriter(
    out: OutputStream,
    name: String,
    indexer: BlockIndexer,
    earlier: Vector[FilterRef] = Vector.empty,
    load: FilterRef => FilterEntries = _ => FilterEntries(Vector.empty, Array.emptyLongArray)
) {
  private var chain0 = earlier
  private val own = mutable.HashMap.empty[Long, FilterEntries]
  private val places = Vector.newBuilder[BlockPlace]
  private val ends = mutable.ArrayBuffer.empty[Long]
  private var at = LogIndexFile.Magic.length.toLong
  out.write(LogIndexFile.Magic)

  /** Filters of the blocks added and of those before. */
  def chain: Vector[FilterRef] = chain0

  /** Blocks come in their order. DamagedTable and UnsupportedTable as a read of the block. */
  def add(reader: RandomReader, counted: CountedBlock): Unit = {
    val tail = indexer.tail(reader, counted, chain0, f => if (f.file == name) own(f.offset) else load(f))
    out.write(tail.bytes)
    chain0 = tail.chain(name, at)
    val filter = chain0.last
    val bytes = java.util.Arrays.copyOfRange(
      tail.bytes,
      tail.summary.filterOffset,
      tail.summary.filterOffset + filter.shape.length
    )
    own(filter.offset) = HashFilter.decode(bytes, filter.shape)
    own --= own.keySet -- chain0.iterator.filter(_.file == name).map(_.offset)
    at += tail.bytes.length
    places += BlockPlace.of(counted)
    ends += at
  }

  /** Writes the directory; leaves the stream open. */
  def finish(): Unit = {
    val directory = new PackedOutput()
    BlockPlace.write(directory, places.result())
    directory.column(ends.toArray, ends.size)
    directory.bits(Array(directory.size.toLong), 1, 0L, 32)
    directory.long(XxHash64.hash(directory.array, 0, directory.size, 0L))
    directory.raw(LogIndexFile.Magic, 0, LogIndexFile.Magic.length)
    out.write(directory.toBytes)
  }
}
