package hudiidx.spark.tag

import hudiidx.spark._
import hudiidx.spark.options.TagStrategy
import hudiidx.spark.views.RecordIndexView
import hudiidx.engine.TimelineCut
import hudiidx.engine.record.RecordPartSuite
import hudiidx.spark.SparkSuite
import hudiidx.{Fixtures, IndexNotFound, InvalidOption}
import org.apache.spark.sql.functions.{col, lit}
import org.apache.spark.sql.types.StringType

/** Tags are where stock Hudi finds the keys, by every strategy, whatever the state of the index. */
final class TagLocationSuite extends SparkSuite {
  import TagTables._

  private val strategies = Vector(TagStrategy.Driver, TagStrategy.Direct, TagStrategy.Shuffle)

  Fixtures
    .sampled(
      this,
      Vector(
        "v6-cow-replace",
        "v6-moved-cow",
        "v6-mor-rollback",
        "v8-cow-complex",
        "v8-moved-mor",
        "v9-mor-event",
        "v9-dup-keys",
        "v9-mor-log-only",
        "v9-mor-part"
      ),
      oneOf = 2
    )
    .foreach { name =>
      test(s"$name: existing, absent and null keys are tagged as stock Hudi has them, the index being fresh") {
        val table = indexed(name)
        val wanted = expected(stock(name))
        val instants = read(table, "view" -> "latest_merged_file_slices")
          .collect()
          .map(r => (r.getString(0), r.getString(1)) -> r.getString(2))
          .toMap
        strategies.foreach { strategy =>
          val tagged = tag(spark, table, asked(spark, stock(name).keys, 3), strategy, options = strict)
          assert(places(tagged) === wanted, strategy)
          tagged.where("file_id is not null").collect().foreach { r =>
            assert(r.getString(5) === instants((r.getString(3), r.getString(4))), strategy)
          }
        }
      }
    }

  Vector("v6-mor-part" -> 0.4, "v9-cow-replace" -> 0.3, "v9-moved-mor" -> 0.5).foreach { case (name, share) =>
    test(s"$name: an index that is behind, and none at all, give stock Hudi's locations") {
      val table = Fixtures.copy(name)
      val cut = new TimelineCut(table)
      cut.showFirst((cut.size * share).toInt)
      RecordPartSuite.create(table)
      cut.showAll()
      val wanted = expected(stock(name))
      strategies.foreach { strategy =>
        val frame = asked(spark, stock(name).keys, 3)
        val behind = tag(spark, table, frame, strategy, options = strict)
        assert(behind.queryExecution.executedPlan.toString.contains("index version 1"))
        assert(places(behind) === wanted, s"behind, $strategy")
        val without = tag(spark, table, frame, strategy, options = Map("hudiidx.index.enabled" -> "false"))
        assert(places(without) === wanted, s"without index, $strategy")
      }
    }
  }

  test("rows, order of columns and types stay; a key of several locations gives a row for each") {
    val table = indexed("v9-dup-keys")
    val found = stock("v9-dup-keys")
    val frame = asked(spark, found.keys, 0)
    val tagged = tag(spark, table, frame, TagStrategy.Auto)
    assert(tagged.columns.toVector === frame.columns.toVector ++ TagLocation.Columns)
    assert(tagged.schema.take(3) === frame.schema.toVector)
    assert(tagged.schema.drop(3).forall(f => f.dataType == StringType && f.nullable))
    assert(tagged.select("id", "key", "rest").distinct().except(frame).isEmpty)
    val rows = tagged.groupBy("id", "key").count().collect().map(r => r.getString(1) -> r.getLong(2))
    assert(rows.length === frame.count())
    rows.foreach { case (key, n) => assert(n === found.get(key).fold(1)(_.size), s"key $key") }
    assert(found.values.exists(_.size > 1))
  }

  test("with a partition column only the location in that partition counts") {
    val table = indexed("v9-dup-keys")
    val found = stock("v9-dup-keys")
    val (key, locations) = found.filter(_._2.map(_._1).size > 1).minBy(_._1)
    val other = (Fixtures.json("v9-dup-keys").path("listing").path("partitions"))
    val all = (0 until other.size).map(other.get(_).asText) ++ Seq("nowhere", null)
    val session = spark
    import session.implicits._
    val frame = all.map(p => (p, key)).toDF("where", "key")
    strategies.foreach { strategy =>
      val rows = tag(spark, table, frame, strategy, partition = "where").collect()
      assert(rows.length === all.map(p => math.max(1, locations.count(_._1 == p))).sum)
      rows.foreach { r =>
        val here = locations.filter(_._1 == r.getString(0))
        if (here.isEmpty) assert(r.isNullAt(2) && r.isNullAt(3))
        else assert(here((r.getString(2), r.getString(3))))
      }
    }
  }

  test("a key of two fields from its columns, in any order, and as Hudi writes it") {
    val name = "v9-cow-complex"
    val table = indexed(name)
    val found = stock(name)
    val parts = asked(spark, found.keys, 2)
      .where("key like 'id:%'")
      .withColumn("id", org.apache.spark.sql.functions.regexp_extract(col("key"), "^id:([^,]*),sub:", 1))
      .withColumn("sub", org.apache.spark.sql.functions.regexp_extract(col("key"), "^id:[^,]*,sub:(.*)$", 1))
    Seq(Seq("id", "sub"), Seq("sub", "id")).foreach { columns =>
      assert(places(tag(spark, table, parts, TagStrategy.Direct, columns, isText = false)) === found)
    }
    assert(places(tag(spark, table, parts, TagStrategy.Direct)) === found)
    val thrown = intercept[InvalidOption](tag(spark, table, parts, TagStrategy.Auto, Seq("sub"), isText = false))
    assert(thrown.getMessage.contains("id, sub"))
  }

  Vector("v6-virtual-mor", "v9-virtual-cow").foreach { name =>
    test(s"$name: keys that are not stored are found by their fields") {
      val table = indexed(name)
      val keys = RecordPartSuite.allKeys(table, None)
      val frame = asked(spark, keys, 2)
      val tagged = places(tag(spark, table, frame, TagStrategy.Shuffle, options = strict))
      assert(keys.nonEmpty && keys.forall(k => tagged(k).size == 1))
      assert(
        tagged === places(
          tag(spark, table, frame, TagStrategy.Driver, options = Map("hudiidx.index.enabled" -> "false"))
        )
      )
    }
  }

  test("an empty DataFrame stays empty, one of nulls gets nulls") {
    val table = indexed("v9-cow-part")
    val frame = asked(spark, Seq("k000001"), 2)
    strategies.foreach { strategy =>
      assert(tag(spark, table, frame.where("false"), strategy).collect().isEmpty)
      assert(tag(spark, table, frame.limit(0), strategy).schema.size === 6)
      val nulls = tag(spark, table, frame.where("key is null"), strategy)
      assert(nulls.count() === 2 && nulls.where("file_id is not null").isEmpty)
    }
  }

  test(
    "a tagged DataFrame is one like any other: filtered, pruned, joined with itself, cached, nested in another tagging"
  ) {
    val table = indexed("v9-cow-part")
    val keys = stock("v9-cow-part").keys.toVector
    val tagged = tag(spark, table, asked(spark, keys, 2), TagStrategy.Direct)
    assert(tagged.where("partition_path = 'sf'").select("file_id").distinct().count() > 0)
    val self = tagged.as("a").join(tagged.as("b"), col("a.id") === col("b.id"))
    assert(self.where("a.file_id = b.file_id").count() === keys.size)
    assert(tagged.cache().where("file_id is null").count() === 6)
    tagged.unpersist()
    assert(tagged.groupBy("partition_path").count().count() === 5)
    val again = tag(spark, table, tagged.drop(TagLocation.Columns: _*), TagStrategy.Shuffle)
    assert(again.where("file_id is not null").count() === keys.size)
    intercept[InvalidOption](tag(spark, table, tagged, TagStrategy.Auto))
  }

  test("the plan tells strategy, reason and index; the metrics count keys and the index's work") {
    val table = indexed("v9-cow-part")
    val keys = stock("v9-cow-part").keys.toVector
    strategies.foreach { strategy =>
      val tagged = tag(spark, table, asked(spark, keys, 2), strategy)
      tagged.collect()
      val plan = tagged.queryExecution.executedPlan
      assert(plan.toString.contains(s"$strategy lookup (asked for), index version 1, 3 hash groups, 0 file slices"))
      val metrics = execs(plan).head.metrics
      def value(name: String) = metrics(name).value
      assert(value("keys") === keys.size + 4 && value("hits") === keys.size && value("misses") === 4, strategy)
      assert(value("groupsOpened") >= 3 && value("pagesDecoded") >= 3 && value("scannedSlices") === 0, strategy)
    }
    val auto = tag(spark, table, asked(spark, keys, 0), TagStrategy.Auto).queryExecution.executedPlan.toString
    assert(auto.contains("driver lookup (at most"))
    val many = tag(spark, table, spark.range(20000).withColumn("key", col("id").cast("string")), TagStrategy.Auto)
    assert(many.queryExecution.executedPlan.toString.contains("direct lookup (the index ("))
  }

  test("without a record index strict mode refuses; a wrong column and a wrong strategy are told") {
    val table = Fixtures.table("v9-cow-part")
    val frame = asked(spark, Seq("k000001"), 0)
    intercept[IndexNotFound](tag(spark, table, frame, TagStrategy.Auto, options = strict))
    assert(intercept[InvalidOption](tag(spark, table, frame, "broadcast")).getMessage.contains("direct"))
    val arrays = frame.withColumn("many", org.apache.spark.sql.functions.array(lit(1)))
    assert(
      intercept[InvalidOption](tag(spark, table, arrays, TagStrategy.Auto, Seq("many"))).getMessage.contains("array")
    )
    intercept[org.apache.spark.sql.AnalysisException](tag(spark, table, frame, TagStrategy.Auto, Seq("nothing")))
  }

  test("an index file that is damaged costs time, not tags; in strict mode it is an error") {
    val table = indexed("v9-cow-part")
    val found = stock("v9-cow-part")
    val folder = java.nio.file.Paths.get(table, ".hoodie", "hudiidx")
    Fixtures.filesBelow(folder.toString).filter(_.endsWith(".record_base")).foreach { f =>
      val file = folder.resolve(f)
      val bytes = java.nio.file.Files.readAllBytes(file)
      (8 until math.min(bytes.length, 200)).foreach(i => bytes(i) = (bytes(i) ^ 0x5a).toByte)
      java.nio.file.Files.write(file, bytes)
    }
    strategies.foreach { strategy =>
      assert(places(tag(spark, table, asked(spark, found.keys, 2), strategy)) === expected(found), strategy)
    }
    intercept[Exception](tag(spark, table, asked(spark, found.keys, 2), TagStrategy.Direct, options = strict).collect())
  }

  Vector("v6-moved-cow", "v9-mor-part", "v9-dup-keys").foreach { name =>
    test(s"$name: the view record_index is stock Hudi's whole mapping, with the index, behind, and without") {
      val wanted = stock(name).toVector.flatMap { case (k, places) => places.map(p => (k, p._1, p._2)) }.sorted
      def rows(table: String, options: (String, String)*): Vector[(String, String, String)] = {
        val frame = read(table, options :+ ("view" -> RecordIndexView.Name): _*)
        assert(frame.columns.toVector === Vector("record_key", "partition_path", "file_id", "instant_time"))
        frame.collect().map(r => (r.getString(0), r.getString(1), r.getString(2))).toVector.sorted
      }
      val table = indexed(name)
      assert(rows(table, strict.toSeq: _*) === wanted)
      assert(rows(table, "hudiidx.index.enabled" -> "false") === wanted)
      val late = Fixtures.copy(name)
      val cut = new TimelineCut(late)
      cut.showFirst(cut.size / 3)
      RecordPartSuite.create(late)
      cut.showAll()
      assert(rows(late, strict.toSeq: _*) === wanted)
    }
  }

  Vector(".record_base", ".record_groups").foreach { kind =>
    test(
      s"the view record_index has all of stock Hudi's mapping where a $kind is damaged or gone; strict reading raises"
    ) {
      val name = "v9-dup-keys"
      val table = indexed(name)
      val wanted = stock(name).toVector.flatMap { case (k, places) => places.map(p => (k, p._1, p._2)) }.sorted
      def rows(options: (String, String)*) = read(table, options :+ ("view" -> RecordIndexView.Name): _*).collect()
      val folder = java.nio.file.Paths.get(table, ".hoodie", "hudiidx")
      val file = folder.resolve(Fixtures.filesBelow(folder.toString).find(_.endsWith(kind)).get)
      val bytes = java.nio.file.Files.readAllBytes(file)
      java.nio.file.Files.write(file, bytes.map(b => (b ^ 0x5a).toByte))
      for (state <- Vector("damaged", "gone")) {
        if (state == "gone") java.nio.file.Files.delete(file)
        assert(rows().map(r => (r.getString(0), r.getString(1), r.getString(2))).toVector.sorted === wanted, state)
        intercept[Exception](rows(strict.toSeq: _*))
      }
      val warned = hudiidx.sync.FallbackCounters.snapshot(s"file:$folder")
      assert(warned.getOrElse("DAMAGED_RECORD_INDEX", 0L) >= 2)
    }
  }

  private def strict: Map[String, String] = Map("hudiidx.index.strict" -> "true")

  private def execs(plan: org.apache.spark.sql.execution.SparkPlan): Seq[TagLocationExec] = plan match {
    case a: org.apache.spark.sql.execution.adaptive.AdaptiveSparkPlanExec => execs(a.executedPlan)
    case q: org.apache.spark.sql.execution.adaptive.QueryStageExec        => execs(q.plan)
    case t: TagLocationExec                                               => Seq(t)
    case other                                                            => other.children.flatMap(execs)
  }
}
