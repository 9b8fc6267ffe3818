package hudiidx.timeline

import java.nio.ByteBuffer
import java.nio.charset.StandardCharsets.UTF_8

import hudiidx.storage.{RandomReader, Storage}
import org.apache.avro.Schema

/** The records of one Avro block of an archive file.
  *  @param starts offset in `bytes` of each record, `ends` the offset behind it
  */
private[timeline] final class ArchiveBlock(bytes: Array[Byte], starts: Array[Int], ends: Array[Int], schema: Schema) {
  def count: Int = starts.length

  def record(i: Int): AvroReader = new AvroReader(bytes, starts(i), ends(i), schema)

  def part(from: Int, to: Int, partSchema: Schema): AvroReader = new AvroReader(bytes, from, to, partSchema)
}

/** Walks the log blocks of an archive file. Format notes §6.1, §6.3. A block that is cut or whose lengths disagree counts
  *  as never written, as for stock: the walk goes on at the next magic.
  */
private[timeline] object ArchiveBlocks {
  import ArchiveWindow.{FrameBytes, Magic}
  private val FixedBytes = 4 + 4 + 4 + 8 + 4 + 8 // version, type, header count, content length, footer count, trailer
  private val AvroData = 3
  private val SchemaHeader = 2

  /** Hands each block over with its offset, to be parsed when it is asked for: BadContent then; None for one of no records. */
  def foreach(storage: Storage, file: String)(onBlock: (Long, () => Option[ArchiveBlock]) => Unit): Unit = {
    val reader = storage.open(file)
    try {
      val window = new ArchiveWindow(reader)
      var at = 0L
      while (at < window.sizeBytes) frameSize(window, at) match {
        case Some(size) =>
          val offset = at
          onBlock(offset, () => parse(reader, offset, size))
          at += FrameBytes + size
        case None => at = window.nextMagic(at + 1)
      }
    } finally reader.close()
  }

  /** The block at an offset where `foreach` found one. */
  def read(storage: Storage, file: String, offset: Long): ArchiveBlock = {
    val reader = storage.open(file)
    try
      frameSize(new ArchiveWindow(reader), offset)
        .flatMap(parse(reader, offset, _))
        .getOrElse(throw new BadContent("the block is gone"))
    finally reader.close()
  }

  /** Bytes after the size field of a whole block; None if the block is cut or its trailer disagrees. */
  private def frameSize(window: ArchiveWindow, at: Long): Option[Int] =
    if (at + FrameBytes > window.sizeBytes || !window.hasMagic(at)) None
    else {
      val size = window.long(at + Magic.length)
      val end = at + FrameBytes + size
      if (size < FixedBytes || size > Int.MaxValue - 64 || end > window.sizeBytes) None
      else if (window.long(end - 8) != size + Magic.length) None
      else Some(size.toInt)
    }

  /** None for a block of another type than Avro data. */
  private def parse(reader: RandomReader, at: Long, size: Int): Option[ArchiveBlock] = {
    val in = reader.read(at + FrameBytes, size)
    val version = in.getInt()
    if (version != 1) throw new BadContent(s"log format version $version, known is 1")
    if (in.getInt() != AvroData) None
    else {
      val schema = headers(in).getOrElse(SchemaHeader, throw new BadContent("an Avro block without a schema"))
      val content = in.getLong()
      if (content < 8 || content > in.remaining - 12) throw new BadContent(s"content length $content")
      Some(records(in, content.toInt, AvroContainer.parseSchema(schema)))
    }
  }

  private def headers(in: ByteBuffer): Map[Int, String] = {
    val count = in.getInt()
    var all = Map.empty[Int, String]
    var i = 0
    while (i < count) {
      if (in.remaining < 8) throw new BadContent(s"$count headers pass the end of the block")
      val key = in.getInt()
      val length = in.getInt()
      if (length < 0 || length > in.remaining - 8) throw new BadContent(s"header $key of $length bytes")
      val text = new Array[Byte](length)
      in.get(text)
      all += key -> new String(text, UTF_8)
      i += 1
    }
    if (in.remaining < 8) throw new BadContent(s"$count headers pass the end of the block")
    all
  }

  /** Content: version, record count, then per record its length and bytes. What follows the last record is no record. */
  private def records(in: ByteBuffer, length: Int, schema: Schema): ArchiveBlock = {
    val bytes = new Array[Byte](length)
    in.get(bytes)
    val content = ByteBuffer.wrap(bytes)
    content.getInt()
    val count = content.getInt()
    if (count < 0 || count > content.remaining / 4) throw new BadContent(s"$count records in $length bytes")
    val starts, ends = new Array[Int](count)
    var i = 0
    while (i < count) {
      val size = if (content.remaining < 4) -1 else content.getInt()
      if (size < 0 || size > content.remaining) throw new BadContent(s"record $i of $count has $size bytes")
      starts(i) = content.position()
      content.position(content.position() + size)
      ends(i) = content.position()
      i += 1
    }
    new ArchiveBlock(bytes, starts, ends, schema)
  }
}
