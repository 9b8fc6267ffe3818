package hudiidx.spark

import java.nio.charset.StandardCharsets.ISO_8859_1
import java.nio.file.{Files, Paths}
import java.util.Collections

import scala.collection.JavaConverters._

import hudiidx.command.{Doctor, Finding}
import hudiidx.column.segment.ColumnIndex
import hudiidx.column.NeverColumns
import hudiidx.engine.Tables
import hudiidx.logindex.LogIndex
import hudiidx.record.RecordIndex
import hudiidx.spark.api.HudiIdxApi
import hudiidx.spark.options.ReadOptions
import hudiidx.storage.LocalStorage
import hudiidx.sync.IndexOptions
import hudiidx.store.{Current, IndexStore, IndexVersion}
import hudiidx.{Fixtures, InvalidOption}
import org.apache.hadoop.conf.Configuration
import org.apache.logging.log4j.Level

/** What is kept of columns that `hudiidx.columns.never` names: nothing, in whatever file, report, advice or log line. Values that
  * are found nowhere else are planted in them, and looked for in all that an index writes and tells; the same walk over an index
  * without the rule finds them.
  */
final class NeverColumnsSuite extends SparkSuite {
  private val never = NeverColumns.OptionName -> "NAME,s.a,id2"
  private val secret = "zq7Planted-Wx9"
  private val inner = "vk3Nested-Ty5"
  private val key = "kd4Keyed-Re6"
  private val now = Map("hudiidx.expire.older.than.minutes" -> "0", "hudiidx.expire.orphan.minutes" -> "0")

  /** All kinds of indexes over the columns. */
  private val all = Map(
    "hudiidx.columns" -> "*,upper(name),concat(s.a, n)",
    "hudiidx.bloom.columns" -> "name,s.a,id2",
    "hudiidx.values.columns" -> "name,s.a,lower(name)"
  )

  private val needles: Vector[String] =
    Vector(secret, inner, key).flatMap(v => Vector(v, v.reverse, v.toUpperCase, v.toLowerCase))

  /** @param keys fields of the record key */
  private def made(keys: String = "id"): String = {
    val table = Fixtures.newFolder("never").resolve("t").toString
    save(table, keys, 0)
    table
  }

  private def save(table: String, keys: String, from: Int): Unit = {
    val rows = spark
      .range(from.toLong, from + 40L)
      .selectExpr(
        "concat('k', id) id",
        s"concat('$key', id) id2",
        "'p1' p",
        "id ts",
        s"if(id % 7 = 3, '$secret', concat('a', id)) name",
        s"named_struct('a', if(id % 5 = 2, '$inner', 'b'), 'b', 'open') s",
        "id n"
      )
    val options = Map(
      "hoodie.table.name" -> "t",
      "hoodie.datasource.write.recordkey.field" -> keys,
      "hoodie.datasource.write.partitionpath.field" -> "p",
      "hoodie.datasource.write.precombine.field" -> "ts"
    )
    rows.coalesce(1).write.format("hudiidx").options(options).mode("append").save(table)
  }

  private def api(table: String, options: Map[String, String]): HudiIdxApi =
    new HudiIdxApi(spark, table, options.asJava)

  private def folder(table: String): String = s"$table/.hoodie/hudiidx"

  private def version(table: String): IndexVersion = new IndexStore(LocalStorage, folder(table)).current() match {
    case Current.Found(v, _) => v
    case other               => fail(s"no index: $other")
  }

  /** Files of the index folder that have one of the needles, and which: in their bytes, or in the cells of an HFile, whose blocks
    * are compressed.
    */
  private def findings(table: String): Vector[String] = for {
    file <- Fixtures.filesBelow(folder(table))
    content = new String(Files.readAllBytes(Paths.get(folder(table), file)), ISO_8859_1)
    text = content + ForgedIndex.cells(s"${folder(table)}/$file")
    needle <- needles if text.contains(needle)
  } yield s"$file: $needle"

  /** Columns of which the files of the version in force hold anything. */
  private def held(table: String): Vector[String] = {
    val store = new IndexStore(LocalStorage, folder(table))
    val access = Tables.access(new Configuration())
    if (!ColumnIndex.isIn(version(table))) Vector.empty
    else {
      val index = ColumnIndex.open(store, version(table), access.cache)
      try index.columns.flatten.map(_.path).distinct.sorted
      finally index.close()
    }
  }

  private def forbidden(table: String): Vector[String] = {
    val rule = NeverColumns.parse(never._2)
    held(table).filter(rule.forbids)
  }

  /** What a session with these options is told of the table, and reads of it. */
  private def told(table: String, options: Map[String, String]): Vector[String] = {
    val history = (options + (ReadOptions.ReadHistory -> "true")).toSeq
    Seq(
      s"name = '$secret'",
      s"s.a in ('$inner', 'x')",
      s"name like '%Planted%'",
      s"upper(name) = '${secret.toUpperCase}'",
      s"id2 = '${key}3'"
    )
      .foreach(w => read(table, history: _*).where(w).collect())
    val a = api(table, options)
    Vector(
      a.info(),
      a.report(),
      a.recommend(Collections.emptyList(), 50),
      a.verifyParts(false, ColumnIndex.isIn(version(table)), 5, null)
    )
  }

  /** Nothing of the planted values is anywhere, and the index says so. */
  private def requireNothing(table: String, options: Map[String, String]): Unit = {
    val told = this.told(table, options)
    assert(findings(table) === Vector.empty)
    assert(forbidden(table) === Vector.empty)
    assert(NeverColumns.of(version(table)).paths.toSet === Set("NAME", "s.a", "id2"))
    told.foreach(t => assert(needles.filter(t.contains) === Vector.empty, t))
    assert(held(table).contains("s.b") && held(table).contains("n"))
  }

  test("without the rule the planted values are found: the walk sees all kinds of files") {
    val table = made()
    api(table, all ++ Map("hudiidx.record.mode" -> "global", "hudiidx.logs" -> "true")).create()
    val said = told(table, Map.empty)
    val files = findings(table)
    Seq("column_stats", "column_records", "scans/").foreach(kind =>
      assert(files.exists(_.contains(kind)), (kind, files))
    )
    assert(forbidden(table).size >= 5)
    assert(said.exists(_.contains(secret)))
  }

  test("an index that is made with the rule holds nothing of the columns, nor do later updates by others") {
    val table = made()
    val lines = LogLines.of(Level.ALL) {
      api(
        table,
        Map("hudiidx.columns" -> "*", "hudiidx.values.columns" -> "n", "hudiidx.record.mode" -> "global", never)
      ).create()
      requireNothing(table, Map.empty)
      save(table, "id", 20)
      api(table, Map.empty).update()
      requireNothing(table, Map.empty)
      api(table, Map("hudiidx.columns" -> "*")).create()
      requireNothing(table, Map.empty)
    }
    assert(lines.flatMap(l => needles.filter(l.contains)) === Vector.empty)
  }

  test(
    "the next update under the rule drops what an index had, says so, and all that lay there is gone with the versions before"
  ) {
    val table = made("id2")
    api(table, all ++ Map("hudiidx.record.mode" -> "global", "hudiidx.logs" -> "true")).create()
    told(table, Map.empty)
    assert(findings(table).nonEmpty && RecordIndex.isIn(version(table)) && LogIndex.isIn(version(table)))
    val lines = LogLines.of(Level.WARN)(api(table, now + never).update())
    assert(
      Seq("bloom", "record index", "log blocks").forall(w => lines.exists(l => l.contains(w) && l.contains("dropped"))),
      lines
    )
    assert(lines.flatMap(l => needles.filter(l.contains)) === Vector.empty)
    assert(!RecordIndex.isIn(version(table)) && !LogIndex.isIn(version(table)))
    requireNothing(table, Map.empty)
    assert(read(table).where(s"name = '$secret'").count() === 6)
  }

  test(
    "an index that has nothing of the columns only takes the rule, and a session's rule alone counts for what it is told"
  ) {
    val table = made()
    api(table, Map("hudiidx.columns" -> "n,s.b")).create()
    val before = version(table)
    api(table, Map(never)).update()
    val after = version(table)
    assert(after.number === before.number + 1 && after.files === before.files)
    assert(NeverColumns.of(after).paths === Vector("NAME", "s.a", "id2"))
    assert(api(table, Map.empty).info().contains("\"never\":[\"NAME\",\"s.a\",\"id2\"]"))
    api(table, Map(NeverColumns.OptionName -> "n2")).update()
    assert(NeverColumns.of(version(table)).paths === Vector("NAME", "s.a", "id2", "n2"))
  }

  test("each kind of index of a forbidden column is refused by the column's name, whoever asks") {
    val table = made("id,id2")
    api(table, Map("hudiidx.columns" -> "n", never)).create()
    def refused(ask: => Any, named: String): Unit = {
      val said = intercept[InvalidOption](ask).getMessage
      assert(said.contains(named) && said.contains(NeverColumns.OptionName), said): Unit
    }
    Seq(
      "range(name)",
      "bloom(s.a)",
      "values(name)",
      "bloom(s)",
      "range(upper(name))",
      "values(concat(s.a, n))",
      "range(_hoodie_record_key)"
    )
      .foreach(spec => refused(api(table, Map.empty).addColumns(spec, true), ""))
    refused(api(table, Map.empty).noteColumns("bloom(Name)"), "Name")
    refused(api(table, Map.empty).addIndex("record"), "which have values of id2, of which")
    refused(api(table, Map.empty).addIndex("logs"), "which have values of id2, of which")
    refused(api(table, Map("hudiidx.columns" -> "n,name")).create(), "name")
    refused(api(table, Map("hudiidx.record.mode" -> "global")).create(), "record index")
    refused(api(table, Map("hudiidx.logs" -> "true")).create(), "log blocks")
    assert(version(table).number === 1)
  }

  test("a column of the partitions is refused, for manifests list its values") {
    val table = made()
    val said = intercept[InvalidOption](api(table, Map(NeverColumns.OptionName -> "p")).create()).getMessage
    assert(said.contains("names p, a column of the table's partitions"))
    assert(!Files.exists(Paths.get(folder(table), "versions")))
    api(table, Map.empty).create()
    intercept[InvalidOption](api(table, Map(NeverColumns.OptionName -> "P")).update())
    assert(NeverColumns.of(version(table)).isEmpty)
  }

  test(
    "a name that the table's schema does not have is told by creation, update, addition, report and doctor, once by each"
  ) {
    val table = made()
    val misspelt = NeverColumns.OptionName -> "nmae, s.a, S.c, n.x, _hoodie_commit_time, name"
    def told(deed: HudiIdxApi => Any): Vector[String] =
      LogLines.of(Level.WARN)(deed(api(table, Map(misspelt)))).filter(_.contains("keeps no column out"))
    def requireTold(said: Vector[String]): Unit = {
      assert(said.size === 1)
      assert(said.head.contains(s"$table: ${NeverColumns.OptionName} names nmae, S.c, n.x, which the table's schema"))
    }
    requireTold(told(_.create()))
    assert(told(_.update()).isEmpty, "it was told, and nothing has changed")
    save(table, "id", 30)
    assert(told(a => { a.update(); read(table).where("n = 3").count() }).isEmpty)
    requireTold(told(_.create()))
    val other = made()
    api(other, Map.empty).create()
    requireTold(
      LogLines
        .of(Level.WARN)(api(other, Map(misspelt)).update())
        .filter(_.contains("keeps no"))
        .map(_.replace(other, table))
    )
    val wide = made()
    api(wide, Map("hudiidx.columns" -> "*")).create()
    requireTold(
      LogLines
        .of(Level.WARN)(api(wide, Map(misspelt)).update()) // makes the index anew
        .filter(_.contains("keeps no"))
        .map(_.replace(wide, table))
    )
    val third = made()
    api(third, Map.empty).create()
    requireTold(
      LogLines
        .of(Level.WARN)(api(third, Map(misspelt)).addColumns("range(ts)", true))
        .filter(_.contains("keeps no"))
        .map(_.replace(third, table))
    )
    assert(api(table, Map.empty).report().contains("names nmae, S.c, n.x, which the table's schema"))
    val access = Tables.access(new Configuration())
    val found = new Doctor(access, table, IndexOptions(), () => System.currentTimeMillis()).findings()
    assert(found.exists(f => f.status == Finding.Warning && f.found.contains("names nmae, S.c, n.x, which")))
    val right = made()
    val fine = api(right, Map(never))
    assert(
      LogLines.of(Level.WARN)(fine.create()).filter(_.contains("keeps no")).isEmpty && !fine
        .report()
        .contains("keeps no")
    )
  }

  test("a write of ours keeps the rule, its own index update too") {
    val table = made()
    api(table, Map("hudiidx.columns" -> "*", never)).create()
    save(table, "id", 30)
    requireNothing(table, Map.empty)
  }
}
