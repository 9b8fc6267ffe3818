package hudiidx.table

import hudiidx.{InvalidOption, UnsupportedTable}
import org.apache.avro.Schema
import org.scalatest.funsuite.AnyFunSuite

final class HudiTypeSuite extends AnyFunSuite {
  private def parse(json: String): Schema = new Schema.Parser().parse(json)

  private val vector =
    """{"type":"fixed","name":"vector_float_4","namespace":"","size":16,"logicalType":"vector","dimension":4,
      |"elementType":"FLOAT","storageBacking":"FIXED_BYTES"}""".stripMargin

  test("columns of Hudi's own types are known by their schemas, those in structs too") {
    val schema = parse(
      s"""{"type":"record","name":"r","fields":[{"name":"a","type":["null",$vector]},{"name":"n","type":"long"},
         |{"name":"f","type":{"type":"fixed","name":"plain","size":16}},
         |{"name":"s","type":{"type":"record","name":"s","fields":[{"name":"v","type":["null",{"type":"record","name":"v",
         |"logicalType":"variant","fields":[{"name":"metadata","type":"bytes"},{"name":"value","type":"bytes"}]}]}]}}]}""".stripMargin
    )
    assert(HudiType.columns(schema) === Vector(Vector("a") -> "vector", Vector("s", "v") -> "variant"))
    assert(HudiType.of(schema.getField("a").schema, "t") === Some(HudiType.Vector(4, VectorElement.Float32)))
    assert(HudiType.of(schema.getField("f").schema, "t") === None)
    assert(HudiType.vectorColumns(schema, "t") === "a:VECTOR(4)")
  }

  Seq("\"FLOAT\"" -> "\"HALF\"", "FIXED_BYTES" -> "LIST", "\"dimension\":4" -> "\"dimension\":5").foreach {
    case (right, wrong) =>
      test(s"a vector with $wrong is refused by the table's name") {
        val e = intercept[UnsupportedTable](HudiType.of(parse(vector.replace(right, wrong)), "/t"))
        assert(e.getMessage.startsWith("/t: ") && e.getMessage.contains("stock Hudi"))
      }
  }

  test("marks of columns make the types that stock Hudi 1.2.0 makes of them") {
    val stock = FixtureSchemas.avroOf("v9-vectors-cow").get
    val marked = HudiType.columns(stock).map { case (parts, _) => parts.head }
    assert(marked.toSet === Set("vf", "vd", "vi", "content"))
    marked.foreach { column =>
      val wanted = TableSchema.value(stock.getField(column).schema)
      val made = HudiType.schemaOf(HudiType.of(wanted, "t").get.descriptor, column)
      assert(made.toString === wanted.toString)
    }
    assert(HudiType.schemaOf("vector( 4 )", "v") === parse(vector))
    assert(HudiType.schemaOf("VECTOR(4, float, fixed_bytes)", "v") === parse(vector))
  }

  Seq(
    "VECTOR",
    "VECTOR(0)",
    "VECTOR(4, HALF)",
    "VECTOR(4, FLOAT, LIST)",
    "VECTOR(999999999)",
    "VECTOR(540000000, DOUBLE)",
    "VARIANT",
    "MAP",
    ""
  )
    .foreach { mark =>
      test(s"a column marked '$mark' is refused by its name") {
        val e = intercept[InvalidOption](HudiType.schemaOf(mark, "emb"))
        assert(e.getMessage.contains("column emb") && e.getMessage.contains(s"'$mark'"))
      }
    }
}
