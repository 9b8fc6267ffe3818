package hudiidx.parquet

import hudiidx.DamagedTable
import org.apache.parquet.ParquetReadOptions
import org.apache.parquet.hadoop.ParquetFileReader
import org.apache.parquet.hadoop.metadata.ParquetMetadata
import org.apache.parquet.io.InputFile
import org.apache.parquet.schema.Type
import scala.collection.JavaConverters._

/** Opens Parquet files: the one place that holds what a footer says against the file. */
private[hudiidx] object ParquetFiles {

  /** New for each reader: they hold its decompressors, which are of one thread and go when it is closed. */
  private def plain: ParquetReadOptions = ParquetReadOptions.builder().build()

  /** Groups in one another. Some hundreds overflow the stack of a task of Spark's that converts them. */
  private val MostDepth = 200

  private def isDeeper(column: Type, most: Int): Boolean =
    !column.isPrimitive && (most == 0 || column.asGroupType.getFields.asScala.exists(isDeeper(_, most - 1)))

  /** DamagedTable as of `requireSound`; errors of Parquet's own where the footer cannot be decoded. */
  def open(file: InputFile, path: String): ParquetFileReader = open(file, path, plain)

  /** @param options of this reader alone */
  def open(file: InputFile, path: String, options: ParquetReadOptions): ParquetFileReader = {
    val reader = ParquetFileReader.open(file, options)
    try {
      requireSound(reader.getFooter, file.getLength, path)
      reader
    } catch {
      case e: Throwable =>
        reader.close()
        throw e
    }
  }

  /** DamagedTable if types are too deep in one another, a column chunk lies outside of the file, or has other rows than its row group. Parquet's readers take the memory
    * that a chunk's size asks for before they look whether there are so many bytes, and give rows that no column has.
    */
  def requireSound(footer: ParquetMetadata, sizeBytes: Long, path: String): Unit =
    if (footer.getFileMetaData.getFileDecryptor == null) {
      def damaged(what: String): Nothing =
        throw new DamagedTable(s"$path: the footer has $what; restore the file from a copy")
      if (isDeeper(footer.getFileMetaData.getSchema, MostDepth))
        damaged(s"types that are more than $MostDepth deep in one another")
      lazy val repeated =
        footer.getFileMetaData.getSchema.getColumns.asScala
          .filter(_.getMaxRepetitionLevel > 0)
          .map(_.getPath.toSeq)
          .toSet
      footer.getBlocks.asScala.foreach { block =>
        if (block.getRowCount < 0 || block.getRowCount > Long.MaxValue / footer.getBlocks.size)
          damaged(s"a row group of ${block.getRowCount} rows")
        block.getColumns.asScala.foreach { chunk =>
          val (start, size, values) = (chunk.getStartingPos, chunk.getTotalSize, chunk.getValueCount)
          def column = s"column ${chunk.getPath.toDotString}"
          if (start < 0 || size < 0 || start > sizeBytes || size > sizeBytes - start)
            damaged(s"$size bytes of $column at offset $start, the file has $sizeBytes bytes")
          if (values < block.getRowCount || (values > block.getRowCount && !repeated(chunk.getPath.toArray.toSeq)))
            damaged(s"$values values of $column in a row group of ${block.getRowCount} rows")
        }
      }
    }
}
