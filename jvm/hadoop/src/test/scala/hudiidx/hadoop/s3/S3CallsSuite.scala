package hudiidx.hadoop.s3

import hudiidx.Fixtures
import hudiidx.hadoop.RemoteTable
import hudiidx.sync.{IndexOptions, Indexer}
import org.apache.hadoop.fs.{FileSystem, Path}
import org.scalatest.BeforeAndAfterAll
import org.scalatest.funsuite.AnyFunSuite

/** What listing, planning and updating ask of an object store, counted at its door. */
class S3CallsSuite extends AnyFunSuite with BeforeAndAfterAll {
  private lazy val server = new S3Server
  private val folder = Fixtures.newFolder("s3-calls")
  private lazy val fs: FileSystem = {
    server.bucket("tables")
    new Path("s3a://tables/").getFileSystem(server.configuration)
  }
  private val sizes = Vector(3, 20)
  private val strict = IndexOptions(strict = true)
  private lazy val tables = sizes.map { n =>
    val table = new RemoteTable(fs, folder, n).fill()
    indexer(table).create()
    table
  }

  private def indexer(table: RemoteTable): Indexer = new Indexer(RemoteTable.access(fs), table.path, strict)

  override def afterAll(): Unit = server.close()

  /** The same for the small and the large table, or the test fails. */
  private def callsOf(deed: RemoteTable => Unit): Map[String, Long] = {
    val calls = tables.map { table =>
      server.reset()
      deed(table)
      server.calls
    }
    assert(calls(0) === calls(1))
    calls(0)
  }

  private def assertAtMost(calls: Map[String, Long], bounds: (String, Long)*): Unit = {
    info(calls.toVector.sorted.map { case (name, n) => s"$n $name" }.mkString(", "))
    val most = bounds.toMap
    calls.foreach { case (name, n) => assert(n <= most.getOrElse(name, 0L), s"$name of $calls") }
  }

  test("planning of one partition makes the same few calls, however many partitions there are") {
    assertAtMost(callsOf(t => RemoteTable.plan(fs, t.path, 1, strict)), "list" -> 2, "head" -> 4, "get" -> 4)
  }

  test("an update with nothing to do writes nothing") {
    assertAtMost(callsOf(t => indexer(t).update(): Unit), "list" -> 2, "head" -> 2, "get" -> 2)
  }

  test("an update of one commit asks as often of a large table as of a small one") {
    tables.foreach(_.write(Seq("p001")))
    val calls = callsOf(t => indexer(t).update(): Unit)
    assertAtMost(calls, "list" -> 5, "head" -> 8, "get" -> 7, "put" -> 2, "post" -> 1)
  }
}
