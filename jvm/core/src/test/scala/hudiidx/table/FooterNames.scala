package hudiidx.table

import java.nio.charset.StandardCharsets.ISO_8859_1

import hudiidx.bytes.Bytes
import hudiidx.storage.RandomReader

/** Columns of base files where there is no reader of Parquet: their names stand as they are in footers. */
object FooterNames extends BaseFileColumns {
  private val FooterBytes = 64 << 10

  override def has(reader: RandomReader, column: String): Boolean = {
    val length = math.min(reader.sizeBytes, FooterBytes.toLong).toInt
    new String(Bytes.ofBuffer(reader.read(reader.sizeBytes - length, length)), ISO_8859_1).contains(column)
  }
}
