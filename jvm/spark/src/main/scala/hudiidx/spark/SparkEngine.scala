package hudiidx.spark

import java.nio.ByteBuffer
import java.util.concurrent.atomic.AtomicReferenceArray
import java.util.concurrent.{LinkedBlockingQueue, TimeUnit}

import scala.collection.JavaConverters._

import hudiidx.spark.pinned.SharedTable
import hudiidx.{Causes, Texts}
import hudiidx.engine.Tables
import hudiidx.sync.{TableAccess, TaskEngine}
import org.apache.spark.broadcast.Broadcast
import org.apache.spark.rdd.RDD
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
    if (inputs.isEmpty) Vector.empty else described(what)(tasks(inputs, work).collect().toVector.map(TaskBytes.read[B]))

  override def runShowing[A, B](what: String, inputs: Vector[A], done: Seq[Int] => Unit)(
      work: (TableAccess, A) => B
  ): Vector[B] =
    if (inputs.isEmpty) Vector.empty
    else
      described(what) {
        val answers = new AtomicReferenceArray[Array[Byte]](inputs.size)
        val ended = new LinkedBlockingQueue[Integer]
        val job = context.submitJob[Array[Byte], Array[Byte], Unit](
          tasks(inputs, work),
          SparkEngine.only,
          inputs.indices,
          { (place, answer) =>
            answers.set(place, answer)
            ended.add(place): Unit
          },
          ()
        )
        try while (!job.isCompleted) SparkEngine.take(ended).foreach(done)
        finally job.cancel() // of no effect on one that has ended
        job.value.get.get
        SparkEngine.taken(ended).foreach(done)
        inputs.indices.toVector.map(i => TaskBytes.read[B](answers.get(i)))
      }

  private def tasks[A, B](inputs: Vector[A], work: (TableAccess, A) => B): RDD[Array[Byte]] =
    context.parallelize(inputs.map(TaskBytes.of(_)), inputs.size).map(SparkEngine.task(conf, work))

  private def described[A](what: String)(work: => A): A = {
    val before = context.getLocalProperty(SparkEngine.Description)
    context.setJobDescription(Texts.inHtml(s"hudiidx: $what"))
    try work
    catch { case e: SparkException => throw Causes.ours(e).getOrElse(e) }
    finally context.setJobDescription(before)
  }
}

object SparkEngine {
  private val Description = "spark.job.description"
  private val PollMillis = 50L

  /** Of a partition of one piece. */
  private val only: Iterator[Array[Byte]] => Array[Byte] = _.next()

  /** What has ended, after a short wait if that is nothing. */
  private def take(ended: LinkedBlockingQueue[Integer]): Option[Seq[Int]] =
    Option(ended.poll(PollMillis, TimeUnit.MILLISECONDS)).map(first =>
      first.intValue +: taken(ended).getOrElse(Seq.empty)
    )

  private def taken(ended: LinkedBlockingQueue[Integer]): Option[Seq[Int]] = {
    val all = new java.util.ArrayList[Integer]
    ended.drainTo(all)
    if (all.isEmpty) None else Some(all.asScala.map(_.intValue).toVector)
  }

  def of(spark: SparkSession): SparkEngine =
    new SparkEngine(spark.sparkContext, SharedTable.shared(spark, spark.sessionState.newHadoopConf()))

  // Made here, so that a task carries what it needs and not the engine.
  private def task[A, B](
      conf: Broadcast[SerializableConfiguration],
      work: (TableAccess, A) => B
  ): Array[Byte] => Array[Byte] = { input =>
    TaskErrors.ours(
      TaskBytes.of(TaskEngine.piece(Tables.access(conf.value.value))(work(_, TaskBytes.read[A](input))))
    )
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
