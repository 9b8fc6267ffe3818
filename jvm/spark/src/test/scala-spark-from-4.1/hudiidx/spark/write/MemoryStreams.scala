package hudiidx.spark.write

import org.apache.spark.sql.{Encoder, SparkSession}
import org.apache.spark.sql.execution.streaming.runtime.MemoryStream

/** Spark's stream of what a test adds, which Spark 4.1 keeps in another package. */
object MemoryStreams {
  def of[A: Encoder](spark: SparkSession): MemoryStream[A] = MemoryStream[A](implicitly[Encoder[A]], spark)
}
