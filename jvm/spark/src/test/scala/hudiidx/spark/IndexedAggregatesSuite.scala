package hudiidx.spark

import java.nio.file.{Files, Paths}

import hudiidx.Fixtures
import hudiidx.spark.api.HudiIdxApi
import hudiidx.spark.compact.CompactionApi
import hudiidx.spark.options.ReadPushdowns
import hudiidx.spark.pinned.ColumnFilter
import hudiidx.spark.plan.HudiIdxScan
import org.apache.spark.sql.catalyst.expressions.{AttributeReference, Literal}
import org.apache.spark.sql.execution.LocalTableScanExec
import org.apache.spark.sql.functions.col
import org.apache.spark.sql.types._
import org.apache.spark.sql.DataFrame

/** count, min and max that the column index tells: no file is opened, and the values are those of the rows. */
final class IndexedAggregatesSuite extends SparkSuite {
  private val off = ReadPushdowns.Aggregates -> "false"

  private def indexed(name: String): String = {
    val table = Fixtures.copy(name)
    new HudiIdxApi(spark, table, java.util.Map.of("hudiidx.columns", "*")).create()
    table
  }

  private def rows(frame: DataFrame): Vector[String] = frame.collect().map(_.toString).toVector.sorted

  private def isLocal(frame: DataFrame): Boolean =
    frame.queryExecution.sparkPlan.exists(_.isInstanceOf[LocalTableScanExec])

  private def deleteFiles(table: String)(gone: String => Boolean): Unit = Fixtures
    .filesBelow(table)
    .filter(f => f.endsWith(".parquet") && !f.startsWith(".hoodie/") && gone(f))
    .foreach(f => Files.delete(Paths.get(table, f)))

  test("files may be gone: counts behind a filter on partitions, by partition, and of columns") {
    val table = indexed("v9-cow-part")
    def asked(options: (String, String)*): Vector[DataFrame] = {
      val all = read(table, options: _*)
      Vector(
        all.where("city = 'sf'").selectExpr("count(*)"),
        all.where("city like 's%'").selectExpr("count(1)", "count(note)", "min(qty)", "max(n)", "max(day)"),
        all.groupBy("city").agg(Map("qty" -> "max", "*" -> "count")),
        all.groupBy("city").count(),
        all.selectExpr("max(n) - min(n)", "count(*)")
      )
    }
    val wanted = asked(off).map(rows(_))
    deleteFiles(table)(_ => true)
    asked().zip(wanted).foreach { case (frame, rows) =>
      assert(isLocal(frame) && this.rows(frame) === rows)
    }
    val told = new HudiIdxApi(spark, table, java.util.Map.of()).explain(asked().head).toString
    assert(told.contains("\"answered\":\"aggregates\"") && told.contains("\"files_kept\":1"))
  }

  private def aggregates(frame: DataFrame): DataFrame = {
    val simple = frame.schema.fields.filter(_.dataType match {
      case _: StructType | _: ArrayType | _: MapType | BinaryType => false
      case _                                                      => true
    })
    val all = simple.flatMap(f => Seq(s"count(`${f.name}`)", s"min(`${f.name}`)", s"max(`${f.name}`)"))
    frame.selectExpr("count(*)" +: all: _*)
  }

  Fixtures
    .sampled(
      this,
      Vector(
        "v6-cow-types",
        "v9-mor-types",
        "v9-cow-evolution",
        "v9-cow-complex",
        "v9-mor-part"
      ),
      oneOf = 2
    )
    .foreach { name =>
      test(s"$name: aggregates of every column are those of the rows, whole and by what the index knows of it") {
        val table = indexed(name)
        read(table).schema.fieldNames.grouped(3).foreach { some =>
          def frame(options: (String, String)*): DataFrame =
            aggregates(read(table, options: _*).select(some.map(n => col(s"`$n`")).toIndexedSeq: _*))
          withClue(some.mkString(", "))(assert(rows(frame()) === rows(frame(off))))
        }
      }
    }

  private def set(names: String*)(body: => Unit): Unit = {
    names.foreach(spark.conf.set(_, "true"))
    try body
    finally names.foreach(spark.conf.unset(_))
  }

  /** Counts, groups and limits of rows that are there, but for those of files of `city = 'sf'`. */
  private def holdsWithoutOne(table: String, indexEnabled: String*): Unit =
    indexEnabled.foreach { enabled =>
      val all = read(table, "hudiidx.index.enabled" -> enabled)
      val there = all.select("city", "n").collect().toVector
      assert(there.nonEmpty && !there.exists(_.getString(0) == "sf"))
      assert(all.count() === there.length)
      val counts = there.groupBy(_.getString(0)).map { case (city, r) => s"[$city,${r.length}]" }
      assert(rows(all.groupBy("city").count()) === counts.toVector.sorted)
      assert(all.where("city = 'sf'").count() === 0)
      assert(all.selectExpr("max(n)").head().get(0) === there.map(_.get(1).toString.toLong).max)
      Vector(there.length - 1, there.length, there.length + 1).foreach(n =>
        assert(all.limit(n).collect().length === n.min(there.length))
      )
    }

  test("files that Spark is set to pass over have no rows in counts, groups and limits") {
    val table = indexed("v9-cow-part")
    val cut = Fixtures.filesBelow(table).filter(f => f.endsWith(".parquet") && f.contains("sf/"))
    assert(cut.nonEmpty)
    cut.foreach { f =>
      val path = Paths.get(table, f)
      Files.write(path, Array.fill(Files.size(path).toInt)('x'.toByte))
    }
    set("spark.sql.files.ignoreCorruptFiles")(holdsWithoutOne(table, "true", "false"))
    // A listing tells that the file is gone.
    cut.foreach(f => Files.delete(Paths.get(table, f)))
    set("spark.sql.files.ignoreMissingFiles")(holdsWithoutOne(table, "true"))
  }

  test("of slices with logs, and of files that the index has not taken in, tasks tell the rest") {
    val table = indexed("v9-mor-part")
    val some = read(table).selectExpr("count(*)", "max(qty)")
    assert(!isLocal(some))
    assert(rows(some) === rows(read(table, off).selectExpr("count(*)", "max(qty)")))
    val timeline = Fixtures.copy("v9-moved-cow")
    val folder = Paths.get(timeline, ".hoodie", "timeline")
    val last = Fixtures.filesBelow(folder.toString).filter(_.matches("\\d+_\\d+\\.commit")).max
    val aside = Files.createTempDirectory("aside").resolve(last)
    Files.move(folder.resolve(last), aside)
    new HudiIdxApi(spark, timeline, java.util.Map.of("hudiidx.columns", "*")).create()
    Files.move(aside, folder.resolve(last))
    val behind = read(timeline).groupBy("city").agg(Map("n" -> "min", "*" -> "count"))
    assert(rows(behind) === rows(read(timeline, off).groupBy("city").agg(Map("n" -> "min", "*" -> "count"))))
  }

  test("a partition whose rows are all deleted is no group, by logs, footers and the index") {
    val table = Fixtures.copy("v9-mor-part")
    val gone = read(table).where("city = 'sf'").selectExpr("id", "city", "ts + 1000000 ts")
    val delete = Map("hoodie.datasource.write.operation" -> "delete")
    gone.write.format("hudiidx").options(delete).mode("append").save(table)
    def asked(options: (String, String)*): Vector[DataFrame] = {
      val groups = read(table, options: _*).groupBy("city")
      Vector(groups.count(), groups.agg(Map("n" -> "max")), groups.agg(Map("note" -> "count", "qty" -> "min")))
    }
    val wanted = asked(off).map(rows(_))
    assert(wanted.forall(groups => groups.nonEmpty && !groups.exists(_.contains("sf"))))
    def check(): Unit = {
      assert(asked().map(rows(_)) === wanted)
      assert(rows(read(table).where("city = 'sf'").selectExpr("count(*)", "max(n)")) === Vector("[0,null]"))
    }
    check()
    val index = new HudiIdxApi(spark, table, java.util.Map.of("hudiidx.columns", "*"))
    index.create()
    check()
    CompactionApi.compact(spark, table, Map.empty, "schedule_and_execute", None)
    check()
    index.update()
    check()
  }

  test("of no files counts are 0, with an index and without") {
    Vector(indexed("v9-cow-part"), Fixtures.table("v9-cow-part")).foreach { table =>
      def asked(options: (String, String)*): DataFrame =
        read(table, options: _*).where("city = 'nowhere'").selectExpr("count(*)", "count(qty)", "max(qty)")
      assert(rows(asked()) === Vector("[0,0,null]") && rows(asked(off)) === rows(asked()))
      assert(read(table).where("city = 'nowhere'").groupBy("city").count().collect().isEmpty)
    }
  }

  test("a column file that is damaged leaves it to the footers") {
    val table = indexed("v9-cow-part")
    val folder = Paths.get(table, ".hoodie", "hudiidx")
    Fixtures.filesBelow(folder.toString).filter(_.contains("column_stats")).foreach { f =>
      val bytes = Files.readAllBytes(folder.resolve(f))
      (0 until bytes.length / 2).foreach(i => bytes(i) = 0)
      Files.write(folder.resolve(f), bytes)
    }
    assert(
      rows(read(table).selectExpr("count(*)", "max(qty)")) === rows(read(table, off).selectExpr("count(*)", "max(qty)"))
    )
  }

  test("a list of very many values is judged by its least and greatest") {
    val column = AttributeReference("n", LongType)()
    val bounds = ColumnFilter.between(column, Seq(5L, 3L, 9L, 4L)).flatMap(_.collect { case l: Literal => l.value })
    assert(bounds === Seq(3L, 9L))
  }

  test("columns of types without an order are not offered to joins") {
    val table = Fixtures.copy("v9-cow-types")
    new HudiIdxApi(spark, table, java.util.Map.of("hudiidx.columns", "*")).create()
    val scan = read(table).queryExecution.optimizedPlan.collectFirst {
      case r: org.apache.spark.sql.execution.datasources.v2.DataSourceV2ScanRelation => r.scan
    }
    val offered = scan.collect { case s: HudiIdxScan => s.filterAttributes().map(_.fieldNames.head).toSet }.get
    read(table).schema.foreach { f =>
      val isNested = f.dataType match {
        case _: StructType | _: ArrayType | _: MapType => true
        case _                                         => false
      }
      assert(offered(f.name) === !isNested, f.name)
    }
  }
}
