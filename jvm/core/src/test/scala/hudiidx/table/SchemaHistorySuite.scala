package hudiidx.table

import java.nio.charset.StandardCharsets.UTF_8
import java.nio.file.{Files, Paths}

import hudiidx.storage.LocalStorage
import hudiidx.{DamagedTable, Fixtures}
import org.scalatest.funsuite.AnyFunSuite

final class SchemaHistorySuite extends AnyFunSuite {

  // As stock Hudi 0.15.0 wrote it when column a was renamed to a2, without the meta columns.
  private val renamedByStock =
    """{"schemas":[{"max_column_id":8,"version_id":20261121151325362,"type":"record","fields":[""" +
      """{"id":5,"name":"id","optional":true,"type":"string"},{"id":6,"name":"a2","optional":true,"type":"int"},""" +
      """{"id":7,"name":"b","optional":true,"type":"string"}]},""" +
      """{"max_column_id":8,"version_id":0,"type":"record","fields":[""" +
      """{"id":5,"name":"id","optional":true,"type":"string"},{"id":6,"name":"a","optional":true,"type":"int"},""" +
      """{"id":7,"name":"b","optional":true,"type":"string"}]}]}"""

  private def renamed(json: String): Vector[String] = history(json).renamed

  private def history(json: String): SchemaHistory = SchemaHistory.of("f", json.getBytes(UTF_8))

  test("a renamed column is told with both names") {
    assert(renamed(renamedByStock) === Vector("a", "a2"))
  }

  test("a column that was dropped and came again is another one") {
    assert(renamed(renamedByStock.replace("\"id\":6,\"name\":\"a2\"", "\"id\":9,\"name\":\"a\"")) === Vector("a"))
  }

  test("a column that came again in another case is another one, which no file has that was written before") {
    val again = renamedByStock.replace("\"id\":6,\"name\":\"a2\"", "\"id\":9,\"name\":\"A\"")
    assert(renamed(again).toSet === Set("a", "A"))
    val names = history(again).names("0", "20261121151400000").get
    assert(names.ofTable("A") === None && names.ofFile("A") && names.fields("a")._1 === None)
    assert(names.ofTable(ColumnNames.hidden("a")).map(_._1) === Some("a"))
    // Its own name in another case: the same column, under both.
    val same = renamedByStock.replace("a2", "A")
    assert(renamed(same).toSet === Set("a", "A"))
    assert(history(same).names("0", "20261121151400000").get.ofTable("A").map(_._1) === Some("a"))
  }

  test("added and reordered columns are none") {
    assert(renamed(renamedByStock.replace("a2", "a")) === Vector.empty)
  }

  test("fields of structs count, under the names of what encloses them") {
    val nested = """{"schemas":[VERSIONS]}"""
    def version(name: String): String =
      """{"fields":[{"id":1,"name":"s","type":{"type":"array","element_id":2,"element":{"type":"record",""" +
        s""""fields":[{"id":3,"name":"$name","type":"int"}]}}}]}"""
    assert(
      renamed(nested.replace("VERSIONS", version("x") + "," + version("y"))) === Vector("s.element.x", "s.element.y")
    )
  }

  test(
    "a history whose full names are very many letters, or whose types are very deep, is damage that names the file"
  ) {
    def struct(name: String, fields: String) = s"""{"id":1,"name":"$name","type":{"fields":[$fields]}}"""
    def ints(count: Int) = (0 until count).map(i => s"""{"id":${i + 2},"name":"f$i","type":"int"}""").mkString(",")
    def whole(fields: String) = s"""{"schemas":[{"version_id":1,"fields":[$fields]}]}"""
    val deep = (0 until 300).foldLeft(ints(1))((below, i) => struct(s"s$i", below))
    Seq(struct("s" * 1000000, ints(20000)), struct("s" * 7900, ints(20000)), struct("s" * 9000, ints(1)), deep)
      .foreach { fields =>
        assert(intercept[DamagedTable](history(whole(fields))).getMessage.startsWith("f: the history has columns"))
      }
    assert(renamed(whole(struct("s" * 7000, ints(100)))) === Vector.empty)
  }

  test("a file's columns are the table's by their ids, as of the instants of both") {
    val renamed = history(renamedByStock)
    assert(renamed.names("20261121151325000", "20261121151325000") === None)
    assert(renamed.names("20261121151325362", "20261121151400000") === None)
    val names = renamed.names("20261121151325000", "20261121151400000").get
    assert(names.ofTable("a2").map(_._1) === Some("a") && names.ofTable("b").map(_._1) === Some("b"))
    assert(names.ofTable("a") === None)
    val again = history(renamedByStock.replace("\"id\":6,\"name\":\"a2\"", "\"id\":9,\"name\":\"a\""))
    val other = again.names("0", "20261121151400000").get
    assert(other.ofTable("a") === None && other.fields("a")._1 === None)
    // Columns that were dropped or added and have no namesake need no care.
    assert(
      history(renamedByStock.replace("\"name\":\"a2\"", "\"name\":\"c\"").replace("\"id\":6", "\"id\":9"))
        .names("0", "1") === None
    )
  }

  test("an Avro schema takes the table's names, below arrays, maps, unions and structs too") {
    val below = ColumnNames(Map("x" -> ((Some("y"), ColumnNames.Plain)), "z" -> ((None, ColumnNames.Plain))))
    def struct(name: String, x: String, z: String) =
      s"""{"type":"record","name":"$name","fields":[{"name":"$x","type":["null","int"],"default":null},{"name":"$z","type":"int"}]}"""
    def schema(a: String, x: String, z: String) =
      s"""{"type":"record","name":"t","fields":[{"name":"$a","type":["null",{"type":"array","items":${struct(
          "e",
          x,
          z
        )}}]},""" +
        s"""{"name":"m","type":{"type":"map","values":${struct("v", x, z)}}},{"name":"s","type":["null",${struct(
            "s",
            x,
            z
          )}]}]}"""
    val names = ColumnNames(
      Map(
        "a" -> ((Some("b"), ColumnNames(Map.empty, element = Some(below)))),
        "m" -> ((Some("m"), ColumnNames(Map.empty, value = Some(below)))),
        "s" -> ((Some("s"), below))
      )
    )
    def parsed(json: String) = new org.apache.avro.Schema.Parser().parse(json)
    assert(
      parsed(ColumnNames.renamed(schema("a", "x", "z"), names)) === parsed(schema("b", "y", ColumnNames.hidden("z")))
    )
    assert(!names.isPlain && ColumnNames(Map("a" -> ((Some("a"), ColumnNames.Plain)))).isPlain)
  }

  test("no history, and one that is no JSON") {
    assert(SchemaHistory.read(LocalStorage, Fixtures.table("v9-cow-part"), _ => true).renamed === Vector.empty)
    val table = Fixtures.newFolder("history")
    Files.createDirectories(table.resolve(".hoodie/.schema"))
    Files.write(Paths.get(table.toString, ".hoodie", ".schema", "20260101000000000.schemacommit"), Array[Byte]('{'))
    intercept[DamagedTable](SchemaHistory.read(LocalStorage, table.toString, _ => true))
    // What a failed write left behind is not looked at. From version 8 on names have the time of completion too.
    Files.write(
      Paths.get(table.toString, ".hoodie", ".schema", "20260102000000000_20260102000000001.schemacommit"),
      renamedByStock.getBytes(UTF_8)
    )
    assert(SchemaHistory.read(LocalStorage, table.toString, _ => true).renamed === Vector("a", "a2"))
    assert(SchemaHistory.read(LocalStorage, table.toString, _ => false).renamed === Vector.empty)
  }
}
