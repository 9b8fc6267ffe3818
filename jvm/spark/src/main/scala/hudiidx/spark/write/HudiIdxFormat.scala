package hudiidx.spark.write

import hudiidx.spark.HudiIdxSource
import org.apache.spark.sql.execution.streaming.Sink
import org.apache.spark.sql.sources.{BaseRelation, StreamSinkProvider}
import org.apache.spark.sql.streaming.OutputMode
import org.apache.spark.sql.types.StructType
import org.apache.spark.sql.{DataFrame, SQLContext, SaveMode}

/** The data source `hudiidx`: what it reads, `df.write.format("hudiidx").save(path)` and `df.writeStream.format("hudiidx")`. */
final class HudiIdxFormat extends HudiIdxSource with TakesVariants with StreamSinkProvider {

  override def createSink(
      context: SQLContext,
      options: Map[String, String],
      partitionFields: Seq[String],
      mode: OutputMode
  ): Sink = StreamSink.of(options, partitionFields, mode)

  override def createRelation(
      context: SQLContext,
      mode: SaveMode,
      options: Map[String, String],
      rows: DataFrame
  ): BaseRelation = {
    SaveTable.run(context.sparkSession, mode, options, rows)
    new WrittenRelation(context, rows.schema)
  }
}

/** What a write leaves to Spark. */
final private class WrittenRelation(val sqlContext: SQLContext, val schema: StructType) extends BaseRelation
