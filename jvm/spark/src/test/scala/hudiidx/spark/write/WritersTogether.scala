package hudiidx.spark.write

import java.util.concurrent.atomic.AtomicReference
import java.util.concurrent.{CyclicBarrier, Executors, TimeUnit}

import scala.concurrent.duration.Duration
import scala.concurrent.{Await, ExecutionContext, Future}
import scala.util.Try

import hudiidx.Fixtures
import hudiidx.spark.SparkSuite
import org.apache.spark.sql.DataFrame
import org.apache.spark.sql.functions.{col, udf}

/** Tables for several writers at a time, and two of them at work on one. */
private[write] trait WritersTogether { this: SparkSuite =>
  protected val together: Map[String, String] = Map(
    "hoodie.write.concurrency.mode" -> "optimistic_concurrency_control",
    "hoodie.write.lock.provider" -> "org.apache.hudi.client.transaction.lock.FileSystemBasedLockProvider"
  )

  /** Sixty records in six partitions. */
  protected def newTable(version: Int): String = {
    val path = Fixtures.newFolder("together").resolve("t").toString
    val made = Map(
      "hoodie.table.name" -> "t",
      "hoodie.datasource.write.recordkey.field" -> "id",
      "hoodie.datasource.write.partitionpath.field" -> "p",
      "hoodie.datasource.write.precombine.field" -> "ts",
      "hoodie.write.table.version" -> version.toString,
      "hudiidx.write.create" -> "true"
    )
    save(rows(0 until 60, 1), path, made)
    path
  }

  protected def save(
      frame: DataFrame,
      path: String,
      more: Map[String, String] = Map.empty,
      mode: String = "append"
  ): Unit = frame.write.format("hudiidx").options(together ++ more).mode(mode).save(path)

  protected def rows(ids: Seq[Int], ts: Int): DataFrame = {
    import spark.implicits._
    ids.map(i => (f"k$i%03d", s"p${i % 6}", ts.toLong, s"v$ts")).toDF("id", "p", "ts", "v").repartition(1)
  }

  protected def values(path: String): Map[String, Int] = {
    val found = read(path).select("id", "ts").collect().map(r => r.getString(0) -> r.getLong(1).toInt).toVector
    assert(found.map(_._1).distinct.size === found.size, "a record is there twice")
    found.toMap
  }

  /** The rows, the first of which waits until `body` has run. */
  protected def during(frame: DataFrame, column: String = "v")(body: => Unit): DataFrame = {
    // A task does not start jobs: a thread of its own does.
    WritersTogether.gate.set(() => atOnce(Vector(() => body)).foreach(_.get))
    val wait = udf { v: String => WritersTogether.pass(); v }
    frame.withColumn(column, wait(col(column)))
  }

  protected def atOnce(deeds: Vector[() => Unit]): Vector[Try[Unit]] = {
    val pool = Executors.newFixedThreadPool(deeds.size)
    implicit val context: ExecutionContext = ExecutionContext.fromExecutorService(pool)
    val start = new CyclicBarrier(deeds.size)
    try {
      val all = deeds.map { d =>
        Future {
          start.await(60, TimeUnit.SECONDS)
          Try(d())
        }
      }
      Await.result(Future.sequence(all), Duration(10, TimeUnit.MINUTES))
    } finally pool.shutdown()
  }
}

private object WritersTogether {

  /** What happens in the middle of a write, once. */
  val gate = new AtomicReference[() => Unit]

  def pass(): Unit = Option(gate.getAndSet(null)).foreach(_())
}
