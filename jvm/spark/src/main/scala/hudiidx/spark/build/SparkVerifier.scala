package hudiidx.spark.build

import hudiidx.spark.TaskErrors
import hudiidx.spark.pinned.SharedTable
import hudiidx.spark.views.ViewTable
import hudiidx.sync.{StoredFiles, Verifier, VerifyResult}
import hudiidx.{DamagedIndex, StaleIndex}
import org.apache.spark.SparkContext

/** Compares an index with a fresh listing of the same moment, by tasks. */
final class SparkVerifier(context: SparkContext) {

  /** `table` in strict mode. IndexNotFound if there is no index; one that cannot be used is a difference. */
  def verify(table: SharedTable): VerifyResult =
    try {
      val listed = StoredFiles.of(table.listing, new SparkPartitionScanner(context, table.conf).folders)
      val indexed = table.snapshot.source
      val found = compare(table, indexed.partitions.filter(listed.partitions.toSet))
      val differences = Verifier.partitions(indexed, listed) ++ found.flatMap(_.differences)
      VerifyResult(differences, listed.partitions.size.toLong, found.map(_.files).sum)
    } catch {
      case e: DamagedIndex => Verifier.unusable("", e)
      case e: StaleIndex   => Verifier.unusable("", e)
    }

  private def compare(table: SharedTable, partitions: Vector[String]): Vector[VerifyResult] = {
    val shares = ViewTable.chunks(partitions, context.defaultParallelism)
    val sent = context.broadcast(table)
    if (shares.isEmpty) Vector.empty
    else {
      val tasks = context.parallelize(shares, shares.size)
      tasks.map(share => TaskErrors.ours(SparkVerifier.compareShare(sent.value, share))).collect().toVector
    }
  }
}

private object SparkVerifier {

  def compareShare(table: SharedTable, partitions: Vector[String]): VerifyResult = {
    val found = partitions.map(p => Verifier.partition(p, table.snapshot.source, table.listing.lister.list))
    VerifyResult(found.flatMap(_.differences), partitions.size.toLong, found.map(_.files).sum)
  }
}
