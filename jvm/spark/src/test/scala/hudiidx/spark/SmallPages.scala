package hudiidx.spark

import java.nio.file.{Files, Path, Paths, StandardCopyOption}

import hudiidx.Fixtures
import org.apache.spark.sql.SparkSession

/** Base files written again with many small row groups and pages. */
object SmallPages {

  def baseFiles(table: String): Vector[Path] =
    Fixtures
      .filesBelow(table)
      .filter(f => f.endsWith(".parquet") && !f.startsWith(".hoodie"))
      .map(Paths.get(table).resolve(_))

  /** The same rows in the same order. */
  def rewrite(spark: SparkSession, file: Path): Unit = {
    val folder = Fixtures.newFolder("pages").resolve("out")
    spark.read
      .parquet(file.toString)
      .coalesce(1)
      .write
      .option("compression", "none") // a file smaller than its commit recorded is refused
      .option("parquet.block.size", "4096")
      .option("parquet.page.row.count.limit", "16")
      .option("parquet.page.size.row.check.min", "8")
      .parquet(folder.toString)
    val written = Fixtures.filesBelow(folder.toString).filter(_.endsWith(".parquet"))
    require(written.size == 1, written)
    Files.copy(folder.resolve(written.head), file, StandardCopyOption.REPLACE_EXISTING): Unit
  }
}
