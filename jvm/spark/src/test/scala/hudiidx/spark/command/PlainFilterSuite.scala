package hudiidx.spark.command

import org.apache.spark.sql.types.{IntegerType, StringType, StructType}
import org.scalatest.funsuite.AnyFunSuite

/** Filters of any length and depth are understood, or left to Spark's session. */
class PlainFilterSuite extends AnyFunSuite {
  private val filter = new PlainFilter(new StructType().add("a", IntegerType).add("b", StringType), "UTC")

  test("long constants, numbers, lists and deep parentheses take time by their length, and no stack") {
    val long = "x" * (1 << 20)
    assert(filter.parse(s"b = '$long'").isDefined)
    assert(filter.parse("a in (" + "1, " * 100000 + "2)").isDefined)
    assert(filter.parse(s"(a = 1)").isDefined && filter.parse("not not (not (a = 1))").isDefined)
    val others = Seq(
      s"a = ${"1" * (1 << 20)}",
      "(" * 100000 + "a = 1" + ")" * 100000,
      "not " * 100000 + "a = 1",
      "a = 1" + " " * (1 << 20) + "!",
      "'" * (1 << 20),
      s"b = '$long"
    )
    others.foreach(text => assert(filter.parse(text).isEmpty, text.take(20)))
  }
}
