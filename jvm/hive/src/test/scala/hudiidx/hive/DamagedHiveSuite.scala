package hudiidx.hive

import java.nio.file.{Files, Path, Paths}

import hudiidx.{DamagedTable, Fixtures, HudiIdxException}
import org.scalatest.funsuite.AnyFunSuite

/** What is damaged in a table ends a job with an error that names it: never fewer rows. */
final class DamagedHiveSuite extends AnyFunSuite {

  private val kinds = Seq("missing-base", "parquet-footer", "commit-file", "truncated-log", "zero-log", "garbage-log")

  for (name <- Fixtures.damaged(kinds: _*))
    test(s"$name: an error names the file") {
      val file = Fixtures.json(name).get("damage").get("file").asText
      val error = intercept[HudiIdxException](HiveTables.rows(HiveTables.job(Seq(Fixtures.table(name)))))
      assert(error.getMessage.contains(file.substring(file.lastIndexOf('/') + 1)))
    }

  private val harms: Vector[(String, Path => Any)] = Vector(
    ("gone", f => Files.delete(f)),
    ("empty", f => Files.write(f, Array.empty[Byte])),
    ("cut to half", f => Files.write(f, Files.readAllBytes(f).take((Files.size(f) / 2).toInt))),
    ("other bytes of the same size", f => Files.write(f, Array.fill(Files.size(f).toInt)(7.toByte)))
  )

  for (name <- Seq("v6-cow-part", "v9-mor-part"))
    test(s"$name: a base file that is damaged behind the planning of the job is an error that names it") {
      val table = Fixtures.copy(name)
      val job = HiveTables.job(Seq(table))
      val whole = HiveTables.rows(job).length
      HiveTables
        .splits(job)
        .map(_.asInstanceOf[HudiIdxSplit])
        .flatMap(s => s.piece.base.map(b => s -> b._1))
        .take(3)
        .foreach { case (split, path) =>
          val file = Paths.get(new java.net.URI(path))
          val bytes = Files.readAllBytes(file)
          harms.foreach { case (what, harm) =>
            harm(file)
            val error = intercept[DamagedTable](HiveTables.rowsOf(split, job))
            assert(error.getMessage.contains(file.getFileName.toString), what)
            Files.write(file, bytes)
          }
        }
      assert(HiveTables.rows(job).length === whole)
    }
}
