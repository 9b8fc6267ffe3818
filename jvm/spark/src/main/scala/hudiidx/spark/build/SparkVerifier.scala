package hudiidx.spark.build

import hudiidx.spark.TaskErrors
import hudiidx.spark.pinned.SharedTable
import hudiidx.spark.views.ViewTable
import hudiidx.sync.{Difference, DifferenceKind, Verifier, VerifyResult}
import hudiidx.table.{FileEntry, FileSource}
import hudiidx.table.listing.PartitionLister
import hudiidx.{DamagedIndex, HudiIdxException, StaleIndex}
import org.apache.spark.SparkContext

/** Compares an index with a fresh listing of the same moment, by tasks. */
final class SparkVerifier(context: SparkContext) {

  /** `table` in strict mode. IndexNotFound if there is no index; one that cannot be used is a difference. */
  def verify(table: SharedTable): VerifyResult =
    try {
      val listed = new OnStorage(table.listing.lister, discover(table))
      val indexed = table.snapshot.source
      val found = compare(table, indexed.partitions.filter(listed.partitions.toSet))
      val differences = Verifier.partitions(indexed, listed) ++ found.flatMap(_.differences)
      VerifyResult(differences, listed.partitions.size.toLong, found.map(_.files).sum)
    } catch {
      case e: DamagedIndex => SparkVerifier.unusable("", e)
      case e: StaleIndex   => SparkVerifier.unusable("", e)
    }

  /** Partitions on storage: as `TableListing.partitions` finds them, whose files need not be whole here. */
  private def discover(table: SharedTable): Vector[String] = {
    val scanner = new SparkPartitionScanner(context, table.conf)
    val levels = Iterator.iterate(scanner.visit(table.listing.lister, Vector(""))) { visits =>
      scanner.visit(table.listing.lister, visits.flatMap(_.subfolders))
    }
    val found = levels.takeWhile(_.nonEmpty).flatten.filter(_.isPartition).map(_.path).toVector
    val known = found.toSet
    val overlooked = table.listing.expectedPartitions.filter(p => !known(p) && table.listing.lister.list(p).nonEmpty)
    (found ++ overlooked).sorted
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

/** What lies on storage; a file that should be there is no error here. */
final private class OnStorage(lister: PartitionLister, override val partitions: Vector[String]) extends FileSource {
  override def files(partitionPath: String): Array[FileEntry] = lister.list(partitionPath)
}

private object SparkVerifier {

  def compareShare(table: SharedTable, partitions: Vector[String]): VerifyResult = {
    val found = partitions.map(p => comparePartition(table, p))
    VerifyResult(found.flatMap(_.differences), partitions.size.toLong, found.map(_.files).sum)
  }

  private def comparePartition(table: SharedTable, partition: String): VerifyResult =
    try {
      val indexed = table.snapshot.source.files(partition)
      val differences = Verifier.files(partition, indexed, table.listing.lister.list(partition))
      VerifyResult(differences, 1L, indexed.length.toLong)
    } catch { case e: DamagedIndex => unusable(partition, e) }

  def unusable(partition: String, e: HudiIdxException): VerifyResult = {
    val cause = "a file of the index was damaged or removed, or the table was changed behind its timeline"
    VerifyResult(Vector(Difference(DifferenceKind.IndexUnusable, partition, "", e.getMessage, cause)), 0L, 0L)
  }
}
