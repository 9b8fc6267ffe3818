package hudiidx.spark.write

import scala.util.control.NonFatal

import hudiidx.spark.api.SparkTableIndex
import hudiidx.{IndexNotFound, Log}
import hudiidx.store.IndexStore
import hudiidx.sync.IndexOptions
import org.apache.spark.sql.SparkSession

/** Brings the index up after a write, ours or stock Hudi's. */
private[hudiidx] object IndexUpdate {
  private val log = Log.of(classOf[TableWriter])

  /** What fails here costs time, never a write: the next lookup lays over the index what it has not seen.
    *
    *  @param isGlobal     of a record index that is made
    *  @param createsIndex makes an index, with a record index, where there is none
    *  @param options      `hudiidx.*` settings by name
    */
  def run(
      spark: SparkSession,
      path: String,
      isGlobal: Boolean,
      createsIndex: Boolean,
      options: Map[String, String]
  ): Unit = {
    val mode = IndexOptions.RecordMode -> (if (isGlobal) IndexOptions.GlobalMode else "partitioned")
    try {
      val index = SparkTableIndex.of(spark, path, Map(mode) ++ options)
      try index.update(): Unit
      catch { case _: IndexNotFound if createsIndex => index.create(): Unit }
    } catch {
      case _: IndexNotFound => ()
      case NonFatal(e)      =>
        val command = IndexStore.command("update", path, IndexOptions.of(options).indexDir(path)).quoted
        log.warn(
          s"$path: the write is done, the update of its index failed, and the next write or $command tries again: $e"
        )
    }
  }
}
