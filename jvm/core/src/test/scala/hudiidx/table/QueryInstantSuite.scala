package hudiidx.table

import hudiidx.InvalidOption
import hudiidx.table.query.QueryInstant
import org.scalatest.funsuite.AnyFunSuite

final class QueryInstantSuite extends AnyFunSuite {
  private def parse(value: String): String = QueryInstant.parse("as.of.instant", value)

  test("instant times stay as they are") {
    assert(parse("20261120234303778") === "20261120234303778")
    assert(parse("20261120234303") === "20261120234303")
  }

  test("a time without milliseconds means the end of its second, a day its start") {
    assert(parse("2026-11-20 23:43:03.778") === "20261120234303778")
    assert(parse("2026-11-20 23:43:03") === "20261120234303999")
    assert(parse("2026-11-20") === "20261120000000000")
  }

  test("anything else is refused with the forms that are taken") {
    Seq("", "yesterday", "20261320234303778", "2026-13-01", "2026112023430377", "2026-11-20T23:43:03").foreach { bad =>
      assert(intercept[InvalidOption](parse(bad)).getMessage.contains("yyyyMMddHHmmss"))
    }
  }
}
