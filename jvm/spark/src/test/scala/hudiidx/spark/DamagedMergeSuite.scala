package hudiidx.spark

import java.nio.file.{Files, Path, Paths}

import hudiidx.spark.api.HudiIdxApi
import hudiidx.{Fixtures, HudiIdxException}

/** Rows of merge-on-read tables with a damaged file: those of the undamaged table or an error that names it, and what stock
  * Hudi shows where it was asked for; with an index made before the damage and without.
  */
final class DamagedMergeSuite extends SparkSuite {
  private val listed = "hudiidx.index.enabled" -> "false"
  private val strict = "hudiidx.index.strict" -> "true"
  private val asStock = "hudiidx.read.damaged" -> "as_stock"

  private def checksum(name: String, field: String): String =
    Fixtures.json(name).path(field).path("checksum_data").asText

  /** Checksum of the rows, or the message of the typed error, wherever Spark has put it. */
  private def outcome(table: String, options: (String, String)*): Either[String, String] =
    try Right(Answer.of(read(table, options: _*)).dataChecksum)
    catch {
      case thrown: Throwable =>
        val found =
          Iterator.iterate(thrown)(_.getCause).takeWhile(_ != null).collectFirst { case e: HudiIdxException => e }
        Left(found.getOrElse(fail(s"no typed error in $thrown", thrown)).getMessage)
    }

  private final class Damaged(val name: String) {
    private val json = Fixtures.json(name)
    private val relative = json.get("damage").get("file").asText
    val madeFrom: String = json.get("made_from").asText
    val table: String = Fixtures.copy(name)
    val file: Path = Paths.get(table, relative)
    private val bad = if (Files.exists(file)) Some(Files.readAllBytes(file)) else None
    private val good = Files.readAllBytes(Paths.get(Fixtures.table(madeFrom), relative))

    /** An index made while the file was whole. */
    def indexBefore(): Unit = {
      Files.write(file, good)
      new HudiIdxApi(spark, table, new java.util.HashMap()).create()
      bad.fold(Files.delete(file))(Files.write(file, _): Unit)
    }
  }

  for (name <- Fixtures.damaged("zero-log", "truncated-log", "garbage-log", "missing-base"))
    test(s"$name: the undamaged rows or an error with the file's name, with an index made before and without") {
      val damaged = new Damaged(name)
      def check(option: (String, String)): Unit = outcome(damaged.table, option) match {
        case Right(rows)   => assert(rows === checksum(name, "good_snapshot"))
        case Left(message) => assert(message.contains(damaged.file.getFileName.toString), option)
      }
      check(listed)
      damaged.indexBefore()
      check(strict)
    }

  for (name <- Fixtures.damaged("zero-log", "truncated-log"))
    test(s"$name: as_stock gives the rows that stock Hudi shows of the damaged table") {
      val damaged = new Damaged(name)
      val stock = checksum(damaged.name, "snapshot")
      assert(stock !== checksum(damaged.name, "good_snapshot"))
      assert(outcome(damaged.table, listed, asStock) === Right(stock))
      damaged.indexBefore()
      assert(outcome(damaged.table, strict, asStock) === Right(stock))
    }

  test("v6-bad-missing-base: as_stock gives the rows that stock Hudi shows of the damaged table") {
    val damaged = new Damaged("v6-bad-missing-base")
    val stock = Right(checksum(damaged.name, "snapshot"))
    assert(outcome(damaged.table, listed, asStock) === stock)
    damaged.indexBefore()
    assert(outcome(damaged.table, strict, asStock) === stock)
  }

  for (name <- Seq("v6-mor-part", "v9-mor-part"))
    test(s"$name: a log cut at the border of its blocks is noticed in time travel too, with an index and without") {
      val table = Fixtures.copy(name)
      new HudiIdxApi(spark, table, new java.util.HashMap()).create()
      val points = Vector.newBuilder[String]
      Fixtures.json(name).get("time_travel").forEach(t => if (t.has("count")) points += t.get("as_of").asText)
      val asOf = points.result()
      // The newest query that reads a slice which is not a latest one.
      val (instant, log) = asOf.reverseIterator
        .flatMap { i =>
          val at = read(table, "view" -> "latest_merged_file_slices", "as.of.instant" -> i)
            .selectExpr("partition_path", "explode(log_files.file_name) as log")
          val now = read(table, "view" -> "latest_merged_file_slices").selectExpr("explode(log_files.file_name) as log")
          at.join(now, Seq("log"), "left_anti")
            .selectExpr("partition_path", "log")
            .collect()
            .map(r => (i, Paths.get(table, r.getString(0), r.getString(1))))
        }
        .next()
      val whole = Files.readAllBytes(log)
      Files.write(log, Array.emptyByteArray)
      for (option <- Seq(strict, listed)) {
        val message =
          outcome(table, option, "as.of.instant" -> instant).left.toOption.getOrElse(fail(s"$option: no error"))
        assert(message.contains(log.getFileName.toString))
      }
      Files.write(log, whole)
      assert(outcome(table, listed, "as.of.instant" -> instant).isRight)
    }

  for (name <- Seq("v6-no-mdt-mor", "v9-no-mdt-mor"))
    test(
      s"$name: bytes after a log's last block cost no row, a length past the end is an error, with and without an index"
    ) {
      val table = Fixtures.copy(name)
      new HudiIdxApi(spark, table, new java.util.HashMap()).create()
      val log = Fixtures
        .filesBelow(table)
        .filter(f => f.contains(".log.") && !f.contains(".hoodie/"))
        .map(Paths.get(table, _))
        .head
      val whole = Files.readAllBytes(log)
      val good = checksum(name, "snapshot")
      Files.write(log, whole ++ "no block".getBytes)
      Seq(strict, listed).foreach(o => assert(outcome(table, o) === Right(good)))
      Files.write(log, whole.updated(6, 127.toByte))
      Seq(strict, listed).foreach { o =>
        val message = outcome(table, o).left.toOption.getOrElse(fail(s"$o: no error"))
        assert(message.contains(log.getFileName.toString) && message.contains("offset 0"))
      }
    }
}
