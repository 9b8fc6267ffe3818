package hudiidx.engine.record

import hudiidx.record.RecordPlan
import hudiidx.sync.{TableAccess, TaskEngine}
import hudiidx.table.{BaseFile, FileSystemView}

/** How large a record index will be, from the footers of some base files and the sizes of all. */
private[record] final class KeyEstimate(
    engine: TaskEngine,
    table: RecordTable,
    view: FileSystemView,
    plan: RecordPlan
) {

  /** Hash groups that it is to be made with. */
  def groups(): Int = {
    var baseBytes, logBytes = 0L
    var sample = Vector.empty[BaseFile]
    val partitions = view.partitions
    val step = math.max(1, partitions.size / KeyEstimate.SampledPartitions)
    val filesOfPartition =
      math.max(
        1,
        math.min(KeyEstimate.FilesOfPartition, KeyEstimate.SampledFiles * step / math.max(1, partitions.size))
      )
    partitions.zipWithIndex.foreach { case (p, i) =>
      val slices = view.latestMergedFileSlices(p)
      val bases = slices.flatMap(_.baseFile)
      baseBytes += bases.map(_.sizeBytes).sum
      logBytes += slices.iterator.flatMap(_.logFiles).map(_.sizeBytes).sum
      if (i % step == 0) sample ++= bases.take(filesOfPartition)
    }
    val sizes =
      engine.run("read footers", Shares.ofBytes(sample, engine.parallelism)(_ => 1L))(KeyEstimate.footers(table))
    val (rows, keyBytes, bytes) = sizes.foldLeft((0L, 0L, 0L)) { case ((a, b, c), (x, y, z)) => (a + x, b + y, c + z) }
    val bytesPerRow = if (rows == 0) KeyEstimate.UsualRowBytes else math.max(1.0, bytes.toDouble / rows)
    // Log blocks are not packed by column.
    val mappings = baseBytes / bytesPerRow + logBytes / (bytesPerRow * KeyEstimate.LogFactor)
    val perMapping =
      if (rows == 0) RecordPlan.UsualBytes else KeyEstimate.mappingBytes(keyBytes.toDouble / rows)
    plan.groups(mappings.toLong, perMapping, engine.parallelism)
  }
}

private object KeyEstimate {
  private val SampledPartitions = 32
  private val SampledFiles = 32
  private val FilesOfPartition = 4
  private val UsualRowBytes = 100.0
  private val LogFactor = 3

  /** UUIDs and what else is about as long take half their text; long texts share beginnings and compress. */
  private def mappingBytes(keyBytes: Double): Double = math.max(4.0, keyBytes * 0.4)

  /** Rows, key bytes and file bytes. */
  private def footers(table: RecordTable): (TableAccess, Vector[BaseFile]) => (Long, Long, Long) = { (access, share) =>
    var rows, keyBytes, bytes = 0L
    share.foreach { base =>
      val file = table.baseKeys(access, base)
      try {
        rows += file.rows
        keyBytes += file.rowGroups.map(_.keyBytes).sum
        bytes += base.sizeBytes
      } finally file.close()
    }
    (rows, keyBytes, bytes)
  }
}
