package hudiidx.spark

import java.nio.file.{Files, Paths}

import scala.util.Random

import hudiidx.spark.options.ReadPushdowns
import hudiidx.spark.plan.KeyJoinRule
import hudiidx.{Fixtures, TestSettings}
import hudiidx.spark.api.HudiIdxApi
import org.apache.spark.sql.functions.{broadcast, expr, monotonically_increasing_id}
import org.apache.spark.sql.types.{IntegerType, StringType, StructField, StructType}
import org.apache.spark.sql.{DataFrame, Encoders, Row, SparkSession}

/** A join by record key with something small, that has no filter, reads the file groups of its keys alone. */
final class KeyJoinSuite extends SparkSuite {
  private val off = ReadPushdowns.RecordKeys -> "false"

  private def rows(frame: DataFrame): Vector[String] = frame.collect().map(_.toString).toVector.sorted

  private def indexed(name: String): String = {
    val table = Fixtures.copy(name)
    new HudiIdxApi(spark, table, java.util.Map.of("hudiidx.record.mode", "partitioned")).create()
    table
  }

  private val struct = StructType(Seq(StructField("k", StringType), StructField("n", IntegerType)))

  private def small(keys: Seq[String]): DataFrame = {
    val rows = new java.util.ArrayList[Row]
    keys.zipWithIndex.foreach { case (k, i) => rows.add(Row(k, i)) }
    spark.createDataFrame(rows, struct)
  }

  /** The same, but the optimizer knows nothing of it. */
  private def unknown(keys: Seq[String]): DataFrame =
    spark.createDataFrame(spark.sparkContext.parallelize(keys.zipWithIndex.map { case (k, i) => Row(k, i) }, 1), struct)

  private def keysOf(table: String, where: String): Vector[String] =
    read(table).where(where).select("_hoodie_record_key").collect().map(_.getString(0)).toVector.sorted

  test("files of other keys may be gone") {
    val table = indexed("v9-cow-part")
    val keys = keysOf(table, "city = 'sf'").take(3)
    val kept =
      read(table).where("city = 'sf'").select("_hoodie_file_name").distinct().collect().map(_.getString(0)).toSet
    val by = expr("_hoodie_record_key = k")
    val whole = rows(read(table, off).join(small(keys), by))
    assert(whole.length === 3)
    Fixtures
      .filesBelow(table)
      .filter(f => f.endsWith(".parquet") && !f.startsWith(".hoodie/") && !kept(f.substring(f.lastIndexOf('/') + 1)))
      .foreach(f => Files.delete(Paths.get(table, f)))
    assert(rows(read(table).join(small(keys), by)) === whole)
    assert(rows(read(table).join(broadcast(unknown(keys)), by)) === whole)
    // As MERGE has the rows of its target. The condition keeps Spark from dropping the numbers before the join.
    val numbered = read(table).withColumn("row", monotonically_increasing_id())
    assert(rows(numbered.join(small(keys), by).where("row >= 0").drop("row")) === whole)
    // Without a broadcast the keys are collected by a job of their own.
    spark.conf.set("spark.sql.autoBroadcastJoinThreshold", "-1")
    try assert(rows(read(table).join(small(keys), by)) === whole)
    finally spark.conf.unset("spark.sql.autoBroadcastJoinThreshold")
  }

  TestSettings.some(2)(Vector("v6-cow-part", "v9-moved-mor", "v9-dup-keys")).foreach { name =>
    test(s"$name: every kind of join gives the same as without the lookup") {
      val table = indexed(name)
      val keys = keysOf(table, "true").grouped(40).map(_.head).toVector
      val one = small(keys :+ "absent" :+ keys.head)
      Vector("inner", "left", "right", "left_semi", "left_anti", "full").foreach { kind =>
        def joined(options: (String, String)*): DataFrame =
          read(table, options: _*)
            .select("_hoodie_record_key", "_hoodie_commit_time")
            .join(one, expr("_hoodie_record_key = k"), kind)
        withClue(s"$kind: ")(assert(rows(joined()) === rows(joined(off))))
        def turned(options: (String, String)*): DataFrame =
          one.join(read(table, options: _*).select("_hoodie_record_key"), expr("_hoodie_record_key = k"), kind)
        withClue(s"turned $kind: ")(assert(rows(turned()) === rows(turned(off))))
      }
    }
  }

  test("a small side that may give other rows the second time is left alone") {
    val table = indexed("v9-cow-part")
    val random = broadcast(unknown(keysOf(table, "true")).where("rand() < 0.5"))
    val plan = read(table).join(random, expr("_hoodie_record_key = k")).queryExecution.optimizedPlan.toString
    assert(!plan.contains("dynamicpruning"))
    val certain =
      read(table).join(small(Seq("a")), expr("_hoodie_record_key = k")).queryExecution.optimizedPlan.toString
    assert(certain.contains("dynamicpruning"))
  }

  /** Some of the keys, others each time that Spark asks for them. */
  private def drawn(keys: Vector[String]): DataFrame = {
    val some = spark.sparkContext.parallelize(Seq(0), 1).flatMap(_ => Random.shuffle(keys).take(5).map(Row(_, 0)))
    spark.createDataFrame(some, struct)
  }

  test("rows of a small side that gives others each time find all their partners") {
    val table = indexed("v9-cow-part")
    val keys = keysOf(table, "true").distinct
    val all = read(table).select("_hoodie_record_key")
    val by = expr("_hoodie_record_key = k")
    val sides = Seq[DataFrame => DataFrame](
      s => s,
      _.orderBy("k").limit(4),
      _.limit(4),
      _.groupBy("k").count(),
      _.where("k is not null").union(small(keys.take(1)))
    )
    for (side <- sides; reuse <- Seq("true", "false"); most <- Seq("10MB", "-1"); _ <- 1 to 3) {
      spark.conf.set("spark.sql.exchange.reuse", reuse)
      spark.conf.set("spark.sql.autoBroadcastJoinThreshold", most)
      try {
        val lonely = side(drawn(keys)).join(all, by, "left").where("_hoodie_record_key is null")
        val paired = side(drawn(keys)).join(all, by)
        assert(lonely.count() === 0 && paired.count() >= 4, s"reuse $reuse, broadcasts to $most")
      } finally Seq("spark.sql.exchange.reuse", "spark.sql.autoBroadcastJoinThreshold").foreach(spark.conf.unset)
    }
  }

  test("a session with the extension has the rule before it opens a table, once") {
    assert(spark.range(1).count() === 1)
    SparkSession.clearActiveSession()
    SparkSession.clearDefaultSession()
    try {
      // A session beside others takes extensions from its builder alone; spark.sql.extensions counts for the first one.
      val own = SparkSession.builder().withExtensions(new HudiIdxExtensions).getOrCreate()
      assert(own ne spark)
      def rules = own.experimental.extraOptimizations.count(_.isInstanceOf[KeyJoinRule])
      assert(own.range(3).where("id > 1").count() === 1)
      assert(rules === 1)
      val table = indexed("v9-cow-part")
      val keys = keysOf(table, "city = 'sf'").take(3)
      val joined = own.read
        .format("hudiidx")
        .load(table)
        .join(own.createDataset(keys)(Encoders.STRING).toDF("k"), expr("_hoodie_record_key = k"))
      assert(joined.queryExecution.optimizedPlan.toString.contains("dynamicpruning"))
      assert(joined.count() === 3 && rules === 1)
    } finally {
      SparkSession.setDefaultSession(spark)
      SparkSession.setActiveSession(spark)
    }
  }
}
