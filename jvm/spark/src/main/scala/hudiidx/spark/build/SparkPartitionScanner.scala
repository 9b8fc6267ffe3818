package hudiidx.spark.build

import hudiidx.Texts
import hudiidx.fs.HadoopStorage
import hudiidx.manifest.{EncodedPartition, PartitionKey}
import hudiidx.spark.TaskErrors
import hudiidx.sync.PartitionScanner
import hudiidx.table.listing.{
  ExpectedPartition,
  FolderScan,
  FolderVisit,
  ListingRules,
  PartitionLister,
  Suspect,
  TableListing
}
import org.apache.spark.SparkContext
import org.apache.spark.broadcast.Broadcast
import org.apache.spark.util.SerializableConfiguration

/** Spark tasks that list a table's folders. */
final class SparkPartitionScanner(context: SparkContext, conf: Broadcast[SerializableConfiguration])
    extends PartitionScanner
    with FolderScan {
  import SparkPartitionScanner._

  override def folders: FolderScan = this

  /** Partitions are listed in waves, so that the driver holds the pages of one wave at most. */
  override def scan(listing: TableListing, entriesPerPage: Int): Iterator[EncodedPartition] = {
    val rules = context.broadcast(listing.lister.rules)
    val work = PartitionKey.sorted(listing.partitions).map(p => (p, listing.expected(p)))
    work.grouped(PartitionsPerWave).flatMap { wave =>
      run(wave, s"list ${wave.size} partitions")(encode(conf, rules, entriesPerPage)).iterator.map { listed =>
        val path = listed.partition.partitionPath
        if (listed.suspects.isEmpty) listed.partition
        else EncodedPartition.of(path, listing.confirm(path, listed.suspects), entriesPerPage)
      }
    }
  }

  override def visit(lister: PartitionLister, folders: Vector[String]): Vector[FolderVisit] =
    if (folders.length < WorthTasks) lister.visits(folders)
    else {
      val rules = context.broadcast(lister.rules)
      run(folders, s"visit ${folders.size} folders")(visitAll(conf, rules))
    }

  /** The work in consecutive shares, one a task; answers in the order of the work. */
  private def run[A, B: scala.reflect.ClassTag](work: Vector[A], what: String)(
      task: Vector[A] => Vector[B]
  ): Vector[B] = {
    val tasks = math.min(work.size, context.defaultParallelism * SharesPerCore).max(1)
    val size = (work.size + tasks - 1) / tasks
    context.setJobDescription(Texts.inHtml(s"hudiidx: $what"))
    try
      context
        .parallelize(work.grouped(size).toVector, tasks)
        .flatMap(share => TaskErrors.ours(task(share)))
        .collect()
        .toVector
    finally context.setJobDescription(null)
  }
}

object SparkPartitionScanner {
  private val PartitionsPerWave = 20000
  private val SharesPerCore = 4
  private val WorthTasks = 32
  private val ListedAtOnce = 32

  /** A partition's pages, and the files of it that are not what the timeline says. */
  final private case class Listed(partition: EncodedPartition, suspects: Vector[Suspect])

  // Tasks are made here, so that they carry what they need and not the scanner.
  private def encode(
      conf: Broadcast[SerializableConfiguration],
      rules: Broadcast[ListingRules],
      entriesPerPage: Int
  ): Vector[(String, ExpectedPartition)] => Vector[Listed] = { share =>
    val lister = new PartitionLister(new HadoopStorage(conf.value.value), rules.value)
    share.grouped(ListedAtOnce).toVector.flatMap { some =>
      some.zip(lister.lists(some.map(_._1))).map { case ((path, expected), files) =>
        Listed(EncodedPartition.of(path, files, entriesPerPage), expected.suspects(files))
      }
    }
  }

  private def visitAll(
      conf: Broadcast[SerializableConfiguration],
      rules: Broadcast[ListingRules]
  ): Vector[String] => Vector[FolderVisit] = { share =>
    val lister = new PartitionLister(new HadoopStorage(conf.value.value), rules.value)
    lister.visits(share)
  }
}
