package hudiidx.parquet

import java.nio.{ByteBuffer, ByteOrder}

import hudiidx.bytes.Bytes
import hudiidx.storage.{FileStamp, RandomReader}

/** A Parquet file that reads as if its footer had no key-value metadata, for readers of schema, row groups and columns. Hudi
  * keeps a bloom filter there: 400 KB as text in each base file by default, which is not even read. A footer costs one
  * request, a long one two or three.
  *
  * What does not look like a plain footer is left as it is.
  */
final class FooterReader(under: RandomReader) extends RandomReader {
  private val tailFrom = math.max(0L, under.sizeBytes - FooterReader.PieceBytes)
  private val tail = read(tailFrom, under.sizeBytes)

  // What lies in memory: the end of the file from `from` on, as readers are to see it.
  private val (from, end) = footerAt match {
    case Some(at) if at < tailFrom => at -> shortened(at)
    case Some(at) => tailFrom -> CompactFooter.withoutKeyValues(tail, (at - tailFrom).toInt).getOrElse(tail)
    case None     => tailFrom -> tail
  }

  override def path: String = under.path

  override def stamp: FileStamp = under.stamp

  override val sizeBytes: Long = from + end.length

  override def read(offset: Long, length: Int): ByteBuffer = {
    RandomReader.requireRange(this, offset, length)
    if (offset >= from) ByteBuffer.wrap(end, (offset - from).toInt, length).slice()
    else if (length <= from - offset) under.read(offset, length)
    else {
      val before = (from - offset).toInt
      val joined = ByteBuffer.allocate(length).put(under.read(offset, before)).put(end, 0, length - before)
      joined.flip()
      joined
    }
  }

  override def close(): Unit = under.close()

  private def read(start: Long, stop: Long): Array[Byte] = Bytes.ofBuffer(under.read(start, (stop - start).toInt))

  /** Where the footer begins, if it is a plain one. */
  private def footerAt: Option[Long] = {
    val lengthAt = tail.length - CompactFooter.EndBytes
    if (lengthAt < 0 || !CompactFooter.isPlain(tail, lengthAt + 4)) None
    else {
      val length = ByteBuffer.wrap(tail).order(ByteOrder.LITTLE_ENDIAN).getInt(lengthAt)
      Some(under.sizeBytes - CompactFooter.EndBytes - length).filter(at => length > 0 && at >= 0)
    }
  }

  /** A footer that is longer than its tail: mostly its beginning and its tail are all that matters of it. */
  private def shortened(at: Long): Array[Byte] = {
    val headTo = math.min(tailFrom, at + FooterReader.PieceBytes)
    val head = read(at, headTo)
    CompactFooter.withoutKeyValues(head, tail, tailFrom - headTo).getOrElse {
      val all = head ++ read(headTo, tailFrom) ++ tail
      CompactFooter.withoutKeyValues(all, 0).getOrElse(all)
    }
  }
}

private object FooterReader {

  /** More than the footer of a file of a few hundred columns and a few row groups. */
  private val PieceBytes = 64 << 10
}

/** Leaves the key-value metadata out of a footer, which is Thrift's FileMetaData in the compact protocol, without decoding it. */
private[hudiidx] object CompactFooter {
  private val Magic = "PAR1"
  private val KeyValuesField = 5
  private val ListType = 9
  private val StructType = 12
  private val MostDepth = 64

  /** Head of a list of no structs. */
  private val NoStructs: Byte = 12

  /** The footer's length and the magic. */
  val EndBytes = 8

  private final class Malformed extends RuntimeException

  /** A footer of which some bytes in the middle are not at hand, with the eight bytes after it.
    *
    *  @param gap so many bytes are missing between `head` and `tail`
    */
  private final case class Pieces(head: Array[Byte], from: Int, tail: Array[Byte], gap: Long) {
    val size: Long = head.length - from + gap + tail.length
    private val inHead = (head.length - from).toLong

    def apply(at: Long): Int =
      if (at < inHead) head((from + at).toInt) & 0xff
      else if (at >= inHead + gap) tail((at - inHead - gap).toInt) & 0xff
      else throw new Malformed

    /** What stands before the footer, and the footer with a list of none from `start` to `stop`. */
    def cut(start: Long, stop: Long): Array[Byte] = {
      if (start > inHead || (stop < inHead + gap && gap > 0)) throw new Malformed
      val before = from + start.toInt
      val rest = (size - stop).toInt
      val short = new Array[Byte](before + 1 + rest)
      System.arraycopy(head, 0, short, 0, before)
      short(before) = NoStructs
      (0 until rest).foreach(i => short(before + 1 + i) = apply(stop + i).toByte)
      ByteBuffer
        .wrap(short)
        .order(ByteOrder.LITTLE_ENDIAN)
        .putInt(short.length - EndBytes, short.length - EndBytes - from)
      short
    }
  }

  def isPlain(bytes: Array[Byte], at: Int): Boolean =
    Magic.indices.forall(i => bytes(at + i) == Magic(i).toByte)

  /** The end of a file with the footer that begins at `from`, without the pairs; None if it has none, or is no footer. */
  def withoutKeyValues(bytes: Array[Byte], from: Int): Option[Array[Byte]] =
    without(Pieces(bytes, from, Array.emptyByteArray, 0))

  /** The same of a footer that `head` begins and `tail` ends with `gap` bytes in between; None also if these matter. */
  def withoutKeyValues(head: Array[Byte], tail: Array[Byte], gap: Long): Option[Array[Byte]] =
    without(Pieces(head, 0, tail, gap))

  private def without(footer: Pieces): Option[Array[Byte]] =
    try {
      val walk = new Walk(footer)
      var field = 0
      var cut = Option.empty[Array[Byte]]
      var head = walk.byte()
      while (cut.isEmpty && head != 0) {
        field = if (head >> 4 == 0) walk.zigzag() else field + (head >> 4)
        val start = walk.at
        // Readers of Parquet take what a list says of its elements for granted, so a wrong byte there tells only us.
        if ((head & 15) == ListType && (footer(start) & 15) != StructType) throw new Malformed
        walk.skip(head & 15, 0)
        if (field == KeyValuesField && (head & 15) == ListType) cut = Some(footer.cut(start, walk.at))
        else head = walk.byte()
      }
      cut
    } catch { case _: Malformed => None }

  private final class Walk(footer: Pieces) {
    private val to = footer.size - EndBytes
    var at: Long = 0

    def byte(): Int = {
      if (at >= to) throw new Malformed
      at += 1
      footer(at - 1)
    }

    private def varint(): Long = {
      var value = 0L
      var shift = 0
      var b = byte()
      while (b >= 0x80) {
        value |= (b & 0x7fL) << shift
        shift += 7
        if (shift > 63) throw new Malformed
        b = byte()
      }
      value | (b.toLong << shift)
    }

    def zigzag(): Int = {
      val v = varint()
      ((v >>> 1) ^ -(v & 1)).toInt
    }

    private def pass(count: Long): Unit = {
      if (count < 0 || count > to - at) throw new Malformed
      at += count
    }

    /** Passes a value of a type of the protocol. */
    def skip(fieldType: Int, depth: Int): Unit = {
      if (depth > MostDepth) throw new Malformed
      fieldType match {
        case 1 | 2         => () // a boolean stands in its field's head
        case 3             => pass(1)
        case 4 | 5 | 6     => varint(): Unit
        case 7             => pass(8)
        case 8             => pass(varint())
        case ListType | 10 => list(depth)
        case StructType    =>
          var head = byte()
          while (head != 0) {
            if (head >> 4 == 0) zigzag(): Unit
            skip(head & 15, depth + 1)
            head = byte()
          }
        case _ => throw new Malformed // footers have no maps
      }
    }

    private def list(depth: Int): Unit = {
      val head = byte()
      val count = if (head >> 4 == 15) varint() else (head >> 4).toLong
      val elementType = head & 15
      if (elementType <= 3) throw new Malformed // footers have no lists of booleans or bytes
      var left = count
      while (left > 0) {
        skip(elementType, depth + 1)
        left -= 1
      }
    }
  }
}
