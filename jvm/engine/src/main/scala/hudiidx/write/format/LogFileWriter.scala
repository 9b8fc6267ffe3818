package hudiidx.write.format

import hudiidx.log.{LogBlockKind, OrderingValue}
import hudiidx.logindex.{BlockPlace, BuiltTail, FilterEntries, FilterRef}
import java.io.OutputStream

/** Filters of the blocks before, see `TailBuilder.build`. */
final case class EarlierFilters(chain: Vector[FilterRef], load: FilterRef => FilterEntries)

object EarlierFilters {
  val None: EarlierFilters =
    EarlierFilters(Vector.empty, _ => FilterEntries(Vector.empty, Array.emptyLongArray))
}

/** Writes one log file of one write: data blocks with index tails, then the deletes in a block behind them, as stock Hudi has
  * it. Holds one block in memory.
  *
  * @param name      of the file
  * @param schema    Avro JSON of the records, meta columns included
  * @param earlier   filters of the slice's log so far
  * @param blockBytes a block is closed when its records have so many bytes
  */
final class LogFileWriter(
    out: OutputStream,
    name: String,
    partitionPath: String,
    instant: String,
    schema: String,
    earlier: EarlierFilters,
    blockBytes: Int
) {
  private val deletes = new DeleteBlock
  private var written0 = 0L
  private var data = newBlock()
  private var chain = earlier.chain
  // Filters of this file's own blocks, which cannot be read before the file is whole.
  private var own = Map.empty[FilterRef, BuiltTail]

  /** Bytes of the file so far. */
  def written: Long = written0

  /** See `DataBlock.add`. */
  def add(key: Array[Byte], keyLength: Int, datum: Array[Byte], datumLength: Int): Unit = {
    data.add(key, keyLength, datum, datumLength)
    if (data.sizeBytes >= blockBytes) closeBlock()
  }

  /** See `DeleteBlock.add`. */
  def delete(key: Array[Byte], ordering: OrderingValue): Unit = deletes.add(key, partitionPath, ordering)

  /** Writes what is left; the stream stays open. */
  def finish(): Unit = {
    if (data.count > 0) closeBlock()
    if (deletes.count > 0) write(LogBlockWriter.block(LogBlockKind.Delete, instant, schema, deletes.content))
  }

  private def newBlock(): DataBlock = new DataBlock(BlockPlace(name, written0, instant), LogFileWriter.writesTails)

  private def closeBlock(): Unit = {
    val (content, tail) = data.build(chain, load)
    val block = LogBlockWriter.block(LogBlockKind.AvroData, instant, schema, content)
    tail.foreach { t =>
      // Behind the content stand the empty footer and the trailing length.
      chain = t.chain(name, written0 + block.length - LogFileWriter.EndBytes - t.bytes.length)
      own = (own + (chain.last -> t)).filter { case (ref, _) => chain.contains(ref) }
    }
    write(block)
    data = newBlock()
  }

  private def load(ref: FilterRef): FilterEntries = own.get(ref).fold(earlier.load(ref))(_.entries)

  private def write(bytes: Array[Byte]): Unit = {
    out.write(bytes)
    written0 += bytes.length
  }
}

object LogFileWriter {
  private val EndBytes = 4 + 8

  /** For benchmarks, which measure what tails cost. */
  private def writesTails: Boolean = System.getProperty("hudiidx.internal.tails") != "false"
}
