package hudiidx.parquet

import hudiidx.storage.RandomReader
import hudiidx.table.BaseFileColumns

/** The columns of Parquet base files, from their footers. */
private[hudiidx] object ParquetColumns extends BaseFileColumns {
  override def has(reader: RandomReader, column: String): Boolean = {
    // What the store does not give is no damage, so it is read out here.
    val file = new ReaderInputFile(new FooterReader(reader))
    ParquetBlockRows.guarded(reader.path) {
      val opened = ParquetFiles.open(file, reader.path)
      try opened.getFileMetaData.getSchema.containsField(column)
      finally opened.close()
    }
  }
}
