package hudiidx.write

import hudiidx.UnsupportedTable
import hudiidx.storage.Storage
import hudiidx.sync.TableContext
import hudiidx.table.{TableConfig, TableProperties}

/** Tables of Hudi's bucket index, which are not written: a key's file group is fixed by its hash, and inserts elsewhere would
  * never be found by stock Hudi. Their properties name it only where Hudi's SQL made them. Format notes §4.1.
  */
object BucketIndex {
  private val Prefix = "hoodie.bucket.index."

  /** Do the table's properties tell? */
  private[write] def isNamed(config: TableConfig): Boolean =
    config.text("hoodie.index.type").exists(_.equalsIgnoreCase("BUCKET")) ||
      config.text(TableProperties.WriteLayout).exists(_.equalsIgnoreCase(TableProperties.BucketLayout)) ||
      config.properties.keys.exists(_.startsWith(Prefix))

  /** UnsupportedTable for a table that was written so, as its file ids tell, or the folder of a consistent hash. */
  def refuse(table: TableContext): Unit = {
    val folder = s"${Storage.join(table.tablePath, TableConfig.HoodieFolder)}/.bucket_index"
    val newest = table.timeline.completedWrites.reverseIterator
      .map(i => table.contents.commit(i).writeStats.map(_.fileId))
      .collectFirst { case ids if ids.nonEmpty => ids }
    // Numbers from 10,000 on stand beside smaller ones.
    if (
      newest
        .exists(ids => ids.exists(isBucket) && ids.forall(_.startsWith("000"))) || table.storage.list(folder).nonEmpty
    ) throw refusal(table.tablePath)
  }

  /** The number of the bucket in eight digits. Of random UUIDs one in 400,000 begins so. */
  private def isBucket(fileId: String): Boolean = fileId.length > 8 && fileId.startsWith("0000") &&
    fileId.take(8).forall(c => c >= '0' && c <= '9') && fileId.charAt(8) == '-'

  private[write] def refusal(tablePath: String): UnsupportedTable = new UnsupportedTable(
    s"$tablePath: the table has Hudi's bucket index, by which keys are fixed to file groups; write to it with stock Hudi and " +
      "hoodie.index.type=BUCKET"
  )
}
