package hudiidx.benchmarks

import java.time.LocalDate
import java.time.LocalDateTime
import java.time.format.DateTimeFormatter
import java.util.Random
import java.util.SplittableRandom
import java.util.UUID

/** Every file of a generated table, by columns: row `i` is one data file. Rows of a partition are consecutive and in
  *  the order of their instants. Pure: the same shape gives the same plan.
  */
final class TablePlan(val shape: Shape) {
  private val counts: Array[Int] = TablePlan.partitionCounts(shape)

  /** Rows of partition `p` are `partitionStart(p) until partitionStart(p + 1)`. */
  val partitionStart: Array[Int] = counts.scanLeft(0)(_ + _)
  val partitionOf: Array[Int] = new Array[Int](shape.files)
  val instantOf: Array[Int] = new Array[Int](shape.files)
  val sizeBytes: Array[Long] = new Array[Long](shape.files)
  private val uuidHigh = new Array[Long](shape.files)
  private val uuidLow = new Array[Long](shape.files)

  /** Row of the file group's version before, or -1 for a new file group. */
  val previous: Array[Int] = new Array[Int](shape.files)

  /** True where the file is real Parquet and not a sparse file. */
  val isReal: Array[Boolean] = new Array[Boolean](shape.files)

  (0 until shape.partitions).foreach(fillPartition)
  markRealFiles()

  /** Rows written by each instant, in the order of Spark's tasks: updated file groups, then new ones by partition. */
  val rowsOfInstant: Array[Array[Int]] = orderByTask()

  private val taskOf = new Array[Int](shape.files)
  rowsOfInstant.foreach(rows => rows.indices.foreach(t => taskOf(rows(t)) = t))

  /** Spark counts task attempts up over the whole application. */
  private val firstAttempt: Array[Int] = rowsOfInstant.map(_.length).scanLeft(45)((at, n) => at + 2 * n + 17)

  def partitionPath(p: Int): String = TablePlan.FirstDay.plusDays(p.toLong).toString

  def requestedTime(instant: Int): String = TablePlan.requestedTime(instant)

  def completionTime(instant: Int): String = TablePlan.completionTime(instant)

  def fileId(row: Int): String = new UUID(uuidHigh(row), uuidLow(row)).toString + "-0"

  def writeToken(row: Int): String = {
    val i = instantOf(row)
    s"${taskOf(row)}-${39 + 26 * i}-${firstAttempt(i) + taskOf(row)}"
  }

  def fileName(row: Int): String = s"${fileId(row)}_${writeToken(row)}_${requestedTime(instantOf(row))}.parquet"

  private def fillPartition(p: Int): Unit = {
    val random = TablePlan.random(shape.seed, p)
    val from = partitionStart(p)
    val n = counts(p)
    val instants = Array.fill(n)(random.nextInt(shape.instants - 2)).sorted
    val latest = new Array[Int](n) // latest row of each file group of the partition
    var groups = 0
    var k = 0
    while (k < n) {
      val row = from + k
      partitionOf(row) = p
      instantOf(row) = instants(k)
      sizeBytes(row) = random.nextLong(1L << 24, 1L << 27)
      val rewrites = groups > 0 && p < shape.partitions - 1 && random.nextDouble() < shape.updateShare
      val group = if (rewrites) random.nextInt(groups) else -1
      if (group >= 0 && instantOf(latest(group)) < instants(k)) {
        previous(row) = latest(group)
        uuidHigh(row) = uuidHigh(latest(group))
        uuidLow(row) = uuidLow(latest(group))
        latest(group) = row
      } else {
        previous(row) = -1
        uuidHigh(row) = (random.nextLong() & ~0xf000L) | 0x4000L
        uuidLow(row) = (random.nextLong() & 0x3fffffffffffffffL) | 0x8000000000000000L
        latest(groups) = row
        groups += 1
      }
      k += 1
    }
  }

  /** The newest partition and the last file of some others are real Parquet, in the last two commits. */
  private def markRealFiles(): Unit = {
    val newest = shape.partitions - 1
    val random = TablePlan.random(shape.seed, -1)
    val others = Iterator
      .continually(random.nextInt(newest))
      .filter(counts(_) > 1)
      .take(50 * shape.realFilesElsewhere)
      .toVector
      .distinct
      .take(shape.realFilesElsewhere)
    val rows = (partitionStart(newest) until partitionStart(newest + 1)) ++ others.map(p => partitionStart(p + 1) - 1)
    rows.zipWithIndex.foreach { case (row, i) =>
      isReal(row) = true
      instantOf(row) = shape.instants - (if (i % 8 < 4) 2 else 1)
    }
  }

  private def orderByTask(): Array[Array[Int]] = {
    val shuffled = (0 until shape.partitions).toArray
    val random = TablePlan.random(shape.seed, -2)
    shuffled.indices.reverse.foreach { i =>
      val j = random.nextInt(i + 1)
      val kept = shuffled(i)
      shuffled(i) = shuffled(j)
      shuffled(j) = kept
    }
    val perInstant = Array.fill(shape.instants)(Array.newBuilder[Int])
    for (updates <- Seq(true, false); p <- shuffled; row <- partitionStart(p) until partitionStart(p + 1))
      if ((previous(row) >= 0) == updates) perInstant(instantOf(row)) += row
    perInstant.map(_.result())
  }
}

object TablePlan {
  private val FirstDay = LocalDate.of(2012, 1, 1)
  private val FirstInstant = LocalDateTime.of(2025, 3, 1, 6, 30, 0)
  private val InstantFormat = DateTimeFormatter.ofPattern("yyyyMMddHHmmssSSS")

  def random(seed: Long, stream: Int): SplittableRandom = new SplittableRandom(seed * 0x9e3779b97f4a7c15L + stream)

  /** Requested time of the instant with this number, about 37 minutes apart, milliseconds varied. */
  def requestedTime(instant: Int): String = at(instant, 0L)

  def completionTime(instant: Int): String = at(instant, 41000L + (instant * 7919L) % 9000L)

  private def at(instant: Int, laterMillis: Long): String =
    FirstInstant
      .plusMinutes(37L * instant)
      .plusNanos(((instant * 104729L) % 60000L + laterMillis) * 1000000L)
      .format(InstantFormat)

  /** Files of each partition: at least one each, the rest shared out by weights that differ much (log-normal,
    *  sigma 1.2).
    */
  private def partitionCounts(shape: Shape): Array[Int] = {
    val newest = shape.partitions - 1
    val random = new Random(shape.seed)
    val weights = Array.fill(newest)(math.exp(1.2 * random.nextGaussian()))
    val spare = shape.files - shape.realPartitionFiles - newest
    val share = spare / weights.sum
    val extra = weights.map(w => math.floor(w * share).toInt)
    val left = spare - extra.sum
    weights.indices.sortBy(p => extra(p) - weights(p) * share).take(left).foreach(p => extra(p) += 1)
    extra.map(_ + 1) :+ shape.realPartitionFiles
  }
}
