package hudiidx.parquet

import hudiidx.DamagedTable
import org.apache.parquet.ParquetReadOptions
import org.apache.parquet.hadoop.ParquetFileReader
import org.apache.parquet.hadoop.metadata.ParquetMetadata
import org.apache.parquet.io.InputFile
import scala.collection.JavaConverters._

/** Opens Parquet files: the one place that holds what a footer says against the file. */
private[hudiidx] object ParquetFiles {
  private val Plain = ParquetReadOptions.builder().build()

  /** DamagedTable if a column chunk lies outside of the file; errors of Parquet's own where the footer cannot be decoded. */
  def open(file: InputFile, path: String, options: ParquetReadOptions = Plain): ParquetFileReader = {
    val reader = ParquetFileReader.open(file, options)
    try {
      requireWithin(reader.getFooter, file.getLength, path)
      reader
    } catch {
      case e: Throwable =>
        reader.close()
        throw e
    }
  }

  /** Parquet's reader takes the memory that a chunk's size asks for before it looks whether there are so many bytes. */
  def requireWithin(footer: ParquetMetadata, sizeBytes: Long, path: String): Unit =
    if (footer.getFileMetaData.getFileDecryptor == null)
      for {
        block <- footer.getBlocks.asScala
        chunk <- block.getColumns.asScala
      } {
        val (start, size) = (chunk.getStartingPos, chunk.getTotalSize)
        if (start < 0 || size < 0 || start > sizeBytes || size > sizeBytes - start)
          throw new DamagedTable(
            s"$path: the footer has a chunk of column ${chunk.getPath.toDotString} with $size bytes at offset $start, the file has " +
              s"$sizeBytes bytes; restore the file from a copy"
          )
      }
}
