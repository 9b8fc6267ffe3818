package hudiidx.hive

import java.nio.file.{Files, Paths}

import hudiidx.{Fixtures, TestSettings}
import hudiidx.engine.Tables
import hudiidx.storage.LocalStorage
import hudiidx.sync.{IndexOptions, TableContext}
import hudiidx.sync.build.Indexer
import hudiidx.timeline.Instant
import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.mapred.JobConf
import org.apache.spark.sql.DataFrame
import org.apache.spark.sql.types.StructType

/** One input format over a table that is overwritten, whose overwrite is rolled back, and that is made anew. */
final class HiveOverwritesSuite extends HiveSuite {
  private val base = Map(
    "hoodie.table.name" -> "t",
    "hoodie.datasource.write.recordkey.field" -> "id",
    "hoodie.datasource.write.partitionpath.field" -> "p",
    "hoodie.datasource.write.precombine.field" -> "ts"
  )
  private val schema = StructType.fromDDL("id STRING, p STRING, ts BIGINT, v STRING")
  private val access = Tables.access(new Configuration())

  private def rows(ids: Range, ts: Int): DataFrame =
    spark
      .range(ids.start.toLong, ids.end.toLong)
      .selectExpr("concat('k', id) AS id", "concat('p', id % 3) AS p", s"${ts}L AS ts", s"concat('v$ts-', id) AS v")

  private def given(ids: Range, ts: Int): Map[String, String] = ids.map(i => s"k$i" -> s"v$ts-$i").toMap

  private def save(frame: DataFrame, path: String, mode: String, more: (String, String)*): Unit =
    frame.write.format("hudiidx").options(base ++ more).mode(mode).save(path)

  private def values(rows: Seq[Array[org.apache.hadoop.io.Writable]]): Map[String, String] = {
    val found = HiveTables.frame(spark, schema, rows).select("id", "v").collect()
    assert(found.map(_.getString(0)).distinct.length === found.length, "a record is there twice")
    found.map(r => r.getString(0) -> r.getString(1)).toMap
  }

  private def job(path: String): JobConf =
    HiveTables.job(Seq(path), ReadSettings.Columns -> ReadSettings.json(schema.fieldNames.toSeq))

  /** As stock Hudi's rollback of the last write: its files and instants are gone, and a rollback says so. */
  private def takeBack(path: String): Unit = {
    val table = TableContext.load(access, path)
    val last = table.timeline.completedWrites.last
    val files = Fixtures.filesBelow(path).filter(f => f.endsWith(s"_${last.requestedTime}.parquet"))
    files.foreach(f => LocalStorage.delete(s"$path/$f"))
    Fixtures
      .filesBelow(path)
      .filter(f => f.startsWith(".hoodie/") && Paths.get(f).getFileName.toString.startsWith(last.requestedTime))
      .foreach(f => LocalStorage.delete(s"$path/$f"))
    recordRollback(table, last, files)
  }

  private def recordRollback(table: TableContext, last: Instant, files: Seq[String]): Unit = {
    val of = files.groupBy(f => Paths.get(f).getParent.toString).map { case (partition, names) =>
      val deleted = names.map(n => s""""file:/elsewhere/$n"""").mkString(",")
      s""""$partition":{"successDeleteFiles":[$deleted],"logFilesFromFailedCommit":{},"rollbackLogFiles":{}}"""
    }
    val content = s"""{"commitsRollback":["${last.requestedTime}"],"partitionMetadata":{${of.mkString(",")}}}"""
    val at = (BigInt(last.requestedTime) + 1).toString
    val done = if (table.timeline.layout == 1) at else s"${at}_$at"
    Seq(s"$at.rollback.requested", s"$at.rollback.inflight", s"$done.rollback").foreach { name =>
      Files.write(Paths.get(table.timeline.dir.stripPrefix("file:"), name), content.getBytes("UTF-8"))
    }
  }

  for (version <- Seq(6, 9); isIndexed <- Seq(false, true) if TestSettings.isLong || isIndexed == (version == 9))
    test(
      s"version $version, ${if (isIndexed) "with" else "without"} an index: rows are those that are there, after each step"
    ) {
      val path = Paths.get(Fixtures.newFolder("hive-overwrite").toString, "t").toString
      save(rows(0 until 30, 1), path, "append", "hoodie.write.table.version" -> version.toString)
      save(rows(0 until 10, 2), path, "append", "hudiidx.write.log.inserts" -> "true")
      val first = given(10 until 30, 1) ++ given(0 until 10, 2)
      if (isIndexed) new Indexer(access, path, IndexOptions()).create()
      val format = new HudiIdxInputFormat
      val conf = job(path)
      def check(wanted: Map[String, String]): Unit = {
        assert(values(HiveTables.rows(conf, format = format)) === wanted)
        if (isIndexed) {
          new Indexer(access, path, IndexOptions()).update()
          assert(values(HiveTables.rows(conf, format = format)) === wanted)
        }
      }
      check(first)
      val before = HiveTables.splits(conf, format = format)

      save(rows(20 until 40, 3), path, "overwrite")
      check(given(20 until 40, 3))
      // What was planned before has the rows of its moment.
      assert(values(before.flatMap(HiveTables.rowsOf(_, conf, format))) === first)
      takeBack(path)
      check(first)

      val partition = rows(0 until 60, 4).where("p = 'p1'")
      save(partition, path, "overwrite", "partitionOverwriteMode" -> "dynamic")
      val others = first.filterNot { case (k, _) => k.drop(1).toInt % 3 == 1 }
      check(others ++ given(0 until 60, 4).filter { case (k, _) => k.drop(1).toInt % 3 == 1 })
      takeBack(path)
      check(first)

      if (version == 9) {
        val planned = HiveTables.splits(conf, format = format)
        val anew = Seq("hudiidx.write.remake" -> "true", "hoodie.datasource.write.hive_style_partitioning" -> "true")
        save(rows(50 until 55, 5), path, "overwrite", anew: _*)
        check(given(50 until 55, 5))
        // A query at work on the table before goes on.
        assert(values(planned.flatMap(HiveTables.rowsOf(_, conf, format))) === first)
      }
    }
}
