package hudiidx.spark

import java.nio.file.Files

import hudiidx.spark.options.{ReadOptions, StockOption, StockReadOptions}
import hudiidx.{Fixtures, InvalidOption}
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

  test("an option of stock's reader that rows hang on is followed or refused by name") {
    assert(
      refused("hoodie.datasource.merge.type" -> "skip_merge")
        .startsWith("hoodie.datasource.merge.type: unsupported value 'skip_merge'")
    )
    assert(refused("hoodie.datasource.read.incr.table.version" -> "6").contains("incr.table.version"))
    StockReadOptions.Decided.foreach {
      case (name, StockOption.Refused(taken, _)) =>
        assert(refused(name -> "another").startsWith(s"$name: unsupported value 'another'"))
        taken.foreach(value => ReadOptions.of(Map(name -> value), Map.empty))
      case (name, StockOption.Harmless(_)) =>
        assert(ReadOptions.of(Map(name -> "x"), Map.empty) === ReadOptions.of(Map.empty, Map.empty), name)
      case (name, StockOption.Followed) =>
        assert(name == ReadOptions.ViewType || ReadOptions.Docs.exists(_.name.equalsIgnoreCase(name)), name)
    }
    val session = Map("hoodie.datasource.merge.type" -> "skip_merge")
    intercept[InvalidOption](ReadOptions.of(Map.empty, session))
    assert(ReadOptions.of(Map("view" -> "files"), session).view === "files")
    assert(
      ReadOptions
        .of(Map("hoodie.datasource.read.extract.partition.values.from.path" -> "true"), Map.empty)
        .partitionsFromPaths
    )
  }

  test("docs/options.md has each option of stock's reader with its decision") {
    val row = """\| `([^`]+)` \| (followed|harmless|refused) \| ([^|]+) \|""".r
    val page = Files.readString(Fixtures.repoRoot.resolve("docs").resolve("options.md"))
    val told =
      row.findAllMatchIn(page).map(m => m.group(1) -> (m.group(2) -> m.group(3).split("; served with")(0))).toMap
    val spelt = ReadOptions.Docs.map(d => d.name.toLowerCase -> d.name).toMap
    assert(told === StockReadOptions.Decided.map { case (name, is) =>
      spelt.getOrElse(name, name) -> (is.name -> is.why)
    })
  }

  test("the older name of the kind of query, and earliest as a begin, are taken in any case") {
    val view = "Hoodie.Datasource.View.Type"
    assert(ReadOptions.of(Map(view -> "REALTIME"), Map.empty).queryType === "snapshot")
    assert(refused(view -> "READ_OPTIMIZED").contains("hoodie.datasource.query.type to read_optimized"))
    val newer = Map(view -> "READ_OPTIMIZED", "hoodie.datasource.query.type" -> "snapshot")
    assert(ReadOptions.of(newer, Map.empty).queryType === "snapshot")
    val both = Map(view -> "INCREMENTAL", "hoodie.datasource.read.begin.instanttime" -> "Earliest")
    assert(ReadOptions.of(both, Map.empty).increment.map(_.request.begin) === Some("000"))
    assert(refused(view -> "newest").contains("newest"))
  }

  test("what begins like an option of stock's reader and is none is refused with the name that it is like") {
    val misspelt = "hoodie.datasource.read.begin.instantime"
    val said = intercept[InvalidOption](ReadOptions.of(Map(misspelt.toUpperCase -> "0"), Map.empty)).getMessage
    assert(said.startsWith(misspelt) && said.contains("is hoodie.datasource.read.begin.instanttime meant?"))
    intercept[InvalidOption](ReadOptions.of(Map.empty, Map("hoodie.datasource.query.colour" -> "red")))
    ReadOptions.of(Map(misspelt -> "0", "view" -> "files"), Map.empty)
  }

  test("options of others pass") {
    assert(ReadOptions.of(Map("mergeSchema" -> "true"), Map.empty).view === "rows")
  }

  test("a value out of its range is refused with its option's name") {
    assert(refused("view" -> "columns").contains("view"))
    assert(refused("hudiidx.index.enabled" -> "yes").contains("hudiidx.index.enabled"))
    assert(refused("as.of.instant" -> "now").contains("as.of.instant"))
    assert(refused("hudiidx.read.merge.release" -> "2").contains("supported: 0.15, 1.1"))
    assert(ReadOptions.of(Map.empty, Map("hudiidx.read.merge.release" -> "1.1")).mergesAs11)
  }

  test(
    "stock's options are taken from the session where rows are read, the reader's own win, and as.of.instant is not"
  ) {
    val session = Map("hoodie.datasource.query.type" -> "read_optimized", "as.of.instant" -> "never")
    assert(ReadOptions.of(Map.empty, session).queryType === "read_optimized")
    assert(ReadOptions.of(Map("Hoodie.Datasource.Query.Type" -> "snapshot"), session).queryType === "snapshot")
    val changes = Map(
      "hoodie.datasource.query.type" -> "incremental",
      "hoodie.datasource.read.begin.instanttime" -> "20260101000000000",
      "hoodie.schema.on.read.enable" -> "false"
    )
    val read = ReadOptions.of(Map("hoodie.datasource.read.begin.instanttime" -> "000"), changes)
    assert(read.increment.map(_.request.begin) === Some("000") && read.columnsByName)
    // A listing is no query of rows.
    val broken = Map("hoodie.datasource.query.type" -> "incremental")
    assert(ReadOptions.of(Map("view" -> "files"), broken).view === "files")
    // What reads it says that a begin is needed; a stream needs none.
    assert(ReadOptions.of(Map.empty, broken).lacksBegin)
  }
}
