package hudiidx.spark

import java.nio.charset.StandardCharsets.UTF_8
import java.nio.file.{Files, Paths, StandardOpenOption}
import java.util.concurrent.atomic.AtomicInteger

import scala.util.Random

import hudiidx.record.PackedKeys
import hudiidx.spark.api.HudiIdxApi
import hudiidx.spark.options.{ReadOptions, ReadPushdowns}
import hudiidx.{Fixtures, IndexNotFound, UnsupportedTable}
import org.apache.spark.scheduler.{SparkListener, SparkListenerJobStart}
import org.apache.spark.sql.DataFrame
import org.apache.spark.sql.functions.col
import org.scalacheck.Gen
import org.scalatestplus.scalacheck.ScalaCheckPropertyChecks

/** Rows of record keys read on the driver are those of a read of the table. */
final class RowLookupSuite extends SparkSuite with ScalaCheckPropertyChecks {

  private def api(table: String, options: (String, String)*): HudiIdxApi = {
    val map = new java.util.HashMap[String, String]()
    options.foreach { case (k, v) => map.put(k, v) }
    new HudiIdxApi(spark, table, map)
  }

  private def lookup(
      index: HudiIdxApi,
      keys: Seq[String],
      partition: String = null,
      asOf: String = null
  ): DataFrame = index.lookupRows(PackedKeys.encode(keys), partition, asOf)

  private def texts(frame: DataFrame): Vector[String] = Answer.of(frame).rows

  private def keysOf(table: String): Vector[String] =
    read(table).select("_hoodie_record_key").distinct().collect().map(_.getString(0)).toVector.sorted

  private def scanned(table: String, keys: Seq[String], options: (String, String)*): DataFrame =
    read(table, options :+ (ReadPushdowns.RecordKeys -> "false"): _*)
      .where(col("_hoodie_record_key").isin(keys: _*))

  /** The index is made as if the last write had not happened. */
  private def stale(table: String): Unit = {
    val timeline =
      Paths.get(table, ".hoodie", if (Files.exists(Paths.get(table, ".hoodie", "timeline"))) "timeline" else "")
    val last =
      Fixtures.filesBelow(timeline.toString).filter(_.matches("[\\d_]+\\.(commit|deltacommit|replacecommit)")).max
    val aside = Files.createTempDirectory("aside").resolve(last)
    Files.move(timeline.resolve(last), aside)
    api(table, "hudiidx.record.mode" -> "partitioned").create()
    Files.move(aside, timeline.resolve(last)): Unit
  }

  // Every version, commit-time and event-time order, partial updates, deletes, key and position merging, duplicates, logs alone,
  // changed columns, all types.
  private val tables = Vector(
    "v6-cow-evolution",
    "v6-mor-part",
    "v6-mor-evolution",
    "v6-mor-types",
    "v8-mor-event",
    "v8-partial-updates",
    "v9-cow-complex",
    "v9-dup-keys",
    "v9-mor-log-only",
    "v9-moved-mor"
  ) ++ Fixtures.newest.filter { n =>
    Fixtures.json(n).path("key_location").path("rows").size > 0 && !Fixtures.mergedByHudi(n)
  }

  Fixtures.sampled(this, tables, oneOf = 4).foreach { name =>
    test(
      s"$name: rows of all keys are stock Hudi's, of some keys those of a scan, while the index lags and with it in step"
    ) {
      val table = Fixtures.copy(name)
      val keys = keysOf(table)
      stale(table)
      val index = api(table)
      def all(): Unit = {
        val found = lookup(index, keys)
        assert(found.schema === read(table).schema)
        assert(Answer.of(found).checksum === Fixtures.json(name).get("snapshot").get("checksum").asText)
      }
      all()
      index.update()
      all()
      val random = new Random(7)
      (1 to 5).foreach { n =>
        val some = random.shuffle(keys).take(n * n) ++ Vector("absent", keys.head)
        assert(texts(lookup(index, some)) === texts(scanned(table, some)), s"keys $some")
      }
    }
  }

  Vector("v6-virtual-cow", "v9-virtual-mor").foreach { name =>
    test(s"$name: keys that rows do not bear are made of their fields") {
      val table = Fixtures.copy(name)
      api(table, "hudiidx.record.mode" -> "global").create()
      val field = hudiidx.table.TableConfig.read(hudiidx.storage.LocalStorage, table).recordKeyFields.head
      val keys = read(table).select(field).collect().map(_.get(0).toString).toVector.sorted
      val some = Vector(keys.head, keys(keys.length / 2), keys.last, "absent")
      val found = texts(lookup(api(table), some))
      assert(found === texts(read(table).where(col(field).isin(some: _*))) && found.length === 3)
      assert(texts(lookup(api(table), keys)) === texts(read(table)))
    }
  }

  test("keys of a random set, absent ones and strange ones have the rows of a scan") {
    val cases = Vector("v9-mor-part", "v9-cow-part").map { name =>
      val table = Fixtures.copy(name)
      stale(table)
      val rows = read(table).collect().groupBy(_.getAs[String]("_hoodie_record_key"))
      (api(table), keysOf(table), rows)
    }
    val strange = Gen.oneOf(Gen.asciiPrintableStr, Gen.const(""), Gen.const("\ud800"), Gen.uuid.map(_.toString))
    val sets = for {
      which <- Gen.oneOf(cases)
      known <- Gen.someOf(which._2)
      other <- Gen.listOfN(3, strange)
    } yield (which, known.toVector ++ other)
    forAll(sets, minSuccessful(25)) { case ((index, _, rows), keys) =>
      val expected = keys.distinct.flatMap(k => rows.getOrElse(k, Array.empty).toVector).map(_.toString).sorted
      assert(lookup(index, keys).collect().map(_.toString).toVector.sorted === expected)
    }
  }

  test("no job runs while the index is in step, nor for rows that are collected or shown") {
    val table = Fixtures.copy("v9-mor-part")
    api(table, "hudiidx.record.mode" -> "global").create()
    val keys = keysOf(table).take(3)
    val index = api(table)
    lookup(index, keys).collect()
    val jobs = new AtomicInteger
    val listener = new SparkListener {
      override def onJobStart(job: SparkListenerJobStart): Unit = jobs.incrementAndGet(): Unit
    }
    spark.sparkContext.addSparkListener(listener)
    try {
      assert(lookup(index, keys).collect().length === 3)
      lookup(index, Vector("absent")).show()
      spark.sparkContext.parallelize(Seq(1), 1).count()
      // Events come in their order, a little later.
      val end = System.nanoTime() + 30000000000L
      while (jobs.get == 0 && System.nanoTime() < end) Thread.sleep(20)
      assert(jobs.get === 1) // the one of that count
    } finally spark.sparkContext.removeSparkListener(listener)
  }

  test("rows in one partition and as of earlier instants") {
    val table = Fixtures.copy("v9-moved-mor")
    api(table, "hudiidx.record.mode" -> "partitioned").create()
    val (index, keys) = (api(table), keysOf(table).take(40))
    val here = read(table).select("_hoodie_partition_path").head().getString(0)
    assert(
      texts(lookup(index, keys, here)) === texts(scanned(table, keys).where(col("_hoodie_partition_path") === here))
    )
    assert(texts(lookup(index, keys, "nowhere")) === Vector.empty)
    Fixtures.json("v9-moved-mor").get("time_travel").forEach { point =>
      if (point.has("count")) {
        val asOf = point.get("as_of").asText
        assert(texts(lookup(index, keys, null, asOf)) === texts(scanned(table, keys, "as.of.instant" -> asOf)))
      }
    }
  }

  test("without a record index all files are asked, with a window too; strict refuses") {
    val table = Fixtures.copy("v9-mor-part")
    val keys = keysOf(table).take(10) :+ "absent"
    val expected = texts(scanned(table, keys))
    assert(texts(lookup(api(table), keys)) === expected)
    intercept[IndexNotFound](lookup(api(table, "hudiidx.index.strict" -> "true"), keys))
    api(table, "hudiidx.record.mode" -> "global", "hudiidx.record.window.days" -> "1").create()
    assert(texts(lookup(api(table), keys)) === expected)
  }

  test("where many file slices may hold the keys tasks read them") {
    val table = Fixtures.copy("v9-mor-part")
    val keys = keysOf(table).take(10)
    val tasks = new RowLookups(
      spark,
      hudiidx.engine.Tables.access(spark.sessionState.newHadoopConf()),
      table,
      ReadOptions.of(Map.empty, Map.empty),
      Map.empty,
      mostSlices = 0
    )
    val here = read(table).select("_hoodie_partition_path").head().getString(0)
    assert(texts(tasks.rows(PackedKeys.of(keys), None, None)) === texts(scanned(table, keys)))
    assert(
      texts(tasks.rows(PackedKeys.of(keys), Some(here), None)) ===
        texts(scanned(table, keys).where(col("_hoodie_partition_path") === here))
    )
  }

  test("a commit shows at the next call, though slices are kept") {
    val table = Fixtures.copy("v9-mor-part")
    val index = api(table)
    val timeline = Paths.get(table, ".hoodie", "timeline")
    val last = Fixtures.filesBelow(timeline.toString).filter(_.matches("[\\d_]+\\.(commit|deltacommit)")).max
    val aside = Files.createTempDirectory("aside").resolve(last)
    Files.move(timeline.resolve(last), aside)
    val keys = keysOf(table)
    val before = texts(lookup(index, keys))
    assert(before === texts(scanned(table, keys)))
    Files.move(aside, timeline.resolve(last))
    val after = texts(lookup(index, keys))
    assert(after === texts(scanned(table, keys)))
    assert(before !== after)
    Files.move(timeline.resolve(last), aside)
    assert(texts(lookup(index, keys)) === before)
  }

  test("rows that only Hudi can tell are refused") {
    val message = intercept[UnsupportedTable](lookup(api(Fixtures.table("v9-mor-payload")), Vector("k"))).getMessage
    assert(message.contains("HoodieAvroPayload"))
    val orc = Fixtures.copy("v9-cow-part")
    val properties = Paths.get(orc, ".hoodie", "hoodie.properties")
    Files.write(properties, "hoodie.table.base.file.format=ORC\n".getBytes(UTF_8), StandardOpenOption.APPEND)
    intercept[UnsupportedTable](lookup(api(orc), Vector("k")))
  }
}
