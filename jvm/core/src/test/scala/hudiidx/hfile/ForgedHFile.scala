package hudiidx.hfile

import java.io.ByteArrayOutputStream
import java.nio.charset.StandardCharsets.UTF_8
import scala.collection.immutable.TreeMap

/** HFiles that no writer makes, with checksums that are right: cells in any order, and an index that says what one likes.
  *
  * @param blocks keys of each data block, as they stand there
  * @param levels of the index. On each but the root there is a block for each of the data blocks; each names all of the level below
  * @param indexKeys of the entries of the index
  * @param entryCount that the trailer says
  * @param value      of each cell
  * @param more       of the file's info
  * @param ladder     each index block names but one of the level below: that of its own number
  * @param reach      of this level, 0 for data blocks, each block is said to reach to the end of all of them; -1: none
  */
final case class ForgedHFile(
    blocks: Vector[Vector[String]],
    levels: Int,
    indexKeys: Int => String,
    entryCount: Long,
    value: Array[Byte] = Array[Byte](7),
    more: Map[String, Array[Byte]] = Map.empty,
    ladder: Boolean = false,
    reach: Int = -1
) {

  def bytes: Array[Byte] = {
    val out = new ByteArrayOutputStream
    val writer = new BlockWriter(out, HFileOptions(Codec.None))
    def write(magic: Long, fill: ByteSink => Unit): (Long, Int) = {
      val body = new ByteSink(256)
      fill(body)
      (writer.write(magic, body.array, body.size), writer.lastSize)
    }
    def entries(children: Vector[((Long, Int), Int)]): IndexEntries = {
      val all = new IndexEntries
      children.foreach { case ((offset, size), i) =>
        val key = indexKeys(i).getBytes(UTF_8)
        all.add(offset, size, key, key.length)
      }
      all
    }
    def level(number: Int, written: Vector[(Long, Int)]): Vector[((Long, Int), Int)] = written.map { case (at, size) =>
      at -> (if (number == reach) (writer.offset - at).toInt else size)
    }.zipWithIndex
    val data = level(0, blocks.map(keys => write(HFileFormat.DataMagic, out => keys.foreach(cell(out, _)))))
    val top = (1 until levels).foldLeft(data) { (below, number) =>
      val magic = if (number == 1) HFileFormat.LeafIndexMagic else HFileFormat.IntermediateIndexMagic
      val named = below.map(one => entries(if (ladder) Vector(one) else below))
      level(number, named.map(all => write(magic, all.writeLeaf(_, 0, all.count))))
    }
    val loadOnOpen = writer.offset
    write(HFileFormat.RootIndexMagic, entries(top).writeRoot)
    write(HFileFormat.RootIndexMagic, _ => ())
    val trailer =
      Trailer(writer.offset, loadOnOpen, 0, 0, top.size, 0, entryCount, levels, 0, data.last._1._1, Codec.None)
    val end = trailer.encode("c")
    val info = TreeMap(
      FileInfoKey.KeyValueVersion -> Array[Byte](0, 0, 0, 1),
      FileInfoKey.ChecksumType -> Array(Checksum.Crc32c.number.toByte)
    ) ++ more
    val encoded = FileInfoBlock.encode(info)
    writer.write(HFileFormat.FileInfoMagic, encoded, encoded.length)
    out.write(end)
    out.toByteArray
  }

  private def cell(out: ByteSink, key: String): Unit = {
    val row = key.getBytes(UTF_8)
    out.int(row.length + HFileFormat.KeyOverheadBytes)
    out.int(value.length)
    Cells.writeKey(out, row, row.length)
    value.foreach(out.write(_))
    out.write(0)
  }
}
