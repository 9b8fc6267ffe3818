package hudiidx.engine.s3

import hudiidx.engine.{RemoteKeyedTable, RemoteTable}
import hudiidx.engine.column.ColumnPart
import hudiidx.engine.record.{LookupAnswer, RecordLookups, RecordPart}
import hudiidx.fs.s3.S3Server
import hudiidx.record.PackedKeys
import hudiidx.sync._
import hudiidx.sync.build.Indexer
import hudiidx.{Fixtures, HudiIdxException}
import org.apache.hadoop.fs.{FileSystem, Path}
import org.scalatest.BeforeAndAfterAll
import org.scalatest.funsuite.AnyFunSuite

/** An S3 that is asked too much and says so (503, "slow down"): its client asks again, answers are the same, and it is told. */
class ThrottledStoreSuite extends AnyFunSuite with BeforeAndAfterAll {
  private lazy val server = new S3Server

  override def afterAll(): Unit = server.close()

  /** File systems are kept by the bucket's name. */
  private def newStore(bucket: String, attempts: Int): FileSystem = {
    server.bucket(bucket)
    val conf = server.configuration
    conf.setInt("fs.s3a.attempts.maximum", attempts)
    conf.setInt("fs.s3a.retry.limit", attempts)
    conf.setInt("fs.s3a.retry.throttle.limit", attempts)
    conf.set("fs.s3a.retry.interval", "5ms")
    conf.set("fs.s3a.retry.throttle.interval", "5ms")
    new Path(s"s3a://$bucket/").getFileSystem(conf)
  }

  private def indexer(table: RemoteKeyedTable, fs: FileSystem): Indexer = {
    val access = RemoteTable.access(fs)
    val record = new RecordPart(new LocalEngine(access), RecordOptions(mode = Some("global"), fileGroups = Some(2)))
    val columns = new ColumnPart(new LocalEngine(access), ColumnOptions(range = Some("c0")))
    new Indexer(access, table.path, IndexOptions(strict = true), LocalScanner, Vector(record, columns))
  }

  private def lookup(table: RemoteKeyedTable, fs: FileSystem, options: IndexOptions): LookupAnswer = {
    RemoteTable.forget()
    val access = RemoteTable.access(fs)
    val lookups = new RecordLookups(access, table.path, options, new LocalEngine(access))
    try lookups.locate(PackedKeys.of((1 to 4).map(table.key) :+ "absent"), None, None)
    finally lookups.close()
  }

  private def records(answer: LookupAnswer, table: RemoteKeyedTable): Set[Any] =
    answer.locations.records(PackedKeys.of((1 to 4).map(table.key) :+ "absent")).toSet

  test("an index is made and brought up, and keys are found, on a store that refuses requests now and then") {
    val fs = newStore("throttled", attempts = 12)
    val table = new RemoteKeyedTable(fs, Fixtures.newFolder("throttled"), 3).fill()
    server.refusesEach = 12
    try {
      indexer(table, fs).create()
      table.write(Seq("p001"))
      assert(indexer(table, fs).update().published)
      for (options <- Seq(IndexOptions(strict = true), IndexOptions(enabled = false))) {
        server.refusesEach = 5
        val throttled = lookup(table, fs, options)
        server.refusesEach = 0
        val plain = lookup(table, fs, options)
        assert(records(throttled, table) === records(plain, table) && throttled.hits === 4)
        assert(throttled.use.calls.throttled > 0 && throttled.use.calls.all > 0, throttled.use)
        assert(plain.use.calls.throttled === 0 && plain.use.calls.all === throttled.use.calls.all)
      }
    } finally server.refusesEach = 0
  }

  test("a store that refuses every request gives errors that name it, and no answer") {
    val fs = newStore("refusing-all", attempts = 1)
    val table = new RemoteKeyedTable(fs, Fixtures.newFolder("refusing-all"), 3).fill()
    indexer(table, fs).create()
    server.refusesEach = 1
    try
      for (
        deed <- Seq[() => Any](
          () => lookup(table, fs, IndexOptions()),
          () => lookup(table, fs, IndexOptions(strict = true)),
          () => lookup(table, fs, IndexOptions(enabled = false)),
          () => indexer(table, fs).create(),
          () => indexer(table, fs).update()
        )
      ) assert(intercept[HudiIdxException](deed()).getMessage.contains(table.path))
    finally server.refusesEach = 0
    assert(lookup(table, fs, IndexOptions(strict = true)).hits === 4)
  }
}
