package hudiidx.spark

import java.nio.ByteBuffer

import hudiidx.HudiIdxException
import hudiidx.hadoop.Tables
import hudiidx.sync.{TableAccess, TaskEngine}
import org.apache.spark.broadcast.Broadcast
import org.apache.spark.sql.SparkSession
import org.apache.spark.util.SerializableConfiguration
import org.apache.spark.{SparkContext, SparkEnv, SparkException}

/** Runs pieces of work as Spark tasks, a task each. Spark may run a piece again, or twice at once (speculation); see
  * [[TaskEngine]]. What hudiidx raises in a task is raised here as it is.
  *
  *  @param conf Hadoop's settings, by which tasks reach the table
  */
final class SparkEngine(context: SparkContext, conf: Broadcast[SerializableConfiguration]) extends TaskEngine {

  override def parallelism: Int = context.defaultParallelism

  override def run[A, B](what: String, inputs: Vector[A])(work: (TableAccess, A) => B): Vector[B] =
    if (inputs.isEmpty) Vector.empty
    else {
      val before = context.getLocalProperty(SparkEngine.Description)
      context.setJobDescription(s"hudiidx: $what")
      try {
        val answers = context.parallelize(inputs.map(TaskBytes.of(_)), inputs.size).map(SparkEngine.task(conf, work))
        answers.collect().iterator.map(TaskBytes.read[B]).toVector
      } catch { case e: SparkException => throw SparkEngine.ours(e).getOrElse(e) }
      finally context.setJobDescription(before)
    }
}

object SparkEngine {
  private val Description = "spark.job.description"
  private val DeepestCause = 12

  def of(spark: SparkSession): SparkEngine =
    new SparkEngine(spark.sparkContext, SharedTable.shared(spark, spark.sessionState.newHadoopConf()))

  // Made here, so that a task carries what it needs and not the engine.
  private def task[A, B](
      conf: Broadcast[SerializableConfiguration],
      work: (TableAccess, A) => B
  ): Array[Byte] => Array[Byte] = { input =>
    TaskBytes.of(work(Tables.access(conf.value.value), TaskBytes.read[A](input)))
  }

  /** The first of our exceptions among the causes of a failed job. */
  private def ours(failed: Throwable): Option[HudiIdxException] =
    Iterator.iterate(failed)(_.getCause).take(DeepestCause).takeWhile(_ != null).collectFirst {
      case e: HudiIdxException => e
    }
}

/** Inputs and answers of tasks by the serializer that carries the task itself, whatever `spark.serializer` is set to. */
private object TaskBytes {

  def of(value: Any): Array[Byte] = {
    val buffer = SparkEnv.get.closureSerializer.newInstance().serialize[Any](value)
    val bytes = new Array[Byte](buffer.remaining)
    buffer.get(bytes)
    bytes
  }

  def read[A](bytes: Array[Byte]): A =
    SparkEnv.get.closureSerializer
      .newInstance()
      .deserialize[Any](ByteBuffer.wrap(bytes), Thread.currentThread.getContextClassLoader)
      .asInstanceOf[A]
}
