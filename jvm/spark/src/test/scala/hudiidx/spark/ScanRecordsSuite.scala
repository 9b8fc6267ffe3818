package hudiidx.spark

import java.nio.file.{Files, Paths}

import com.fasterxml.jackson.databind.ObjectMapper
import hudiidx.spark.options.ReadOptions
import hudiidx.{CpuClock, Fixtures}
import hudiidx.spark.api.HudiIdxApi
import hudiidx.store.ScanRecord

/** Scans that are recorded on request, and advice from them in another process. */
final class ScanRecordsSuite extends SparkSuite {
  private val on = ReadOptions.ReadHistory -> "true"

  private def indexed(): String = {
    val table = Fixtures.copy("v9-cow-part")
    new HudiIdxApi(spark, table, java.util.Map.of()).create()
    table
  }

  private def records(table: String): Vector[java.nio.file.Path] = {
    val folder = Paths.get(table, ".hoodie", "hudiidx", "scans")
    if (!Files.exists(folder)) Vector.empty
    else Fixtures.filesBelow(folder.toString).filter(_.endsWith(".json")).map(folder.resolve(_))
  }

  /** As if another process had left them. */
  private def disown(table: String): Unit = records(table).foreach { f =>
    val parts = f.getFileName.toString.split('.')
    Files.move(f, f.resolveSibling(s"${parts(0)}.0000000000.${parts(2)}.json"))
  }

  test("each scan with a filter leaves one record of its filters and metrics, on request alone") {
    val table = indexed()
    read(table).where("qty > 3").count()
    assert(records(table).isEmpty)
    read(table, on).count()
    assert(records(table).isEmpty)
    read(table, on).as("t").where("t.qty > 3 and city = 'sf' and note like 'a%'").collect()
    assert(records(table).size === 1)
    val json = new ObjectMapper().readTree(Files.readAllBytes(records(table).head))
    val filters = (0 until json.get("filters").size).map(json.get("filters").get(_).asText)
    assert(filters.exists(_.contains("qty > 3")) && !filters.exists(_.contains("t.")), filters)
    assert(json.get("metrics").get("filesKept").asLong > 0 && json.get("metrics").get("partitionsTotal").asLong === 4)
    assert(json.get("at_millis").asLong > 0 && json.get("reads").asText.startsWith("as of "))
  }

  test("advice without queries is about recorded scans too, those of other processes") {
    val table = indexed()
    Vector("qty > 40", "qty > 40", "day = DATE '2026-01-03'", "fare between 1.5D and 2.5D", "no_more = 1").foreach {
      w =>
        if (!w.startsWith("no_more")) read(table, on).where(w).collect()
    }
    disown(table)
    val one = records(table).head
    val gone = Files.readString(one).replaceAll("qty|fare|day", "no_more")
    Files.writeString(one.resolveSibling("000000000000001.0000000000.77.json"), gone)
    Files.writeString(one.resolveSibling("000000000000002.0000000000.78.json"), "no json")
    val api = new HudiIdxApi(spark, table, java.util.Map.of())
    val advice = new ObjectMapper().readTree(api.recommend(java.util.List.of(), 50))
    val queries =
      (0 until advice.size).map(i => advice.get(i).get("column").asText -> advice.get(i).get("queries").asInt)
    // Those of this process count by themselves.
    assert(queries.toMap === Map("qty" -> 4, "day" -> 2, "fare" -> 2))
  }

  test("recorded filters of queries, or of functions that call whatever class is named, are skipped") {
    val table = indexed()
    read(table, on).where("qty > 40").collect()
    disown(table)
    val folder = records(table).head.getParent
    val hostile = Vector(
      "reflect('hudiidx.spark.prune.LoadedByName$', 'hashCode') = 'x'",
      "qty IN (select max(value) from text.`/nowhere`)"
    )
    hostile.zipWithIndex.foreach { case (filter, n) =>
      val record = ScanRecord(n.toLong, "as of a moment", Seq("qty > 41", filter), Map.empty)
      Files.write(folder.resolve(s"00000000000000$n.0000000000.9$n.json"), record.encode)
    }
    val api = new HudiIdxApi(spark, table, java.util.Map.of())
    val advice = new ObjectMapper().readTree(api.recommend(java.util.List.of(), 50))
    assert(advice.size === 1 && advice.get(0).get("queries").asInt === 2)
    assert(System.getProperty("hudiidx.test.loaded-by-name") === null)
  }

  /** As another process would have left them. */
  private def leave(table: String, filters: Seq[Seq[String]]): Unit = {
    val folder = Files.createDirectories(Paths.get(table, ".hoodie", "hudiidx", "scans"))
    filters.zipWithIndex.foreach { case (all, n) =>
      val record = ScanRecord(n.toLong, "as of a moment", all, Map.empty)
      Files.write(folder.resolve(f"$n%015d.0000000000.9$n.json"), record.encode)
    }
  }

  private def advised(table: String): Map[String, Int] = {
    val advice = new ObjectMapper().readTree(
      new HudiIdxApi(spark, table, java.util.Map.of()).recommend(java.util.List.of(), 50)
    )
    (0 until advice.size).map(i => advice.get(i).get("column").asText -> advice.get(i).get("queries").asInt).toMap
  }

  private val long: Vector[(String, String)] = Vector(
    "a number with digits without end" -> "qty > 1E300000000BD",
    "such a number behind a text that hides it" -> "rider = r'\\' AND qty > 1e+0300000000bd AND rider = r'\\'",
    "comments in one another" -> "/*" * 8000,
    "choices in conditions of choices" -> ("if(" * 60 + "qty > 1" + ", n > 2, fare > 3)" * 60),
    "choices of the first value" -> ("coalesce(" * 60 + "qty > 1" + ", n > 2)" * 60),
    "choices of a partition" -> ("if(" * 60 + "city > 'a'" + ", city > 'b', city > 'c')" * 60),
    "CASE in ELSE of CASE" -> ("CASE WHEN qty > 1 THEN true ELSE " * 450 + "true" + " END" * 450),
    "a list of 100,000" -> s"qty IN (${(0 until 100000).mkString(", ")})",
    "a long chain" -> Vector.fill(1600)("qty > 1").mkString(" AND "),
    "many parentheses" -> ("(" * 16000),
    "a name of 16,000 letters" -> s"`${"a" * 16000}` > 1"
  )

  long.foreach { case (what, filter) =>
    test(s"a recorded filter with $what takes no long, and the others count") {
      val table = indexed()
      leave(table, Seq(Seq("(rider = 'a')", filter), Seq("(fare > 41)")))
      var told = Map.empty[String, Int]
      val millis = CpuClock.millis { told = advised(table) }
      assert(told.get("fare").exists(_ >= 1) && millis < 10000, s"$told, $millis ms")
    }
  }

  test("of very many recorded filters the most frequent are looked at, and files that are too large are not read") {
    val table = indexed()
    val often = Seq.fill(3)(Seq("(fare > 41)"))
    val many = Seq.tabulate(400)(n => Seq.tabulate(100)(i => s"(qty > $n + $i)"))
    leave(table, often ++ many :+ Seq(s"rider = '${"a" * (1 << 20)}'") :+ Seq.tabulate(10000)(i => s"(n > $i)"))
    val told = advised(table)
    assert(told.get("fare") === Some(3) && told("qty") < 100 && !told.contains("n") && !told.contains("rider"), told)
  }

  test("a folder that takes no records, and a table without an index, cost a scan nothing") {
    val table = indexed()
    Files.writeString(Paths.get(table, ".hoodie", "hudiidx", "scans"), "a file where the folder should be")
    assert(read(table, on).where("qty > 3").count() === read(table).where("qty > 3").count())
    val bare = Fixtures.copy("v9-cow-part")
    assert(read(bare, on).where("qty > 3").count() === read(table).where("qty > 3").count())
    assert(!Files.exists(Paths.get(bare, ".hoodie", "hudiidx")))
  }

  test("an update leaves the records, and dropping the index takes them with it") {
    val table = indexed()
    read(table, on).where("qty > 3").collect()
    val api = new HudiIdxApi(spark, table, java.util.Map.of("hudiidx.expire.orphan.minutes", "0"))
    api.update()
    assert(records(table).size === 1)
    api.drop()
    assert(records(table).isEmpty)
  }
}
