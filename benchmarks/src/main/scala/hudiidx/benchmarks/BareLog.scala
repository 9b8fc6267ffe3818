package hudiidx.benchmarks

import hudiidx.hfile.BlockCache
import hudiidx.log._
import hudiidx.logindex._
import hudiidx.record.PackedKeys
import hudiidx.storage.LocalStorage
import hudiidx.table.FileGroup
import java.io.{BufferedOutputStream, DataOutputStream}
import java.nio.file.{Files, Path, Paths}

/** The log without index tails, as stock Hudi writes it: what reading it whole costs, what an update pays that indexes it, and
  * lookups from then on.
  */
private final class BareLog(log: BenchLog, dir: Path) {
  import LogIndexBench._

  private val files: Vector[String] = Vector.tabulate(log.files) { f =>
    val path = dir.resolve(s".${BenchLog.FileId}_20261121000000000.log.${f + 1}_0-1-$f")
    val out = new DataOutputStream(new BufferedOutputStream(Files.newOutputStream(path), 1 << 20))
    try {
      val blocks = (0 until log.blocks).filter(_ * log.files / log.blocks == f)
      blocks.foreach(b => frame(out, log.instant, log.content(b).bytes, Array.emptyByteArray): Unit)
    } finally out.close()
    path.toString
  }
  private val group = FileGroup("p", BenchLog.FileId)
  private val sidecar = dir.resolve("kept.log_index").toString

  def measure(report: Report): Unit = {
    val random = new java.util.Random(7)
    def keys(): PackedKeys = PackedKeys.of(Vector.fill(Asked)(log.key(random.nextInt(log.blocks * log.records))))
    report.median(BareLog.Scan, "bare log", "", Vector.fill(5)(Report.millis(scan(files, keys()))))
    report.median(BareLog.Index, "bare log", "", Vector.fill(5)(Report.millis(index())))
    val share = 100.0 * Files.size(Paths.get(sidecar)) / files.map(f => Files.size(Paths.get(f))).sum
    report.add(BareLog.Share, "bare log", "", share, "%", 1)
    (0 until Repeats).foreach(_ => LogIndexBench.lookup(LocalStorage, files, keys(), -1, kept()))
    val colds = Vector.fill(Repeats)(Report.millis(LogIndexBench.lookup(LocalStorage, files, keys(), -1, kept())))
    report.median(BareLog.Keys, "bare log", "cold", colds)
    val open = new LogLookup(LocalStorage, SliceLog.countedBlocks(LocalStorage, files, blockRules), kept())
    report.median(BareLog.Keys, "bare log", "warm", Vector.fill(Repeats)(Report.millis(states(open, keys()))))
  }

  /** What an update does to a slice's log, on one thread. */
  private def index(): String = {
    Files.deleteIfExists(Paths.get(sidecar))
    val indexer = new BlockIndexer(rules, BlockReaders.AvroOnly)
    val blocks = SliceLog.countedBlocks(LocalStorage, files, blockRules)
    LocalStorage.write(sidecar) { out =>
      val writer = new LogIndexFileWriter(out)
      writer.group(group)(slice => SliceLog.foreach(LocalStorage, blocks)((r, b) => slice.add(indexer.tail(r, b))))
      writer.finish()
    }
    sidecar
  }

  private def kept(): KeptTails = {
    val reader = LocalStorage.open(sidecar)
    try new KeptCells(LogIndexFile.open(reader, new BlockCache(1 << 20)).cell(group).map(sidecar -> _).toVector)
    finally reader.close()
  }
}

private object BareLog {
  val Scan = "100 keys, all of the log read"
  val Index = "all of the log indexed"
  val Share = "kept index, share of the log's bytes"
  val Keys = "100 keys by the kept index"
}
