package hudiidx

import java.math.BigInteger
import java.nio.ByteBuffer
import java.nio.charset.StandardCharsets.UTF_8
import java.util.Arrays.asList

import org.apache.avro.generic.GenericData
import org.apache.avro.util.Utf8
import org.apache.avro.{AvroTypeException, Schema}
import org.scalatest.funsuite.AnyFunSuite

class ImageColumnsSuite extends AnyFunSuite {
  private val decimal = """{"type":"bytes","logicalType":"decimal","precision":9,"scale":2}"""
  private val date = """{"type":"int","logicalType":"date"}"""

  private def field(schema: String): Schema =
    new Schema.Parser().parse(s"""{"type":"record","name":"r","fields":[{"name":"a","type":["null",$schema]}]}""")

  private def fixedDecimal(precision: Int, scale: Int) =
    s"""{"type":"fixed","name":"f$precision","size":5,"logicalType":"decimal","precision":$precision,"scale":$scale}"""

  /** The text of an image of one column, as the table has it now. */
  private def shown(from: String, to: String, value: Any, floatsByText: Boolean = true): String = {
    val image = new GenericData.Record(field(from))
    image.put(0, value)
    new ImageColumns(floatsByText).of(image.getSchema, field(to))(image).toString
  }

  private def text(from: String, value: Any) = shown(from, "\"string\"", value)

  test("numbers, dates, decimals, bytes and symbols become texts, as they do in rows") {
    assert(text("\"int\"", 29) === """{"a": "29"}""")
    assert(text("\"long\"", -5000000000L) === """{"a": "-5000000000"}""")
    assert(text("\"float\"", 170.06f) === """{"a": "170.06"}""")
    assert(text("\"double\"", 12345678.5) === """{"a": "1.23456785E7"}""")
    assert(text(date, 19833) === """{"a": "2024-04-20"}""")
    val bytes = ByteBuffer.wrap(BigInteger.valueOf(-1205).toByteArray)
    assert(text(decimal, bytes) === """{"a": "-12.05"}""")
    val fixed = new Schema.Parser().parse(fixedDecimal(9, 2))
    val sized = new GenericData.Fixed(fixed, Array[Byte](0, 0, 0, 4, -75))
    assert(text(fixedDecimal(9, 2), sized) === """{"a": "12.05"}""")
    assert(text("\"bytes\"", ByteBuffer.wrap("xé".getBytes(UTF_8))) === """{"a": "xé"}""")
    val symbols = """{"type":"enum","name":"e","symbols":["A","B"]}"""
    assert(text(symbols, new GenericData.EnumSymbol(new Schema.Parser().parse(symbols), "B")) === """{"a": "B"}""")
    assert(text("\"int\"", null) === """{"a": null}""")
  }

  test("a decimal of more digits than its type has is refused, not written out") {
    val wider = """{"type":"bytes","logicalType":"decimal","precision":12,"scale":2}"""
    for (to <- Seq("\"string\"", wider)) {
      val refused = intercept[ArithmeticException](shown(decimal, to, ByteBuffer.wrap(Array.fill[Byte](1 << 20)(1))))
      assert(refused.getMessage.contains("more than 9 digits"))
    }
  }

  test("numbers become wider ones, floats by their text where rows have it so") {
    assert(shown("\"int\"", "\"long\"", 7) === """{"a": 7}""")
    assert(shown("\"long\"", "\"float\"", 7L) === """{"a": 7.0}""")
    assert(shown("\"int\"", "\"double\"", 7) === """{"a": 7.0}""")
    assert(shown("\"float\"", "\"double\"", 170.06f) === """{"a": 170.06}""")
    assert(shown("\"float\"", "\"double\"", 170.06f, floatsByText = false) === """{"a": 170.05999755859375}""")
    assert(shown("\"double\"", decimal, 1.005) === """{"a": "e"}""") // the byte of 101
  }

  test("values in structs, lists and maps too") {
    def nested(of: String) =
      s"""{"type":"record","name":"s","fields":[{"name":"l","type":{"type":"array","items":["null",$of]}},
         {"name":"m","type":{"type":"map","values":$of}}]}"""
    val inner = new GenericData.Record(new Schema.Parser().parse(nested("\"int\"")))
    inner.put(0, asList[Any](1, null))
    inner.put(1, java.util.Collections.singletonMap(new Utf8("k"), 2))
    assert(shown(nested("\"int\""), nested("\"string\""), inner) === """{"a": {"l": ["1", null], "m": {"k": "2"}}}""")
  }

  test("a type from which no way leads is refused by the column") {
    Seq("\"string\"" -> "\"int\"", "\"long\"" -> "\"int\"", "\"boolean\"" -> "\"string\"").foreach { case (from, to) =>
      assert(intercept[AvroTypeException](shown(from, to, null)).getMessage.startsWith("a is "))
    }
  }
}
