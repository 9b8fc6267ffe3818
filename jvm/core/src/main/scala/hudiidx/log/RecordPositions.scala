package hudiidx.log

import hudiidx.bytes.ByteCursor
import hudiidx.DamagedTable
import java.nio.charset.StandardCharsets.ISO_8859_1
import java.util.Base64

/** The positions of a block's records in the base file, from the block's header: Base64 of a 64-bit Roaring bitmap in its
  * portable form. Format notes §6.6; Roaring's format page for what lies inside.
  */
object RecordPositions {
  private val NoRunCookie = 12346
  private val RunCookie = 12347
  private val NoOffsetsBelow = 4
  private val ArrayMost = 4096
  private val BitmapWords = 1024
  private val MostKeys = 1 << 16

  /** More records than a block has that is compressed. */
  private val PerByte = 64L
  private val LeastMost = 65536L

  /** Bytes that a record of an Avro block, and a key of a delete block, have at least. */
  private val LeastRecord = 4L
  private val LeastKey = 3L

  /** Positions of the records in the order of the block: ascending. None if the block bears none that are valid for a base
    * file of this instant. DamagedTable if the bitmap cannot be decoded.
    *
    * @param baseInstant of the base file that the slice has
    */
  def of(block: LogBlock, baseInstant: String, file: String): Option[Array[Long]] = {
    val valid = block.header.get(LogHeaderKey.BaseFileInstantTime).contains(baseInstant)
    block.header.get(LogHeaderKey.RecordPositions).filter(text => valid && text.nonEmpty).map { text =>
      val where = s"$file: record positions of the log block at offset ${block.offset}"
      val bytes =
        try Base64.getDecoder.decode(text.getBytes(ISO_8859_1))
        catch { case e: IllegalArgumentException => throw new DamagedTable(s"$where: ${e.getMessage}", e) }
      decode(bytes, where, mostOf(block))
    }
  }

  /** Records that a block may have. */
  private def mostOf(block: LogBlock): Long = block.kind match {
    case LogBlockKind.AvroData => block.contentLength / LeastRecord
    case LogBlockKind.Delete   => block.contentLength / LeastKey
    case _                     => LeastMost + PerByte * block.contentLength
  }

  /** @param most positions that there may be: runs of any length take a few bytes */
  private[log] def decode(bytes: Array[Byte], where: String, most: Long = Int.MaxValue): Array[Long] = {
    val in = new LittleEndian(new ByteCursor(bytes, 0, bytes.length, where, 0L, new DamagedTable(_)))
    val found = new Positions(in, most)
    var left = in.long("count of high words")
    if (left < 0 || left > bytes.length / 8) in.fail(s"$left high words")
    while (left > 0) {
      bitmap(in, in.int("high word").toLong << 32, found)
      left -= 1
    }
    found.result
  }

  /** One 32-bit bitmap, whose values are added to `high`. */
  private def bitmap(in: LittleEndian, high: Long, found: Positions): Unit = {
    val cookie = in.int("cookie")
    val hasRuns = (cookie & 0xffff) == RunCookie
    if (!hasRuns && cookie != NoRunCookie) in.fail(s"cookie $cookie of a bitmap is unknown")
    val containers = if (hasRuns) (cookie >>> 16) + 1 else in.int("count of containers")
    if (containers < 0 || containers > MostKeys) in.fail(s"$containers containers")
    val runs = if (hasRuns) in.bytes((containers + 7) / 8, "run flags") else null
    val keys, counts = new Array[Int](containers)
    for (i <- 0 until containers) {
      keys(i) = in.short("key of a container")
      counts(i) = in.short("size of a container") + 1
    }
    if (!hasRuns || containers >= NoOffsetsBelow) in.skip(4L * containers, "offsets")
    for (i <- 0 until containers) {
      val from = high | (keys(i).toLong << 16)
      if (hasRuns && (runs(i / 8) & (1 << (i % 8))) != 0) runContainer(in, from, found)
      else if (counts(i) <= ArrayMost) for (_ <- 0 until counts(i)) found.add(from | in.short("value"))
      else bitmapContainer(in, from, found)
    }
  }

  private def runContainer(in: LittleEndian, from: Long, found: Positions): Unit =
    for (_ <- 0 until in.short("count of runs")) {
      val start = in.short("start of a run")
      val last = start + in.short("length of a run")
      if (last >= MostKeys) in.fail(s"a run up to $last")
      var value = start
      while (value <= last) {
        found.add(from | value)
        value += 1
      }
    }

  private def bitmapContainer(in: LittleEndian, from: Long, found: Positions): Unit =
    for (i <- 0 until BitmapWords) {
      var word = in.long("word of a bitmap")
      while (word != 0) {
        found.add(from | (i * 64 + java.lang.Long.numberOfTrailingZeros(word)))
        word &= word - 1
      }
    }

  /** Positions of rows that a base file may have, each once and ascending, as a bitmap has them. */
  private final class Positions(in: LittleEndian, most: Long) {
    private var values = new Array[Long](64)
    private var count = 0

    def add(value: Long): Unit = {
      if (value < 0 || value >= Int.MaxValue) in.fail(s"position $value, which no row of a base file has,")
      if (count > 0 && value <= values(count - 1)) in.fail(s"position $value behind ${values(count - 1)}")
      if (count >= most) in.fail(s"more than $most positions")
      if (count == values.length) values = java.util.Arrays.copyOf(values, count * 2)
      values(count) = value
      count += 1
    }

    def result: Array[Long] = java.util.Arrays.copyOf(values, count)
  }

  private final class LittleEndian(in: ByteCursor) {
    def fail(what: String): Nothing = in.fail(what)
    def skip(count: Long, what: String): Unit = in.skip(count, what)
    def bytes(count: Int, what: String): Array[Byte] = in.take(count, what)
    def short(what: String): Int = Integer.reverseBytes(in.unsignedShort(what)) >>> 16
    def int(what: String): Int = Integer.reverseBytes(in.int(what))
    def long(what: String): Long = java.lang.Long.reverseBytes(in.long(what))
  }
}
