package hudiidx.write.format

import hudiidx.bytes.PackedOutput
import hudiidx.logindex.{BlockPlace, BuiltTail, FilterEntries, FilterRef, TailBuilder}
import java.nio.ByteBuffer

/** Content of an Avro data block with its index tail behind the last record. Format notes §6.3; docs/format.md, "Index tail".
  *
  * @param place     where the block will stand
  * @param isIndexed false: without the tail
  */
final class DataBlock(place: BlockPlace, isIndexed: Boolean = true) {
  private val records = new PackedOutput(1 << 16)
  private val tail = new TailBuilder(place)
  private var count0 = 0

  def count: Int = count0

  /** Of the content so far. */
  def sizeBytes: Int = DataBlock.HeadBytes + records.size

  /** A record: an Avro datum of the block's schema, in the first `datumLength` bytes. */
  def add(key: Array[Byte], keyLength: Int, datum: Array[Byte], datumLength: Int): Unit = {
    if (isIndexed) tail.add(key, 0, keyLength, sizeBytes)
    int(datumLength)
    records.raw(datum, 0, datumLength)
    count0 += 1
  }

  /** The content, and its tail if it has one.
    *
    * @param earlier, load as for `TailBuilder.build`
    */
  def build(earlier: Vector[FilterRef], load: FilterRef => FilterEntries): (Vector[BytesPiece], Option[BuiltTail]) = {
    val head = ByteBuffer.allocate(DataBlock.HeadBytes).putInt(DataBlock.Version).putInt(count0).array()
    val built = if (isIndexed) Some(tail.build(sizeBytes.toLong, earlier, load)) else None
    val content = Vector(BytesPiece(head, head.length), BytesPiece(records.array, records.size))
    (content ++ built.map(t => BytesPiece(t.bytes, t.bytes.length)), built)
  }

  private def int(value: Int): Unit = {
    records.byte(value >>> 24 & 0xff)
    records.byte(value >>> 16 & 0xff)
    records.byte(value >>> 8 & 0xff)
    records.byte(value & 0xff)
  }
}

object DataBlock {
  private val Version = 3
  private val HeadBytes = 8
}
