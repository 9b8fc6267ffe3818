package hudiidx.spark.stores

import java.nio.file.Paths
import java.util.concurrent.atomic.AtomicInteger

import scala.collection.JavaConverters._

import com.fasterxml.jackson.databind.ObjectMapper
import hudiidx.{Fixtures, TestSettings, WriteConflict}
import hudiidx.fs.s3.S3Server
import hudiidx.fs.s3.S3Server.RoundTrips
import hudiidx.engine.{CallBounds, RemoteTable}
import hudiidx.fs.HdfsCluster
import hudiidx.spark.api.HudiIdxApi
import hudiidx.spark.compact.CompactionApi
import hudiidx.spark.{Answer, SparkSuite}
import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.Path
import org.apache.spark.sql.DataFrame
import org.scalatest.BeforeAndAfterAll

/** Tables on a remote store are read, indexed, asked and written as on the local disk. */
abstract class RemoteTables extends SparkSuite with CallBounds with BeforeAndAfterAll {

  /** A folder for all tables of the suite, and how it is reached. */
  protected def root: String
  protected def configuration: Configuration
  protected def fixtures: Seq[String]

  /** The version of the tables that are made, in short form. */
  protected def version: Int
  override protected def sizes: Vector[Int] = if (TestSettings.isLong) super.sizes else Vector(3)
  private val made = new AtomicInteger
  private val all = Map("hudiidx.record.mode" -> "global", "hudiidx.columns" -> "*", "hudiidx.index.strict" -> "true")
  protected val strict = "hudiidx.index.strict" -> "true"

  override def beforeAll(): Unit = {
    val settings = spark.sparkContext.hadoopConfiguration
    HdfsCluster.quick(settings)
    configuration.getPropsWithPrefix("fs.s3a.").asScala.foreach { case (k, v) => settings.set(s"fs.s3a.$k", v) }
  }

  protected def newPath(): String = s"$root/t${made.incrementAndGet()}"

  private def put(fixture: String): String = {
    val to = new Path(newPath())
    RemoteTable.copy(Paths.get(Fixtures.table(fixture)), to.getFileSystem(configuration), to)
    to.toString
  }

  protected def api(path: String): HudiIdxApi = new HudiIdxApi(spark, path, all.asJava)

  private def isWhole(path: String): Boolean =
    new ObjectMapper().readTree(api(path).verifyParts(record = true, columns = true, 20, null)).get("ok").asBoolean

  fixtures.foreach { name =>
    test(s"$name: rows and time travel are stock Hudi's, without an index and with one, which is whole") {
      val path = put(name)
      val stock = Fixtures.json(name)
      Answer.expect(stock.get("snapshot"), Answer.of(read(path)))
      api(path).create()
      Answer.expect(stock.get("snapshot"), Answer.of(read(path, strict)))
      stock.get("time_travel").asScala.filterNot(_.has("error")).toVector.takeRight(1).foreach { point =>
        Answer.expect(point, Answer.of(read(path, strict, "as.of.instant" -> point.get("as_of").asText)))
      }
      val key = read(path).select("_hoodie_record_key").head().getString(0)
      assert(read(path, strict).where(s"_hoodie_record_key = '$key'").count() >= 1)
      assert(api(path).locations(Seq(key, "none"), None).map(_.key) === Vector(key))
      assert(isWhole(path))
    }
  }

  protected def save(rows: DataFrame, path: String, more: (String, String)*): Unit = {
    val options = Map(
      "hoodie.table.name" -> "t",
      "hoodie.datasource.write.recordkey.field" -> "id",
      "hoodie.datasource.write.partitionpath.field" -> "p",
      "hoodie.datasource.write.precombine.field" -> "n"
    )
    rows.write.format("hudiidx").options(options ++ more).mode("append").save(path)
  }

  TestSettings.versions(version).map(_.toString).foreach { version =>
    test(s"version $version: a table is made, written to, indexed and compacted") {
      val path = newPath()
      def rows(from: Long, until: Long, n: Long): DataFrame =
        spark.range(from, until).selectExpr("id", "cast(id % 3 AS string) AS p", s"id + $n AS n")
      save(rows(0, 100, 0), path, "hoodie.write.table.version" -> version)
      api(path).create()
      save(rows(90, 120, 1000), path)
      save(rows(0, 5, 0), path, "hoodie.datasource.write.operation" -> "delete")
      val wanted = (5L until 90).map(i => i -> i).toMap ++ (90L until 120).map(i => i -> (i + 1000))
      def found(options: (String, String)*) =
        read(path, options: _*).select("id", "n").collect().map(r => r.getLong(0) -> r.getLong(1)).toMap
      assert(found(strict) === wanted && isWhole(path))
      CompactionApi.compact(spark, path, Map.empty, "schedule_and_execute", None)
      assert(found("hoodie.datasource.query.type" -> "read_optimized") === wanted)
      assert(found() === wanted)
      api(path).update()
      assert(found(strict) === wanted && isWhole(path))
    }
  }

  /** Two keys in each partition, all indexes, and an update of one row in a log. */
  private lazy val written: Vector[String] = sizes.map { n =>
    val path = newPath()
    save(ofOnePartition(0, 2 * n, n, 0), path)
    api(path).create()
    save(ofOnePartition(0, 1, n, 1), path)
    api(path).update()
    path
  }

  private def ofOnePartition(from: Long, until: Long, partitions: Int, n: Long): DataFrame =
    spark.range(from, until, 1, 1).selectExpr("id", s"cast(id % $partitions AS string) AS p", s"id + $n AS n")

  private def sizeOf(path: String): Int = sizes(written.indexOf(path))

  operation("upsert of one row", written)(path => () => save(ofOnePartition(0, 1, sizeOf(path), 2), path))
  operation("read of rows by key", written)(path =>
    () => read(path, strict).where("_hoodie_record_key = '1'").collect()
  )
  operation("compaction", written)(path =>
    () => CompactionApi.compact(spark, path, Map.empty, "schedule_and_execute", None)
  )
}

/** On an S3-compatible server. */
final class S3TablesSuite extends RemoteTables {
  test(
    "an explanation tells the calls of the store that planning took, and how many in a row, as its door counts them"
  ) {
    val path = newPath()
    save(spark.range(100).selectExpr("id", "cast(id % 3 AS string) AS p", "id AS n"), path)
    api(path).create()
    for (filter <- Seq("p = '1'", "_hoodie_record_key = '7'", "n > 90")) {
      RemoteTable.forget()
      var told = new ObjectMapper().createArrayNode(): com.fasterxml.jackson.databind.JsonNode
      val counted = callsOf {
        told = new ObjectMapper().readTree(api(path).explain(read(path, strict).where(filter)).toString)
      }
      val scan = told.get(0)
      val (calls, inARow) = (scan.get("store_calls").asLong, scan.get("store_calls_in_a_row").asLong)
      assert(calls === (counted - RoundTrips).values.sum && calls > 0, s"$filter: $counted, $scan")
      assert(math.abs(inARow - counted(RoundTrips)) <= 1 && inARow < calls, s"$filter: $counted, $scan")
    }
  }

  private lazy val server = new S3Server
  override protected val store = "S3"
  override protected def callsOf(deed: => Unit): Map[String, Long] = server.callsOf(deed)
  override protected def bounds: Map[String, Map[String, (Long, Long)]] = Map(
    // Hadoop 3.3 posts for parents' markers, 3.4 does not.
    "upsert of one row" -> Map(
      "delete" -> at(5),
      "get" -> at(26),
      "head" -> at(11),
      "list" -> at(16),
      "put" -> at(12),
      RoundTrips -> at(49)
    ),
    "read of rows by key" -> Map("get" -> at(17), "head" -> at(6), "list" -> at(2), RoundTrips -> at(23)),
    // Ids of file groups are drawn, and an update of the index merges by sizes that depend on them: some files more.
    "compaction" -> Map(
      "delete" -> at(9),
      "get" -> at(68, 146),
      "head" -> at(44, 190),
      "list" -> at(46, 193),
      "put" -> at(28, 71),
      RoundTrips -> at(165, 560)
    )
  )
  override protected lazy val configuration: Configuration = server.configuration
  override protected def fixtures: Seq[String] = Seq("v9-no-mdt-mor")
  override protected def version: Int = 9
  override protected lazy val root: String = {
    server.bucket("tables")
    "s3a://tables/of"
  }

  test("a table that is read as s3:// and written as s3a:// is one") {
    spark.sparkContext.hadoopConfiguration.set("fs.s3.impl", "org.apache.hadoop.fs.s3a.S3AFileSystem")
    val path = s"$root/names"
    def rows(from: Long): DataFrame = spark.range(from, from + 3).selectExpr("id", "'p' AS p", "id AS n")
    save(rows(0), path)
    val old = read(path.replace("s3a://", "s3://"))
    save(rows(5), path)
    val conflict =
      intercept[WriteConflict](save(old, path, "hoodie.datasource.write.operation" -> "insert_overwrite_table"))
    assert(conflict.getMessage.contains("old rows"))
    assert(read(path).count() === 6)
  }

  override def afterAll(): Unit = server.close()
}

/** On a NameNode and two DataNodes. */
final class HdfsTablesSuite extends RemoteTables {
  private lazy val cluster = HdfsCluster.start(Fixtures.newFolder("hdfs-tables"))
  override protected val store = "HDFS"
  override protected def callsOf(deed: => Unit): Map[String, Long] = HdfsCluster.callsOf(deed)
  override protected def bounds: Map[String, Map[String, (Long, Long)]] = Map(
    "upsert of one row" -> Map(
      "op_create" -> at(13),
      "op_delete" -> at(5),
      "op_get_file_status" -> at(43),
      "op_list_status" -> at(16),
      "op_open" -> at(31),
      "op_rename" -> at(10)
    ),
    "read of rows by key" -> Map("op_get_file_status" -> at(7), "op_list_status" -> at(2), "op_open" -> at(14)),
    // Ids of file groups are drawn, and an update of the index merges by sizes that depend on them: some files more.
    "compaction" -> Map(
      "op_create" -> at(25, 69),
      "op_delete" -> at(13),
      "op_get_file_status" -> at(80, 160),
      "op_list_status" -> at(34, 106),
      "op_open" -> at(64, 122),
      "op_rename" -> at(14, 24)
    )
  )
  override protected lazy val configuration: Configuration = cluster.getConfiguration(0)
  override protected def fixtures: Seq[String] = TestSettings.some(2)(Seq("v6-no-mdt-mor", "v9-no-mdt-mor"))
  override protected def version: Int = 6
  override protected lazy val root: String = cluster.getFileSystem.makeQualified(new Path("/tables")).toString

  override def afterAll(): Unit = cluster.shutdown()
}
