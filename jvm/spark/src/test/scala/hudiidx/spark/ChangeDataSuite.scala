package hudiidx.spark

import java.nio.charset.StandardCharsets.UTF_8
import java.nio.file.{Files, Paths, StandardOpenOption}

import scala.collection.JavaConverters._

import com.fasterxml.jackson.databind.{JsonNode, ObjectMapper}
import hudiidx.spark.options.{IncrementalOptions, ReadOptions}
import hudiidx.spark.pinned.PinnedTable
import hudiidx.spark.stream.ChangeText
import hudiidx.{DamagedTable, Fixtures, InvalidOption, TestSettings, UnsupportedTable}
import org.apache.spark.sql.DataFrame

/** Queries of change data give what stock Hudi gives. */
final class ChangeDataSuite extends SparkSuite with IndexStates {
  private val begin = "hoodie.datasource.read.begin.instanttime"
  private val end = "hoodie.datasource.read.end.instanttime"
  private val ofChanges = Seq(
    "hoodie.datasource.query.type" -> "incremental",
    "hoodie.datasource.query.incremental.format" -> "CDC"
  )
  private val json = new ObjectMapper

  private def changes(path: String, options: (String, String)*): DataFrame = read(path, ofChanges ++ options: _*)

  private case class Row(op: String, at: String, before: JsonNode, after: JsonNode)

  private def image(text: String): JsonNode = if (text == null) null else json.readTree(text)

  private def rowsOf(frame: DataFrame): Vector[Row] = frame
    .collect()
    .map(r => Row(r.getString(0), r.getString(1), image(r.getString(2)), image(r.getString(3))))
    .toVector

  private def texts(frame: DataFrame): Vector[Seq[String]] =
    frame.collect().toVector.map(r => (0 to 3).map(r.getString))

  private def stored(name: String): Vector[JsonNode] =
    Fixtures.json(name).get("cdc_from_000").get("rows").asScala.toVector.map(r => json.readTree(r.asText))

  private val tables = Fixtures.good.filter(Fixtures.json(_).has("cdc_from_000"))

  test("there are tables of both types and of versions 6 and 9") {
    assert(Seq("v6-cdc-cow", "v9-cdc-cow", "v9-cdc-mor").forall(tables.contains))
  }

  /** The texts of change-data rows, stock's in the order of columns that ours have: 0.15 writes them in the order of a hash map. */
  private def sorted(name: String, rows: Vector[Seq[String]]): Vector[String] = {
    def inOrder(text: String) =
      if (text == null || !name.startsWith("v6-") || !text.startsWith("{\"") || text.contains("\": ")) text
      else json.readValue(text, classOf[java.util.TreeMap[String, AnyRef]]).toString
    rows.map(_.map(inOrder).mkString(" | ")).sorted
  }

  tables.foreach { name =>
    for (state <- IndexStates.States)
      test(s"$name: changes are stock Hudi's, index: ${state.name}") {
        val table = Fixtures.copy(name)
        state.prepare(this, table)
        val columns = Seq("op", "ts_ms", "before", "after")
        val frame = changes(table, state.options :+ (begin -> "000"): _*)
        assert(frame.columns.toSeq === columns)
        val stock = stored(name).map(w => columns.map(c => w.get(c)).map(t => if (t.isNull) null else t.asText))
        assert(sorted(name, texts(frame)) === sorted(name, stock))
      }

    test(s"$name: changes of parts of the timeline are those of the whole, and lead from one snapshot to the next") {
      val table = Fixtures.table(name)
      val all = rowsOf(changes(table, begin -> "earliest"))
      val times = all.map(_.at).distinct.sorted
      val parts = ("000" +: times).zip(times).flatMap { case (from, to) =>
        rowsOf(changes(table, begin -> from, end -> to))
      }
      assert(parts.map(_.toString).sorted === all.map(_.toString).sorted)
      var state = Map.empty[String, JsonNode]
      times.foreach { at =>
        val now = all.filter(_.at == at)
        now.foreach { r =>
          if (r.op != "i") assert(data(state(key(r.before))) === data(r.before))
          if (r.op == "i") assert(!state.contains(key(r.after)))
          state = if (r.op == "d") state - key(r.before) else state.updated(key(r.after), r.after)
        }
        val snapshot = read(table, "as.of.instant" -> at).drop("_hoodie_file_name").toJSON.collect().map(json.readTree)
        assert(
          state.values.map(data).map(_.toString).toVector.sorted === snapshot.map(data).map(_.toString).toVector.sorted
        )
      }
    }
  }

  for {
    name <- Seq("changes-cow-op-key-only", "changes-cow-data-before", "changes-mor")
    state <- if (name == "changes-mor") IndexStates.States else TestSettings.some(3)(IndexStates.States)
  }
    test(
      s"$name: changes are stock Hudi's text by text, and lead to the snapshot across compactions and clusterings, index: ${state.name}"
    ) {
      val table = Fixtures.part(name)
      state.prepare(this, table)
      val stock = json.readTree(Fixtures.dir.resolve(s"parts/$name.json").toFile)
      val wanted = stock.get("rows").asScala.toVector.map(_.asScala.toVector.map(t => if (t.isNull) null else t.asText))
      val found = texts(changes(table, state.options ++ Seq(begin -> "000", end -> stock.get("until").asText): _*))
      assert(found.map(_.mkString(" | ")).sorted === wanted.map(_.mkString(" | ")).sorted)
      assert(leadsToSnapshot(table) === (if (name == "changes-mor") 10 else 5))
    }

  // Changes of these come from rows before and after alone: their writers kept none. Virtual keys are refused.
  private val others = Fixtures.good.filterNot(_.contains("virtual"))

  // Completed compactions that changed rows, as stock's own answers before and behind them tell: by 1.0.2, and that with which 1.2.0
  // upgraded a table.
  private val changedRows = Map("v8-mor-event" -> "20261121001523720", "up-v6-mor-event" -> "20261126124246971")

  Fixtures.sampled(this, others).foreach { name =>
    test(s"$name: changes lead from the first snapshot that is left to the last") {
      if (Fixtures.mergedByHudi(name))
        intercept[UnsupportedTable](changes(withProperties(name, enabled), begin -> "000"))
      else
        assert(leadsToSnapshot(withProperties(name, enabled), ofPaths(name), changedRows.getOrElse(name, "000")) >= 0)
    }
  }

  private val enabled = "hoodie.table.cdc.enabled=true"

  test("a log compaction makes no changes of the commits after it: what changed is what each write had") {
    val name = "v9-mor-log-compaction"
    val instants = Fixtures.json(name).get("active_timeline").asScala.toVector.map(_.get("requested").asText)
    val found = rowsOf(changes(withProperties(name, enabled), begin -> "000"))
    def keys(at: Int): Vector[Int] = found
      .filter(_.at == instants(at))
      .map(r => (if (r.after == null) r.before else r.after).get("id").asText.drop(1).toInt)
      .sorted
    assert(keys(0) === (0 until 160) && keys(1) === (0 until 60) && keys(2) === (10 until 20))
    assert(keys(3) === (30 until 90) && keys(5) === (0 until 30) && keys(6) === (50 until 55))
    assert(keys(7) === (100 until 120) && keys(9) === (5 until 8))
    assert(keys(4).isEmpty && keys(8).isEmpty)
  }

  /** Columns of partitions whose values in files, which images have, are not those of the paths, which rows have. */
  private def ofPaths(name: String): Set[String] =
    if (name.contains("path-values")) Set("city")
    else if (name.contains("cow-complex")) Set("region", "kind")
    else if (name.contains("slash-str")) Set("d")
    else Set.empty

  /** Applies changes to the snapshot, of `since` or later, from which on they can be told; the number of commits that changed
    * something.
    */
  private def leadsToSnapshot(table: String, apart: Set[String] = Set.empty, since: String = "000"): Int = {
    val instants = since +: read(table, "view" -> "timeline")
      .where("state = 'COMPLETED' and action in ('commit', 'deltacommit', 'replacecommit')")
      .collect()
      .map(_.getString(0))
      .sorted
    def told(from: String) =
      try {
        val before = if (from == "000") Vector.empty else snapshot(table, "as.of.instant" -> from)
        Some((before, rowsOf(changes(table, begin -> from))))
      } catch { case _: InvalidOption => None }
    val (before, all) = instants.iterator.map(told).collectFirst { case Some(found) => found }.get
    val state = scala.collection.mutable.Map.empty[Map[String, String], Int].withDefaultValue(0)
    def add(row: Map[String, String], count: Int): Unit = {
      val image = row -- apart
      state(image) += count
      assert(state(image) >= 0, image)
      if (state(image) == 0) state.remove(image): Unit
    }
    before.foreach(add(_, 1))
    val times = all.map(_.at).distinct.sorted
    times.foreach { at =>
      val now = all.filter(_.at == at)
      now.foreach(r => Option(r.before).filterNot(_.isNull).foreach(i => add(values(i), -1)))
      now.foreach(r => Option(r.after).filterNot(_.isNull).foreach(i => add(values(i), 1)))
    }
    val left = snapshot(table).map(_ -- apart).groupBy(identity).map { case (image, same) => image -> same.length }
    assert(state.toMap.toSeq.diff(left.toSeq).take(2) === Nil)
    assert(state.toMap === left)
    times.length
  }

  private def snapshot(table: String, options: (String, String)*): Vector[Map[String, String]] = {
    val frame = read(table, options: _*)
    val columns = frame.schema
    val texts = frame.queryExecution.toRdd.map(row => new ChangeText(columns).of(row)).collect()
    texts.map(t => values(json.readTree(t))).toVector
  }

  /** Without meta columns, which images of `.cdc` files lack, and binaries, which have another form there. */
  private def values(image: JsonNode): Map[String, String] = image.properties.asScala
    .filterNot(f => f.getKey.startsWith("_hoodie_") || f.getValue.isNull || f.getKey == "bytes")
    .map(f => f.getKey -> plain(f.getValue).toString)
    .toMap

  /** Fields of structs that are null are absent in texts of rows, not in those of `.cdc` files. */
  private def plain(value: JsonNode): JsonNode = value match {
    case o: com.fasterxml.jackson.databind.node.ObjectNode =>
      o.properties.asScala.filter(_.getValue.isNull).map(_.getKey).toVector.foreach(o.remove(_: String))
      o.properties.asScala.foreach(f => plain(f.getValue))
      o
    case other => other
  }

  private def key(image: JsonNode): String = image.get("id").asText

  /** Without meta columns, nulls and the column whose form differs. */
  private def data(image: JsonNode): Map[String, String] = image.properties.asScala
    .filterNot(f => f.getKey.startsWith("_hoodie_") || f.getValue.isNull || f.getKey == "day")
    .map(f => f.getKey -> f.getValue.asText)
    .toMap

  test("selected columns, filters and counts are those of all columns") {
    val table = Fixtures.table("v9-cdc-mor")
    val all = rowsOf(changes(table, begin -> "000"))
    val some = changes(table, begin -> "000")
    assert(some.count() === all.length)
    assert(some.where("op = 'd'").select("ts_ms", "op").collect().length === all.count(_.op == "d"))
    assert(
      some.groupBy("op").count().collect().map(r => r.getString(0) -> r.getLong(1)).toMap === all.groupBy(_.op).map {
        case (op, rows) => op -> rows.length.toLong
      }
    )
  }

  test("a table that keeps no changes, and one without keys in its rows, are refused by name") {
    def refused(table: String): String = intercept[UnsupportedTable](changes(table, begin -> "000")).getMessage
    assert(refused(Fixtures.table("v9-cow-part")).contains("hoodie.table.cdc.enabled"))
    assert(refused(withProperties("v9-virtual-cow", "hoodie.table.cdc.enabled=true")).contains("populate.meta.fields"))
    val odd = withProperties("v9-cdc-cow", "hoodie.table.cdc.supplemental.logging.mode=ALL")
    assert(refused(odd).contains("'ALL'"))
  }

  private def withProperties(name: String, lines: String*): String = {
    val table = Fixtures.copy(name)
    val file = Paths.get(table, ".hoodie", "hoodie.properties")
    Files.write(file, lines.mkString("", "\n", "\n").getBytes(UTF_8), StandardOpenOption.APPEND)
    table
  }

  test("archived commits, and commits whose files were cleaned, are refused by name, and later begins are answered") {
    val archived = withProperties("v9-archived-mor", "hoodie.table.cdc.enabled=true")
    val message = intercept[InvalidOption](changes(archived, begin -> "000")).getMessage
    assert(message.contains("is archived") && message.contains(begin))
    val table = Fixtures.copy("v9-cdc-cow")
    val all = rowsOf(changes(table, begin -> "000"))
    val first = all.map(_.at).min
    val files =
      Fixtures.filesBelow(table).filter(f => f.contains(first) && f.endsWith(".parquet") && !f.startsWith(".hoodie"))
    files.foreach(f => Files.delete(Paths.get(table, f)))
    assert(files.length === 4)
    val gone = intercept[InvalidOption](changes(table, begin -> "000", "hudiidx.read.damaged" -> "as_stock")).getMessage
    assert(gone.contains(first) && gone.contains("cleaned"))
  }

  test("changes are told by their `.cdc` files, though their commits name no other file") {
    val table = Fixtures.copy("v9-cdc-cow")
    val recorded = rowsOf(changes(table, begin -> "000")).groupBy(_.at).map { case (at, rows) => at -> rows.size }
    CommitSchemas.unname(table)
    // The first commit wrote new rows alone, of which there are no `.cdc` files.
    val first = recorded.keys.min
    assert(rowsOf(changes(table, begin -> first)).groupBy(_.at).map(r => r._1 -> r._2.size) === recorded - first)
    val said = intercept[DamagedTable](changes(table, begin -> "000").collect()).getMessage
    assert(said.contains(s"the commit $first wrote rows") && said.contains("does not name their file"), said)
  }

  test("rows of a group that a commit says it replaces several times are deleted once") {
    def found(times: Int): Vector[Row] = {
      val table = Fixtures.copy("v9-cdc-cow")
      val Array(partition, name) =
        Fixtures.filesBelow(table).find(f => f.endsWith(".parquet") && !f.startsWith(".hoodie")).get.split('/')
      val id = name.takeWhile(_ != '_')
      val commit = json.createObjectNode().put("operationType", "INSERT_OVERWRITE")
      commit.putObject("partitionToWriteStats")
      commit.putObject("extraMetadata")
      val ids = commit.putObject("partitionToReplaceFileIds").putArray(partition)
      (1 to times).foreach(_ => ids.add(id))
      Files.writeString(
        Paths.get(table, ".hoodie/timeline/20261129000000000_20261129000000001.replacecommit"),
        json.writeValueAsString(commit)
      )
      rowsOf(changes(table, begin -> "20261128000000000"))
    }
    val once = found(1)
    assert(once.nonEmpty && once.forall(_.op == "d") && found(3) === once)
  }

  test("SQL reads changes by the session's settings") {
    val table = Fixtures.table("v9-cdc-cow")
    val settings = ofChanges :+ (begin -> "000") :+ ("spark.sql.catalog.hudiidx" -> classOf[HudiIdxCatalog].getName)
    settings.foreach { case (k, v) => spark.conf.set(k, v) }
    try {
      val counts = spark.sql(s"SELECT op, count(*) FROM hudiidx.`$table` GROUP BY op ORDER BY op").collect()
      assert(counts.map(r => r.getString(0) -> r.getLong(1)).toSeq === Seq("d" -> 5L, "i" -> 180L, "u" -> 50L))
    } finally settings.foreach { case (k, _) => spark.conf.unset(k) }
  }

  test("options that would leave changes out, and calls that are no reads of changes, are refused by name") {
    val table = Fixtures.table("v9-cdc-mor")
    def refused(options: (String, String)*): String =
      intercept[InvalidOption](changes(table, options: _*)).getMessage
    assert(intercept[InvalidOption](changes(table).count()).getMessage.contains(begin))
    Seq(
      IncrementalOptions.PathGlob -> "/sf/*",
      IncrementalOptions.EndSchema -> "true",
      IncrementalOptions.Fallback -> "true",
      ReadOptions.PartitionsFromPaths -> "true"
    ).foreach { option =>
      assert(refused(begin -> "000", option).startsWith(option._1))
    }
    assert(refused(begin -> "000", "as.of.instant" -> "2026-11-20").contains("as.of.instant"))
    assert(
      intercept[InvalidOption](
        read(table, ofChanges.head, begin -> "000", "hoodie.datasource.query.incremental.format" -> "all")
      ).getMessage.contains("latest_state")
    )
    val options = ReadOptions.of((ofChanges :+ (begin -> "000")).toMap, Map.empty)
    assert(
      intercept[InvalidOption](PinnedTable.open(spark, table, options)).getMessage.contains("not rows of the table")
    )
  }
}
