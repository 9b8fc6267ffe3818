package hudiidx.spark.stores

import scala.collection.JavaConverters._
import scala.util.Try

import hudiidx.engine.column.ColumnPart
import hudiidx.engine.record.RecordFaultSuite.copy
import hudiidx.engine.record.{RecordFaultSuite, RecordPart}
import hudiidx.engine.{FaultTrials, FaultyStore}
import hudiidx.fs.{StoreFault, StoreFaults}
import hudiidx.spark.SparkSuite
import hudiidx.spark.api.HudiIdxApi
import hudiidx.spark.compact.CompactionApi
import hudiidx.storage.LocalStorage
import hudiidx.sync._
import hudiidx.sync.build.Indexer
import hudiidx.write.{HeartbeatOptions, OpenWrite}
import hudiidx.{Causes, Fixtures, HudiIdxException, WriteConflict, WriteFailed, WriteUnknown}
import org.apache.spark.sql.DataFrame
import org.scalatest.BeforeAndAfterAll

/** What Spark reads from a store with faults is right or an error, and what it writes there is whole or not there. */
final class FaultyTablesSuite extends SparkSuite with FaultTrials with BeforeAndAfterAll {
  private type Rows = Map[String, String]
  private val index = Map("hudiidx.record.mode" -> "global", "hudiidx.columns" -> "*")
  // A writer that failed is taken for dead soon.
  private val beats =
    Map("hoodie.client.heartbeat.interval_in_ms" -> "100", "hoodie.client.heartbeat.tolerable.misses" -> "2")

  private val ExpiryMillis = 400L

  private def settings = spark.sparkContext.hadoopConfiguration

  override def beforeAll(): Unit = FaultyStore.All.flatMap(_.settings).foreach { case (k, v) => settings.set(k, v) }
  override def afterAll(): Unit = FaultyStore.All.flatMap(_.settings.keys).foreach(k => settings.unset(k))

  /** Rows by key: `k007 -> 3-7` as of the write `n` of 3. */
  private def rows(keys: Range, n: Int): DataFrame = {
    import spark.implicits._
    keys.map(i => (f"k$i%03d", s"p${i % 2}", n, s"$n-$i")).toDF("id", "p", "n", "v")
  }

  private def wanted(keys: Range, n: Int): Rows = keys.map(i => f"k$i%03d" -> s"$n-$i").toMap

  private def save(frame: DataFrame, path: String, more: (String, String)*): Unit = {
    val options = Map(
      "hoodie.table.name" -> "t",
      "hoodie.datasource.write.recordkey.field" -> "id",
      "hoodie.datasource.write.partitionpath.field" -> "p",
      "hoodie.datasource.write.precombine.field" -> "n"
    )
    frame.write.format("hudiidx").options(options ++ beats ++ more).mode("append").save(path)
  }

  private def found(frame: DataFrame): Rows =
    frame.select("id", "v").collect().map(r => r.getString(0) -> r.getString(1)).toMap

  private val before = wanted(0 until 20, 1) ++ wanted(10 until 30, 2)
  private val after = before ++ wanted(15 until 40, 3)

  /** Two writes, of base files, logs and more base files, with an index of keys and columns. */
  private lazy val table: String = {
    val path = Fixtures.newFolder("faulty").resolve("t").toString
    save(rows(0 until 20, 1), path)
    new HudiIdxApi(spark, path, index.asJava).create()
    save(rows(10 until 30, 2), path, "hoodie.parquet.small.file.limit" -> "0")
    path
  }

  /** A read of all rows, or by a column or keys that the index has. */
  private val queries: Vector[(String, DataFrame => DataFrame, Rows => Rows)] = Vector(
    ("all rows", f => f, r => r),
    ("rows by a column", f => f.where("v >= '2-25'"), _.filter(_._2 >= "2-25")),
    ("rows by key", f => f.where("id in ('k003', 'k012', 'none')"), _.filter(r => Set("k003", "k012")(r._1)))
  )

  private def local: TableAccess = RecordFaultSuite.access(LocalStorage)

  /** Another indexer publishes a version, and removes the files of those before. */
  private def reindex(path: String): Unit = {
    val record = new RecordPart(new LocalEngine(local), RecordOptions())
    val columns = new ColumnPart(new LocalEngine(local), ColumnOptions())
    new Indexer(local, path, RecordFaultSuite.quick, LocalScanner, Vector(record, columns)).create(): Unit
  }

  /** Another writer begins when this one has been silent for too long, and rolls back what it finds. */
  private def takeBack(path: String): Unit = {
    Thread.sleep(ExpiryMillis)
    try OpenWrite.begin(local, path, HeartbeatOptions(100L, 2)).abandon()
    catch { case _: WriteConflict => () }
  }

  FaultyStore.All.foreach { store =>
    queries.foreach { case (what, query, ofThose) =>
      test(s"${store.name}: whatever call of a read of $what has a fault, it is right or an error") {
        def ask(path: String): Rows = found(query(read(store.on(path))))
        everyFault(StoreFaults.count(ask(copy(table))), sample = 8) { fault =>
          val path = copy(table)
          StoreFaults.during(Some(fault), () => reindex(path))(orError {
            val answer = ask(path)
            // A listing of what is past has what was there then.
            if (fault._2 != StoreFault.Stale || answer != ofThose(wanted(0 until 20, 1)))
              assert(answer === ofThose(before))
          })
        }
      }
    }

    test(s"${store.name}: whatever call of a write has a fault, it is there or not, and the next one ends well") {
      def write(path: String): Unit = save(rows(15 until 40, 3), store.on(path)) // new versions of base files, and logs
      val faults = StoreFault.All.filterNot(_ == StoreFault.Stale)
      everyFault(StoreFaults.count(write(copy(table))), faults, sample = 6, faultsOfCall = 1) { fault =>
        val path = copy(table)
        var said = Option.empty[Throwable]
        val cameUp = StoreFaults.during(Some(fault), () => takeBack(path))(orError {
          said = Try(write(path)).failed.toOption
          said.foreach(throw _)
        })
        if (cameUp) {
          assert(Set(before, after)(found(read(path))))
          Thread.sleep(ExpiryMillis)
          // A write of no rows settles what the store did not tell.
          if (said.map(ours).exists(_.isInstanceOf[WriteUnknown])) save(rows(0 until 0, 3), path)
          val left = found(read(path))
          assert(left === before || left === after)
          save(rows(38 until 50, 4), path)
          assert(found(read(path)) === left ++ wanted(38 until 50, 4))
          new HudiIdxApi(spark, path, index.asJava).update()
          assert(found(read(path, "hudiidx.index.strict" -> "true")) === left ++ wanted(38 until 50, 4))
        }
        cameUp
      }
    }

    test(
      s"${store.name}: wherever in a write the disk fills up, an error of ours says so, and the next one ends well"
    ) {
      def write(path: String): Unit = save(rows(15 until 40, 3), store.on(path))
      everyFault(StoreFaults.count(write(copy(table))), Seq(StoreFault.Full), sample = 5) { fault =>
        val path = copy(table)
        var said = Option.empty[Throwable]
        val cameUp = StoreFaults.during(Some(fault)) { said = Try(write(path)).failed.toOption.map(ours) }
        if (cameUp) {
          val left = found(read(path))
          val next = said match {
            case None                  => after // it was full after the write: while the index was brought up
            case Some(e: WriteFailed)  => before.ensuring(_ == left, e)
            case Some(_: WriteUnknown) => left
            case Some(e)               => fail(s"no error of ours for a write: $e", e)
          }
          said.foreach { e =>
            val text = e.getMessage
            assert(text.startsWith(store.on(path) + ": ") && text.contains("No space left on device"))
            assert(text.contains("make room") || e.isInstanceOf[WriteUnknown])
            assert(text.split(java.util.regex.Pattern.quote(store.on(path) + "/")).length == 2, "the file is named")
          }
          Thread.sleep(ExpiryMillis)
          save(rows(38 until 50, 4), path)
          val settled = if (said.exists(_.isInstanceOf[WriteUnknown])) Set(next, after) else Set(next)
          assert(settled.map(_ ++ wanted(38 until 50, 4)).contains(found(read(path))))
        }
        cameUp
      }
    }

    test(s"${store.name}: wherever in a compaction the disk fills up, an error of ours says so, and rows stay") {
      def compact(path: String): Unit =
        CompactionApi.compact(spark, path, beats, "schedule_and_execute", None): Unit
      val calls = StoreFaults.count(compact(store.on(copy(table))))
      everyFault(calls, Seq(StoreFault.Full), sample = 3) { fault =>
        val path = copy(table)
        var said = Option.empty[Throwable]
        val cameUp = StoreFaults.during(Some(fault)) { said = Try(compact(store.on(path))).failed.toOption }
        if (cameUp) {
          said.foreach(e => assert(e.isInstanceOf[WriteFailed] || e.isInstanceOf[WriteUnknown], e))
          assert(found(read(path)) === before)
          Thread.sleep(ExpiryMillis)
          compact(path)
          assert(found(read(path)) === before)
        }
        cameUp
      }
    }

    test(s"${store.name}: whatever call of a compaction has a fault, rows stay, and the next one ends well") {
      def compact(path: String): Unit =
        CompactionApi.compact(spark, path, beats, "schedule_and_execute", None): Unit
      val faults = StoreFault.All.filterNot(_ == StoreFault.Stale)
      everyFault(StoreFaults.count(compact(store.on(copy(table)))), faults, sample = 5, faultsOfCall = 1) { fault =>
        val path = copy(table)
        val cameUp = StoreFaults.during(Some(fault), () => takeBack(path))(orError(compact(store.on(path))))
        if (cameUp) {
          assert(found(read(path)) === before)
          Thread.sleep(ExpiryMillis)
          compact(path)
          assert(found(read(path)) === before)
          assert(found(read(path, "hoodie.datasource.query.type" -> "read_optimized")) === before)
          new HudiIdxApi(spark, path, index.asJava).update()
          assert(found(read(path, "hudiidx.index.strict" -> "true")) === before)
        }
        cameUp
      }
    }

    test(s"${store.name}: whatever call of tagging has a fault, tags are right or there is an error") {
      def tagged(path: String): Map[String, String] = {
        import spark.implicits._
        val keys = (before.keys.toVector :+ "none").sorted.toDF("key")
        new HudiIdxApi(spark, path, index.asJava)
          .tagLocation(keys, Seq("key").asJava, isText = true, null)
          .where("file_id is not null")
          .select("key", "file_id")
          .collect()
          .map(r => r.getString(0) -> r.getString(1))
          .toMap
      }
      val right = tagged(copy(table))
      assert(right.keySet === before.keySet)
      everyFault(StoreFaults.count(tagged(store.on(copy(table)))), sample = 8, faultsOfCall = 2) { fault =>
        val path = copy(table)
        StoreFaults.during(Some(fault), () => reindex(path))(orError {
          val answer = tagged(store.on(path))
          if (fault._2 != StoreFault.Stale || answer.keySet != wanted(0 until 20, 1).keySet) assert(answer === right)
        })
      }
    }
  }

  /** As Python finds it, in what Spark wraps it in. */
  private def ours(e: Throwable): Throwable =
    Causes.of(e).find(_.isInstanceOf[HudiIdxException]).getOrElse(e)

  /** Spark wraps what went wrong. */
  private def orError(work: => Any): Unit =
    try work: Unit
    catch {
      case e: Exception if Causes.of(e).exists(isOfStore) =>
        ()
    }
}
