package hudiidx.column

import hudiidx.bytes.PackedInput
import hudiidx.fuzz.FuzzTarget
import java.nio.ByteBuffer
import java.nio.charset.StandardCharsets.ISO_8859_1

/** Parts of column files; the first byte says which. */
object ColumnTarget extends FuzzTarget {
  private val types = Vector("int", "long", "double", "float", "string", "boolean", "date", "binary", "decimal(20,3)")
    .flatMap(ColumnType.of)

  override def seeds: Vector[Array[Byte]] =
    (0 until types.size + 4).map(i => Array[Byte](i.toByte, 1, 1, 0, 0, 0, 0, 0)).toVector

  override protected def read(bytes: Array[Byte]): Unit = if (bytes.nonEmpty) {
    val (which, rest) = ((bytes(0) & 0xff) % (types.size + 4), bytes.drop(1))
    ColumnFile.guard("f", "part") {
      which - types.size match {
        case 0 => FileTable.decode(new PackedInput(rest)): Unit
        case 1 => PartitionDirectory.decode(new PackedInput(rest)): Unit
        case 2 => BloomFilter.of(ByteBuffer.wrap(rest)).foreach(_.mightHave(7L))
        case 3 =>
          val text = new String(rest, ISO_8859_1)
          HudiBloom.of(k => Some(if (k == HudiBloom.TypeKey) "DYNAMIC_V0" else text)): Unit
        case _ => StatsPage.decode(types(which), rest, null): Unit
      }
    }
  }
}
