package hudiidx.spark

import java.math.BigInteger
import java.nio.charset.StandardCharsets.UTF_8
import java.security.MessageDigest

import com.fasterxml.jackson.databind.JsonNode
import hudiidx.Figures
import org.apache.spark.sql.functions.{col, expr, lit, regexp_extract, struct, to_json}
import org.apache.spark.sql.{Column, DataFrame, SparkSession}
import org.scalatest.{Assertions, Outcome}
import org.scalatest.funsuite.AnyFunSuite

/** Suites that share one small Spark session, each in a time zone that its name decides. */
abstract class SparkSuite extends AnyFunSuite {
  lazy val spark: SparkSession = SparkSuite.session

  /** Of the session in this suite. */
  protected def zone: String = SparkSuite.Zones(Math.floorMod(suiteName.hashCode, SparkSuite.Zones.size))

  /** Suites of one JVM share it, and one of them may have left a session of its own active. */
  override protected def withFixture(test: NoArgTest): Outcome = {
    SparkSession.setActiveSession(spark)
    spark.conf.set(SparkSuite.Zone, zone)
    super.withFixture(test)
  }

  /** In a session of another zone. */
  protected def inZone[A](other: String)(body: => A): A = {
    spark.conf.set(SparkSuite.Zone, other)
    try body
    finally spark.conf.set(SparkSuite.Zone, zone)
  }

  def read(path: String, options: (String, String)*): DataFrame =
    spark.read.format("hudiidx").options(options.toMap).load(path)

  /** Rows with the keys `k0`, `k1`… to a table of a version, which is made by the first. */
  protected def writeKeys(path: String, version: Int, ids: Range, mode: String = "append"): Unit = spark
    .range(ids.start.toLong, ids.end.toLong)
    .selectExpr("concat('k', id) AS id", "1L AS ts")
    .write
    .format("hudiidx")
    .option("hoodie.table.name", "t")
    .option("hoodie.datasource.write.recordkey.field", "id")
    .option("hoodie.write.table.version", version.toString)
    .mode(mode)
    .save(path)
}

object SparkSuite {
  val Zone = "spark.sql.session.timeZone"
  private val Zones = Vector("UTC", "America/New_York", "Asia/Kolkata")

  lazy val session: SparkSession = quiet(builder)

  /** Of small sessions. */
  def builder: SparkSession.Builder =
    SparkSession
      .builder()
      .master("local[2]")
      .config("spark.ui.enabled", "false")
      .config("spark.sql.shuffle.partitions", "2")
      .config(Zone, "UTC")
      .config("spark.driver.host", "localhost")
      // Compiling code for each small query would take most of the time; CodegenSuite turns it on.
      .config("spark.sql.codegen.wholeStage", "false")
      .config("spark.sql.codegen.factoryMode", "NO_CODEGEN")

  def quiet(builder: SparkSession.Builder): SparkSession = {
    val made = builder.getOrCreate()
    made.sparkContext.setLogLevel("ERROR")
    made
  }
}

/** The text and checksums by which stock Hudi's rows are stored (tests/fixtures/README.md). */
final case class Answer(rows: Vector[String], checksum: String, dataChecksum: String)

object Answer extends Assertions {
  private val Meta =
    Vector("_hoodie_commit_time", "_hoodie_record_key", "_hoodie_partition_path")
  private val Options: Map[String, String] =
    Map(
      "ignoreNullFields" -> "false",
      "timestampFormat" -> "yyyy-MM-dd'T'HH:mm:ss.SSSSSSXXX",
      "timeZone" -> "UTC"
    )

  def of(frame: DataFrame): Answer = {
    val texts = rowTexts(frame).collect().map(r => (r.getString(0), r.getString(1)))
    Answer(texts.map(_._1).toVector.sorted, checksum(texts.map(_._1)), checksum(texts.map(_._2)))
  }

  /** Stock 1.x shows partition values as they stand in the path, escapes and all, in incremental reads alone. Ours are the values. */
  def asIncremental(name: String, frame: DataFrame): DataFrame =
    if (!hasEscapes(name)) frame
    else
      Seq("region", "kind").foldLeft(frame) { (f, c) =>
        f.withColumn(c, expr(s"if($c is null, null, regexp_extract(_hoodie_partition_path, '$c=([^/]*)', 1))"))
      }

  /** Of whose incremental reads this is so. */
  def hasEscapes(name: String): Boolean = name.endsWith("cow-complex") && !name.startsWith("v6-")

  /** The rows are those that stock Hudi gave. */
  def expect(stock: JsonNode, found: Answer): Unit = {
    Figures.add("answers compared with stock Hudi's", 1)
    assert(found.rows.length === stock.get("count").asInt)
    if (stock.has("rows")) {
      val rows = Vector.newBuilder[String]
      stock.get("rows").forEach(r => rows += r.asText)
      // Stored rows have a mark in the place of paths into the folder that their table was made in.
      val marked = found.rows.map(_.replaceAll("\"/tmp/v12/[^\"]*\"", "\"<DIR>\""))
      assert(marked.diff(rows.result()).take(2) === Vector.empty)
    }
    assert(found.dataChecksum === stock.get("checksum_data").asText)
    assert(found.checksum === stock.get("checksum").asText): Unit
  }

  private def rowTexts(frame: DataFrame): DataFrame = {
    val names = frame.columns.toVector
    val fileId =
      if (names.contains("_hoodie_file_name")) regexp_extract(col("_hoodie_file_name"), "^([^_]+)", 1)
      else lit(null).cast("string")
    val data = names.filter(n => !n.startsWith("_hoodie_") || n == "_hoodie_is_deleted").sorted.map(quoted)
    val meta = Meta.filter(names.contains).map(col) :+ fileId.as("_file_id")
    frame.select(json(meta ++ data), json(data))
  }

  private def json(columns: Vector[Column]): Column = {
    val options = new java.util.HashMap[String, String]()
    Options.foreach { case (k, v) => options.put(k, v) }
    to_json(struct(columns: _*), options)
  }

  private def quoted(name: String): Column = col("`" + name + "`")

  /** Sum over the rows of the first 60 bits of each one's md5. */
  private def checksum(texts: Array[String]): String = texts
    .map { t =>
      val md5 = MessageDigest.getInstance("MD5").digest(t.getBytes(UTF_8))
      new BigInteger(1, md5).shiftRight(128 - 60)
    }
    .foldLeft(BigInteger.ZERO)((a, b) => a.add(b))
    .toString
}
