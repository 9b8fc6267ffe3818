package hudiidx.spark.write

import scala.collection.JavaConverters._
import scala.util.control.NonFatal

import hudiidx.spark.write.options.WriteOptions
import hudiidx.{IndexNotFound, Log}
import hudiidx.spark.api.HudiIdxApi
import hudiidx.store.IndexStore
import hudiidx.sync.IndexOptions
import org.apache.spark.sql.SparkSession

/** Brings the index up behind a write. */
private[spark] object IndexUpdate {
  private val log = Log.of(classOf[TableWriter])

  /** What fails here costs time, never a write: the next lookup lays over the index what it has not seen. */
  def run(spark: SparkSession, path: String, options: WriteOptions): Unit = {
    val mode = IndexOptions.RecordMode -> (if (options.isGlobal) IndexOptions.GlobalMode else "partitioned")
    val api = new HudiIdxApi(spark, path, (Map(mode) ++ options.index).asJava)
    try
      try api.update(): Unit
      catch { case _: IndexNotFound if options.createsIndex => api.create(): Unit }
    catch {
      case _: IndexNotFound => ()
      case NonFatal(e)      =>
        val command = IndexStore.command("update", path, IndexOptions.of(options.index).indexDir(path)).told
        log.warn(s"$path: the index stays behind, the next write or $command tries again: $e")
    }
  }
}
