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

  private def renamed(json: String): Vector[String] = SchemaHistory.renamed("f", json.getBytes(UTF_8))

  test("a renamed column is told with both names") {
    assert(renamed(renamedByStock) === Vector("a", "a2"))
  }

  test("a column that was dropped and came again is another one") {
    assert(renamed(renamedByStock.replace("\"id\":6,\"name\":\"a2\"", "\"id\":9,\"name\":\"a\"")) === Vector("a"))
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

  test("no history, and one that is no JSON") {
    assert(SchemaHistory.renamed(LocalStorage, Fixtures.table("v9-cow-part")) === Vector.empty)
    val table = Fixtures.newFolder("history")
    Files.createDirectories(table.resolve(".hoodie/.schema"))
    Files.write(Paths.get(table.toString, ".hoodie", ".schema", "20260101000000000.schemacommit"), Array[Byte]('{'))
    intercept[DamagedTable](SchemaHistory.renamed(LocalStorage, table.toString))
  }
}
