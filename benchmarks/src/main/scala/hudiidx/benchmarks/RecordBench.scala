package hudiidx.benchmarks

import hudiidx.hfile.BlockCache
import hudiidx.hfile.Codec
import hudiidx.record._
import hudiidx.storage.LocalStorage
import hudiidx.storage.Storage
import hudiidx.store.Coverage
import hudiidx.store.IndexFile
import hudiidx.store.IndexStore
import hudiidx.store.IndexVersion
import hudiidx.store.TableIdentity
import java.nio.charset.StandardCharsets.UTF_8
import java.nio.file.Files
import java.nio.file.Path
import java.nio.file.Paths

/** `RecordBench --dir DIR --out OUT [--keys N] [--kind uuid|decimal|digits|two] [--files N] [--page N] [--block BYTES]
  * [--codec none|zstd1|zstd3] [--groups N] [--budget MIB] [--cache MIB]`: the record index without a table and without
  * Spark, on one thread, in processor time. Keys come as a writer gives them: file after file, random UUIDs or ascending numbers. Builds runs,
  * then base files; looks 1, 1,000 and 10,000 keys up, half of them absent in a second row; opens anew.
  */
object RecordBench {
  private val Repeats = 15

  private final case class Setting(
      kind: String,
      keys: Int,
      files: Int,
      shape: RecordShape,
      groups: Int,
      budgetBytes: Long,
      cacheBytes: Long
  )

  def main(args: Array[String]): Unit = {
    val valued = Set("dir", "out", "keys", "kind", "files", "page", "block", "codec", "groups", "budget", "cache")
    val o = Options.parse(args, valued, Set.empty)
    def int(name: String, default: Int): Int = o.value(name).map(_.toInt).getOrElse(default)
    val codec = o.value("codec").map {
      case "none"  => Codec.None
      case "zstd3" => Codec.Zstd(3)
      case _       => Codec.Zstd(1)
    }
    val usual = RecordShape.Default
    val shape = RecordShape(
      int("page", usual.pageEntries),
      int("block", usual.blockBytes),
      codec.getOrElse(usual.codec)
    )
    val keys = int("keys", 5000000)
    val kind = o.value("kind").getOrElse("uuid")
    val groups = int("groups", RecordPlan().groups(keys.toLong, if (kind == "uuid") RecordPlan.UsualBytes else 3.0))
    val setting =
      Setting(
        kind,
        keys,
        int("files", 16),
        shape,
        groups,
        int("budget", 128).toLong << 20,
        int("cache", 64).toLong << 20
      )
    run(setting, Files.createDirectories(Paths.get(o("dir"))), Paths.get(o("out")))
  }

  private def run(s: Setting, dir: Path, out: Path): Unit = {
    val name = s"record ${s.kind} ${s.keys} in ${s.files} files, ${s.groups} groups, page ${s.shape.pageEntries}, " +
      s"block ${s.shape.blockBytes}, ${s.shape.codec}"
    val report = new Report(out, name, "hudiidx")
    val folder = Files.createTempDirectory(dir, "record").toString
    val store = new IndexStore(LocalStorage, folder)
    try {
      // The first round warms the code up and is thrown away.
      build(s.copy(keys = math.min(s.keys, 500000)), store, new Report(Paths.get("/dev/null"), name, "warm-up"))
      val files = build(s, store, report)
      lookups(s, store, files, report)
    } finally LocalStorage.delete(folder): Unit
  }

  private def build(s: Setting, store: IndexStore, report: Report): Vector[IndexFile] = {
    val ranges = HashRange.tile(s.groups)
    var paths = Vector.empty[String]
    var written = 0.0
    val added = Report.cpuMillis {
      val builder = new RunBuilder(
        ranges,
        s.budgetBytes,
        { run =>
          val path = Storage.join(store.dir, RecordFileName.run(s"t${paths.size}", IndexStore.newToken()))
          written += Report.cpuMillis {
            LocalStorage.write(path)(run.write(_))
            path
          }
          paths :+= path
        }
      )
      val keys = new BenchKeys(s.kind, s.keys, s.files)
      var i = 0
      while (i < s.keys) {
        val length = keys.write(i)
        builder.add(keys.bytes, 0, length, keys.fileOf(i))
        i += 1
      }
      builder.flushRest()
      builder
    }
    val making = Report.cpuMillis {
      val keys = new BenchKeys(s.kind, s.keys, s.files)
      var sum = 0
      var i = 0
      while (i < s.keys) {
        sum += keys.write(i)
        i += 1
      }
      Integer.valueOf(sum)
    }
    val writer = new HashGroupWriter(store, "20260101000000000", s.shape)
    var files = Vector.empty[WrittenGroup]
    val merged = Report.cpuMillis {
      files = ranges.indices.toVector.map { g =>
        writer.baseOfRuns(ranges(g), g, paths.map(p => () => LocalStorage.open(p)))
      }
      files
    }
    report.add("runs", "table", "", paths.size.toDouble, "files", 1)
    report.add("add to runs, keys a second", "table", "", s.keys / (added - written - making) * 1000, "keys/s", 1)
    report.add("sort and write runs, keys a second", "table", "", s.keys / written * 1000, "keys/s", 1)
    report.add(
      "run bytes a mapping",
      "table",
      "",
      paths.map(p => Files.size(Paths.get(p))).sum.toDouble / s.keys,
      "bytes",
      1
    )
    report.add("merge to base, keys a second", "table", "", s.keys / merged * 1000, "keys/s", 1)
    report.add("all of creation but making keys", "table", "", added - making + merged, "ms", 1)
    report.add("bytes a mapping", "table", "", files.map(_.file.sizeBytes).sum.toDouble / s.keys, "bytes", 1)
    paths.foreach(LocalStorage.delete)
    files.map(_.file)
  }

  private def lookups(s: Setting, store: IndexStore, files: Vector[IndexFile], report: Report): Unit = {
    val identity = TableIdentity("bench", "COPY_ON_WRITE")
    val none = Coverage("", Vector.empty, Vector.empty)
    val version = IndexVersion(1, identity, none, files, Map(RecordProperty.Mode -> "global"), 0L, "bench")
    val random = new java.util.Random(5)
    val keys = new BenchKeys(s.kind, s.keys, s.files)
    def asked(n: Int): PackedKeys = PackedKeys.of(Vector.fill(n)(keys.key(random.nextInt(s.keys))))
    Seq(1, 1000, 10000).foreach { n =>
      val index = RecordIndex.open(version, store, new BlockCache(s.cacheBytes))
      try {
        val sets = Vector.fill(Repeats + 30)(asked(n))
        val rounds = if (n == 1) 2000 else 1
        def call(k: PackedKeys): KeyMappings = {
          val found = index.lookup(k)
          if (found.ordinals.length < n) throw new IllegalStateException(s"$n keys, ${found.ordinals.length} found")
          found
        }
        sets.take(30).foreach(k => (0 until rounds).foreach(_ => call(k)))
        val more = Vector.fill(rounds)(asked(n))
        val times = sets.drop(30).indices.map { i =>
          if (n == 1) Report.cpuMillis(more.map(call).last) / rounds else Report.millis(call(sets(30 + i)))
        }
        report.median(s"lookup of $n", "table", "warm", times)
        val before = index.counters.bytesRead
        call(asked(n))
        report.add(
          s"lookup of $n, bytes read",
          "table",
          "warm",
          (index.counters.bytesRead - before).toDouble,
          "bytes",
          1
        )
      } finally index.close()
    }
    val opens = Vector.fill(Repeats)(asked(1)).map { k =>
      Report.cpuMillis {
        val index = RecordIndex.open(version, store, new BlockCache(s.cacheBytes))
        try index.lookup(k)
        finally index.close()
      }
    }
    report.median("open and look 1 up", "table", "cold", opens)
    scan(version, store, s, report)
  }

  private def scan(version: IndexVersion, store: IndexStore, s: Setting, report: Report): Unit = {
    val index = RecordIndex.open(version, store, new BlockCache(0))
    try {
      var entries = 0L
      val millis = Report.cpuMillis {
        index.groups.indices.foreach { g =>
          val cursor = index.scan(g)
          while (cursor.next()) entries += 1
          cursor.close()
        }
        java.lang.Long.valueOf(entries)
      }
      report.add("scan, keys a second", "table", "", s.keys / millis * 1000, "keys/s", 1)
    } finally index.close()
  }
}

/** Key number `i` of a table: a random UUID, an ascending number, a text with digits, or two fields. */
private final class BenchKeys(kind: String, count: Int, files: Int) {
  val bytes = new Array[Byte](128)

  def fileOf(i: Int): Int = (i.toLong * files / count).toInt

  def write(i: Int): Int = kind match {
    case "uuid"    => uuid(i, 0)
    case "decimal" => decimal(i.toLong, 0)
    case "digits"  => decimal(100000000L + i, text("user-", 0))
    case "two"     => decimal(i.toLong, text(",day:", decimal(20260101L + i % 28, text("city:", 0))))
    case other     => throw new IllegalArgumentException(s"kind $other is not one of uuid, decimal, digits, two")
  }

  def key(i: Int): String = {
    val length = write(i)
    new String(bytes, 0, length, UTF_8)
  }

  private def text(s: String, at: Int): Int = {
    var k = 0
    while (k < s.length) {
      bytes(at + k) = s.charAt(k).toByte
      k += 1
    }
    at + s.length
  }

  private def decimal(value: Long, at: Int): Int = text(java.lang.Long.toString(value), at)

  private def mix(value: Long): Long = {
    var z = value * 0x9e3779b97f4a7c15L
    z = (z ^ (z >>> 30)) * 0xbf58476d1ce4e5b9L
    z = (z ^ (z >>> 27)) * 0x94d049bb133111ebL
    z ^ (z >>> 31)
  }

  private def uuid(i: Int, at: Int): Int = {
    val high = (mix(2L * i + 1) & ~0xf000L) | 0x4000L
    val low = (mix(2L * i + 2) & 0x3fffffffffffffffL) | Long.MinValue
    hudiidx.bytes.UuidText.render(high, low, bytes, at)
    at + hudiidx.bytes.UuidText.Length
  }
}
