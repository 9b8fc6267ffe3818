package hudiidx

import org.apache.avro.Schema
import org.scalatest.funsuite.AnyFunSuite

class SchemaUnionSuite extends AnyFunSuite {
  private def record(fields: String*): Schema =
    AvroSchemas.parse(s"""{"type":"record","name":"r","fields":[${fields.mkString(",")}]}""")

  private def field(name: String, kind: String): String =
    s"""{"name":"$name","type":$kind${if (kind.startsWith("[\"null\"")) ""","default":null""" else ""}}"""

  private def union(first: Schema, second: Schema): Schema = {
    val both = SchemaUnion.of(first, second)
    assert(AvroSchemas.parse(both.toString) === both)
    both
  }

  test("a schema that has all columns of the other one stays as it is") {
    val all = record(field("a", "\"int\""), field("b", """["null","string"]"""), field("c", """["double","null"]"""))
    for (other <- Seq(all, record(field("b", "\"string\"")), record(field("c", "\"double\"")), record()))
      assert(SchemaUnion.of(all, other) eq all)
  }

  test("columns that only the other one has come last and may be null") {
    val both = union(
      record(field("a", "\"int\"")),
      record(field("x", "\"string\""), field("a", "\"int\""), field("y", """["long","null"]"""))
    )
    assert(
      both === record(field("a", "\"int\""), field("x", """["null","string"]"""), field("y", """["null","long"]"""))
    )
  }

  test("fields of records, items and values are held against each other too") {
    def nested(fields: String) =
      Seq(s"""{"type":"record","name":"s","fields":[$fields]}""").flatMap { s =>
        Seq(s, s"""["null",$s]""", s"""{"type":"array","items":$s}""", s"""{"type":"map","values":$s}""")
      }
    nested(field("p", "\"int\"")).zip(nested(field("q", "\"int\""))).foreach { case (first, second) =>
      val both = union(record(field("a", first)), record(field("a", second)))
      assert(both.toString.contains(""""name":"p"""") && both.toString.contains(""""name":"q""""), both)
    }
  }

  test("the wider type counts, and null where one of them has it") {
    def of(first: String, second: String): String =
      union(record(field("a", first)), record(field("a", second))).getField("a").schema.toString
    assert(of("\"int\"", "\"long\"") === "\"long\"" && of("\"long\"", "\"int\"") === "\"long\"")
    assert(of("\"float\"", """["null","double"]""") === """["null","double"]""")
    assert(of("""["int","null"]""", "\"long\"") === """["null","long"]""")
    assert(of("\"string\"", "\"boolean\"") === "\"string\"")
  }

  test("a record that contains itself stays as it is") {
    def list(more: String) = AvroSchemas.parse(
      s"""{"type":"record","name":"r","fields":[{"name":"next","type":["null","r"]}$more]}"""
    )
    val first = list("")
    assert(union(first, list("," + field("x", "\"int\""))) eq first)
  }
}
