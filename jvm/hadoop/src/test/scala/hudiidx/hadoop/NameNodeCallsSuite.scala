package hudiidx.hadoop

import java.nio.file.{Files, Path => LocalPath}

import hudiidx.Fixtures
import hudiidx.hfile.BlockCache
import hudiidx.sync.{FakeTable, FakeWrite, IndexOptions, Indexer, TableAccess, TableSnapshot}
import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.{FileSystem, Path}
import org.apache.hadoop.hdfs.MiniDFSCluster
import org.scalatest.BeforeAndAfterAll
import org.scalatest.funsuite.AnyFunSuite

/** What planning asks of an HDFS NameNode, counted by Hadoop's own statistics of the client. */
class NameNodeCallsSuite extends AnyFunSuite with BeforeAndAfterAll {
  private val folder = Fixtures.newFolder("name-node")
  private var cluster: MiniDFSCluster = _

  override def beforeAll(): Unit = {
    val conf = new Configuration
    conf.set(MiniDFSCluster.HDFS_MINIDFS_BASEDIR, folder.toString)
    cluster = new MiniDFSCluster.Builder(conf).numDataNodes(1).build()
  }

  override def afterAll(): Unit = if (cluster != null) cluster.shutdown()

  private def fs: FileSystem = cluster.getFileSystem

  /** A table on HDFS, written on the local disk first. */
  private final class RemoteTable(val partitions: Int) {
    private val local = Files.createDirectories(folder.resolve(s"table-$partitions"))
    private val table = new FakeTable(local, 9)
    private val remote = fs.makeQualified(new Path(s"/tables/t$partitions"))
    val path: String = remote.toString

    /** One deltacommit with a new file in each partition; what it added locally goes to HDFS. */
    def write(names: Seq[String]): Unit = {
      val before = localFiles()
      table.write(names.map(FakeWrite(_, -1, isLog = false, 10)), complete = true)
      (localFiles() -- before).foreach { f =>
        val to = new Path(remote, f)
        fs.mkdirs(to.getParent)
        fs.copyFromLocalFile(new Path(local.resolve(f).toUri), to)
      }
    }

    private def localFiles(): Set[String] = {
      val all = Files.walk(local)
      try all.toArray.collect { case f: LocalPath if Files.isRegularFile(f) => local.relativize(f).toString }.toSet
      finally all.close()
    }

    def fill(): this.type = {
      fs.copyFromLocalFile(new Path(local.toUri), remote)
      (1 to 2).foreach(_ => write((0 until partitions).map(i => f"p$i%03d")))
      this
    }
  }

  private def access(): TableAccess = Tables.access(new HadoopStorage(cluster.getConfiguration(0)), new BlockCache())

  /** Calls that `deed` makes, by kind. */
  private def callsOf(deed: => Unit): Map[String, Long] = {
    val before = counters()
    deed
    counters().map { case (name, n) => name -> (n - before.getOrElse(name, 0L)) }.filter(_._2 > 0)
  }

  private def counters(): Map[String, Long] = {
    val found = Map.newBuilder[String, Long]
    val it = FileSystem.getGlobalStorageStatistics.get("DFSOpsCountStatistics").getLongStatistics
    while (it.hasNext) {
      val counter = it.next()
      found += counter.getName -> counter.getValue
    }
    found.result()
  }

  /** Opens the table anew, then asks for all partitions and plans `asked` of them. */
  private def plan(table: String, asked: Int, options: IndexOptions): Unit = {
    val snapshot = TableSnapshot.open(access(), table, options)
    try {
      val partitions = snapshot.view.partitions
      val files = partitions.take(asked).map(p => snapshot.view.latestMergedFileSlices(p).size)
      assert(files === Vector.fill(asked)(2))
    } finally snapshot.close()
  }

  private val sizes = Vector(5, 50)
  private lazy val tables = sizes.map { n =>
    val table = new RemoteTable(n).fill()
    new Indexer(access(), table.path, IndexOptions(strict = true)).create()
    table
  }

  test("indexed planning makes the same few NameNode calls, however many partitions there are and are asked for") {
    val indexed = IndexOptions(strict = true)
    val calls = tables.map(t => callsOf(plan(t.path, 1, indexed)))
    info(s"indexed planning: ${calls(0)}")
    assert(calls(0) === calls(1))
    assert(calls(0).values.sum <= 12)
    assert(callsOf(plan(tables(1).path, sizes(1), indexed)) === calls(1))
  }

  test("plain listing asks the NameNode for every partition") {
    val listing = IndexOptions(enabled = false)
    val calls = tables.map(t => callsOf(plan(t.path, t.partitions, listing)).values.sum)
    info(s"planning by listing of ${sizes.mkString(" and ")} partitions: ${calls.mkString(" and ")} calls")
    assert(calls(1) - calls(0) >= sizes(1) - sizes(0))
  }

  test("a file takes another's place") {
    val storage = new HadoopStorage(cluster.getConfiguration(0))
    val path = fs.makeQualified(new Path("/replaced/f")).toString
    Seq("one", "another one", "2").foreach { content =>
      storage.replace(path, content.getBytes("UTF-8"))
      assert(new String(storage.readAll(path), "UTF-8") === content)
    }
    assert(storage.list(path.stripSuffix("/f")).map(_.name) === Vector("f"))
  }

  test("an update with one commit asks the NameNode as often for a large table as for a small one") {
    val calls = tables.map { table =>
      table.write(Seq("p001"))
      callsOf(new Indexer(access(), table.path, IndexOptions(strict = true)).update())
    }
    info(s"update: ${calls(0)}")
    assert(calls(0) === calls(1))
  }

  test("an update with nothing to do asks the NameNode for two lists and two files") {
    val calls = tables.map { table =>
      def update() = new Indexer(access(), table.path, IndexOptions(strict = true)).update()
      update()
      callsOf(update())
    }
    info(s"update with nothing to do: ${calls(0)}")
    assert(calls(0) === calls(1))
    assert(calls(0).values.sum <= 6)
  }
}
