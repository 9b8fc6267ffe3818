package hudiidx.spark

import hudiidx.InvalidOption
import org.scalatest.funsuite.AnyFunSuite

final class ReadOptionsSuite extends AnyFunSuite {
  private def refused(options: (String, String)*): String =
    intercept[InvalidOption](ReadOptions.of(options.toMap, Map.empty)).getMessage

  test("nothing set: rows, latest, with the index, not strict") {
    val read = ReadOptions.of(Map("path" -> "/t"), Map.empty)
    assert(read.view === "rows" && read.asOf.isEmpty)
    assert(read.index.enabled && !read.index.strict && read.index.indexPath.isEmpty)
  }

  test("names are taken in any case, and a reader's option wins over the session's") {
    val session = Map("hudiidx.index.path" -> "/session", "hudiidx.index.enabled" -> "false")
    val read = ReadOptions.of(Map("HudiIdx.Index.Path" -> "/own", "As.Of.Instant" -> "2026-11-20"), session)
    assert(read.index.indexPath === Some("/own") && !read.index.enabled)
    assert(read.asOf === Some("20261120000000000"))
  }

  test("an option of ours that nobody knows is refused with those that are known") {
    assert(refused("hudiidx.index.pth" -> "/x").contains("hudiidx.index.path"))
    assert(
      intercept[InvalidOption](ReadOptions.of(Map.empty, Map("hudiidx.no" -> "1"))).getMessage.contains("hudiidx.no")
    )
  }

  test("options of others pass") {
    assert(ReadOptions.of(Map("mergeSchema" -> "true"), Map.empty).view === "rows")
  }

  test("a value out of its range is refused with its option's name") {
    assert(refused("view" -> "columns").contains("view"))
    assert(refused("hudiidx.index.enabled" -> "yes").contains("hudiidx.index.enabled"))
    assert(refused("as.of.instant" -> "now").contains("as.of.instant"))
  }
}
