package hudiidx.spark.command

import java.io.{ByteArrayInputStream, ByteArrayOutputStream, PrintStream}
import java.nio.charset.StandardCharsets.UTF_8
import java.nio.file.Paths

import scala.collection.JavaConverters._

import com.fasterxml.jackson.databind.{JsonNode, ObjectMapper}
import hudiidx.Fixtures
import hudiidx.TestSettings.{isLong, seed}
import hudiidx.spark.SparkSuite
import hudiidx.spark.api.HudiIdxApi
import hudiidx.spark.prune.TablePredicates
import org.apache.spark.sql.functions.to_json
import org.apache.spark.sql.functions.struct
import org.scalacheck.Gen
import org.scalacheck.rng.Seed

/** What `hudiidx prune` tells without a session is what a query with the filter reads. */
final class PruneMainSuite extends SparkSuite {
  private val rounds = if (isLong) 300 else 6
  private val mapper = new ObjectMapper()

  private def told(table: String, where: String, more: String*): (Int, String) = {
    val (out, err) = (new ByteArrayOutputStream, new ByteArrayOutputStream)
    val in = new ByteArrayInputStream(where.getBytes(UTF_8))
    val code = PruneMain.run(table +: more.toArray, in, out, new PrintStream(err, true))
    (code, if (code == 0) out.toString else err.toString)
  }

  private def document(table: String, where: String, more: String*): JsonNode = {
    val (code, text) = told(table, where, more: _*)
    assert(code === 0, text)
    mapper.readTree(text)
  }

  private def api(table: String, options: (String, String)*): HudiIdxApi =
    new HudiIdxApi(spark, table, options.toMap.asJava)

  /** The same by a query in a session. */
  private def asked(table: String, where: String, asOf: String): (Vector[JsonNode], String) = {
    val found = api(table).prune(where, asOf)
    val files = found.drop("decided_by")
    val rows = files.select(to_json(struct(files.columns.map(files(_)): _*))).collect().toVector
    (
      rows.map(r => mapper.readTree(r.getString(0))),
      found.select("decided_by").take(1).headOption.fold("")(_.getString(0))
    )
  }

  private def same(table: String, where: String, more: String*): Unit =
    assert(isSame(table, where, more: _*), where): Unit

  /** False if a session has to judge. */
  private def isSame(table: String, where: String, more: String*): Boolean = {
    val found = document(table, where, more: _*)
    if (!found.has("needs_session")) compare(table, where, found, more)
    !found.has("needs_session")
  }

  private def compare(table: String, where: String, found: JsonNode, more: Seq[String]): Unit = {
    val (files, by) = asked(table, where, more.lift(1).orNull)
    assert(found.get("files").elements().asScala.toVector === files)
    // A session has the filters in an order of its own.
    def parts(text: String): Set[String] = text.split(", ").toSet - ""
    if (files.nonEmpty) assert(parts(by) === parts(found.get("decided_by").asText), found): Unit
  }

  Seq("v6-cow-types", "v9-mor-types", "v8-cow-complex", "v9-cow-part", "v6-mor-part", "v9-mor-ordering").foreach {
    name =>
      test(s"$name: files are those of a query with the filter") {
        info(s"HUDIIDX_TEST_SEED=$seed")
        val table = Fixtures.copy(name)
        val indexes =
          Seq("hudiidx.columns" -> "*", "hudiidx.record.mode" -> "global")
        api(table, indexes: _*).create()
        val answered = randomly(table, TablePredicates.plain(read(table)))
        assert(answered > rounds / 2)
      }
  }

  test("a filter of which the optimizer makes less is a session's: opposites, and a column's value with more of it") {
    info(s"HUDIIDX_TEST_SEED=$seed")
    val table = Fixtures.copy("v9-mor-ordering")
    api(table).create()
    Seq("id", "n", "ts", "fare", "qty", "day", "_hoodie_is_deleted").foreach { column =>
      randomly(table, TablePredicates.plain(read(table).select(column)))
    }
    Seq("n = 1 AND n <> 1", "n < 1 OR n >= 1", "n = 1 OR n = 1 AND fare > 1", "n IN (1, 1) AND (n > 5 OR fare > 1)")
      .foreach { where =>
        assert(document(table, where).has("needs_session"), where)
      }
    Seq("n > 1 AND n < 5", "n = 1 OR n = 2", "n = 1 AND fare > 1").foreach(same(table, _))
  }

  private def randomly(table: String, filters: Gen[String]): Int =
    (0 until rounds).count { i =>
      val where = filters.pureApply(Gen.Parameters.default, Seed(seed + i))
      withClue(s"seed $seed, $where: ")(isSame(table, where))
    }

  test("keys, partitions, earlier instants and another folder of the index") {
    val table = Fixtures.copy("v9-mor-part")
    val folder = Fixtures.newFolder("elsewhere").resolve("index").toString
    api(table, "hudiidx.record.mode" -> "global", "hudiidx.index.path" -> folder).create()
    val key = read(table).select("_hoodie_record_key").head().getString(0)
    val partition = read(table).select("_hoodie_partition_path").head().getString(0)
    val byKey = document(table, s"_hoodie_record_key = '$key'", "--index-path", folder)
    assert(byKey.get("decided_by").asText.contains("record"))
    same(table, s"_hoodie_partition_path = '$partition'")
    val first = Fixtures.json("v9-mor-part").get("time_travel").get(0).get("as_of").asText
    same(table, "_hoodie_record_key > ''", "--as-of", first)
  }

  test("what a session alone can judge is left to it") {
    val table = Fixtures.copy("v9-cow-types")
    Seq(
      "no_such_column = 1",
      "1 = 1",
      "upper(_hoodie_record_key) = 'A'",
      "_hoodie_record_key =",
      "_hoodie_record_key = 5",
      "",
      "'"
    ).foreach { where =>
      assert(document(table, where).has("needs_session"), where)
    }
    assert(!document(table, "_hoodie_record_key = 'a'").has("needs_session"))
    api(table, "hudiidx.columns" -> "*").create()
    api(table).addColumns("substring(_hoodie_record_key, 1, 2)", wait = true)
    assert(document(table, "_hoodie_record_key = 'a'").has("needs_session"))
  }

  test("errors are those of every command") {
    val (code, text) = told(Paths.get("no", "such", "table").toString, "a = 1")
    assert(code === 3 && mapper.readTree(text).get("error").asText === "hudiidx.NotAHudiTable")
    assert(told(Fixtures.copy("v9-cow-part"), "a = 1", "--what")._1 === 2)
  }
}
