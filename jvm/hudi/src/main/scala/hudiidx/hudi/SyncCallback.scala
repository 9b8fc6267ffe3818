package hudiidx.hudi

import hudiidx.Log
import org.apache.hudi.callback.HoodieWriteCommitCallback
import org.apache.hudi.callback.common.HoodieWriteCommitCallbackMessage
import org.apache.hudi.config.HoodieWriteConfig
import org.apache.spark.sql.SparkSession

/** Brings the index up to a stock writer's commit, right behind it:
  * `hoodie.write.commit.callback.on=true`, `hoodie.write.commit.callback.class=hudiidx.hudi.SyncCallback`.
  * Without it the index is brought up before the next tagging.
  */
final class SyncCallback(config: HoodieWriteConfig) extends HoodieWriteCommitCallback {

  /** The commit is done: what a table may not say is warned of. */
  override def call(message: HoodieWriteCommitCallbackMessage): Unit = {
    val spark = SparkSession.builder.getOrCreate()
    TablePropertyOptions.in(spark, message.getBasePath) match {
      case Some(why) => SyncCallback.log.warn(s"${message.getBasePath}: the index stays behind: $why")
      case None      => WriterOptions.of(config.getProps).updateIndex(spark, message.getBasePath)
    }
  }
}

private object SyncCallback {
  private val log = Log.of(classOf[SyncCallback])
}
