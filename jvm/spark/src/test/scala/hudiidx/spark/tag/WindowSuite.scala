package hudiidx.spark.tag

import scala.collection.JavaConverters._

import hudiidx.engine.record.{KeyWrite, KeyedTable}
import hudiidx.record.{PackedKeys, PackedLocations, RecordLocation}
import hudiidx.spark._
import hudiidx.spark.options.TagStrategy
import hudiidx.spark.views.RecordIndexView
import hudiidx.spark.api.HudiIdxApi

/** A record index of a window of days: lookups, tags and the view agree on what is in it, in either mode. */
final class WindowSuite extends SparkSuite {
  import TagTables._

  private val days = 3
  private val strict = Map("hudiidx.index.strict" -> "true")

  private def api(table: KeyedTable, options: (String, String)*): HudiIdxApi =
    new HudiIdxApi(spark, table.path, (strict ++ options).asJava)

  /** Keys k0 to k9 of two partitions, five of them written again when the others have left the window. */
  private def written(mode: String): KeyedTable = {
    val table = new KeyedTable
    val keys = (0 until 10).map(n => s"k$n").toVector
    table.write(Seq(KeyWrite("a", -1, log = false, keys, 0), KeyWrite("b", -1, log = false, keys.take(4), 0)))
    api(table, "hudiidx.record.mode" -> mode, "hudiidx.record.window.days" -> days.toString).create()
    table.sleep(days + 1)
    table.write(
      Seq(
        KeyWrite("a", 0, log = true, Vector("new"), 0, updates = 4),
        KeyWrite("b", 0, log = false, Vector.empty, 0, 1)
      )
    )
    table
  }

  private def located(table: KeyedTable, keys: Vector[String]): Set[RecordLocation] =
    api(table).lookup(PackedKeys.encode(keys), null, null) match {
      case bytes: Array[Byte] => PackedLocations.decode(bytes).records(PackedKeys.of(keys)).toSet
      case other              => fail(s"$other")
    }

  Vector("global", "partitioned").foreach { mode =>
    test(s"$mode: an index that is behind, and brought up, has the records of its days, by every way of asking") {
      val table = written(mode)
      val wanted = table.truthOf(days)
      assert(
        wanted.map(l => (l.key, l.partitionPath)) === Set(
          "k6" -> "a",
          "k7" -> "a",
          "k8" -> "a",
          "k9" -> "a",
          "new" -> "a",
          "k3" -> "b"
        )
      )
      for (state <- Vector("behind", "in step")) {
        if (state == "in step") api(table).update()
        assert(located(table, table.keys :+ "absent") === wanted, state)
        val rows = read(table.path, "view" -> RecordIndexView.Name, "hudiidx.index.strict" -> "true").collect()
        assert(
          rows.map(r => RecordLocation(r.getString(0), r.getString(1), r.getString(2), r.getString(3))).toSet === wanted
        )
        Vector(TagStrategy.Driver, TagStrategy.Direct, TagStrategy.Shuffle).foreach { strategy =>
          val tagged = tag(spark, table.path, asked(spark, table.keys, 2), strategy, options = strict)
          val found = wanted.groupBy(_.key).map { case (k, l) => k -> l.map(x => (x.partitionPath, x.fileId)) }
          val absent = (table.keys.toSet -- found.keySet).map(_ -> Set.empty[Place])
          assert(places(tagged) === expected(found ++ absent), s"$state, $strategy")
          assert(tagged.queryExecution.executedPlan.toString.contains(s"a window of $days days"))
        }
      }
    }
  }

  test("in one partition a partitioned index tells its own record of a key") {
    val table = written("partitioned")
    api(table).update()
    val session = spark
    import session.implicits._
    val frame = Vector("k3" -> "a", "k3" -> "b", "k9" -> "a", "k9" -> "b").toDF("key", "where")
    val rows = tag(spark, table.path, frame, TagStrategy.Direct, partition = "where", options = strict).collect()
    assert(
      rows.map(r => (r.getString(0), r.getString(1), !r.isNullAt(2))).toSet === Set(
        ("k3", "a", false),
        ("k3", "b", true),
        ("k9", "a", true),
        ("k9", "b", false)
      )
    )
  }
}
