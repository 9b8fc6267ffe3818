package hudiidx.spark.prune

import java.nio.file.{Files, Path, Paths}

import hudiidx.{Fixtures, TestSettings}
import hudiidx.TestSettings.seed
import hudiidx.spark.api.HudiIdxApi
import hudiidx.spark.options.ReadPushdowns
import hudiidx.spark.SparkSuite
import hudiidx.store.IndexStore
import hudiidx.sync.FallbackCounters

/** Queries over tables whose column index is damaged in any place, or of which parts are gone: the same rows, one warning. */
final class ColumnDamageSuite extends SparkSuite {

  private lazy val table: String = {
    val made = Fixtures.copy("v9-mor-part")
    new HudiIdxApi(
      spark,
      made,
      java.util.Map
        .of("hudiidx.columns", "*,n + qty", "hudiidx.bloom.columns", "rider", "hudiidx.values.columns", "city")
    ).create()
    made
  }

  private lazy val where: String = {
    val rider = read(table, ReadPushdowns.ColumnStats -> "false").selectExpr("max(rider)").head().getString(0)
    s"n + qty > 2 AND rider = '$rider' AND city IS NOT NULL"
  }

  private def rows(path: String, options: (String, String)*): Vector[String] =
    read(path, options: _*).where(where).collect().map(_.toString).toVector.sorted

  private lazy val expected = rows(table, ReadPushdowns.ColumnStats -> "false")

  /** Blocks are kept by the paths of their files, so each damage is done to another copy. */
  private def copied(): String = {
    val from = Paths.get(table)
    val to = Fixtures.newFolder("damage").resolve(from.getFileName)
    Files.walk(from).forEach { f =>
      val target = to.resolve(from.relativize(f))
      if (Files.isDirectory(f)) Files.createDirectories(target): Unit else Files.copy(f, target): Unit
    }
    to.toString
  }

  private def index(path: String): Path = Paths.get(IndexStore.defaultDir(path))

  private def files: Vector[String] = Fixtures.filesBelow(index(table).toString)

  /** Each file of the index by itself. */
  private def warned(harm: Path => Unit): Long = {
    val path = copied()
    harm(index(path))
    assert(rows(path) === expected)
    assert(rows(path) === expected)
    FallbackCounters.snapshot(IndexStore.defaultDir(s"file:$path")).values.sum
  }

  test("the index is in use, and a whole copy of it warns of nothing") {
    assert(expected.nonEmpty && warned(_ => ()) === 0)
  }

  test("a byte that changed anywhere in a column file: the same rows, one warning for each read at most") {
    val columns = files.filter(_.contains(".column_"))
    assert(columns.size === 2)
    var seen = 0L
    columns.foreach { name =>
      val size = Files.size(index(table).resolve(name))
      (0 until TestSettings.upTo(8, 3)).foreach { i =>
        val at = ((seed + i * 7919L) & Long.MaxValue) % size
        withClue(s"HUDIIDX_TEST_SEED=$seed, $name, byte $at: ") {
          val count = warned { folder =>
            val bytes = Files.readAllBytes(folder.resolve(name))
            bytes(at.toInt) = (bytes(at.toInt) ^ 0x10).toByte
            Files.write(folder.resolve(name), bytes): Unit
          }
          assert(count <= 2)
          seen += count
        }
      }
    }
    assert(seen > 0)
  }

  test(
    "a drop that was cut short: with any file of the index gone the rows are the same, with one warning for each read"
  ) {
    assert(files.size > 4)
    files.foreach { name =>
      withClue(s"$name: ")(assert(warned(folder => Files.delete(folder.resolve(name))) <= 2))
    }
    val column = files.find(_.contains(".column_stats")).get
    assert(warned(folder => Files.delete(folder.resolve(column))) > 0)
  }
}
