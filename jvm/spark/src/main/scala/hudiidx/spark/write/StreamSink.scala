package hudiidx.spark.write

import scala.annotation.tailrec
import scala.util.Try

import hudiidx.engine.Tables
import hudiidx.spark.shims.Shims
import hudiidx.spark.write.options.WriteOptions
import hudiidx.storage.Storage
import hudiidx.write.{BatchNumber, StreamBatch}
import hudiidx.{InvalidOption, Log, WriteConflict}
import org.apache.spark.sql.execution.streaming.Sink
import org.apache.spark.sql.streaming.OutputMode
import org.apache.spark.sql.{DataFrame, SparkSession}

/** `df.writeStream.format("hudiidx")`: each batch is one write, once, however often Spark brings it.
  *
  * @param options of the write; those of the session count too, these win
  */
final class StreamSink(options: Map[String, String]) extends Sink {
  // Spark brings a batch again only when it starts a query.
  @volatile private var goesOn = false

  override def addBatch(batchId: Long, data: DataFrame): Unit = {
    val spark = data.sparkSession
    val write = SaveTable.optionsOf(spark, options)
    val number = BatchNumber(batchId, offsetsOf(spark, batchId))
    val batch = StreamBatch(write.stream.writer.getOrElse(queryId(spark)), number, isOfAll = !goesOn)
    val writer = new TableWriter(spark, SaveTable.pathOf(spark, options), write)
    // Spark allows the rows to be taken once, by its own plan.
    val rows = Shims.rddFrame(spark, data.schema, data.queryExecution.toRdd)
    attempt(write.stream.retries, write.stream.retryMillis)(writer.write(rows, Some(batch)))
    goesOn = true
  }

  /** What Spark noted in the checkpoint before the batch ran, which stays as it is when it runs again. */
  private def offsetsOf(spark: SparkSession, batchId: Long): Option[String] = for {
    checkpoint <- options.collectFirst { case (k, v) if k.equalsIgnoreCase("checkpointLocation") => v }
    storage = Tables.access(spark.sessionState.newHadoopConf()).storage
    noted <- Try(storage.readAll(Storage.join(checkpoint, s"offsets/$batchId"))).toOption
  } yield BatchNumber.digest(noted)

  private def queryId(spark: SparkSession): String = spark.sparkContext.getLocalProperty("sql.streaming.queryId")

  /** A query that starts again finds what its last process left, and must wait until that one is known to be dead. */
  @tailrec
  private def attempt(left: Int, pauseMillis: Long)(write: => Unit): Unit = {
    val conflict =
      try {
        write
        None
      } catch { case e: WriteConflict if left > 0 => Some(e) }
    conflict match {
      case None    => ()
      case Some(e) =>
        StreamSink.log.warn("the batch waits, {} tries are left: {}", left, e.getMessage: Any)
        Thread.sleep(pauseMillis)
        attempt(left - 1, pauseMillis)(write)
    }
  }
}

object StreamSink {
  private val log = Log.of(classOf[StreamSink])

  /** InvalidOption for an output mode whose batches would have to take the rows of earlier ones away.
    *
    * @param partitionFields as `partitionBy` has them
    */
  def of(options: Map[String, String], partitionFields: Seq[String], mode: OutputMode): StreamSink = {
    if (mode == OutputMode.Complete())
      throw new InvalidOption(
        "outputMode: unsupported value 'complete', as rows of earlier batches stay; with mode update the rows that changed are upserted"
      )
    val given = options.keys.exists(_.equalsIgnoreCase(WriteOptions.PartitionFields))
    val fields =
      if (given || partitionFields.isEmpty) Map.empty
      else Map(WriteOptions.PartitionFields -> partitionFields.mkString(","))
    new StreamSink(options ++ fields)
  }
}
