package hudiidx.hudi

import scala.collection.JavaConverters._
import scala.util.control.NonFatal

import hudiidx.{IndexNotFound, Log}
import hudiidx.spark.api.HudiIdxApi
import hudiidx.store.IndexStore
import hudiidx.sync.IndexOptions
import org.apache.spark.sql.SparkSession

/** Keeps a table's index in step with the writer. What fails here costs time, never a write: the next tagging lays over
  * the index what it has not seen.
  */
private[hudi] object IndexSync {
  private val log = Log.of(classOf[RecordIndex])

  /** Takes in what completed; makes the index, with a record index, where there is none and the
    * options ask for it.
    */
  def update(spark: SparkSession, tablePath: String, options: WriterOptions): Unit = {
    val mode = IndexOptions.RecordMode -> (if (options.global) "global" else "partitioned")
    val api = new HudiIdxApi(spark, tablePath, (Map(mode) ++ options.index).asJava)
    try
      try api.update(): Unit
      catch { case _: IndexNotFound if options.create => api.create(): Unit }
    catch {
      case _: IndexNotFound => ()
      case NonFatal(e)      =>
        val command = IndexStore.command("update", tablePath, IndexOptions.of(options.index).indexDir(tablePath)).told
        log.warn(s"$tablePath: the index stays behind, the next write or $command tries again: $e")
    }
  }
}
