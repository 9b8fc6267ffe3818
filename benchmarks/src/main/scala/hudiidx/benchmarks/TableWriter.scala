package hudiidx.benchmarks

import java.io.RandomAccessFile
import java.nio.charset.StandardCharsets
import java.nio.file.Files
import java.nio.file.Path
import java.util.concurrent.Callable
import java.util.concurrent.Executors
import java.util.zip.CRC32
import scala.util.control.NonFatal

/** Writes a planned table as stock Hudi of table version 9 lays it out. Times nothing, prints nothing. */
final class TableWriter(plan: TablePlan, root: Path, threads: Int) {
  private val shape = plan.shape
  private val timeline = root.resolve(".hoodie/timeline")

  /** @param withFiles false leaves the table without data files and partition folders: only its timeline */
  def write(withFiles: Boolean): Unit = {
    Files.createDirectories(timeline.resolve("history"))
    writeText(root.resolve(".hoodie/hoodie.properties"), TableWriter.properties(shape.name))
    if (withFiles) inParallel(shape.partitions)(writePartition)
    inParallel(shape.instants)(writeInstant)
  }

  private def writePartition(p: Int): Unit = {
    val name = plan.partitionPath(p)
    val dir = Files.createDirectories(root.resolve(name))
    val rows = plan.partitionStart(p) until plan.partitionStart(p + 1)
    TableWriter.writeMetafile(dir, plan.requestedTime(rows.map(plan.instantOf(_)).min))
    rows.foreach { row =>
      val path = dir.resolve(plan.fileName(row))
      if (plan.isReal(row)) {
        ParquetRows.write(
          path.toString,
          name,
          plan.requestedTime(plan.instantOf(row)),
          row.toLong * ParquetRows.RowsPerFile
        )
        plan.sizeBytes(row) = Files.size(path)
      } else TableWriter.writeSparse(path, plan.sizeBytes(row))
    }
  }

  private def writeInstant(i: Int): Unit = {
    val files = plan.rowsOfInstant(i).iterator.map { row =>
      val before = plan.previous(row)
      val prev = if (before < 0) None else Some(plan.requestedTime(plan.instantOf(before)))
      WrittenFile(
        plan.partitionPath(plan.partitionOf(row)),
        plan.fileId(row),
        plan.fileName(row),
        plan.sizeBytes(row),
        prev
      )
    }
    TableWriter.writeCommit(timeline, plan.requestedTime(i), plan.completionTime(i), files)
  }

  private def inParallel(n: Int)(job: Int => Unit): Unit = {
    val pool = Executors.newFixedThreadPool(threads)
    try {
      val jobs = (0 until n).map(i => pool.submit(new Callable[Unit] { def call(): Unit = job(i) }))
      jobs.foreach(_.get())
    } catch { case NonFatal(e) => pool.shutdownNow(); throw e }
    finally pool.shutdown()
  }

  private def writeText(path: Path, text: String): Unit =
    Files.write(path, text.getBytes(StandardCharsets.ISO_8859_1))
}

object TableWriter {

  def writeSparse(path: Path, sizeBytes: Long): Unit = {
    val file = new RandomAccessFile(path.toFile, "rw")
    try file.setLength(sizeBytes)
    finally file.close()
  }

  def writeMetafile(dir: Path, instantTime: String): Unit =
    Files.write(
      dir.resolve(".hoodie_partition_metadata"),
      s"#partition metadata\ncommitTime=$instantTime\npartitionDepth=1\n".getBytes(StandardCharsets.ISO_8859_1)
    )

  /** The three files of a completed commit. */
  def writeCommit(timeline: Path, requested: String, completed: String, files: Iterator[WrittenFile]): Unit = {
    val content = CommitFile.encode(files, ParquetRows.AvroSchema)
    Files.createFile(timeline.resolve(s"$requested.commit.requested"))
    Files.createFile(timeline.resolve(s"$requested.inflight"))
    Files.write(timeline.resolve(s"${requested}_$completed.commit"), content)
  }

  private def properties(shape: String): String = {
    val name = "bench_" + shape.toLowerCase
    val crc = new CRC32()
    crc.update(s".$name".getBytes(StandardCharsets.UTF_8))
    s"""#Generated for benchmarks
       |hoodie.table.name=$name
       |hoodie.table.type=COPY_ON_WRITE
       |hoodie.table.version=9
       |hoodie.table.initial.version=9
       |hoodie.table.checksum=${crc.getValue}
       |hoodie.table.format=native
       |hoodie.timeline.layout.version=2
       |hoodie.timeline.path=timeline
       |hoodie.timeline.history.path=history
       |hoodie.table.timeline.timezone=UTC
       |hoodie.archivelog.folder=history
       |hoodie.table.base.file.format=PARQUET
       |hoodie.table.recordkey.fields=id
       |hoodie.table.partition.fields=day
       |hoodie.table.keygenerator.type=SIMPLE
       |hoodie.table.ordering.fields=ts
       |hoodie.record.merge.mode=COMMIT_TIME_ORDERING
       |hoodie.populate.meta.fields=true
       |hoodie.datasource.write.drop.partition.columns=false
       |hoodie.datasource.write.hive_style_partitioning=false
       |hoodie.datasource.write.partitionpath.urlencode=false
       |hoodie.partition.metafile.use.base.format=false
       |hoodie.table.multiple.base.file.formats.enable=false
       |hoodie.table.cdc.enabled=false
       |""".stripMargin
  }
}
