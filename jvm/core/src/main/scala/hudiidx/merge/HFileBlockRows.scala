package hudiidx.merge

import hudiidx.DamagedTable
import hudiidx.bytes.{ByteCursor, ByteSlice}
import hudiidx.hfile.{BlockCache, HFileReader}
import hudiidx.log.{AvroFieldPlan, DataBlockRows, LogBlock, RowFields}
import hudiidx.storage.RandomReader

/** Rows of HFile log blocks: the cell's key is the record key, its value an Avro datum of the block's schema. Format notes
  * §6.4. DamagedTable if the HFile or a value cannot be decoded.
  */
object HFileBlockRows extends DataBlockRows {

  override def foreach(content: RandomReader, block: LogBlock, columns: Vector[String])(
      use: (ByteSlice, RowFields) => Unit
  ): Unit = {
    val json = block.schema.getOrElse(throw new DamagedTable(s"${content.path}: HFile block without a schema"))
    val plan = AvroFieldPlan.compile(json, columns, content.path)
    val row = plan.newRow()
    val key = new ByteSlice
    val cells = HFileReader.open(content, new BlockCache(0L), new DamagedTable(_)).scan()
    while (cells.next()) {
      key.set(cells.keyBytes, cells.keyOffset, cells.keyLength)
      val end = cells.valueOffset + cells.valueLength
      val in = new ByteCursor(cells.valueBytes, cells.valueOffset, end, content.path, 0L, new DamagedTable(_))
      plan.read(in, cells.valueLength, row)
      use(key, row)
    }
  }
}
