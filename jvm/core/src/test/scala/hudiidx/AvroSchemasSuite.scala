package hudiidx

import hudiidx.log.AvroFieldPlan
import org.apache.avro.{Schema, SchemaParseException}
import scala.collection.JavaConverters._
import org.scalatest.concurrent.TimeLimits
import org.scalatest.funsuite.AnyFunSuite
import org.scalatest.time.SpanSugar._

class AvroSchemasSuite extends AnyFunSuite with TimeLimits {

  private def record(name: String, fields: Seq[String]): String = fields.zipWithIndex
    .map { case (t, i) => s"""{"name":"f$i","type":$t}""" }
    .mkString(s"""{"type":"record","name":"$name","fields":[""", ",", "]}")

  /** Records of `width` fields, each the record below. */
  private def doubled(depth: Int, width: Int): String = (1 to depth).foldLeft(record("R0", Seq("\"null\""))) {
    (below, i) => record(s"R$i", below +: Seq.fill(width - 1)(s""""R${i - 1}""""))
  }

  /** Records, each of which has all others. */
  private def woven(count: Int): String = {
    def of(i: Int): String = {
      val others = (0 until count).filter(_ != i + 1).map(j => s""""W$j"""")
      record(s"W$i", if (i + 1 < count) of(i + 1) +: others else others)
    }
    of(0)
  }

  private def nested(depth: Int): String = "{\"type\":\"array\",\"items\":" * depth + "\"int\"" + "}" * depth

  test("a name that two types of a schema have is told, wherever they stand") {
    val texts = Seq(
      """{"type":"record","name":"n","fields":[{"name":"a","type":"int"}]}""",
      """{"type":"record","name":"n","fields":[{"name":"a","type":"long"}]}""",
      """{"type":"record","name":"n","fields":[{"name":"a","type":["null","n"]}]}""",
      """{"type":"enum","name":"n","symbols":["A"]}""",
      """{"type":"fixed","name":"n","size":4}"""
    )
    def outer(types: Schema*): Schema = {
      val fields = types.zipWithIndex.map { case (t, i) => new Schema.Field(s"f$i", t, null, null: Object) }
      Schema.createRecord("outer", null, null, false, fields.asJava)
    }
    for (a <- texts; b <- texts) {
      val (first, second) = (AvroSchemas.parse(a), AvroSchemas.parse(b))
      val forms = Seq(second, Schema.createArray(second), Schema.createMap(AvroSchemas.optional(second)))
      forms.foreach { form =>
        assert(AvroSchemas.nameOfTwo(outer(first, form)) === (if (a == b) None else Some("n")), s"$a $form")
      }
    }
  }

  test("a schema of few letters that is very many types is refused at once, whatever makes them many") {
    Seq(doubled(15, 2), doubled(60, 2), doubled(9, 10), doubled(20, 100), woven(12), record("r", Seq(nested(300))))
      .foreach { json =>
        val error = intercept[SchemaParseException](failAfter(10.seconds)(AvroSchemas.parse(json)))
        assert(error.getMessage.contains("types"))
        val told = intercept[DamagedTable](failAfter(10.seconds)(AvroFieldPlan.compile(json, Vector("f0"), "f.log")))
        assert(told.getMessage.startsWith("f.log: "))
      }
  }

  /** A record of one field. */
  private def of(record: String, field: String, kind: String): String =
    s"""{"type":"record","name":"$record","fields":[{"name":"$field","type":$kind}]}"""

  test("a schema is refused at once whose columns have longer names than a key, or very many letters in all names") {
    def ints(name: String, count: Int) = record(name, Seq.fill(count)("\"int\""))
    val long = (1 to 3).foldLeft("\"int\"")((below, i) => of(s"r$i", "a" * 3000, below))
    val many = record("r", (1 to 300).map(i => of(s"r$i", "s" * 5000, ints(s"s$i", 40))))
    Seq(of("r", "f" * 1000000, "\"int\""), of("r", "f" * 1000000, ints("s", 20000)), long, many).foreach { json =>
      val said = intercept[SchemaParseException](failAfter(20.seconds)(AvroSchemas.parse(json))).getMessage
      assert(said.contains("characters") && said.length < 1000)
    }
    AvroSchemas.parse(of("r", "f" * 7000, ints("s", 20))): Unit
  }

  test("sizes that nothing can have, and defaults of another type, are damage that names the file") {
    val fixed = """{"type":"fixed","name":"f","size":2147483647}"""
    intercept[SchemaParseException](AvroSchemas.parse(record("r", Seq(fixed))))
    val wrong = Seq("\"long\"" -> "{}", "\"boolean\"" -> "1", "\"string\"" -> "[]")
    for ((kind, default) <- wrong) {
      val json = s"""{"type":"record","name":"r","fields":[{"name":"f0","type":$kind,"default":$default}]}"""
      val field = AvroSchemas.parse(json).getField("f0")
      val told = intercept[DamagedTable](AvroSchemas.defaultOf(field, "hoodie.properties"))
      assert(told.getMessage.startsWith("hoodie.properties: the default of field f0"), json)
    }
    val none = AvroSchemas.parse(record("r", Seq("\"long\""))).getField("f0")
    assert(AvroSchemas.defaultOf(none, "hoodie.properties") === None)
  }

  test("a text of any length buys no types, and no schema has more than a table can have columns") {
    val padded = doubled(14, 2).replaceFirst("\\{", s"""{"doc":"${"z" * 300000}",""")
    val wide = record("r", Seq.fill(260000)("\"int\""))
    Seq(padded, wide).foreach { json =>
      assert(intercept[SchemaParseException](AvroSchemas.parse(json)).getMessage.contains("types"))
    }
  }

  test("schemas that are as large as their text are taken, and those that use a name some times") {
    Seq(record("r", Seq.fill(20000)("[\"null\",\"int\"]")), doubled(7, 2), record("r", Seq(nested(150))), woven(4))
      .foreach(json => AvroSchemas.parse(json): Unit)
  }
}
