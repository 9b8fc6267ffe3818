package hudiidx.benchmarks

import hudiidx.TableFormat
import hudiidx.log._
import hudiidx.logindex._
import hudiidx.record.PackedKeys
import hudiidx.storage.{CountingStorage, LocalStorage, Storage}
import java.io.{BufferedOutputStream, ByteArrayOutputStream, DataOutputStream}
import java.nio.charset.StandardCharsets.UTF_8
import java.nio.file.{Files, Path, Paths}

/** `LogIndexBench --dir DIR --out OUT [--blocks N] [--records N] [--files N] [--kind uuid|decimal|digits|two]`: the log of one
  * file slice, 200 blocks of 10,000 records of 200 bytes in 10 files unless told, each block with its index tail. Looks 100
  * keys up, and 100 absent ones, reads all of the log for the same keys, and finds the same keys in a base file of the same
  * rows. Prints what issues ask for as a table at the end.
  */
object LogIndexBench {
  private[benchmarks] val Asked = 100
  private[benchmarks] val Repeats = 15
  private[benchmarks] val rules = LogRules(TableFormat.V9, MergeMode.CommitTime, Vector.empty, None, None)
  private[benchmarks] val blockRules = BlockRules(TableFormat.V9, None, _ => true)

  private val schema =
    """{"type":"record","name":"r","fields":[""" + BenchLog.Columns
      .map(f => s"""{"name":"$f","type":["null","string"],"default":null}""")
      .mkString(",") + "]}"

  def main(args: Array[String]): Unit = {
    val o = Options.parse(args, Set("dir", "out", "blocks", "records", "files", "kind"), Set.empty)
    def int(name: String, default: Int): Int = o.value(name).map(_.toInt).getOrElse(default)
    val kind = o.value("kind").getOrElse("uuid")
    val log = new BenchLog(kind, int("blocks", 200), int("records", 10000), int("files", 10))
    val report = new Report(
      Paths.get(o("out")),
      s"log of ${log.blocks} blocks of ${log.records} records in ${log.files} files, $kind keys",
      "hudiidx"
    )
    val dir = Files.createTempDirectory(Files.createDirectories(Paths.get(o("dir"))), "log")
    try {
      val files = write(log, dir, report)
      val base = LogBenchBase.write(log, dir)
      measure(log, files, base, report)
      val bare = new BareLog(log, Files.createDirectory(dir.resolve("bare")))
      bare.measure(report)
      println(table(report))
    } finally LocalStorage.delete(dir.toString): Unit
  }

  /** Figures beside their limits. */
  private def table(r: Report): String = {
    val keys = s"$Asked present keys"
    val absent = s"$Asked absent keys"
    val scan = r(s"$keys, all of the log read", "log")
    val base = r(s"$keys, by turns", "base file")
    val (cold, warm) = (r(s"$keys, by turns", "log", "cold"), r(s"$keys, by turns", "log", "warm"))
    val (records, tail) =
      (r("records put together, processor time a block", "log"), r("tail made, processor time a block", "log"))
    Vector(
      "| | limit | |",
      "|---|---|---|",
      f"| $Asked keys, of the log's bytes | 2 %% | ${r(s"$keys, share of bytes read", "log", "cold")}%.2f %% |",
      f"| $Asked keys, faster than reading all of the log | 20 x | ${scan / cold}%.0f x just opened, ${scan / warm}%.0f x again |",
      f"| $Asked absent keys, of the log's bytes | 0.2 %% | ${r(s"$absent, share of bytes read", "log", "cold")}%.2f %% |",
      f"| $Asked keys, by the time to find them in a base file of the rows | 1.5 x | ${cold / base}%.2f x just opened, ${warm / base}%.2f x again ($base%.1f ms) |",
      f"| index tails, of the records' bytes | 12 %% | ${r("index tails, share of the records' bytes", "log")}%.1f %% |",
      f"| making a tail, a record | | ${1000 * tail / r("records a block", "log")}%.2f us, beside ${1000 * records / r("records a block", "log")}%.2f us to put it together |",
      f"| the same log without tails, as stock writes it: reading all of it for $Asked keys | | ${r(BareLog.Scan, "bare log")}%.0f ms |",
      f"| indexing it once | | ${r(BareLog.Index, "bare log")}%.0f ms, ${r(BareLog.Share, "bare log")}%.1f %% of its bytes |",
      f"| $Asked keys from then on | | ${r(BareLog.Keys, "bare log", "cold")}%.1f ms just opened, ${r(BareLog.Keys, "bare log", "warm")}%.1f ms again |"
    ).mkString("\n")
  }

  private def write(log: BenchLog, dir: Path, report: Report): Vector[String] = {
    val names = Vector.tabulate(log.files)(f => s".${BenchLog.FileId}_20261121000000000.log.${f + 1}_0-1-$f")
    var chain = Vector.empty[FilterRef]
    var recordBytes, tailBytes, loaded = 0L
    var tailMillis, recordMillis = 0.0
    def load(filter: FilterRef): FilterEntries = {
      loaded += filter.shape.length
      new LogLookup(LocalStorage, Vector.empty).load(dir.toString + "/")(filter)
    }
    names.zipWithIndex.foreach { case (name, f) =>
      val path = dir.resolve(name)
      val out = new DataOutputStream(new BufferedOutputStream(Files.newOutputStream(path), 1 << 20))
      (0 until log.blocks).filter(_ * log.files / log.blocks == f).foreach { b =>
        var content: BenchContent = null
        recordMillis += Report.cpuMillis {
          content = log.content(b)
          content
        }
        val builder = new TailBuilder(BlockPlace(name, out.size.toLong, log.instant))
        var tail: BuiltTail = null
        tailMillis += Report.cpuMillis {
          var i = 0
          while (i < log.records) {
            builder.add(content.bytes, content.keys(i), content.keyBytes(i), content.offsets(i))
            i += 1
          }
          tail = builder.build(content.bytes.length.toLong, chain, load)
          tail
        }
        recordBytes += content.bytes.length
        tailBytes += tail.bytes.length
        val contentAt = frame(out, log.instant, content.bytes, tail.bytes)
        chain = tail.chain(name, contentAt + content.bytes.length)
        // The chain is read from the file.
        out.flush()
      }
      out.close()
    }
    report.add("records a block", "log", "", log.records.toDouble, "records", 1)
    report.add("bytes a record", "log", "", recordBytes.toDouble / log.blocks / log.records, "bytes", 1)
    report.add("index tails, share of the records' bytes", "log", "", 100.0 * tailBytes / recordBytes, "%", 1)
    report.add("earlier filters read, share of the records' bytes", "log", "", 100.0 * loaded / recordBytes, "%", 1)
    report.add("records put together, processor time a block", "log", "", recordMillis / log.blocks, "ms", 1)
    report.add("tail made, processor time a block", "log", "", tailMillis / log.blocks, "ms", 1)
    names.map(dir.resolve(_).toString)
  }

  /** Writes a block; the offset of its content. */
  private[benchmarks] def frame(
      out: DataOutputStream,
      instant: String,
      records: Array[Byte],
      tail: Array[Byte]
  ): Long = {
    val header = Seq(LogHeaderKey.InstantTime -> instant, LogHeaderKey.Schema -> schema)
    val headerBytes = header.map { case (_, v) => 8 + v.length }.sum
    val content = records.length.toLong + tail.length
    val size = 4 + 4 + 4 + headerBytes + 8 + content + 4 + 8
    out.write("#HUDI#".getBytes(UTF_8))
    out.writeLong(size)
    out.writeInt(1)
    out.writeInt(3)
    out.writeInt(header.size)
    header.foreach { case (key, value) =>
      out.writeInt(key)
      out.writeInt(value.length)
      out.write(value.getBytes(UTF_8))
    }
    out.writeLong(content)
    val at = out.size.toLong
    out.write(records)
    out.write(tail)
    out.writeInt(0)
    out.writeLong(size + 6)
    at
  }

  private def measure(log: BenchLog, files: Vector[String], base: String, report: Report): Unit = {
    val logBytes = files.map(f => Files.size(Paths.get(f))).sum
    val random = new java.util.Random(5)
    def present(): PackedKeys = PackedKeys.of(Vector.fill(Asked)(log.key(random.nextInt(log.blocks * log.records))))
    def absent(): PackedKeys =
      PackedKeys.of(Vector.fill(Asked)(log.key(log.blocks * log.records + random.nextInt(1 << 20))))
    report.add("log", "log", "", logBytes / 1e6, "MB", 1)
    Seq("present" -> (() => present()), "absent" -> (() => absent())).foreach { case (name, keys) =>
      val expected = if (name == "present") -1 else 0
      val counting = new CountingStorage(LocalStorage)
      val cold = lookup(counting, files, keys(), expected)
      val counts = counting.counts
      report.add(s"$Asked $name keys, share of bytes read", "log", "cold", 100.0 * counts.bytesRead / logBytes, "%", 1)
      report.add(s"$Asked $name keys, reads", "log", "cold", counts.read.toDouble, "reads", 1)
      counting.reset()
      SliceLog.countedBlocks(counting, files, blockRules)
      report.add(
        s"of them block headers, share of bytes",
        "log",
        "cold",
        100.0 * counting.counts.bytesRead / logBytes,
        "%",
        1
      )
      (0 until Repeats).foreach(_ => lookup(LocalStorage, files, keys(), expected))
      val colds = Vector.fill(Repeats)(Report.millis(lookup(LocalStorage, files, keys(), expected)))
      report.median(s"$Asked $name keys", "log", "cold", colds)
      val blocks = SliceLog.countedBlocks(LocalStorage, files, blockRules)
      val open = new LogLookup(LocalStorage, blocks)
      val warms = Vector.fill(Repeats)(Report.millis(states(open, keys())))
      report.median(s"$Asked $name keys", "log", "warm", warms)
      (0 until 3).foreach(_ => LogBenchBase.rowsOf(base, keys()))
      // By turns, since other work on the machine comes and goes.
      val turns = Vector.fill(Repeats) {
        val asked = keys()
        (
          Report.millis(lookup(LocalStorage, files, asked, expected)),
          Report.millis(states(open, asked)),
          Report.millis(LogBenchBase.rowsOf(base, asked))
        )
      }
      report.median(s"$Asked $name keys, by turns", "log", "cold", turns.map(_._1))
      report.median(s"$Asked $name keys, by turns", "log", "warm", turns.map(_._2))
      report.median(s"$Asked $name keys, by turns", "base file", "", turns.map(_._3))
      val scans = Vector.fill(5)(keys()).map(k => Report.millis(scan(files, k)))
      report.median(s"$Asked $name keys, all of the log read", "log", "", scans)
      println(s"$name: ${open.find(keys()).counts}, first ${cold.size} states")
    }
  }

  private[benchmarks] def lookup(
      storage: Storage,
      files: Vector[String],
      keys: PackedKeys,
      expected: Int,
      kept: KeptTails = KeptTails.None
  ): Vector[LoggedKey] = {
    val blocks = SliceLog.countedBlocks(storage, files, blockRules)
    val found = states(new LogLookup(storage, blocks, kept), keys)
    val wanted = if (expected < 0) (0 until keys.count).map(keys.key).distinct.size else expected
    if (found.size != wanted) throw new IllegalStateException(s"$wanted keys, ${found.size} found")
    found
  }

  private[benchmarks] def states(lookup: LogLookup, keys: PackedKeys): Vector[LoggedKey] = {
    val found = lookup.get(keys, rules, BlockReaders.AvroOnly)
    try found.toVector
    finally found.close()
  }

  private[benchmarks] def scan(files: Vector[String], keys: PackedKeys): Vector[LoggedKey] = {
    val parts = SliceLog.countedBlocks(LocalStorage, files, blockRules).map(BlockPart(_, None))
    val wanted = (0 until keys.count).map(i => keys.key(i).getBytes(UTF_8))
    val found = LogKeys.among(wanted, LocalStorage, parts, rules, BlockReaders.AvroOnly, LogKeysOptions())
    try found.toVector
    finally found.close()
  }
}

/** Content of a block up to behind the records, with the places of records and of their keys. */
private final case class BenchContent(bytes: Array[Byte], offsets: Array[Int], keys: Array[Int], keyBytes: Array[Int])

private object BenchLog {
  val FileId = "5ed6f3d2-1a1c-4f08-9e7a-000000000000-0"

  val Columns: Vector[String] = Vector(
    "_hoodie_commit_time",
    "_hoodie_commit_seqno",
    "_hoodie_record_key",
    "_hoodie_partition_path",
    "_hoodie_file_name",
    "id",
    "data"
  )
}

private final class BenchLog(kind: String, val blocks: Int, val records: Int, val files: Int) {
  val instant = "20261121000000000"
  private val made = new BenchKeys(kind, blocks * records, 1)

  def key(i: Int): String = made.key(i)

  /** Values of the columns of a block's records. */
  def rows(block: Int): Iterator[Vector[String]] = {
    val random = new java.util.Random(block.toLong)
    Iterator.range(0, records).map { i =>
      val id = key(block * records + i)
      val seqno = s"${instant}_0_$i"
      val rest = new Array[Byte](math.max(1, 200 - (17 + seqno.length + 2 * id.length + 10 + 38 + 14)))
      random.nextBytes(rest)
      Vector(
        instant,
        seqno,
        id,
        "2026-11-21",
        BenchLog.FileId,
        id,
        new String(rest.map(b => ('a' + (b & 15)).toByte), UTF_8)
      )
    }
  }

  def content(block: Int): BenchContent = {
    val out = new ByteArrayOutputStream(records * 210)
    val data = new DataOutputStream(out)
    val offsets, keys, keyBytes = new Array[Int](records)
    data.writeInt(3)
    data.writeInt(records)
    rows(block).zipWithIndex.foreach { case (values, i) =>
      val texts = values.map(_.getBytes(UTF_8))
      offsets(i) = data.size
      keys(i) = data.size + 4 + texts.take(2).map(_.length + 2).sum + 2
      keyBytes(i) = texts(2).length
      require(texts.forall(_.length < 64), "lengths of one byte")
      data.writeInt(texts.map(_.length + 2).sum)
      texts.foreach { t =>
        data.writeByte(2)
        data.writeByte(t.length * 2)
        data.write(t)
      }
    }
    BenchContent(out.toByteArray, offsets, keys, keyBytes)
  }
}
