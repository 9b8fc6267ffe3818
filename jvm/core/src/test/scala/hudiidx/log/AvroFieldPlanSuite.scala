package hudiidx.log

import hudiidx.bytes.{ByteCursor, ByteSlice}
import hudiidx.{DamagedTable, HudiIdxException, UnsupportedTable}
import java.nio.ByteBuffer
import java.nio.charset.StandardCharsets.UTF_8
import org.apache.avro.generic.{GenericData, GenericDatumReader, GenericDatumWriter, GenericRecord}
import org.apache.avro.io.{DecoderFactory, EncoderFactory}
import org.apache.avro.Schema
import org.scalacheck.Gen
import org.scalatest.funsuite.AnyFunSuite
import org.scalatestplus.scalacheck.ScalaCheckPropertyChecks
import scala.collection.JavaConverters._
import scala.util.{Failure, Success, Try}

/** Fields found by plan are those of Avro's own reader. */
final class AvroFieldPlanSuite extends AnyFunSuite with ScalaCheckPropertyChecks {

  private val generated = new AvroCases(logical = false)
  private val cases: Gen[(Schema, GenericRecord)] = generated.cases(2)

  /** Paths of all fields, those inside records (optional ones too) with dots. */
  private def paths(schema: Schema, prefix: String): Vector[(String, Schema)] =
    schema.getFields.asScala.toVector.flatMap { f =>
      val inside = if (f.schema.getType == Schema.Type.RECORD) paths(f.schema, prefix + f.name + ".") else Vector.empty
      (prefix + f.name, f.schema) +: inside
    }

  private def text(value: Any): String = value match {
    case null                 => null
    case b: ByteBuffer        => b.duplicate().array.map("%02x".format(_)).mkString
    case f: GenericData.Fixed => f.bytes.map("%02x".format(_)).mkString
    case other                => other.toString
  }

  private def at(record: GenericRecord, path: String): Any =
    path.split('.').foldLeft(record: Any)((r, name) => r.asInstanceOf[GenericRecord].get(name))

  private def keyText(row: AvroRow, field: Int): String = if (row.isNull(field)) null
  else {
    val key = new RecordKeyBuilder(RecordKeyForm(Vector("x"), named = false, timestamps = false))
    key.start()
    row.addTo(field, key)
    new String(key.bytes, 0, key.length, UTF_8)
  }

  test("wanted fields, nested ones too, have the values that Avro's reader gives, and all else is jumped over") {
    forAll(cases, Gen.choose(0, 1 << 16), minSuccessful(200)) { case ((schema, record), seed) =>
      val datum = LogBlocks.encode(schema, record)
      val read = new GenericDatumReader[GenericRecord](schema).read(null, DecoderFactory.get.binaryDecoder(datum, null))
      val all = paths(schema, "")
      val wanted = all.zipWithIndex.collect { case (p, i) if ((seed >> (i % 16)) & 1) == 1 => p }
      val plan = AvroFieldPlan.compile(schema.toString, wanted.map(_._1) :+ "absent", "x")
      val row = plan.newRow()
      val padded = Array[Byte](1, 2) ++ datum ++ Array[Byte](3)
      val in = new ByteCursor(padded, 0, padded.length, "x", 0L, new DamagedTable(_))
      in.moveTo(2)
      plan.read(in, datum.length, row)
      assert(row.isNull(wanted.size))
      wanted.zipWithIndex.foreach { case ((path, s), i) =>
        val expected = at(read, path)
        assert(row.isNull(i) === (expected == null), path)
        val isLeaf = s.getType != Schema.Type.RECORD && s.getType != Schema.Type.ARRAY && s.getType != Schema.Type.MAP
        if (isLeaf && expected != null) assert(keyText(row, i) === text(expected), path)
        else if (expected != null) assert(row.length(i) === lengthOf(s, expected), path)
      }
    }
  }

  private def lengthOf(schema: Schema, value: Any): Int = {
    val out = new java.io.ByteArrayOutputStream
    val encoder = EncoderFactory.get.binaryEncoder(out, null)
    new GenericDatumWriter[Any](schema).write(value, encoder)
    encoder.flush()
    out.size
  }

  test("records in one another, and arrays in blocks with sizes, are jumped over") {
    val fields = """{"name":"list","type":{"type":"array","items":"string"}},{"name":"id","type":"string"}"""
    val inner = s"""{"type":"record","name":"Inner","fields":[$fields]}"""
    val schema = new Schema.Parser().parse(
      s"""{"type":"record","name":"Node","fields":[{"name":"next","type":["null",$inner]},$fields]}"""
    )
    def node(of: Schema, id: String): GenericRecord = {
      val r = new GenericData.Record(of)
      r.put("list", (1 to 500).map(_.toString).asJava)
      r.put("id", id)
      r
    }
    val outer = node(schema, "outer")
    outer.put("next", node(schema.getField("next").schema.getTypes.get(1), "inner"))
    val out = new java.io.ByteArrayOutputStream
    val encoder = new EncoderFactory().configureBlockSize(64).blockingBinaryEncoder(out, null)
    new GenericDatumWriter[GenericRecord](schema).write(outer, encoder)
    encoder.flush()
    val plan = AvroFieldPlan.compile(schema.toString, Vector("id", "next.id"), "x")
    val row = plan.newRow()
    plan.read(new ByteCursor(out.toByteArray, 0, out.size, "x", 0L, new DamagedTable(_)), out.size, row)
    val id = new ByteSlice
    assert(Vector(0, 1).map { i => row.utf8(i, id); id.text } === Vector("outer", "inner"))
  }

  test("a schema by which few bytes may be data of any depth or length is refused by its file") {
    def record(fields: String) = s"""{"type":"record","name":"t.Node","fields":[$fields]}"""
    def array(items: String) = s"""{"name":"list","type":["null",{"type":"array","items":$items}]}"""
    def wrapped(items: String) = s"""{"type":"record","name":"W","fields":[{"name":"w","type":$items}]}"""
    val nothing = "\"null\""
    val empty = """{"type":"fixed","name":"F","size":0}"""
    def nulls(count: Int) = (1 to count)
      .map(i => s"""{"name":"n$i","type":"null"},""")
      .mkString("""{"type":"record","name":"N","fields":[""", "", """{"name":"b","type":"boolean"}]}""")
    for (
      (fields, what) <- Seq(
        """{"name":"next","type":["null","Node"]}""" -> "record t.Node contains itself",
        """{"name":"next","type":"Node"}""" -> "record t.Node contains itself",
        array("\"Node\"") -> "record t.Node contains itself",
        """{"name":"next","type":{"type":"map","values":"Node"}}""" -> "record t.Node contains itself",
        array(nothing) -> "items that take no bytes",
        array(empty) -> "items that take no bytes",
        array(wrapped(wrapped(nothing).replace("W", "V"))) -> "items that take no bytes",
        array("""{"type":"record","name":"S","fields":[{"name":"s","type":"S"}]}""") -> "items that take no bytes",
        array(nulls(101)) -> "fields that take no bytes"
      )
    ) {
      val told = intercept[UnsupportedTable](AvroFieldPlan.compile(record(fields), Vector("id"), "x.log.1")).getMessage
      assert(told.startsWith("x.log.1: ") && told.contains(what), fields)
    }
    for (fields <- Seq(array("[\"null\",\"int\"]"), array(nulls(100)), s"""{"name":"n","type":$nothing}"""))
      AvroFieldPlan.compile(record(fields), Vector("n"), "x")
  }

  test(
    "any byte changed or cut off gives a typed error or some row, and text that is no schema an error that says so"
  ) {
    forAll(cases, Gen.choose(0, Int.MaxValue), minSuccessful(150)) { case ((schema, record), n) =>
      val datum = LogBlocks.encode(schema, record)
      if (datum.nonEmpty) {
        val plan = AvroFieldPlan.compile(schema.toString, schema.getFields.asScala.map(_.name).toVector, "x")
        val bad = datum.clone()
        bad(n % bad.length) = (bad(n % bad.length) ^ (1 << (n % 8))).toByte
        Vector(bad, datum.take(n % datum.length)).foreach { bytes =>
          Try(
            plan.read(new ByteCursor(bytes, 0, bytes.length, "x", 0L, new DamagedTable(_)), bytes.length, plan.newRow())
          ) match {
            case Success(_) | Failure(_: HudiIdxException) => ()
            case Failure(other)                            => fail(s"$schema", other)
          }
        }
      }
    }
    assert(
      intercept[DamagedTable](AvroFieldPlan.compile("{", Vector("a"), "x")).getMessage.contains("x: not an Avro schema")
    )
    assert(
      intercept[DamagedTable](AvroFieldPlan.compile("\"int\"", Vector("a"), "x")).getMessage.contains("not a record")
    )
  }
}
