package hudiidx.hadoop

import hudiidx.Fixtures
import hudiidx.sync.{IndexOptions, Indexer, TableAccess}
import org.apache.hadoop.fs.FileSystem
import org.scalatest.BeforeAndAfterAll
import org.scalatest.funsuite.AnyFunSuite

/** What planning asks of an HDFS NameNode, counted by Hadoop's own statistics of the client. */
class NameNodeCallsSuite extends AnyFunSuite with BeforeAndAfterAll {
  private val folder = Fixtures.newFolder("name-node")
  private lazy val cluster = HdfsCluster.start(folder)

  override def afterAll(): Unit = cluster.shutdown()

  private def fs: FileSystem = cluster.getFileSystem

  private def access(): TableAccess = RemoteTable.access(fs)

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

  private def plan(table: String, asked: Int, options: IndexOptions): Unit = RemoteTable.plan(fs, table, asked, options)

  private val sizes = Vector(5, 50)
  private lazy val tables = sizes.map { n =>
    val table = new RemoteTable(fs, folder, n).fill()
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
