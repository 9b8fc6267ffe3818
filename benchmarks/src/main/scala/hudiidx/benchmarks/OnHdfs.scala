package hudiidx.benchmarks

import java.net.URI
import java.nio.file.Paths
import java.security.MessageDigest

import hudiidx.engine.record.RecordLookup
import hudiidx.record.PackedKeys
import hudiidx.sync.TableContext
import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.{FileSystem, Path}

/** `OnHdfs --store URI --table M --facts FILE --keys TABLE --rows N --out OUT`: files of a partition and locations of record keys from
  * the same index on a local disk and on HDFS by turns, beside the NameNode's own listing of a folder of as many files. Timeline and index
  * are copied to the store, data files are not: neither call opens one.
  *
  * `--keys` is a table whose record keys are UUIDs of the MD5 of the numbers 0 to N - 1, as `bench` makes it.
  */
object OnHdfs {
  private val Rounds = 40

  def main(args: Array[String]): Unit = {
    val options = Options.parse(args, Set("store", "table", "facts", "keys", "rows", "out"), Set.empty)
    val store = options("store").stripSuffix("/")
    val fs = FileSystem.get(URI.create(store), new Configuration())
    val out = Paths.get(options("out"))
    val partitions = Report.partitions(Report.readFacts(Paths.get(options("facts"))), "average_partitions")
    val files = Stores("files of a partition", options("table"), copied(fs, options("table"), s"$store/files"), out)
    new PartitionFiles(partitions.map(_.path)).measure(files)
    nameNode(fs, s"$store/folders", partitions.take(Rounds), new Report(out, "files of a partition", "NameNode"))
    val keys = Stores("record keys", options("keys"), copied(fs, options("keys"), s"$store/keys"), out)
    new KeyLocations(options("rows").toInt).measure(keys)
  }

  /** The same table twice. */
  private final case class Stores(name: String, local: String, hdfs: String, out: java.nio.file.Path) {
    val all: Vector[(String, Report)] =
      Vector(local -> new Report(out, name, "local disk"), hdfs -> new Report(out, name, "HDFS"))

    /** Both by turns, behind a quarter that is not counted. */
    def byTurns(what: String, state: String)(call: (String, Int) => Any): Unit = {
      val times = (0 until Rounds).map(round => all.map { case (table, _) => Report.millis(call(table, round)) })
      all.indices.foreach(i => all(i)._2.median(what, "table", state, times.drop(Rounds / 4).map(_(i))))
    }
  }

  private def copied(fs: FileSystem, table: String, target: String): String = {
    val hoodie = new Path(target, ".hoodie")
    fs.delete(new Path(target), true)
    fs.mkdirs(hoodie)
    Seq("hoodie.properties", "timeline", "hudiidx").foreach { name =>
      fs.copyFromLocalFile(new Path(s"$table/.hoodie/$name"), new Path(hoodie, name))
    }
    target
  }

  /** A folder of as many empty files as each partition has, listed: what one call of the store takes. */
  private def nameNode(fs: FileSystem, root: String, partitions: Vector[PartitionFacts], report: Report): Unit = {
    val folders = partitions.map { p =>
      val folder = new Path(root, p.path)
      fs.mkdirs(folder)
      (0 until p.files).foreach(i => fs.create(new Path(folder, s"f$i")).close())
      folder
    }
    def listed() = folders.map(f => Report.millis(fs.listStatus(f)))
    listed()
    report.median("files", "table", "one list call", listed())
  }

  private final class PartitionFiles(paths: Vector[String]) {

    def measure(stores: Stores): Unit = {
      stores.byTurns("files", "cold") { (table, i) => Rfc15.opened(table)(_.source.files(paths(i % paths.size))) }
      val open = stores.all.map { case (table, _) =>
        table -> hudiidx.sync.TableSnapshot.open(Rfc15.access(), table, Rfc15.strict)
      }.toMap
      try stores.byTurns("files", "warm")((table, i) => open(table).source.files(paths(i % paths.size)))
      finally open.values.foreach(_.close())
    }
  }

  private final class KeyLocations(rows: Int) {
    private def key(row: Long): String = {
      val hex = MessageDigest.getInstance("MD5").digest(row.toString.getBytes("UTF-8")).map(b => f"$b%02x").mkString
      Seq(hex.take(8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.drop(20)).mkString("-")
    }

    private def keys(count: Int, turn: Int): PackedKeys =
      PackedKeys.of(Vector.tabulate(count)(i => key((turn * 104729L + i * 7919L) % rows)))

    private def opened(table: String): RecordLookup =
      RecordLookup.open(
        TableContext.load(Rfc15.access(), table),
        Rfc15.strict,
        None,
        new ThreadEngine(Rfc15.access(), 1)
      )

    private def located(lookup: RecordLookup, asked: PackedKeys, count: Int): Any = {
      val found = lookup.locate(asked)
      require(found.places.length == count, s"${found.places.length} of $count keys have a location")
      found
    }

    def measure(stores: Stores): Unit = {
      stores.byTurns("open, 1 key", "cold") { (table, turn) =>
        val lookup = opened(table)
        try located(lookup, keys(1, turn), 1)
        finally lookup.close()
      }
      val open = stores.all.map { case (table, _) => table -> opened(table) }.toMap
      try
        Seq(1, 1000, 10000).foreach { n =>
          val asked = Vector.tabulate(Rounds)(keys(n, _))
          stores.byTurns(s"$n keys", "warm")((table, turn) => located(open(table), asked(turn), n))
        }
      finally open.values.foreach(_.close())
    }
  }
}
