package hudiidx.hudi

import org.apache.hudi.callback.HoodieWriteCommitCallback
import org.apache.hudi.callback.common.HoodieWriteCommitCallbackMessage
import org.apache.hudi.config.HoodieWriteConfig
import org.apache.spark.sql.SparkSession

/** Brings the index up to a stock writer's commit, right behind it:
  * `hoodie.write.commit.callback.on=true`, `hoodie.write.commit.callback.class=hudiidx.hudi.SyncCallback`.
  * Without it the index is brought up before the next tagging.
  */
final class SyncCallback(config: HoodieWriteConfig) extends HoodieWriteCommitCallback {

  override def call(message: HoodieWriteCommitCallbackMessage): Unit =
    IndexSync.update(SparkSession.builder.getOrCreate(), message.getBasePath, WriterOptions.of(config.getProps))
}
