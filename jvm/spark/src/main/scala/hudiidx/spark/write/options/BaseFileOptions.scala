package hudiidx.spark.write.options

/** How base files are written; defaults are stock Hudi's.
  *
  * @param codec    `hoodie.parquet.compression.codec`
  * @param groupBytes of a row group, `hoodie.parquet.block.size`: about so much is held in memory for each file being written
  */
final case class BaseFileOptions(codec: String = "gzip", groupBytes: Long = 125829120L)
