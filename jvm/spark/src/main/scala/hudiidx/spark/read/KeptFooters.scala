package hudiidx.spark.read

import scala.collection.JavaConverters._

import hudiidx.RecentlyUsed
import hudiidx.column.HudiBloom
import hudiidx.fs.HadoopStorage
import hudiidx.parquet.ParquetFiles
import hudiidx.storage.FileStamp
import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.Path
import org.apache.parquet.HadoopReadOptions
import org.apache.parquet.hadoop.ParquetFileReader
import org.apache.parquet.hadoop.metadata.{FileMetaData, ParquetMetadata}
import org.apache.parquet.hadoop.util.HadoopInputFile

/** Footers of base files that were read last, in every process. A file of another size or time is another file, so the store is
  * asked for these each time. Hudi keeps a bloom filter of the keys in them, 400 KB as text by default, which no reader of rows
  * looks at: it is not kept.
  */
object KeptFooters {

  /** About so many bytes of memory. */
  private val MostBytes = 32L << 20
  private val BytesOfColumn = 600L

  private val kept = new RecentlyUsed[FileStamp, ParquetMetadata](MostBytes)(bytesOf)

  /** With all row groups. Read without settings that only some readers have, as filters. IOException, FileNotFoundException or
    * RuntimeException as Parquet's reader.
    */
  def of(path: Path, conf: Configuration): ParquetMetadata = {
    val status = path.getFileSystem(conf).getFileStatus(path)
    kept.getOrPut(HadoopStorage.stampOf(path.toString, status)) {
      val options = HadoopReadOptions.builder(conf, path).build()
      val file = ParquetFileReader.open(HadoopInputFile.fromStatus(status, conf), options)
      try {
        ParquetFiles.requireSound(file.getFooter, status.getLen, path.toString)
        slim(file.getFooter)
      } finally file.close()
    }
  }

  private def slim(footer: ParquetMetadata): ParquetMetadata = {
    val meta = footer.getFileMetaData
    val pairs = meta.getKeyValueMetaData.asScala.filterNot(p => HudiBloom.FilterKeys.contains(p._1)).toMap.asJava
    if (meta.getFileDecryptor != null) footer
    else new ParquetMetadata(new FileMetaData(meta.getSchema, pairs, meta.getCreatedBy), footer.getBlocks)
  }

  /** Memory that it takes, roughly. */
  def bytesOf(footer: ParquetMetadata): Long = {
    val columns = footer.getBlocks.asScala.iterator.map(_.getColumns.size.toLong).sum
    val pairs =
      footer.getFileMetaData.getKeyValueMetaData.asScala.iterator.map(p => p._1.length + p._2.length.toLong).sum
    BytesOfColumn * (columns + footer.getFileMetaData.getSchema.getColumns.size) + 2 * pairs
  }
}
