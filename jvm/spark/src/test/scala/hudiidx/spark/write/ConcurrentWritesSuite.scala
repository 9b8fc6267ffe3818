package hudiidx.spark.write

import scala.util.{Failure, Random, Success}

import hudiidx.TestSettings.{isLong, seed}
import hudiidx.engine.Tables
import hudiidx.spark.{CommitSchemas, SparkSuite}
import hudiidx.storage.LocalStorage
import hudiidx.write.format.CompletedWrite
import hudiidx.write.{HeartbeatOptions, LockOptions, OpenWrite}
import hudiidx.{DamagedTable, Figures, Fixtures, InvalidOption, WriteConflict}
import org.apache.hadoop.conf.Configuration
import org.apache.spark.sql.functions.col
import org.apache.spark.sql.types.StructType

/** Writers of one table at the same time, behind Hudi's lock file. Those beside stock Hudi stand in `integration/`. */
final class ConcurrentWritesSuite extends SparkSuite with WritersTogether {
  for (version <- Seq(6, 9)) {
    test(s"version $version: writes to disjoint file groups both succeed, those to the same one do not") {
      val path = newTable(version)
      save(during(rows(0 until 60 by 6, 2))(save(rows(1 until 60 by 6, 3), path)), path)
      val first = (0 until 60).map(i => f"k$i%03d" -> (if (i % 6 == 0) 2 else if (i % 6 == 1) 3 else 1)).toMap
      assert(values(path) === first)
      val before = Fixtures.filesBelow(path).filter(_.contains(".log.")).toSet
      val lost = intercept[WriteConflict](save(during(rows(Seq(0, 1), 4))(save(rows(Seq(6), 5), path)), path))
      assert(lost.getMessage.contains("both wrote file group") && lost.getMessage.contains("'p0'"))
      assert(values(path) === first + ("k006" -> 5))
      assert((Fixtures.filesBelow(path).filter(_.contains(".log.")).toSet -- before).size === 1)
      assert(Fixtures.filesBelow(path).forall(f => !f.contains("/.temp/") && !f.endsWith("/lock")))
    }

    test(s"version $version: records that two writers insert are there once, and columns that one adds stay") {
      val path = newTable(version)
      val apart = Map("hoodie.parquet.small.file.limit" -> "0")
      val twice = intercept[WriteConflict] {
        save(during(rows(100 until 103, 2))(save(rows(102 until 105, 3), path, apart)), path, apart)
      }
      assert(twice.getMessage.contains("record 'k102'"))
      save(during(rows(110 until 113, 2))(save(rows(120 until 123, 3), path, apart)), path, apart)
      assert(
        values(path).keySet
          .filter(_ >= "k100") === (Seq(102, 103, 104) ++ (110 until 113) ++ (120 until 123)).map(i => s"k$i").toSet
      )
      val columns = intercept[WriteConflict] {
        save(during(rows(Seq(0), 4))(save(rows(Seq(1), 4).withColumn("more", col("ts")), path)), path)
      }
      assert(columns.getMessage.contains("columns"))
      assert(read(path).columns.contains("more"))
    }

    test(s"version $version: a commit of another writer whose schema is not of rows is damage that names it") {
      for (schema <- Seq("\"int\"", "no schema{", "")) {
        val path = newTable(version)
        def write() = save(
          during(rows(Seq(0), 2)) {
            save(rows(Seq(1), 2), path)
            if (schema.nonEmpty) CommitSchemas.change(path)(_ => schema)
          },
          path
        )
        if (schema.isEmpty) write()
        else {
          val said = intercept[DamagedTable](write()).getMessage
          assert(said.contains("its schema is not of rows") && said.contains(".deltacommit") && !said.contains("\n"))
        }
      }
    }

    test(s"version $version: two writers at a time, in random rounds: nothing is lost and nothing comes back") {
      val path = newTable(version)
      val random = new Random(seed + version)
      val rounds = if (isLong) 100 else 3
      info(s"HUDIIDX_TEST_SEED=$seed, $rounds rounds")
      var state = values(path)
      var both = 0
      (1 to rounds).foreach { round =>
        val deeds = Vector.fill(2)(Deed.random(random))
        val done = atOnce(deeds.zipWithIndex.map { case (d, i) => () => d.run(path, 10 * round + i) })
        val won = deeds.zipWithIndex.zip(done).flatMap {
          case (deed, Success(_))             => Some(deed)
          case (_, Failure(_: WriteConflict)) => None
          case (_, Failure(e))                => throw e
        }
        assert(won.nonEmpty, s"round $round: $done")
        if (won.size == 2) both += 1
        // As if one had written after the other, in either order.
        val wanted = won.permutations
          .map(_.foldLeft(state) { case (s, (d, i)) => d.of(s, 10 * round + i) })
          .toVector
        val found = values(path)
        assert(wanted.contains(found), s"round $round: $deeds, done: $done, from $state")
        state = found
      }
      Figures.add("rounds of two writers at once", rounds.toLong)
      info(s"both committed in $both rounds")
      if (isLong) assert(both > 0 && both < rounds, "rounds must be of both kinds")
    }
  }

  /** An upsert or a delete of some records. */
  private case class Deed(ids: Vector[Int], isDelete: Boolean, fillsUp: Boolean) {
    def run(path: String, ts: Int): Unit = {
      val operation = "hoodie.datasource.write.operation" -> (if (isDelete) "delete" else "upsert")
      val small = "hoodie.parquet.small.file.limit" -> (if (fillsUp) "1000000" else "0")
      save(rows(ids, ts), path, Map(operation, small))
    }

    def of(state: Map[String, Int], ts: Int): Map[String, Int] = {
      val keys = ids.map(i => f"k$i%03d")
      if (isDelete) state -- keys else state ++ keys.map(_ -> ts)
    }
  }

  private object Deed {
    def random(r: Random): Deed = {
      val partitions = r.shuffle((0 until 6).toVector).take(1 + r.nextInt(3)).toSet
      val from = r.nextInt(150)
      val ids = (from until from + 1 + r.nextInt(40)).filter(i => partitions(i % 6)).toVector
      Deed(if (ids.isEmpty) Vector(from) else ids, r.nextInt(4) == 0, r.nextInt(4) == 0)
    }
  }

  test("a lock that another has is waited for, and an expired one is taken") {
    val path = newTable(9)
    val lock = s"$path/.hoodie/lock"
    val impatient =
      Map("hoodie.write.lock.client.num_retries" -> "2", "hoodie.write.lock.client.wait_time_ms_between_retry" -> "50")
    LocalStorage.publish(lock, Array.emptyByteArray)
    val from = System.nanoTime()
    val busy = intercept[WriteConflict](save(rows(Seq(1), 2), path, impatient))
    assert(busy.getMessage.contains(lock))
    assert(System.nanoTime() - from < 8000000000L, "the wait between two tries is five seconds unless it is given")
    val expiring = impatient + ("hoodie.write.lock.filesystem.expire" -> "1")
    intercept[WriteConflict](save(rows(Seq(1), 2), path, expiring))
    java.nio.file.Files.setLastModifiedTime(
      java.nio.file.Paths.get(lock),
      java.nio.file.attribute.FileTime.fromMillis(System.currentTimeMillis() - 61000)
    )
    save(rows(Seq(1), 2), path, expiring)
    assert(values(path)("k001") === 2 && LocalStorage.status(lock).isEmpty)
    val elsewhere = Fixtures.newFolder("locks").toString
    LocalStorage.publish(s"$elsewhere/lock", Array.emptyByteArray)
    val there = impatient + ("hoodie.write.lock.filesystem.path" -> elsewhere)
    assert(intercept[WriteConflict](save(rows(Seq(1), 3), path, there)).getMessage.contains(elsewhere))
  }

  test("a write whose lock was taken away while it was to complete does not") {
    val path = newTable(9)
    val taken = intercept[WriteConflict] {
      val open = OpenWrite.begin(Tables.access(new Configuration), path, HeartbeatOptions(), Some(LockOptions()))
      open.start()
      save(rows(Seq(200), 2), path, Map("hoodie.parquet.small.file.limit" -> "0"))
      val schema = read(path).schema
      val done = CompletedWrite("UPSERT", WriteSchema.ofNew(dataOf(schema), "t").avro.toString, Vector.empty)
      open.complete(done, _ => LocalStorage.delete(s"$path/.hoodie/lock"): Unit)
    }
    assert(taken.getMessage.contains("the lock was taken"))
    assert(values(path).contains("k200"))
    save(rows(Seq(1), 3), path)
  }

  private def dataOf(schema: StructType): StructType = StructType(schema.filterNot(_.name.startsWith("_hoodie_")))

  test("options of several writers that are not served are refused") {
    val path = newTable(9)
    def wrong(options: (String, String)*): String =
      intercept[InvalidOption](save(rows(Seq(1), 2), path, options.toMap)).getMessage
    assert(wrong("hoodie.write.concurrency.mode" -> "non_blocking_concurrency_control").contains("unsupported value"))
    assert(wrong("hoodie.write.lock.provider" -> "").contains("unsupported value"))
    assert(
      wrong("hoodie.write.lock.provider" -> "x.ZookeeperBasedLockProvider").contains("FileSystemBasedLockProvider")
    )
    assert(wrong("hoodie.write.lock.filesystem.expire" -> "-1").contains("takes a whole number, 0 or more"))
  }
}
