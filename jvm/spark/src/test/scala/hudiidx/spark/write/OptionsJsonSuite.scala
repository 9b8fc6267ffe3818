package hudiidx.spark.write

import hudiidx.InvalidOption
import hudiidx.spark.options.ReadOptions
import hudiidx.spark.write.options.{OptionsJson, WriteOptions}
import hudiidx.sync.{IndexOptions, OptionDoc}
import hudiidx.sync.OptionKind.{Flag, IntRange, OneOf, Text}
import org.scalatest.funsuite.AnyFunSuite

final class OptionsJsonSuite extends AnyFunSuite {
  private val all: Vector[OptionDoc] = OptionsJson.Tables.flatMap(_._2)

  private def read(option: OptionDoc, settings: Map[String, String]): Any = option.kind match {
    case Flag        => option.flag(settings)
    case _: IntRange => option.whole(settings)
    case _: OneOf    => option.choice(settings)
    case _: Text     => option.text(settings)
  }

  test("an option stands in one table, and every option that a read or a write knows in some") {
    assert(all.map(_.name).distinct.size === all.size)
    assert((ReadOptions.Docs ++ WriteOptions.Docs).map(_.name).toSet.subsetOf(all.map(_.name).toSet))
  }

  test("a default is a value that its option takes, but for those in brackets") {
    all
      .filterNot(_.default.startsWith("("))
      .foreach(o => assert(read(o, Map.empty) === read(o, Map(o.name -> o.default))))
  }

  test("nothing given is what the defaults of the page say") {
    assert(IndexOptions.of(Map.empty) === IndexOptions())
    val given = IndexOptions.Docs.filterNot(_.default.startsWith("(")).map(o => o.name -> o.default).toMap
    val named = Set(IndexOptions.BloomFpp, IndexOptions.ValuesMax)
    assert(IndexOptions.of(given.filterNot(o => named(o._1))) === IndexOptions())
    val write = WriteOptions.of(Map.empty)
    val spelled = WriteOptions.Docs.filterNot(_.default.startsWith("(")).map(o => o.name -> o.default).toMap
    assert(WriteOptions.of(spelled).copy(given = Map.empty, index = Map.empty) === write.copy(given = Map.empty))
  }

  test("a value out of an option's range or kind is refused with its name and what it takes") {
    all.foreach { o =>
      val wrong = o.kind match {
        case Flag           => Some("yes")
        case IntRange(n, _) => Some((n - 1).toString)
        case _: OneOf       => Some("none of these")
        case _: Text        => None
      }
      wrong.foreach { value =>
        val told = intercept[InvalidOption](read(o, Map(o.name -> value))).getMessage
        assert(told.startsWith(s"option ${o.name} is '$value'; it takes "), told)
      }
    }
  }
  test("numbers of indexes on columns are judged by name also where no column is named") {
    for ((name, value) <- Seq(IndexOptions.BloomFpp -> "2", IndexOptions.ValuesMax -> "-1")) {
      val told = intercept[InvalidOption](IndexOptions.of(Map(name -> value))).getMessage
      assert(told.startsWith(s"option $name is '$value'; ") && told.endsWith(s", not $value"), told)
    }
  }
}
