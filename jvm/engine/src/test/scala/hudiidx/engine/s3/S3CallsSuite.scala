package hudiidx.engine.s3

import hudiidx.fs.s3.S3Server
import hudiidx.fs.s3.S3Server.RoundTrips
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
      "delete" -> at(2),
      "get" -> at(8, 25),
      "head" -> at(1),
      "list" -> at(11, 28),
      "put" -> at(6),
      RoundTrips -> at(19, 17)
    ),
    "plan one partition" -> opened(get = 4, trips = 3),
    "plan one partition, again" -> opened(get = 0, head = 1, trips = 1),
    "plan all partitions" -> opened(get = 4, trips = 3),
    "update with nothing to do" -> opened(get = 2, trips = 3),
    "update with nothing to do, again" -> opened(get = 0, head = 1, trips = 1),
    "update of one commit" ->
      Map("get" -> at(5), "list" -> at(4), "put" -> at(2), RoundTrips -> at(8)),
    "info" -> opened(get = 2, trips = 3, list = 3),
    "verify" -> Map("get" -> at(11, 28), "list" -> at(6, 23), RoundTrips -> at(14, 32)),
    "expire" -> Map("delete" -> at(3), "get" -> at(2), "list" -> at(3), RoundTrips -> at(7)),
    "create, all indexes" -> Map(
      "delete" -> at(7, 13),
      "get" -> at(20, 105),
      "head" -> at(1),
      "list" -> at(15, 35),
      "put" -> at(14, 20),
      RoundTrips -> at(29, 36)
    ),
    "update with nothing to do, all indexes" -> opened(get = 2, trips = 3),
    "update of one commit, all indexes" -> Map(
      "get" -> at(12),
      "list" -> at(5),
      "put" -> at(6, 5),
      RoundTrips -> at(12, 11)
    ),
    "look up a key, opened anew" -> opened(get = 7, trips = 7),
    "look up a key, opened anew, again" -> opened(get = 0, head = 1, trips = 1),
    "look up another key" -> opened(get = 0, head = 1, trips = 1),
    "plan by an indexed column" -> opened(get = 6, trips = 4),
    "plan by an indexed column, again" -> opened(get = 0, head = 1, trips = 1),
    "verify, all indexes" -> Map(
      "delete" -> at(5),
      "get" -> at(30, 115),
      "head" -> at(2),
      "list" -> at(12, 29),
      "post" -> at(1),
      "put" -> at(5),
      RoundTrips -> at(40, 74)
    ),
    "expire, all indexes" -> Map("delete" -> at(11), "get" -> at(2), "list" -> at(3), RoundTrips -> at(7))
  )

  /** Of what looks at the properties, the timeline and the index's versions at once, and then reads. One more in a row may be seen
    * where those that are made at once take differently long.
    */
  private def opened(get: Long, trips: Long, list: Long = 2, head: Long = 0): Map[String, (Long, Long)] =
    Map("get" -> at(get), "head" -> at(head), "list" -> at(list), RoundTrips -> at(trips + 1))
}
