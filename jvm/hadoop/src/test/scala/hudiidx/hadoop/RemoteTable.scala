package hudiidx.hadoop

import java.nio.file.{Files, Path => LocalPath}

import hudiidx.hfile.BlockCache
import hudiidx.sync.{FakeTable, FakeWrite, IndexOptions, TableAccess, TableSnapshot}
import org.apache.hadoop.fs.{FileSystem, FileUtil, Path}

/** A table on a remote store, written on the local disk first. */
final class RemoteTable(fs: FileSystem, work: LocalPath, val partitions: Int) {
  private val local = Files.createDirectories(work.resolve(s"table-$partitions"))
  private val table = new FakeTable(local, 9)
  private val remote = fs.makeQualified(new Path(s"/tables/t$partitions"))
  val path: String = remote.toString

  /** One deltacommit with a new file in each partition; what it added locally goes to the store. */
  def write(names: Seq[String]): Unit = {
    val before = localFiles()
    table.write(names.map(FakeWrite(_, -1, isLog = false, 10)), complete = true)
    (localFiles() -- before).foreach(f => RemoteTable.copy(local.resolve(f), fs, new Path(remote, f)))
  }

  private def localFiles(): Set[String] = {
    val all = Files.walk(local)
    try all.toArray.collect { case f: LocalPath if Files.isRegularFile(f) => local.relativize(f).toString }.toSet
    finally all.close()
  }

  def fill(): this.type = {
    RemoteTable.copy(local, fs, remote)
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
