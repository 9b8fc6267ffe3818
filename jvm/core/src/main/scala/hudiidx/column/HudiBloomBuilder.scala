package hudiidx.column

import java.nio.ByteBuffer
import java.util.Base64

/** Makes the bloom filter of record keys that stock Hudi writes into footers of base files by default: type DYNAMIC_V0, of its
  * default sizes. Rows of filters are added up to [[HudiBloomBuilder.MostRecords]] keys, and then used again in turn. Format
  * notes §9.2.
  */
final class HudiBloomBuilder {
  import HudiBloomBuilder._

  private var rows = Vector(new Array[Byte](RowBytes))
  private var inRow = 0
  private var turn = 0

  def add(key: Array[Byte]): Unit = {
    val row =
      if (inRow < RowRecords) rows.last
      else if (rows.size * RowRecords < MostRecords) {
        rows :+= new Array[Byte](RowBytes)
        inRow = 0
        rows.last
      } else {
        val reused = rows(turn % rows.size)
        turn += 1
        reused
      }
    if (inRow < RowRecords) inRow += 1
    set(row, key)
  }

  private def set(row: Array[Byte], key: Array[Byte]): Unit = {
    var h = 0
    var p = 0
    while (p < Probes) {
      h = HudiBloom.hash(key, h)
      val bit = math.abs(h % Bits)
      row(bit >>> 3) = (row(bit >>> 3) | (1 << (bit & 7))).toByte
      p += 1
    }
  }

  /** The value of `org.apache.hudi.bloomfilter`. */
  def text: String = {
    val out = ByteBuffer.allocate(HeaderBytes + 12 + rows.size * (HeaderBytes + RowBytes))
    header(out)
    out.putInt(RowRecords).putInt(inRow).putInt(rows.size)
    rows.foreach { row =>
      header(out)
      out.put(row)
    }
    Base64.getEncoder.encodeToString(out.array)
  }

  private def header(out: ByteBuffer): Unit = out.putInt(Version).putInt(Probes).put(Murmur).putInt(Bits): Unit
}

object HudiBloomBuilder {

  /** Footer keys of the filter and of its type, and the type. */
  val FilterKey: String = HudiBloom.FilterKeys.head
  val TypeKey: String = HudiBloom.TypeKey
  val TypeCode = "DYNAMIC_V0"

  /** Hudi's `hoodie.index.bloom.num_entries`, `hoodie.index.bloom.fpp`, `hoodie.bloom.index.filter.dynamic.max.entries`. */
  private val RowRecords = 60000
  private val FalsePositives = 1e-9
  private val MostRecords = 100000

  private val Bits = math.ceil(RowRecords * (-math.log(FalsePositives) / (math.log(2) * math.log(2)))).toInt
  private val Probes = math.ceil(math.log(2) * Bits / RowRecords).toInt
  private val RowBytes = (Bits + 7) / 8
  private val HeaderBytes = 13
  private val Version = -1
  private val Murmur: Byte = 1
}
