package hudiidx.spark.write

import java.nio.file.{Files, Path, Paths}

import scala.collection.JavaConverters._

import hudiidx.spark.SparkSuite
import hudiidx.spark.compact.CompactionApi
import hudiidx.spark.options.StockOption
import hudiidx.spark.write.options.{RefusedWriteOptions, StockWriteOptions, WriteOperation, WriteOptions}
import hudiidx.{Fixtures, InvalidOption}
import org.apache.spark.sql.DataFrame
import org.apache.spark.sql.functions._
import org.apache.spark.sql.streaming.StreamingQueryException

/** What becomes of stock Hudi's options of writes. */
final class StockWriteOptionsSuite extends SparkSuite {
  private val operation = WriteOptions.Operation
  private val kind = WriteOptions.IndexType
  private val payload = "hoodie.datasource.write.payload.class"
  private val mode = WriteOptions.MergeMode

  private def refused(options: (String, String)*): String =
    intercept[InvalidOption](WriteOptions.of(options.toMap)).getMessage

  private def plain: WriteOptions = WriteOptions.of(Map.empty).copy(given = Map.empty)

  private def isHarmless(options: (String, String)*): Unit = WriteOptions.of(options.toMap): Unit

  test("an option of stock's writers that rows, keys, paths or files hang on is followed or refused by name") {
    StockWriteOptions.Decided.foreach {
      case (name, StockOption.Refused(taken, why)) =>
        val doing = RefusedWriteOptions.OfOperations.get(name).map(operation -> _.head.name).toMap
        def read(value: String) =
          WriteOptions.of(doing + (name.toUpperCase -> value), isInsert = RefusedWriteOptions.OfInserts(name))
        assert(intercept[InvalidOption](read("another")).getMessage === s"$name: unsupported value 'another'; $why")
        taken.foreach(value => read(value.toUpperCase))
      case (name, StockOption.Harmless(_)) =>
        assert(WriteOptions.of(Map(name -> "x")).copy(given = Map.empty) === plain, name)
      case (name, StockOption.Followed) =>
        val isTold = WriteOptions.Docs.exists(_.name.equalsIgnoreCase(name))
        assert(isTold || StockWriteOptions.Spellings.contains(name), name)
    }
    assert(refused("hoodie.table.cdc.enabled" -> "true").contains("change data"))
  }

  test("a family of options has none that is refused by its name alone") {
    StockWriteOptions.Families.keys.foreach { family =>
      assert(WriteOptions.of(Map(s"${family}of.no.meaning" -> "x")).copy(given = Map.empty) === plain, family)
    }
    assert(StockWriteOptions.of("_hoodie.optimistic.consistency.guard.enable").isDefined)
    assert(StockWriteOptions.of("hoodie.datasource.write.of.tomorrow").isEmpty)
  }

  test("an option that another operation goes by, or another option takes the place of, is not refused") {
    isHarmless("hoodie.combine.before.insert" -> "true")
    isHarmless("hoodie.combine.before.upsert" -> "false", operation -> "bulk_insert")
    isHarmless("hoodie.datasource.write.insert.drop.duplicates" -> "true", operation -> "delete")
    isHarmless("hoodie.sql.insert.mode" -> "strict")
    isHarmless("hoodie.payload.ordering.field" -> "at", "hoodie.table.ordering.fields" -> "at")
    assert(refused("hoodie.payload.ordering.field" -> "at").contains(WriteOptions.OrderingField))
    def insert(settings: (String, String)*) = WriteOptions.ofStatement(settings.toMap, None)
    val insertMode = "hoodie.sql.insert.mode" -> "strict"
    assert(intercept[InvalidOption](insert(insertMode)).getMessage.contains(WriteOptions.InsertOperation))
    assert(insert(insertMode, WriteOptions.InsertOperation -> "insert").operation === WriteOperation.Insert)
    WriteOptions.ofStatement(Map(insertMode), Some(WriteOperation.Delete))
    val overwriteMode = RefusedWriteOptions.OverwriteMode
    insert(overwriteMode -> "STATIC")
    insert(overwriteMode -> "dynamic", "spark.sql.sources.partitionOverwriteMode" -> "DYNAMIC")
    assert(intercept[InvalidOption](insert(overwriteMode -> "dynamic")).getMessage.startsWith(overwriteMode))
    val merges = "hoodie.compact.merge.handle.class" -> "org.acme.Handle"
    assert(intercept[InvalidOption](WriteOptions.ofCompaction(Map(merges))).getMessage.startsWith(merges._1))
    WriteOptions.ofCompaction(Map("hoodie.table.cdc.enabled" -> "true"))
  }

  test("the kind of stock's index says whether keys are unique in the table, and whether records move") {
    def of(options: (String, String)*) = {
      val o = WriteOptions.of(options.toMap)
      (o.isGlobal, o.movesPartition)
    }
    assert(of() === ((true, false)))
    Seq("BLOOM", "simple", "RECORD_LEVEL_INDEX").foreach(k => assert(of(kind -> k) === ((false, false))))
    Seq("RECORD_INDEX", "GLOBAL_RECORD_LEVEL_INDEX", "HBASE", "INMEMORY").foreach(k =>
      assert(of(kind -> k) === ((true, false)))
    )
    Seq("GLOBAL_BLOOM", "GLOBAL_SIMPLE").foreach(k => assert(of(kind -> k) === ((true, true))))
    assert(of(kind -> "BLOOM", "hudiidx.write.global" -> "true") === ((true, false)))
    assert(of(kind -> "GLOBAL_BLOOM", WriteOptions.MovesBloom -> "false") === ((true, false)))
    assert(of(kind -> "GLOBAL_SIMPLE", WriteOptions.MovesBloom -> "false") === ((true, true)))
    assert(of(kind -> "RECORD_INDEX", WriteOptions.MovesPartition -> "true") === ((true, true)))
    assert(of(WriteOptions.MovesHbase -> "true") === ((true, true)))
    assert(WriteOptions.ofStatement(Map(kind -> "HBASE"), None).movesPartition)
    assert(refused(kind -> "CUCKOO").contains("GLOBAL_BLOOM"))
  }

  private val columns = spark.range(2).select(col("id").cast("string").as("id"), lit("a").as("p"), col("id").as("ts"))
  private val base = Map(
    "hoodie.table.name" -> "t",
    "hoodie.datasource.write.recordkey.field" -> "id",
    "hoodie.datasource.write.partitionpath.field" -> "p",
    "hoodie.datasource.write.precombine.field" -> "ts"
  )

  private def save(path: String, options: (String, String)*): Unit =
    columns.write.format("hudiidx").options(base ++ options).mode("append").save(path)

  private def newPath(): String = Fixtures.newFolder("options").resolve("t").toString

  private def hoodie(path: String): Path = Paths.get(path, ".hoodie")

  test(
    "a payload class or strategy that means a merge mode makes a table of it; another, or another mode, is refused"
  ) {
    val path = newPath()
    val latest = payload -> "org.apache.hudi.common.model.OverwriteWithLatestAvroPayload"
    val strategy = "hoodie.write.record.merge.strategy.id"
    save(path, latest)
    assert(Files.readString(hoodie(path).resolve("hoodie.properties")).contains("COMMIT_TIME_ORDERING"))
    def wrong(options: (String, String)*) = intercept[InvalidOption](save(path, options: _*)).getMessage
    assert(wrong(payload -> "org.acme.Payload").contains("org.acme.Payload"))
    assert(wrong(payload -> "DefaultHoodieRecordPayload").contains("COMMIT_TIME_ORDERING"))
    assert(wrong(mode -> "EVENT_TIME_ORDERING").contains("leave the option out"))
    assert(wrong(strategy -> "eeb8d96f-b1e4-49fd-bbf8-28ac514178e5").contains("COMMIT_TIME_ORDERING"))
    assert(wrong(latest, strategy -> "eeb8d96f-b1e4-49fd-bbf8-28ac514178e5").contains("means EVENT_TIME_ORDERING"))
    assert(wrong(strategy -> "of my own").startsWith(strategy))
    assert(wrong(payload -> "DefaultHoodieRecordPayload", mode -> "COMMIT_TIME_ORDERING").startsWith(payload))
    save(path, mode -> "commit_time_ordering", strategy -> "ce9acb64-bde0-424c-9b91-f6ebba25356d", latest)
    assert(read(path).count() === 2)
  }

  test("stock's default payload class is taken where a table has no ordering field") {
    val path = newPath()
    val options = (base - WriteOptions.OrderingField) + (payload -> "DefaultHoodieRecordPayload")
    (1 to 2).foreach(_ => columns.write.format("hudiidx").options(options).mode("append").save(path))
    assert(Files.readString(hoodie(path).resolve("hoodie.properties")).contains("COMMIT_TIME_ORDERING"))
    assert(read(path).count() === 2)
  }

  test("options that say what a table is not are refused, by their other names too") {
    val path = newPath()
    save(path)
    Seq(
      "hoodie.datasource.write.hive_style_partitioning" -> "true",
      "hoodie.datasource.write.partitionpath.urlencode" -> "true",
      WriteOptions.TimelineZone -> "UTC"
    ).foreach { case (name, value) =>
      assert(
        intercept[InvalidOption](save(path, name -> value)).getMessage.startsWith(s"$name: '$value' for the table")
      )
    }
    Seq("hoodie.datasource.write.storage.type", "hoodie.table.type").foreach { name =>
      val refusal = intercept[InvalidOption](save(newPath(), name -> "COPY_ON_WRITE")).getMessage
      assert(refusal.contains("MERGE_ON_READ"), name)
    }
    assert(intercept[InvalidOption](save(newPath(), WriteOptions.TimelineZone -> "UTC")).getMessage.contains("clock"))
    save(path, "hoodie.write.table.version" -> "6", WriteOptions.TimelineZone -> "local", "hoodie.table.type" -> "mor")
  }

  test("options whose names begin as is said go to the metadata of the commit, as with stock Hudi") {
    val path = newPath()
    save(path, "_source" -> "offset-7", "source.offset" -> "8")
    save(path, "_source" -> "none", "source.offset" -> "8", WriteOptions.CommitPrefix -> "source.")
    val commits = Files
      .list(hoodie(path).resolve("timeline"))
      .iterator
      .asScala
      .toVector
      .sorted
      .filter(_.toString.endsWith(".deltacommit"))
      .map(f => new String(Files.readAllBytes(f), "ISO-8859-1"))
    assert(commits.map(_.contains("offset-7")) === Vector(true, false))
    assert(commits.map(_.contains("source.offset")) === Vector(false, true))
  }

  private def withConf(settings: (String, String)*)(body: => Unit): Unit =
    try {
      settings.foreach { case (name, value) => spark.conf.set(name, value) }
      body
    } finally settings.foreach { case (name, _) => spark.conf.unset(name) }

  private def batch(): DataFrame = {
    import spark.implicits._
    val input = MemoryStreams.of[(String, Long)](spark)
    input.addData(Seq("x" -> 1L)): Unit
    input.toDF().toDF("id", "ts")
  }

  test("from the session, the table's properties, statements and streams an option is refused as of the write") {
    val drops = "hoodie.datasource.write.insert.drop.duplicates"
    val path = newPath()
    withConf(drops -> "true") {
      assert(intercept[InvalidOption](save(path)).getMessage.startsWith(drops))
    }
    val catalog = "spark.sql.catalog.hudiidx" -> "hudiidx.spark.HudiIdxCatalog"
    def making(property: String) = spark.sql(
      s"CREATE TABLE hudiidx.`$path` (id STRING, ts BIGINT) USING hudiidx TBLPROPERTIES (primaryKey = 'id', preCombineField = 'ts'$property)"
    )
    withConf(catalog) {
      assert(intercept[InvalidOption](making(s", '$drops' = 'true'")).getMessage.startsWith(drops))
      assert(!Files.exists(Paths.get(path)))
      making("")
      spark.sql(s"INSERT INTO hudiidx.`$path` VALUES ('a', 1)")
    }
    withConf(catalog, "hoodie.sql.insert.mode" -> "strict") {
      val refusal = intercept[InvalidOption](spark.sql(s"INSERT INTO hudiidx.`$path` VALUES ('b', 1)")).getMessage
      assert(refusal.startsWith("hoodie.sql.insert.mode: unsupported value 'strict'"))
      spark.sql(s"DELETE FROM hudiidx.`$path` WHERE id = 'a'")
    }
    val query = batch().writeStream.format("hudiidx").options(base - WriteOptions.PartitionFields + (drops -> "true"))
    val started = query.option("checkpointLocation", Fixtures.newFolder("checkpoint").toString).start(path)
    val failed = intercept[StreamingQueryException](started.processAllAvailable())
    assert(failed.getMessage.contains(drops))
    assert(read(path).count() === 0)
  }

  test(
    "an option that no release of Hudi has is refused where rows or files may depend on it, with the name that it is like"
  ) {
    val misspelt = "hoodie.datasource.write.precombine.feild"
    val like = "is hoodie.datasource.write.precombine.field meant?"
    val path = newPath()
    def isTold(body: => Any): Unit = {
      val said = intercept[InvalidOption](body).getMessage
      assert(said.startsWith(s"$misspelt: ") && said.contains(like))
      assert(!Files.exists(Paths.get(path, ".hoodie", "timeline")) || read(path).count() === 2)
    }
    isTold(save(path, misspelt -> "ts"))
    save(path)
    isTold(save(path, misspelt.toUpperCase -> "ts"))
    isTold(columns.writeTo(s"hudiidx.`$path`").option(misspelt, "ts").append())
    isTold(CompactionApi.compact(spark, path, Map(misspelt -> "ts"), "run", None))
    withConf("spark.sql.catalog.hudiidx" -> "hudiidx.spark.HudiIdxCatalog") {
      val other = newPath()
      val properties = s"primaryKey = 'id', '$misspelt' = 'ts'"
      isTold(
        spark.sql(s"CREATE TABLE hudiidx.`$other` (id STRING, ts BIGINT) USING hudiidx TBLPROPERTIES ($properties)")
      )
    }
    Seq("hoodie.table.colour", "hoodie.my.sort.key", "hoodie.merge.colour", "hoodie.logs.of").foreach { name =>
      assert(intercept[InvalidOption](save(path, name -> "x")).getMessage.contains("leave it out"), name)
    }
  }

  test("an option that no release of Hudi has and that rows cannot depend on, or that the session has, is no error") {
    val path = newPath()
    save(path, "hoodie.colour" -> "red", "colour" -> "red", "hoodie.datasource.read.begin.instanttime" -> "0")
    save(path, "hoodie.table.of" -> "x", WriteOptions.CommitPrefix -> "hoodie.table.of")
    withConf("hoodie.table.colour" -> "red")(save(path))
    assert(read(path).count() === 2)
  }

  test("docs/writer-options.md has each option with its decision") {
    val row = """(?m)^\| `([^`]+)` \| (followed|harmless|refused) \| (.+) \|$""".r
    val page = Files.readString(Fixtures.repoRoot.resolve("docs").resolve("writer-options.md"))
    val told = row.findAllMatchIn(page).map(_.matched).toVector
    assert(told === StockWriteOptionsSuite.rows, StockWriteOptionsSuite.rows.mkString("\n"))
  }
}

private object StockWriteOptionsSuite {

  def rows: Vector[String] = {
    val families = StockWriteOptions.Families.map { case (family, is) => s"$family*" -> (is: StockOption) }
    (StockWriteOptions.Decided ++ families).toVector.sortBy(_._1).map { case (name, is) =>
      s"| `$name` | ${is.name} | ${is.why}${served(is)}${counts(name)} |"
    }
  }

  private def served(is: StockOption): String = is match {
    case StockOption.Refused(taken, _) if taken.exists(_.nonEmpty) => listed("served with", taken.filter(_.nonEmpty))
    case _                                                         => ""
  }

  /** For which operations or statements. */
  private def counts(name: String): String =
    RefusedWriteOptions.OfOperations.get(name).fold("")(all => listed("counts for", all.map(_.name))) +
      (if (RefusedWriteOptions.OfInserts(name)) "; counts for the statement `INSERT`" else "") +
      RefusedWriteOptions.Behind.get(name).fold("")(all => listed("counts without", all.toSet))

  private def listed(what: String, all: Set[String]): String =
    all.toVector.sorted.map(v => s"`$v`").mkString(s"; $what ", ", ", "")
}
