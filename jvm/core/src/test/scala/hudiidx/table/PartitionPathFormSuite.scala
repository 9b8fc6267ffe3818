package hudiidx.table

import hudiidx.{InvalidOption, Texts}
import hudiidx.storage.Storage
import org.scalacheck.Gen
import org.scalatest.funsuite.AnyFunSuite
import org.scalatestplus.scalacheck.ScalaCheckPropertyChecks

class PartitionPathFormSuite extends AnyFunSuite with ScalaCheckPropertyChecks {
  private def form(hive: Boolean = false, encode: Boolean = false, fields: Vector[String] = Vector("p")) =
    PartitionPathForm(fields, hive, encode)

  test("values whose path leads elsewhere than to a partition of the table are refused by the value") {
    Seq(
      "../other/evil",
      "..",
      "a/../b",
      "a/..",
      ".",
      "./a",
      "x/./y",
      "a//b",
      "a/",
      "/abs",
      "/",
      "s3a://b/x",
      "file:/x",
      ".hoodie",
      ".hoodie/timeline",
      "a/.hoodie",
      "a/.hoodie/b",
      ".hoodie_partition_metadata",
      "a/.hoodie_partition_metadata",
      ".hoodie_partition_metadata.parquet",
      "a\u0000b",
      "x\n/tmp/salaries.parquet",
      "x\r",
      "a" * 256,
      "a/" + "ü" * 128,
      Seq.fill(9)("ü" * 120).mkString("/")
    ).foreach { value =>
      val said = intercept[InvalidOption](form().path(Vector(value))).getMessage
      assert(said.contains(s"p = '${Texts.shown(value)}'"))
    }
    Seq("x/", "a//b", "x/..").foreach { value =>
      intercept[InvalidOption](form(hive = true).path(Vector(value)))
      intercept[InvalidOption](form(fields = Vector("p", "q")).path(Vector("a", value)))
    }
  }

  test("other values are as they are: with slashes, colons, points and escapes") {
    Seq(
      "a/b",
      "10:00",
      "2026-01-01 10:00:00",
      "u=s3a:x",
      "s3a%3A%2F%2Fx",
      "a..b",
      "...",
      ".a",
      ".hoodies",
      "a/.hoodi",
      "ü",
      " ",
      "a" * 255,
      "ü" * 127 + "/" + "b" * 255
    )
      .foreach { value =>
        assert(form().path(Vector(value)) === value)
      }
    assert(form().path(Vector("")) === PartitionPathForm.NoValue)
    assert(form(hive = true).path(Vector("..")) === "p=..")
    assert(form(encode = true).path(Vector("../a:b")) === "..%2Fa%3Ab")
    assert(form(fields = Vector.empty).path(Vector.empty) === "")
  }

  test(
    "a date with dashes is refused where folders of dates have slashes and no property says that dashes become them"
  ) {
    val days = form().copy(dayFolders = true)
    val said = intercept[InvalidOption](days.path(Vector("2026-01-05"))).getMessage
    assert(
      said.contains("p = '2026-01-05'") && said.contains(TableConfig.SlashDates) && said.contains("write 2026/01/05")
    )
    Seq("2026/01/05", "none", "2026-01-05 10:00").foreach(value => assert(days.path(Vector(value)) === value))
    assert(days.copy(dayFolders = false, slashDates = true).path(Vector("2026-01-05")) === "2026/01/05")
  }

  test("a date with slashes is refused where folders of dates with dashes have them: it would be read with dashes") {
    val dates = form().copy(slashDates = true)
    val said = intercept[InvalidOption](dates.path(Vector("2026/01/05"))).getMessage
    assert(said.contains("p = '2026/01/05'") && said.contains("2026-01-05") && said.contains(TableConfig.SlashDates))
    Seq("a/b" -> "a/b", "2026" -> "2026", "2026-01-05" -> "2026/01/05").foreach { case (value, path) =>
      assert(dates.path(Vector(value)) === path)
    }
  }

  test("no path that is given leaves the table, whatever the values are") {
    val text = Gen.listOf(Gen.oneOf("/", ".", "..", ":", "a", "s3a:", ".hoodie", "%2e", "=")).map(_.mkString)
    forAll(text, text, Gen.oneOf(true, false), Gen.oneOf(true, false)) { (p, q, hive, encode) =>
      val path =
        try Some(form(hive, encode, Vector("p", "q")).path(Vector(p, q)))
        catch { case _: InvalidOption => None }
      path.foreach { found =>
        assert(!Storage.leaves(found) && found.split("/", -1).forall(part => part.nonEmpty && part != "."))
        assert(java.nio.file.Paths.get("/t", found).normalize() === java.nio.file.Paths.get(s"/t/$found"))
        assert(!found.startsWith(".hoodie/"))
      }
    }
  }
}
