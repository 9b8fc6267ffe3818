package hudiidx.spark.shims

import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.mapred.FileSplit
import org.apache.hadoop.mapreduce.{InputSplit, TaskAttemptContext}
import org.apache.parquet.hadoop.metadata.ParquetMetadata
import org.apache.parquet.hadoop.util.HadoopInputFile
import org.apache.spark.sql.execution.datasources.PartitionedFile
import org.apache.spark.sql.execution.datasources.parquet.{ParquetFooterReader, VectorizedParquetRecordReader}

/** How Spark 4.1 opens Parquet files. */
private[spark] object ParquetShims {
  def initialize(
      reader: VectorizedParquetRecordReader,
      split: InputSplit,
      context: TaskAttemptContext,
      footer: ParquetMetadata
  ): Unit = {
    // Without the open file Spark takes no notice of the footer, and reads the one that stands there.
    val file = HadoopInputFile.fromPath(split.asInstanceOf[FileSplit].getPath, context.getConfiguration)
    val in = file.newStream()
    try reader.initialize(split, context, Some(file), Some(in), Some(footer))
    catch {
      case e: Throwable =>
        in.close()
        throw e
    }
  }

  def footerOfPiece(conf: Configuration, file: PartitionedFile): ParquetMetadata =
    ParquetFooterReader.readFooter(
      HadoopInputFile.fromPath(file.toPath, conf),
      ParquetFooterReader.buildFilter(conf, file, false)
    )
}
