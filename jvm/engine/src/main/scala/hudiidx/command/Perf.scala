package hudiidx.command

import hudiidx.answer._
import hudiidx.hfile.{BlockCache, Codec}
import hudiidx.manifest._
import hudiidx.sync._
import hudiidx.table.{FileEntry, FileSystemView}
import java.io.ByteArrayOutputStream

import scala.collection.immutable.ListMap

/** RFC-15's `metadata perf` table for one table: the index against plain listing. Times are milliseconds, medians over
  *  partitions; listing is timed on a few partitions only, since it is what takes long.
  */
final class Perf(access: TableAccess, tablePath: String, options: IndexOptions) {
  private val Warm = 200
  private val Listed = 20

  def report(sweep: Boolean): PerfAnswer = {
    val snapshot = TableSnapshot.open(access, tablePath, options.copy(strict = true))
    try {
      val partitions = snapshot.view.partitions
      val files = partitions.map(p => p -> snapshot.source.files(p).length)
      val total = files.map(_._2.toLong).sum
      val index = snapshot.use.version.map(_.files).getOrElse(Vector.empty)
      val chosen = if (sweep) Some(ManifestShape.choose(total, files.size.toLong)) else None
      PerfAnswer(
        total,
        files.size,
        if (files.isEmpty) 0.0 else total.toDouble / files.size,
        if (files.isEmpty) 0 else files.map(_._2).max,
        index.map(_.sizeBytes).sum,
        ListMap(index.map(f => f.name -> f.sizeBytes): _*),
        timings(snapshot, partitions),
        Part(chosen.map(name)),
        Part(chosen.map(sweepShapes(snapshot, files, _)))
      )
    } finally snapshot.close()
  }

  private def timings(snapshot: TableSnapshot, partitions: Vector[String]): Vector[CallTiming] = {
    val listing = TableSnapshot.of(TableContext.load(access, snapshot.tablePath), options.copy(enabled = false))
    val pick = spread(partitions, Warm)
    val few = spread(partitions, Listed)
    def timed(name: String, index: => Double, listed: => Double): CallTiming = {
      val ofIndex = index
      CallTiming(name, listed, ofIndex)
    }
    def both(name: String, call: FileSystemView => String => Any): Option[CallTiming] =
      if (partitions.isEmpty) None
      else
        Some(
          timed(
            name,
            once(pick.size)(i => call(snapshot.view)(pick(i))),
            once(few.size)(i => call(listing.view)(few(i)))
          )
        )
    timed("partitions", once(Warm)(_ => snapshot.view.partitions), once(1)(_ => listing.view.partitions)) +:
      Vector(
        both("files_in_partition", v => p => v.source.files(p)),
        both("all_base_files", v => p => v.allBaseFiles(p)),
        both("all_file_groups", v => p => v.allFileGroups(p)),
        both("all_file_slices", v => p => v.allFileSlices(p)),
        both("latest_base_files", v => p => v.latestBaseFiles(p)),
        both("latest_file_slices", v => p => v.latestFileSlices(p)),
        both("latest_uncompacted_file_slices", v => p => v.latestUncompactedFileSlices(p))
      ).flatten
  }

  /** Median of `n` timed calls, after as many (at most) that warm up. */
  private def once(n: Int)(call: Int => Any): Double = {
    (0 until math.min(n, if (n > Listed) n else 0)).foreach(call)
    val times = (0 until n).map { i =>
      val start = System.nanoTime()
      call(i)
      (System.nanoTime() - start) / 1e6
    }.sorted
    if (times.isEmpty) 0.0 else times(times.size / 2)
  }

  private def spread(partitions: Vector[String], n: Int): Vector[String] =
    if (partitions.isEmpty) partitions
    else
      Vector.tabulate(math.min(n, partitions.size))(i =>
        partitions((i.toLong * partitions.size / math.min(n, partitions.size)).toInt)
      )

  /** Writes the manifest in other shapes, in memory, and times one partition of each: RFC-15's observation 5. */
  private def sweepShapes(
      snapshot: TableSnapshot,
      files: Vector[(String, Int)],
      chosen: ManifestShape
  ): Vector[ShapeTiming] = {
    val sample = spread(files.map(_._1), 500).map(p => p -> snapshot.source.files(p))
    val shapes = for {
      entries <- Vector(64, 256, 1024, 4096)
      block <- Vector(4 << 10, 16 << 10, 64 << 10)
      codec <- Vector(Codec.None, Codec.Gzip, Codec.Zstd(3))
    } yield ManifestShape(entries, block, codec)
    (chosen +: shapes).distinct.map(sweepOne(_, sample))
  }

  private def sweepOne(shape: ManifestShape, sample: Vector[(String, Array[FileEntry])]): ShapeTiming = {
    val (master, index) = (new ByteArrayOutputStream, new ByteArrayOutputStream)
    val writer = new MasterWriter(master, index, shape)
    PartitionKey.sorted(sample.map(_._1)).foreach { p =>
      writer.append(EncodedPartition.of(p, sample.find(_._1 == p).get._2, shape.entriesPerPage))
    }
    writer.close()
    def open(cache: BlockCache): MasterManifest = MasterManifest.inMemory(master.toByteArray, index.toByteArray, cache)
    val warm = open(new BlockCache())
    val read = (m: MasterManifest, i: Int) => m.entries(sample(i)._1, m.run(sample(i)._1).get)
    ShapeTiming(
      name(shape),
      (master.size + index.size).toDouble / math.max(1, sample.map(_._2.length).sum),
      once(sample.size)(i => read(open(new BlockCache(0)), i)),
      once(sample.size)(i => read(warm, i))
    )
  }

  private def name(s: ManifestShape): String = s"${s.entriesPerPage} entries, ${s.blockBytes >> 10} KiB, ${s.codec}"
}
