package hudiidx.benchmarks

import hudiidx.column._
import hudiidx.column.segment.{ColumnKind, CoveredFile, RecordsFile, RecordsWriter}
import hudiidx.hfile.BlockCache
import hudiidx.storage.LocalStorage
import hudiidx.store.IndexStore
import java.nio.ByteBuffer
import java.nio.file.Files
import java.nio.file.Paths
import java.util.SplittableRandom

/** Bloom filters: 10,000 keys against each of 1,000 files of 5,000 keys, every pair answered.
  *
  * `BloomBench --dir DIR --out OUT [--files N] [--repeats N]`
  */
object BloomBench {
  private val KeysAFile = 5000
  private val Keys = 10000

  def main(args: Array[String]): Unit = {
    val o = Options.parse(args, Set("dir", "out", "files", "repeats"), Set.empty)
    val files = o.value("files").map(_.toInt).getOrElse(1000)
    val report = new Report(Paths.get(o("out")), "bloom", "hudiidx")
    Files.createDirectories(Paths.get(o("dir")))
    val store = new IndexStore(LocalStorage, o("dir"))
    val file = store.write(ColumnKind.fileName("1", IndexStore.newToken(), ColumnKind.Records), ColumnKind.Records) {
      out =>
        val writer = new RecordsWriter(out)
        writer.partition("", Vector.tabulate(files)(f => CoveredFile(s"f$f", 1, KeysAFile.toLong)))
        writer.columns(Vector(column))
        (0 until files).foreach(f => writer.record(f, filter(f)))
        writer.close(): Unit
    }
    report.add("bits a key", "table", "", filter(0).length * 8.0 / KeysAFile, "bits", 1)
    report.add("bytes", "table", "", file.sizeBytes.toDouble, "bytes", 1)
    val reader = store.openWhole(file)
    val records = RecordsFile.open(reader, new BlockCache(64L << 20))
    val entry = records.columns("key").head
    val hashes = Array.tabulate(Keys)(i => BloomFilter.hash(key(i * 7919L)))
    var hits = 0L
    val millis = Skipping.timed(o.value("repeats").map(_.toInt).getOrElse(7)) {
      hits = (0 until files).iterator.map(f => count(records.record(entry, f), hashes)).sum
      hits
    }
    report.median("10,000 keys, 1,000 files", "table", "warm", millis)
    val best =
      Seq.fill(7)(Report.cpuMillis((0 until files).iterator.map(f => count(records.record(entry, f), hashes)).sum)).min
    report.add("10,000 keys, 1,000 files: processor time", "table", "warm", best, "ms", 7)
    report.add("pairs of key and file that match", "table", "", hits.toDouble, "pairs", 1)
    reader.close()
  }

  private val column = IndexedColumn("key", ColumnType.Int64, "bloom")

  private def key(i: Long): Long = new SplittableRandom(i).nextLong()

  private def filter(f: Int): Array[Byte] = {
    val creator = BloomKind.creator(Vector(column), Map.empty)
    var at = f.toLong * KeysAFile
    val row = new ColumnValues {
      override def isNull(column: Int): Boolean = false
      override def long(column: Int): Long = key(at)
      override def text(column: Int): Array[Byte] = throw new IllegalStateException
    }
    (0 until KeysAFile).foreach { _ =>
      creator.add(row)
      at += 1
    }
    creator.finish()
  }

  private def count(record: ByteBuffer, hashes: Array[Long]): Long = {
    val filter = BloomFilter.of(record).get
    var n = 0L
    var i = 0
    while (i < hashes.length) {
      if (filter.mightHave(hashes(i))) n += 1
      i += 1
    }
    n
  }
}
