package hudiidx.engine

import java.nio.file.{Files, Path => LocalPath}

import scala.util.Random

import hudiidx.Fixtures
import hudiidx.fs.HadoopStorage
import hudiidx.engine.record.{KeyWrite, KeyedTable}
import hudiidx.hfile.BlockCache
import hudiidx.storage.KeptFiles
import hudiidx.store.KeptEnds
import hudiidx.sync.{FakeTable, FakeWrite, IndexOptions, TableAccess, TableSnapshot}
import hudiidx.table.KnownProperties
import org.apache.hadoop.fs.{FileSystem, FileUtil, Path}

/** A table that is written on the local disk first. */
abstract class PushedTable(fs: FileSystem, local: LocalPath, name: String) {
  private val remote = fs.makeQualified(new Path(s"/tables/$name"))
  val path: String = remote.toString

  /** What `write` adds locally goes to the store. */
  protected def pushing(write: => Unit): Unit = {
    val before = localFiles()
    write
    (localFiles() -- before).foreach(f => RemoteTable.copy(local.resolve(f), fs, new Path(remote, f)))
  }

  private def localFiles(): Set[String] =
    if (Files.exists(local)) Fixtures.filesBelow(local.toString).toSet else Set.empty
}

/** Its files hold zeros. */
final class RemoteTable(fs: FileSystem, work: LocalPath, val partitions: Int)
    extends PushedTable(fs, work.resolve(s"table-$partitions"), s"t$partitions") {
  private lazy val table = new FakeTable(Files.createDirectories(work.resolve(s"table-$partitions")), 9)

  /** One deltacommit with a new file in each partition. */
  def write(names: Seq[String]): Unit =
    pushing(table.write(names.map(FakeWrite(_, -1, isLog = false, 10)), complete = true))

  def fill(): this.type = {
    (1 to 2).foreach(_ => write((0 until partitions).map(i => f"p$i%03d")))
    this
  }
}

/** Two base files of rows in each partition: two keys each, and a column `c0`. */
final class RemoteKeyedTable(fs: FileSystem, work: LocalPath, val partitions: Int)
    extends PushedTable(fs, work.resolve(s"keyed-$partitions"), s"k$partitions") {
  private lazy val table =
    new KeyedTable(Files.createDirectories(work.resolve(s"keyed-$partitions")), more = 1, new Random(partitions))
  private var keys = 0

  /** One deltacommit with a new file in each partition. */
  def write(names: Seq[String]): Unit = pushing(table.write(names.map(KeyWrite(_, -1, log = false, newKeys(), 0))))

  private def newKeys(): Vector[String] = {
    keys += 2
    Vector(KeyedTable.uuid(keys), KeyedTable.uuid(keys + 1))
  }

  def key(n: Int): String = KeyedTable.uuid(n + 2)

  def fill(): this.type = {
    (1 to 2).foreach(_ => write((0 until partitions).map(i => f"p$i%03d")))
    this
  }
}

object RemoteTable {

  /** A file, or a folder with all in it. S3's own copy from the local disk needs more jars. */
  def copy(local: LocalPath, fs: FileSystem, to: Path): Unit = {
    val from = new Path(local.toUri)
    FileUtil.copy(from.getFileSystem(fs.getConf), from, fs, to, false, fs.getConf): Unit
  }

  /** New readers, which keep nothing yet. */
  def access(fs: FileSystem): TableAccess = Tables.access(new HadoopStorage(fs.getConf), new BlockCache())

  /** Makes the process one that begins: nothing of any store is kept. */
  def forget(): Unit = {
    KeptFiles.clear()
    KnownProperties.clear()
    KeptEnds.clear()
  }

  /** Opens the table anew, asks for all partitions and plans `asked` of them, of two files each. */
  def plan(fs: FileSystem, table: String, asked: Int, options: IndexOptions): Unit = {
    val snapshot = TableSnapshot.open(access(fs), table, options)
    try {
      val files =
        snapshot.view.partitions.take(asked).map(p => snapshot.view.latestMergedFileSlices(p).size)
      assert(files == Vector.fill(asked)(2), files)
    } finally snapshot.close()
  }
}
