package hudiidx.spark

import java.nio.file.{Files, Paths, StandardCopyOption}

import hudiidx.Fixtures
import hudiidx.spark.api.HudiIdxApi
import org.apache.spark.sql.functions.col

/** The ways in which Spark runs a scan give the same rows: batches with generated code, batches without, rows. */
final class CodegenSuite extends SparkSuite {
  private val wholeStage = "spark.sql.codegen.wholeStage"
  private val factory = "spark.sql.codegen.factoryMode"
  private val vectorised = "spark.sql.parquet.enableVectorizedReader"

  private def under[A](settings: (String, String)*)(body: => A): A = {
    val before = settings.map { case (k, _) => k -> spark.conf.getOption(k) }
    settings.foreach { case (k, v) => spark.conf.set(k, v) }
    try body
    finally
      before.foreach {
        case (k, Some(v)) => spark.conf.set(k, v)
        case (k, None)    => spark.conf.unset(k)
      }
  }

  /** A copy of the table, with an index, in which one partition still has the file of its first write under the name of its last: with
    * narrower numbers, fewer columns and fewer fields than the table.
    */
  private def withOldFile(name: String, partition: String): String = {
    val table = Fixtures.copy(name)
    // A listing would refuse a file that is shorter than the timeline says.
    new HudiIdxApi(spark, table, new java.util.HashMap[String, String]()).create()
    val files = Fixtures.filesBelow(table).filter(f => f.startsWith(partition + "/") && f.endsWith(".parquet"))
    val byInstant = files.sortBy(f => f.substring(f.lastIndexOf('_')))
    Files.copy(Paths.get(table, byInstant.head), Paths.get(table, byInstant.last), StandardCopyOption.REPLACE_EXISTING)
    table
  }

  private def expectSame(way: String, found: Vector[String], batches: Vector[String]): Unit = {
    assert(found.length === batches.length, way)
    assert(found.diff(batches).take(1) === batches.diff(found).take(1), way): Unit
  }

  private def everyWay(table: String): Vector[String] = {
    def rows: Vector[String] = Answer.of(read(table)).rows
    val batches = rows
    expectSame("row by row", under(vectorised -> "false")(rows), batches)
    expectSame("with generated code", under(wholeStage -> "true", factory -> "FALLBACK")(rows), batches)
    batches
  }

  test("all types are the same in every way of running") {
    assert(everyWay(Fixtures.table("v9-cow-types")).nonEmpty)
  }

  Fixtures
    .sampled(
      this,
      Vector("v6-mor-bucket-parquet", "v9-mor-types", "v9-mor-evolution", "v9-mor-event", "v9-partial-updates"),
      oneOf = 2
    )
    .foreach { name =>
      test(s"$name: merged slices have the same rows in every way of running, and in batches of few rows") {
        val table = Fixtures.table(name)
        val rows = everyWay(table)
        assert(rows.length === Fixtures.json(name).get("snapshot").get("count").asInt)
        under("spark.sql.parquet.columnarReaderBatchSize" -> "7") {
          expectSame("few rows to a batch", Answer.of(read(table)).rows, rows)
          assert(read(table).select("_hoodie_record_key").collect().length === rows.length)
          assert(read(table).selectExpr("1").collect().length === rows.length)
        }
      }
    }

  Seq("v6-cow-evolution", "v9-cow-evolution").foreach { name =>
    test(s"$name: a file of older types gives its first rows, widened, in every way of running") {
      val rows = everyWay(withOldFile(name, "oslo"))
      val first = Fixtures.json(name).get("time_travel").get(0).get("as_of").asText
      val before = read(Fixtures.table(name), "as.of.instant" -> first).where("city = 'oslo'")
      val old = read(withOldFile(name, "oslo")).where("city = 'oslo'")
      assert(rows.length > old.count())
      val text = "cast(cast(f as string) as double) as f"
      val columns = Seq("id", "cast(qty as bigint) as qty", "st.a as a", "st.b as b", "ts")
      assert(
        old.selectExpr(columns :+ "f": _*).collect().toSet === before.selectExpr(columns :+ text: _*).collect().toSet
      )
      Seq("rider is null", "tags is null", "note is null and rider is null").foreach { where =>
        withClue(where)(assert(old.where(where).count() === old.count()))
      }
      // Spark's interpreter takes a null number inside a struct of a batch for 0, whoever made the batch.
      def added: Long = old.where("st.c is null").count()
      assert(under(wholeStage -> "true", factory -> "FALLBACK")(added) === old.count())
      assert(old.where("st is not null").select("st.c").count() === before.where("st is not null").count())
    }
  }

  test("a filter on a widened column sees the values of older files") {
    val table = read(withOldFile("v9-cow-evolution", "oslo")).where("city = 'oslo'")
    val some = table.where("f is not null and qty is not null").select("id", "f", "qty").collect().take(20)
    assert(some.nonEmpty)
    some.foreach { r =>
      val same = col("f") === r.getDouble(1) && col("qty") === r.getLong(2) && col("id") === r.getString(0)
      assert(table.where(same).count() === 1)
    }
  }

  test("nested columns can be read alone, also where files lack them") {
    val table = read(Fixtures.table("v9-cow-evolution"))
    val whole = table.select("id", "st").collect().map(r => r.getString(0) -> r.getStruct(1)).toMap
    val alone = table.select(col("id"), col("st.c")).collect()
    alone.foreach(r => assert(r.get(1) === whole(r.getString(0)).get(2)))
    assert(table.where("st is not null").select("st.c").count() === table.where("st is not null").count())
    assert(alone.length === whole.size)
  }
}
