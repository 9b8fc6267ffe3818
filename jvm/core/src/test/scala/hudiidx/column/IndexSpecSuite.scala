package hudiidx.column

import hudiidx.InvalidOption
import hudiidx.column.IndexSpec.{merged, parseAll}
import org.scalacheck.Gen
import org.scalatest.funsuite.AnyFunSuite
import org.scalatestplus.scalacheck.ScalaCheckPropertyChecks

class IndexSpecSuite extends AnyFunSuite with ScalaCheckPropertyChecks {
  private val others: Gen[Vector[IndexSpec]] = {
    val spec = for {
      kind <- Gen.oneOf("bloom", "values", "quadkey")
      columns <- Gen.oneOf(Vector("a"), Vector("b"), Vector("a", "b"))
      option <- Gen.choose(1, 9)
    } yield IndexSpec(kind, columns, Map("level" -> option.toString))
    Gen.listOf(spec).map(_.toVector)
  }

  test("of indexes of one kind over the same columns the later one counts") {
    forAll(others, others) { (all, more) =>
      val named = all ++ more
      val last = named.zipWithIndex.collect {
        case (s, at) if !named.drop(at + 1).exists(l => l.kind == s.kind && l.columns == s.columns) => s
      }
      assert(merged(all, more) === last)
    }
  }

  test("sixty thousand indexes of a forged version are looked at once each") {
    val specs = Vector.tabulate(60000)(n => IndexSpec("bloom", Vector(s"c$n")))
    assert(merged(specs, specs) === specs)
  }

  test("an option that a kind does not have is refused where somebody asks for the index") {
    for (
      (text, name) <- Seq(
        "bloom(rider,fppp=0.1)" -> "unknown option 'fppp' for index kind 'bloom', which takes fpp",
        "values(rider,bits=3)" -> "unknown option 'bits' for index kind 'values', which takes most",
        "range(ts,bits=3)" -> "unknown option 'bits' for index kind 'range', which takes none"
      )
    ) {
      assert(intercept[InvalidOption](parseAll(text)).getMessage.startsWith(name))
      assert(intercept[InvalidOption](IndexSpec.asked(text, IndexKind.Range)).getMessage.startsWith(name))
      assert(IndexSpec.stored(text).map(_.kind) === Vector(text.takeWhile(_ != '(')), "an older build took it")
    }
    assert(parseAll("quadkey(lon,lat,level=3)").head.options === Map("level" -> "3"), "other jars judge their own")
  }
}
