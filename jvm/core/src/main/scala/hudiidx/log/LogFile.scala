package hudiidx.log

import hudiidx.DamagedTable
import hudiidx.bytes.Bytes
import hudiidx.storage.{RandomReader, RangeReader, Storage}
import java.io.EOFException
import java.nio.charset.StandardCharsets.US_ASCII

/** The blocks of a Hudi log file. Reads headers only; memory is that of one header and one window. Format notes §6.1,
  * §6.2. An empty file has no blocks. A block that is cut off, or whose lengths contradict each other, becomes a corrupt
  * block; there is no checksum, so damage inside a block's content is not seen here.
  *
  * Errors: DamagedTable where bytes between blocks are no magic or a whole block cannot be understood, UnsupportedTable
  * for a block format other than 1.
  */
object LogFile {
  private[log] val Magic = "#HUDI#".getBytes(US_ASCII)
  private[log] val FormatVersion = 1

  /** Does the file begin with a block? */
  def begins(storage: Storage, path: String): Boolean = {
    val reader = storage.open(path)
    try
      reader.sizeBytes >= Magic.length && {
        val start = new Array[Byte](Magic.length)
        reader.readInto(0, start.length, start)
        java.util.Arrays.equals(start, Magic)
      }
    finally reader.close()
  }

  /** @param atomicWrites the store never leaves half a file (S3 and the like): lengths are trusted, as stock Hudi does */
  def blocks(reader: RandomReader, atomicWrites: Boolean = false): LogBlockScan =
    new LogBlockScan(reader, atomicWrites, from = 0L)

  /** Blocks whose lengths agree with each other, whatever is between them; none within another. */
  def anywhere(reader: RandomReader): Iterator[LogBlock] = {
    val window = new Window(reader)
    val scan = blocks(reader)
    var at = window.findMagic(0)
    def next(): Option[LogBlock] = {
      var found = Option.empty[LogBlock]
      while (found.isEmpty && at < window.size) {
        found = scan.intactAt(at)
        at = window.findMagic(found.fold(at + Magic.length)(_.endOffset))
      }
      found
    }
    Iterator.continually(next()).takeWhile(_.isDefined).flatten
  }

  /** Instant of the first block that is not corrupt; None if the file has no such block, or it bears no instant. */
  def firstInstantTime(reader: RandomReader, atomicWrites: Boolean = false): Option[String] =
    blocks(reader, atomicWrites).find(_.kind != LogBlockKind.Corrupt).flatMap(_.instantTime)

  /** The Avro schema of the first rows at or behind the offset of a block; None if there are none. */
  def schemaFrom(reader: RandomReader, offset: Long): Option[String] =
    new LogBlockScan(reader, atomicWrites = false, offset).flatMap(_.schema).take(1).toVector.headOption

  /** The whole content of a block; DamagedTable if it is longer than an array, or the file got shorter. */
  def content(reader: RandomReader, block: LogBlock): Array[Byte] = {
    if (block.contentLength > Int.MaxValue - 16)
      throw new DamagedTable(
        s"${reader.path}: log block content has ${block.contentLength} bytes at offset ${block.contentOffset}, more than " +
          "Hudi writes; restore the file"
      )
    val buffer =
      try reader.read(block.contentOffset, block.contentLength.toInt)
      catch {
        case e: EOFException => throw new DamagedTable(s"${reader.path}: log file got shorter; read it again", e)
      }
    Bytes.ofBuffer(buffer)
  }

  /** The content of a block as a file of its own, for HFile and Parquet blocks: nothing is read ahead of being asked for.
    * Its path is `<log file>@<offset of the content>`. Closing it leaves `reader` open.
    */
  def contentReader(reader: RandomReader, block: LogBlock): RandomReader =
    new RangeReader(reader, block.contentOffset, block.contentLength)
}
