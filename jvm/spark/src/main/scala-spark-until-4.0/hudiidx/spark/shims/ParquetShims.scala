package hudiidx.spark.shims

import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.mapreduce.{InputSplit, TaskAttemptContext}
import org.apache.parquet.hadoop.metadata.ParquetMetadata
import org.apache.spark.sql.execution.datasources.PartitionedFile
import org.apache.spark.sql.execution.datasources.parquet.{ParquetFooterReader, VectorizedParquetRecordReader}

/** How Spark 3.5 and 4.0 open Parquet files. */
private[spark] object ParquetShims {
  def initialize(
      reader: VectorizedParquetRecordReader,
      split: InputSplit,
      context: TaskAttemptContext,
      footer: ParquetMetadata
  ): Unit = reader.initialize(split, context, Some(footer))

  def footerOfPiece(conf: Configuration, file: PartitionedFile): ParquetMetadata =
    ParquetFooterReader.readFooter(conf, file, ParquetFooterReader.WITH_ROW_GROUPS)
}
