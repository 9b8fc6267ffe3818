package hudiidx.engine.s3

import hudiidx.fs.s3.S3Server
import hudiidx.{Fixtures, TestSettings}
import hudiidx.engine.StoreCalls
import org.apache.hadoop.fs.{FileSystem, Path}

/** What operations ask of an object store, counted at its door. */
class S3CallsSuite extends StoreCalls {
  private lazy val server = new S3Server
  override protected val store = "S3"
  override protected val folder: java.nio.file.Path = Fixtures.newFolder("s3-calls")
  override protected lazy val fs: FileSystem = {
    server.bucket("tables")
    new Path("s3a://tables/").getFileSystem(server.configuration)
  }

  override protected def sizes: Vector[Int] = if (TestSettings.isLong) super.sizes else Vector(3)

  override def afterAll(): Unit = server.close()

  override protected def callsOf(deed: => Unit): Map[String, Long] = server.callsOf(deed)

  override protected def bounds: Map[String, Map[String, (Long, Long)]] = Map(
    "create" -> Map(
      "delete" -> at(4, 10),
      "get" -> at(9, 26),
      "head" -> at(17, 48),
      "list" -> at(22, 53),
      "post" -> at(5, 12),
      "put" -> at(8, 13)
    ),
    "plan one partition" -> Map("get" -> at(4), "head" -> at(1), "list" -> at(2)),
    "plan all partitions" -> Map("get" -> at(4), "head" -> at(1), "list" -> at(2)),
    "update with nothing to do" -> Map("get" -> at(2), "head" -> at(1), "list" -> at(2)),
    "update of one commit" -> Map("get" -> at(7), "head" -> at(4), "list" -> at(5), "post" -> at(1), "put" -> at(2)),
    "info" -> Map("get" -> at(2), "head" -> at(1), "list" -> at(4)),
    "verify" -> Map("get" -> at(11, 28), "head" -> at(5, 22), "list" -> at(7, 24)),
    "expire" -> Map("delete" -> at(3), "get" -> at(2), "head" -> at(4), "list" -> at(6)),
    "create, all indexes" -> Map(
      "delete" -> at(7, 10),
      "get" -> at(41, 137),
      "head" -> at(54, 155),
      "list" -> at(46, 81),
      "post" -> at(19, 29),
      "put" -> at(19, 28)
    ),
    "update with nothing to do, all indexes" -> Map("get" -> at(2), "head" -> at(1), "list" -> at(2)),
    "update of one commit, all indexes" -> Map(
      "delete" -> at(1),
      "get" -> at(35, 29),
      "head" -> at(19, 16),
      "list" -> at(20, 18),
      "post" -> at(11, 9),
      "put" -> at(11, 9)
    ),
    "look up a key, opened anew" -> Map("get" -> at(8), "head" -> at(3), "list" -> at(4)),
    "look up another key" -> Map("head" -> at(1), "list" -> at(2)),
    "plan by an indexed column" -> Map("get" -> at(6), "head" -> at(1), "list" -> at(2)),
    "verify, all indexes" -> Map(
      "get" -> at(68, 153),
      "head" -> at(34, 119),
      "list" -> at(19, 36),
      "post" -> at(6),
      "put" -> at(5)
    ),
    "expire, all indexes" -> Map("delete" -> at(13, 12), "get" -> at(2), "head" -> at(14, 13), "list" -> at(16, 15))
  )
}
