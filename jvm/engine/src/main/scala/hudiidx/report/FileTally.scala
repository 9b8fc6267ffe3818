package hudiidx.report

import hudiidx.table.{FileEntry, FileSlice}

/** What a snapshot reads of one partition. */
final case class PartitionFacts(path: String, slices: Int, files: Int, bytes: Long)

/** A file slice whose log files wait for a compaction. */
final case class LoggedSlice(partitionPath: String, fileId: String, logFiles: Int, logBytes: Long, baseBytes: Long)

/** Counts files, partition after partition; holds no more than histograms and the largest few. Sizes are bytes.
  *
  * `files` are all committed ones, those of older slices included; everything else is of the slices that a snapshot reads.
  */
final class FileTally {
  var partitions, files, bytes = 0L
  var slices, slicesWithLogs, slicesWithoutBase = 0L
  var baseFiles, baseBytes, logFiles, logBytes = 0L
  val filesPerPartition = new Histogram
  val baseSizes = new Histogram
  val logSizes = new Histogram
  val logsPerSlice = new Histogram
  val largestPartitions = new Top[PartitionFacts](FileTally.Listed)(_.bytes)
  val mostLogged = new Top[LoggedSlice](FileTally.Listed)(s => s.logFiles.toLong)

  /** Files that a snapshot reads. */
  def latestFiles: Long = baseFiles + logFiles
  def latestBytes: Long = baseBytes + logBytes

  /** @param all    files of the partition
    * @param latest its slices that a snapshot reads
    */
  def add(path: String, all: Array[FileEntry], latest: Vector[FileSlice]): Unit = {
    partitions += 1
    files += all.length
    all.foreach(f => bytes += f.sizeBytes)
    val (filesBefore, bytesBefore) = (latestFiles, latestBytes)
    latest.foreach(add)
    val added = (latestFiles - filesBefore).toInt
    filesPerPartition.add(added.toLong)
    largestPartitions.add(PartitionFacts(path, latest.size, added, latestBytes - bytesBefore))
  }

  private def add(slice: FileSlice): Unit = {
    val logs = slice.dataLogFiles
    slices += 1
    if (slice.baseFile.isEmpty) slicesWithoutBase += 1
    slice.baseFile.foreach { b =>
      baseFiles += 1
      baseBytes += b.sizeBytes
      baseSizes.add(b.sizeBytes)
    }
    logs.foreach(l => logSizes.add(l.sizeBytes))
    logFiles += logs.size
    val size = logs.map(_.sizeBytes).sum
    logBytes += size
    logsPerSlice.add(logs.size.toLong)
    if (logs.nonEmpty) {
      slicesWithLogs += 1
      val base = slice.baseFile.fold(0L)(_.sizeBytes)
      mostLogged.add(LoggedSlice(slice.partitionPath, slice.fileId, logs.size, size, base))
    }
  }
}

private object FileTally {

  /** Partitions and slices that are told one by one. */
  val Listed = 10
}
