package hudiidx.spark

import java.nio.file.{Files, Path, Paths}

import scala.concurrent.{Await, Future}
import scala.concurrent.ExecutionContext.Implicits.global
import scala.concurrent.duration._

import hudiidx.spark.api.HudiIdxApi
import hudiidx.{DamagedTable, Fixtures}

/** A base file that is gone, cut, garbled or no file ends a read of its rows with an error that names it, whether an index made
  * before the damage lists it or not: never fewer rows.
  */
final class DamagedRowsSuite extends SparkSuite {
  private val listed = "hudiidx.index.enabled" -> "false"
  private val strict = "hudiidx.index.strict" -> "true"

  private def create(table: String): Unit = new HudiIdxApi(spark, table, new java.util.HashMap()).create(): Unit

  /** The DamagedTable that reading ends with, wherever Spark has put it. */
  private def damage(table: String, option: (String, String)): String = {
    val thrown = intercept[Throwable](read(table, option).collect())
    Iterator
      .iterate(thrown)(_.getCause)
      .takeWhile(_ != null)
      .collectFirst { case e: DamagedTable => e.getMessage }
      .getOrElse(fail(s"no DamagedTable in $thrown", thrown))
  }

  private val harms: Vector[(String, Path => Any)] = Vector(
    ("gone", f => Files.delete(f)),
    ("empty", f => Files.write(f, Array.empty[Byte])),
    ("cut to half", f => Files.write(f, Files.readAllBytes(f).take((Files.size(f) / 2).toInt))),
    ("one byte short", f => Files.write(f, Files.readAllBytes(f).dropRight(1))),
    ("other bytes of the same size", f => Files.write(f, Array.fill(Files.size(f).toInt)(7.toByte))),
    ("a pipe", f => { Files.delete(f); assert(new ProcessBuilder("mkfifo", f.toString).start().waitFor() === 0) })
  )

  for (name <- Seq("v6-cow-part", "v9-cow-part"))
    test(
      s"$name: a base file gone, empty, cut, garbled or a pipe is an error that names it, with an index made before and without"
    ) {
      val table = Fixtures.copy(name)
      create(table)
      val base = read(table, "view" -> "latest_base_files").selectExpr("partition_path", "file_name").head()
      val file = Paths.get(table, base.getString(0), base.getString(1))
      val whole = Files.readAllBytes(file)
      harms.foreach { case (what, harm) =>
        harm(file)
        // Nobody writes to the pipe: a read that opened it would not end.
        def found(o: (String, String)) = Await.result(Future(damage(table, o)), 2.minutes)
        Seq(strict, listed).foreach(o => assert(found(o).contains(file.getFileName.toString), s"$what, $o"))
        Files.deleteIfExists(file)
        Files.write(file, whole)
      }
      assert(Answer.of(read(table, strict)).checksum === Fixtures.json(name).get("snapshot").get("checksum").asText)
    }

  for (name <- Fixtures.damaged("parquet-footer"))
    test(s"$name: rows are refused with the file's name, the index not to blame") {
      val table = Fixtures.copy(name)
      val file = Fixtures.json(name).get("damage").get("file").asText
      create(table)
      Seq(strict, listed).foreach(o => assert(damage(table, o).contains(file.substring(file.lastIndexOf('/') + 1))))
    }

  for (name <- Fixtures.damaged("commit-file"))
    test(s"$name: rows are refused with the commit file's name, with an index that covers it too") {
      val table = Fixtures.copy(name)
      val commit = Paths.get(table, Fixtures.json(name).get("damage").get("file").asText)
      assert(damage(table, listed).contains(commit.getFileName.toString))
      val damaged = Files.readAllBytes(commit)
      val good = Paths
        .get(Fixtures.table(Fixtures.json(name).get("made_from").asText))
        .resolve(Paths.get(table).relativize(commit))
      Files.write(commit, Files.readAllBytes(good))
      create(table)
      Files.write(commit, damaged)
      assert(damage(table, strict).contains(commit.getFileName.toString))
    }
}
