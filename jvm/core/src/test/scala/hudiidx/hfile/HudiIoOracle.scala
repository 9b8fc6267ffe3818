package hudiidx.hfile

import java.io.ByteArrayOutputStream
import java.nio.charset.StandardCharsets.UTF_8
import org.apache.hudi.common.util.io.ByteBufferBackedInputStream
import org.apache.hudi.io.ByteArraySeekableDataInputStream
import org.apache.hudi.io.compress.CompressionCodec
import org.apache.hudi.io.hfile.{HFileContext, HFileReader => Reader, HFileReaderImpl, HFileWriterImpl, UTF8StringKey}

/** Hudi 1.1.1's own HFile writer and reader (`hudi-io`). It knows none and gzip. */
object HudiIoOracle {
  def codec(codec: Codec): CompressionCodec = codec match {
    case Codec.None    => CompressionCodec.NONE
    case Codec.Gzip    => CompressionCodec.GZIP
    case _: Codec.Zstd => CompressionCodec.ZSTD
  }

  def write(
      cells: HFiles.Cells,
      compression: Codec,
      blockBytes: Int,
      metas: Map[String, Array[Byte]] = Map.empty
  ): Array[Byte] = {
    val out = new ByteArrayOutputStream
    val context = HFileContext.builder().blockSize(blockBytes).compressionCodec(codec(compression)).build()
    val writer = new HFileWriterImpl(context, out)
    cells.foreach { case (k, v) => writer.append(new String(k.toArray, UTF_8), v) }
    metas.foreach { case (name, v) => writer.appendMetaInfo(name, v) }
    writer.close()
    out.toByteArray
  }

  def reader(bytes: Array[Byte]): Reader = {
    val stream = new ByteArraySeekableDataInputStream(new ByteBufferBackedInputStream(bytes))
    val reader = new HFileReaderImpl(stream, bytes.length.toLong)
    reader.initializeMetadata()
    reader
  }

  /** What Hudi reads: all cells in order, and the value of each of the ascending keys. */
  def read(
      bytes: Array[Byte],
      keys: Iterable[Array[Byte]],
      metas: Iterable[String] = Nil
  ): (Vector[(Vector[Byte], Vector[Byte])], Vector[Option[Vector[Byte]]], Map[String, Vector[Byte]]) = {
    val scan = reader(bytes)
    val all = Vector.newBuilder[(Vector[Byte], Vector[Byte])]
    var more = scan.seekTo()
    while (more) {
      all += current(scan)
      more = scan.next()
    }
    val lookup = reader(bytes)
    var left = lookup.seekTo()
    val found = keys.toVector.map { k =>
      if (left && lookup.seekTo(new UTF8StringKey(k)) == Reader.SEEK_TO_FOUND) Some(current(lookup)._2)
      else {
        left = left && lookup.isSeeked
        None
      }
    }
    val blocks = metas.map(m => m -> HFiles.bytesOf(scan.getMetaBlock(m).get).get).toMap
    (all.result(), found, blocks)
  }

  private def current(reader: Reader): (Vector[Byte], Vector[Byte]) = {
    val cell = reader.getKeyValue.get
    val key = cell.getKey
    val from = key.getContentOffset
    val row = java.util.Arrays.copyOfRange(key.getBytes, from, from + key.getContentLength)
    val value =
      java.util.Arrays.copyOfRange(cell.getBytes, cell.getValueOffset, cell.getValueOffset + cell.getValueLength)
    (row.toVector, value.toVector)
  }
}
