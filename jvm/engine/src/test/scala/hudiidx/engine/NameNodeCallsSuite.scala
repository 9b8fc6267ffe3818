package hudiidx.engine

import hudiidx.fs.HdfsCluster
import hudiidx.Fixtures
import hudiidx.sync.{IndexOptions, TableAccess}
import hudiidx.sync.build.Indexer
import org.apache.hadoop.fs.FileSystem

/** What operations ask of an HDFS NameNode, counted by Hadoop's own statistics of the client. */
class NameNodeCallsSuite extends StoreCalls {
  override protected val store = "HDFS"
  override protected val folder: java.nio.file.Path = Fixtures.newFolder("name-node")
  private lazy val cluster = HdfsCluster.start(folder)

  override def afterAll(): Unit = cluster.shutdown()

  override protected def fs: FileSystem = cluster.getFileSystem

  private def access(): TableAccess = RemoteTable.access(fs)

  override protected def callsOf(deed: => Unit): Map[String, Long] = HdfsCluster.callsOf(deed)

  private def plan(table: String, asked: Int, options: IndexOptions): Unit = RemoteTable.plan(fs, table, asked, options)

  private val counts = Vector(5, 50)
  private lazy val tables = counts.map { n =>
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
    assert(callsOf(plan(tables(1).path, counts(1), indexed)) === calls(1))
  }

  test("plain listing asks the NameNode for every partition") {
    val listing = IndexOptions(enabled = false)
    val calls = tables.map(t => callsOf(plan(t.path, t.partitions, listing)).values.sum)
    info(s"planning by listing of ${counts.mkString(" and ")} partitions: ${calls.mkString(" and ")} calls")
    assert(calls(1) - calls(0) >= counts(1) - counts(0))
  }

  override protected def bounds: Map[String, Map[String, (Long, Long)]] = Map(
    "create" -> Map(
      "op_create" -> at(4),
      "op_delete" -> at(1),
      "op_get_file_status" -> at(19, 36),
      "op_list_status" -> at(9, 26),
      "op_mkdirs" -> at(1),
      "op_open" -> at(9, 26),
      "op_rename" -> at(4)
    ),
    "plan one partition" -> Map("op_get_file_status" -> at(1), "op_list_status" -> at(2), "op_open" -> at(4)),
    "plan one partition, again" -> Map("op_get_file_status" -> at(1), "op_list_status" -> at(2), "op_open" -> at(1)),
    "plan all partitions" -> Map("op_get_file_status" -> at(1), "op_list_status" -> at(2), "op_open" -> at(4)),
    "update with nothing to do" -> Map("op_get_file_status" -> at(1), "op_list_status" -> at(2), "op_open" -> at(2)),
    "update with nothing to do, again" -> Map(
      "op_get_file_status" -> at(1),
      "op_list_status" -> at(2),
      "op_open" -> at(1)
    ),
    "update of one commit" -> Map(
      "op_create" -> at(2),
      "op_get_file_status" -> at(6),
      "op_list_status" -> at(4),
      "op_open" -> at(5),
      "op_rename" -> at(2)
    ),
    "info" -> Map("op_get_file_status" -> at(1), "op_list_status" -> at(3), "op_open" -> at(2)),
    "verify" -> Map("op_get_file_status" -> at(5, 22), "op_list_status" -> at(6, 23), "op_open" -> at(11, 28)),
    "expire" -> Map("op_delete" -> at(3), "op_get_file_status" -> at(1), "op_list_status" -> at(3), "op_open" -> at(3)),
    "create, all indexes" -> Map(
      "op_create" -> at(13, 19),
      "op_delete" -> at(2, 3),
      "op_get_file_status" -> at(28, 51),
      "op_list_status" -> at(13, 31),
      "op_mkdirs" -> at(1),
      "op_open" -> at(27, 114),
      "op_rename" -> at(13, 19)
    ),
    "update with nothing to do, all indexes" -> Map(
      "op_get_file_status" -> at(1),
      "op_list_status" -> at(2),
      "op_open" -> at(2)
    ),
    "update of one commit, all indexes" -> Map(
      "op_create" -> at(6, 5),
      "op_get_file_status" -> at(10, 9),
      "op_list_status" -> at(5),
      "op_open" -> at(12),
      "op_rename" -> at(6, 5)
    ),
    "look up a key, opened anew" -> Map("op_get_file_status" -> at(3), "op_list_status" -> at(2), "op_open" -> at(8)),
    "look up a key, opened anew, again" -> Map(
      "op_get_file_status" -> at(3),
      "op_list_status" -> at(2),
      "op_open" -> at(2)
    ),
    "look up another key" -> Map("op_get_file_status" -> at(1), "op_list_status" -> at(2)),
    "plan by an indexed column" -> Map("op_get_file_status" -> at(1), "op_list_status" -> at(2), "op_open" -> at(6)),
    "plan by an indexed column, again" -> Map(
      "op_get_file_status" -> at(1),
      "op_list_status" -> at(2),
      "op_open" -> at(1)
    ),
    "verify, all indexes" -> Map(
      "op_create" -> at(5),
      "op_delete" -> at(1),
      "op_get_file_status" -> at(11, 28),
      "op_list_status" -> at(12, 29),
      "op_open" -> at(38, 123),
      "op_rename" -> at(5)
    ),
    "expire, all indexes" -> Map(
      "op_delete" -> at(13, 12),
      "op_get_file_status" -> at(1),
      "op_list_status" -> at(3),
      "op_open" -> at(3)
    )
  )

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
