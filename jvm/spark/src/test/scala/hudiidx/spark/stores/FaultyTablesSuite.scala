package hudiidx.spark.stores

import scala.collection.JavaConverters._

import hudiidx.Fixtures
import hudiidx.hadoop.record.RecordFaultSuite.copy
import hudiidx.hadoop.{FaultTrials, FaultyStore, StoreFault, StoreFaults}
import hudiidx.spark.SparkSuite
import hudiidx.spark.api.HudiIdxApi
import org.apache.spark.sql.DataFrame
import org.scalatest.BeforeAndAfterAll

/** What Spark reads from a store with faults is right or an error, and what it writes there is whole or not there. */
final class FaultyTablesSuite extends SparkSuite with FaultTrials with BeforeAndAfterAll {
  private type Rows = Map[String, String]
  private val index = Map("hudiidx.record.mode" -> "global", "hudiidx.columns" -> "*")
  // A writer that failed is taken for dead soon.
  private val beats =
    Map("hoodie.client.heartbeat.interval_in_ms" -> "100", "hoodie.client.heartbeat.tolerable.misses" -> "2")

  private def settings = spark.sparkContext.hadoopConfiguration

  override def beforeAll(): Unit = FaultyStore.All.flatMap(_.settings).foreach { case (k, v) => settings.set(k, v) }
  override def afterAll(): Unit = FaultyStore.All.flatMap(_.settings.keys).foreach(k => settings.unset(k))

  /** Rows by key: `k007 -> 3-7` as of the write `n` of 3. */
  private def rows(keys: Range, n: Int): DataFrame = {
    import spark.implicits._
    keys.map(i => (f"k$i%03d", s"p${i % 2}", n, s"$n-$i")).toDF("id", "p", "n", "v")
  }

  private def wanted(keys: Range, n: Int): Rows = keys.map(i => f"k$i%03d" -> s"$n-$i").toMap

  private def save(frame: DataFrame, path: String): Unit = {
    val options = Map(
      "hoodie.table.name" -> "t",
      "hoodie.datasource.write.recordkey.field" -> "id",
      "hoodie.datasource.write.partitionpath.field" -> "p",
      "hoodie.datasource.write.precombine.field" -> "n"
    )
    frame.write.format("hudiidx").options(options ++ beats).mode("append").save(path)
  }

  private def found(frame: DataFrame): Rows =
    frame.select("id", "v").collect().map(r => r.getString(0) -> r.getString(1)).toMap

  private val before = wanted(0 until 20, 1) ++ wanted(10 until 30, 2)
  private val after = before ++ wanted(25 until 40, 3)

  /** Two writes, with an index of keys and columns. */
  private lazy val table: String = {
    val path = Fixtures.newFolder("faulty").resolve("t").toString
    save(rows(0 until 20, 1), path)
    new HudiIdxApi(spark, path, index.asJava).create()
    save(rows(10 until 30, 2), path)
    path
  }

  /** A read of all rows, or by a column or keys that the index has. */
  private val queries: Vector[(String, DataFrame => DataFrame, Rows => Rows)] = Vector(
    ("all rows", f => f, r => r),
    ("rows by a column", f => f.where("v >= '2-25'"), _.filter(_._2 >= "2-25")),
    ("rows by key", f => f.where("id in ('k003', 'k012', 'none')"), _.filter(r => Set("k003", "k012")(r._1)))
  )

  FaultyStore.All.foreach { store =>
    queries.foreach { case (what, query, ofThose) =>
      test(s"${store.name}: whatever call of a read of $what has a fault, it is right or an error") {
        def ask(path: String): Rows = found(query(read(store.on(path))))
        everyFault(StoreFaults.count(ask(copy(table))), sample = 20) { fault =>
          val path = copy(table)
          StoreFaults.during(Some(fault))(orError {
            val answer = ask(path)
            // A listing of what is past has what was there then.
            if (fault._2 != StoreFault.Stale || answer != ofThose(wanted(0 until 20, 1)))
              assert(answer === ofThose(before))
          })
        }
      }
    }

    test(s"${store.name}: whatever call of a write has a fault, it is there or not, and the next one ends well") {
      def write(path: String): Unit = save(rows(25 until 40, 3), store.on(path))
      val faults = StoreFault.All.filterNot(_ == StoreFault.Stale)
      everyFault(StoreFaults.count(write(copy(table))), faults, sample = 16) { fault =>
        val path = copy(table)
        val cameUp = StoreFaults.during(Some(fault))(orError(write(path)))
        if (cameUp) {
          val left = found(read(path))
          assert(left === before || left === after)
          Thread.sleep(400) // its heartbeat
          save(rows(38 until 50, 4), path)
          assert(found(read(path)) === left ++ wanted(38 until 50, 4))
          new HudiIdxApi(spark, path, index.asJava).update()
          assert(found(read(path, "hudiidx.index.strict" -> "true")) === left ++ wanted(38 until 50, 4))
        }
        cameUp
      }
    }
  }

  /** Spark wraps what went wrong. */
  private def orError(work: => Any): Unit =
    try work: Unit
    catch {
      case e: Exception if Iterator.iterate[Throwable](e)(_.getCause).takeWhile(_ != null).take(20).exists(isOfStore) =>
        ()
    }
}
