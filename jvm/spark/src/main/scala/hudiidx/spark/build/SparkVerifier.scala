package hudiidx.spark.build

import hudiidx.spark.TaskErrors
import hudiidx.spark.pinned.SharedTable
import hudiidx.spark.views.ViewTable
import hudiidx.sync.{StoredFiles, Verifier, VerifyResult}
import org.apache.spark.SparkContext

/** Compares an index with a fresh listing of the same moment, by tasks. */
final class SparkVerifier(context: SparkContext) {

  /** `table` in strict mode. IndexNotFound if there is no index; one that cannot be used is a difference. */
  def verify(table: SharedTable): VerifyResult = Verifier.orUnusable {
    val listed = StoredFiles.of(table.listing, new SparkPartitionScanner(context, table.conf).folders)
    Verifier.compare(table.snapshot.source, listed, compared(table, _))
  }

  private def compared(table: SharedTable, partitions: Vector[String]): VerifyResult = {
    val shares = ViewTable.chunks(partitions, context.defaultParallelism)
    val sent = context.broadcast(table)
    if (shares.isEmpty) VerifyResult.sum(Vector.empty)
    else {
      val tasks = context.parallelize(shares, shares.size)
      VerifyResult.sum(
        tasks.map(share => TaskErrors.ours(SparkVerifier.compared(sent.value, share))).collect().toVector
      )
    }
  }
}

private object SparkVerifier {

  def compared(table: SharedTable, partitions: Vector[String]): VerifyResult =
    Verifier.of(partitions, table.snapshot.source, table.listing.lister.list)
}
