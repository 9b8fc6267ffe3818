package hudiidx.spark.prune

import java.nio.file.{Files, Paths}

import hudiidx.Fixtures
import hudiidx.spark.api.HudiIdxApi

/** Base files that are links, as stock Hudi reads them. */
final class LinkedFilesSuite extends SkippingSuite {

  test("links in the place of base files give the rows of what they lead to, and its bounds are in the index") {
    val table = Fixtures.copy("v9-cow-part")
    val right = rows(read(table, off))
    val greatest = read(table, off).selectExpr("max(rider)").head().getString(0)
    val elsewhere = Files.createTempDirectory("elsewhere")
    Fixtures.filesBelow(table).filter(f => f.endsWith(".parquet") && !f.startsWith(".hoodie")).foreach { f =>
      val to = Files.move(Paths.get(table, f), elsewhere.resolve(f.replace('/', '-')))
      Files.createSymbolicLink(Paths.get(table, f), to)
    }
    val api = new HudiIdxApi(spark, table, new java.util.HashMap[String, String]())
    api.create()
    api.addColumns("range(rider)", wait = true)
    assert(rows(read(table)) === right && rows(read(table, off)) === right)
    val found = read(table).where(s"rider > '$greatest'")
    assert(rows(found).isEmpty && skipped(found) > 0)
    assert(api.report().contains(greatest))
  }
}
