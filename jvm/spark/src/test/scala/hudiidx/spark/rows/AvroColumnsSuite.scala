package hudiidx.spark.rows

import hudiidx.bytes.ByteCursor
import hudiidx.log.{AvroCases, LogBlocks}
import hudiidx.{DamagedTable, HudiIdxException, UnsupportedTable}
import java.io.ByteArrayOutputStream
import org.apache.avro.generic.{GenericData, GenericDatumReader, GenericDatumWriter, GenericRecord}
import org.apache.avro.io.{DecoderFactory, EncoderFactory}
import org.apache.avro.{LogicalTypes, Schema, SchemaBuilder}
import org.apache.spark.sql.catalyst.expressions.UnsafeProjection
import org.apache.spark.sql.execution.vectorized.WritableColumnVector
import org.apache.spark.sql.types._
import org.apache.spark.sql.vectorized.{ColumnVector, ColumnarBatch}
import org.scalacheck.Gen
import org.scalatest.funsuite.AnyFunSuite
import org.scalatestplus.scalacheck.ScalaCheckPropertyChecks
import scala.collection.JavaConverters._
import scala.util.{Failure, Random, Success, Try}

/** Columns of Avro data hold what Avro's own reader gives. */
final class AvroColumnsSuite extends AnyFunSuite with ScalaCheckPropertyChecks {
  private val rules = ColumnRules(caseSensitive = false, floatsByText = true)
  private val generated = new AvroCases(logical = true)

  private val several: Gen[(Schema, Vector[GenericRecord])] = for {
    schema <- generated.records(2)
    values <- Gen.resize(5, Gen.nonEmptyListOf(generated.values(schema)))
  } yield (schema, values.map(_.asInstanceOf[GenericRecord]).toVector)

  private def read(schema: Schema, datum: Array[Byte]): GenericRecord = {
    val reader = new GenericDatumReader[GenericRecord](schema) {
      // Avro 1.12.0's own arrays of doubles round them to floats.
      override protected def newArray(old: AnyRef, size: Int, of: Schema): AnyRef =
        new GenericData.Array[AnyRef](size, of)
    }
    reader.read(null, DecoderFactory.get.binaryDecoder(datum, null))
  }

  private def decoded(
      writer: Schema,
      columns: StructType,
      data: Seq[Array[Byte]],
      table: Option[Schema] = None,
      rules: ColumnRules = rules
  ): Array[WritableColumnVector] = {
    val into = PlainValues.vectors(columns)
    val avro = AvroColumns.compile(writer, columns, table, rules, "x")
    data.foreach { datum =>
      val padded = Array[Byte](1, 2) ++ datum ++ Array[Byte](3)
      avro.append(padded, 2, datum.length, into)
    }
    into
  }

  private def one(writer: Schema, datum: Array[Byte], to: DataType, table: Option[Schema], rules: ColumnRules): Any = {
    val columns = new StructType().add("x", to)
    PlainValues.rows(decoded(writer, columns, Seq(datum), table, rules), 1, columns).head.getOrElse("x", null)
  }

  test("columns, nested ones too, hold what Avro's reader gives, whichever are wanted and in whatever order") {
    forAll(several, Gen.choose(0, 1 << 16), minSuccessful(200)) { case ((schema, records), seed) =>
      val data = records.map(LogBlocks.encode(schema, _))
      val all = AvroSchemaConverter.structType(schema, "x")
      val wanted =
        StructType(new Random(seed).shuffle(all.fields.toVector).filter(_ => (seed & 3) == 0 || Random.nextBoolean()))
      val into = decoded(schema, wanted, data)
      val expected = data.map(d => PlainValues.record(read(schema, d)).filter(f => wanted.fieldNames.contains(f._1)))
      assert(PlainValues.rows(into, data.size, wanted) === expected, schema.toString)
    }
  }

  test(
    "fields that the writer lacks are null or the table's default, at any depth, and of the writer's others nothing is left"
  ) {
    val inner = SchemaBuilder.record("inner").fields().requiredInt("a").requiredString("gone").endRecord()
    val writer = SchemaBuilder
      .record("w")
      .fields()
      .requiredInt("id")
      .name("one")
      .`type`(inner)
      .noDefault()
      .name("list")
      .`type`(Schema.createArray(inner))
      .noDefault()
      .requiredString("dropped")
      .endRecord()
    val innerNow = SchemaBuilder
      .record("inner")
      .fields()
      .name("added")
      .`type`()
      .longType()
      .longDefault(7L)
      .requiredInt("a")
      .optionalString("none")
      .endRecord()
    val table = SchemaBuilder
      .record("t")
      .fields()
      .name("text")
      .`type`()
      .stringType()
      .stringDefault("dflt")
      .name("one")
      .`type`(innerNow)
      .noDefault()
      .name("list")
      .`type`(Schema.createArray(innerNow))
      .noDefault()
      .requiredInt("id")
      .optionalDouble("missing")
      .endRecord()
    val item = new GenericData.Record(inner)
    item.put("a", 5)
    item.put("gone", "x")
    val record = new GenericData.Record(writer)
    record.put("id", 3)
    record.put("one", item)
    record.put("list", Seq(item, item).asJava)
    record.put("dropped", "y")
    val datum = LogBlocks.encode(writer, record)
    val columns = AvroSchemaConverter.structType(table, "x")
    // Avro's own resolution of the two schemas is the oracle.
    val expected =
      new GenericDatumReader[GenericRecord](writer, table).read(null, DecoderFactory.get.binaryDecoder(datum, null))
    assert(
      PlainValues.rows(decoded(writer, columns, Seq(datum), Some(table)), 1, columns).head === PlainValues.record(
        expected
      )
    )
    val plain = PlainValues.rows(decoded(writer, columns, Seq(datum)), 1, columns).head
    assert(plain === Map("id" -> 3, "one" -> Map("a" -> 5), "list" -> Vector(Map("a" -> 5), Map("a" -> 5))))
    val avro = AvroColumns.compile(writer, columns, Some(table), rules, "x")
    assert(columns.indices.map(avro.present) === Vector(false, true, true, true, false))
  }

  test("names are matched by the session's case rule, the exact one first") {
    val writer =
      SchemaBuilder.record("w").fields().requiredInt("Key").requiredInt("key").requiredInt("Other").endRecord()
    val record = new GenericData.Record(writer)
    record.put("Key", 1)
    record.put("key", 2)
    record.put("Other", 3)
    val datum = LogBlocks.encode(writer, record)
    val columns = new StructType().add("key", IntegerType).add("OTHER", IntegerType)
    def rows(caseSensitive: Boolean) =
      PlainValues
        .rows(decoded(writer, columns, Seq(datum), None, rules.copy(caseSensitive = caseSensitive)), 1, columns)
        .head
    assert(rows(caseSensitive = false) === Map("key" -> 2, "OTHER" -> 3))
    assert(rows(caseSensitive = true) === Map("key" -> 2))
  }

  private def single(schema: Schema, value: Any): (Schema, Array[Byte]) = {
    val writer =
      Schema.createRecord("w", null, null, false, List(new Schema.Field("x", schema, null, null: Object)).asJava)
    val record = new GenericData.Record(writer)
    record.put("x", value)
    (writer, LogBlocks.encode(writer, record))
  }

  private def plain(kind: Schema.Type): Schema = Schema.create(kind)

  test("numbers become wider ones, texts and decimals as in Hudi") {
    def widened(kind: Schema.Type, value: Any, to: DataType, byText: Boolean = true): Any = {
      val (writer, datum) = single(plain(kind), value)
      one(writer, datum, to, None, rules.copy(floatsByText = byText))
    }
    def bits(d: Double): String = "double " + java.lang.Double.doubleToRawLongBits(d)
    def decimal(text: String) = new java.math.BigDecimal(text)
    assert(widened(Schema.Type.INT, -7, LongType) === -7L)
    assert(widened(Schema.Type.INT, -7, DoubleType) === bits(-7))
    assert(widened(Schema.Type.LONG, 1L << 40, DoubleType) === bits(1L << 40))
    assert(widened(Schema.Type.LONG, 9L, FloatType) === "float " + java.lang.Float.floatToRawIntBits(9f))
    assert(widened(Schema.Type.FLOAT, 170.06f, DoubleType) === bits(170.06))
    assert(widened(Schema.Type.FLOAT, 170.06f, DoubleType, byText = false) === bits(170.05999755859375))
    assert(widened(Schema.Type.INT, 12, StringType) === "12")
    assert(widened(Schema.Type.DOUBLE, 1.5e300, StringType) === "1.5E300")
    assert(widened(Schema.Type.FLOAT, 0.1f, StringType) === "0.1")
    assert(widened(Schema.Type.INT, 12, DecimalType(10, 2)) === decimal("12.00"))
    assert(widened(Schema.Type.DOUBLE, 2.345, DecimalType(10, 2)) === decimal("2.35"))
    assert(widened(Schema.Type.LONG, 12345L, DecimalType(38, 10)) === decimal("12345.0000000000"))
    assert(widened(Schema.Type.STRING, "ab", BinaryType) === "6162")
    intercept[UnsupportedTable](widened(Schema.Type.LONG, 1000L, DecimalType(3, 1)))
    intercept[UnsupportedTable](widened(Schema.Type.STRING, "1", IntegerType))
    intercept[UnsupportedTable](widened(Schema.Type.LONG, 1L, IntegerType))
  }

  test("decimals widen, and they and dates become texts") {
    val decimal = LogicalTypes.decimal(5, 2).addToSchema(plain(Schema.Type.BYTES))
    val (writer, datum) = single(decimal, java.nio.ByteBuffer.wrap(java.math.BigInteger.valueOf(-12345).toByteArray))
    assert(one(writer, datum, DecimalType(38, 10), None, rules) === new java.math.BigDecimal("-123.4500000000"))
    assert(one(writer, datum, StringType, None, rules) === "-123.45")
    val (dated, day) = single(LogicalTypes.date().addToSchema(plain(Schema.Type.INT)), -1)
    assert(one(dated, day, StringType, None, rules) === "1969-12-31")
  }

  test("timestamps that Hudi 1.0 labelled wrongly are repaired by the table's schema") {
    def timestamp(t: org.apache.avro.LogicalType): Schema = t.addToSchema(plain(Schema.Type.LONG))
    def repaired(writer: Schema, table: Schema): Any = {
      val (schema, datum) = single(Schema.createUnion(plain(Schema.Type.NULL), writer), 1234L)
      val tables = single(table, 0L)._1
      one(schema, datum, AvroSchemaConverter.dataType(table, "x"), Some(tables), rules)
    }
    val millis = timestamp(LogicalTypes.timestampMillis())
    val micros = timestamp(LogicalTypes.timestampMicros())
    val local = timestamp(LogicalTypes.localTimestampMillis())
    assert(repaired(micros, millis) === 1234000L)
    assert(repaired(millis, micros) === 1234000L)
    assert(repaired(plain(Schema.Type.LONG), local) === 1234000L)
  }

  test("arrays and maps in several blocks, with sizes, are whole") {
    val schema = SchemaBuilder
      .record("w")
      .fields()
      .name("list")
      .`type`()
      .array()
      .items()
      .stringType()
      .noDefault()
      .name("map")
      .`type`()
      .map()
      .values()
      .longType()
      .noDefault()
      .endRecord()
    val record = new GenericData.Record(schema)
    record.put("list", (1 to 500).map(_.toString).asJava)
    record.put("map", (1 to 300).map(i => s"k$i" -> i.toLong).toMap.asJava)
    val out = new ByteArrayOutputStream
    val encoder = new EncoderFactory().configureBlockSize(64).blockingBinaryEncoder(out, null)
    new GenericDatumWriter[GenericRecord](schema).write(record, encoder)
    encoder.flush()
    val columns = AvroSchemaConverter.structType(schema, "x")
    val data = Seq(out.toByteArray, LogBlocks.encode(schema, record), out.toByteArray)
    assert(PlainValues.rows(decoded(schema, columns, data), 3, columns).toSet === Set(PlainValues.record(record)))
  }

  test("any byte changed or cut off gives a typed error or some row, and a record longer than its schema an error") {
    forAll(generated.cases(2), Gen.choose(0, Int.MaxValue), minSuccessful(300)) { case ((schema, record), n) =>
      val datum = LogBlocks.encode(schema, record)
      val columns = AvroSchemaConverter.structType(schema, "x")
      if (datum.nonEmpty) {
        val bad = datum.clone()
        bad(n % bad.length) = (bad(n % bad.length) ^ (1 << (n % 8))).toByte
        Vector(bad, datum.take(n % datum.length)).foreach { bytes =>
          Try(PlainValues.rows(decoded(schema, columns, Seq(bytes)), 1, columns)) match {
            case Success(_) | Failure(_: HudiIdxException) => ()
            case Failure(other)                            => fail(s"$schema", other)
          }
        }
      }
      intercept[DamagedTable](decoded(schema, columns, Seq(datum :+ 0.toByte)))
    }
  }

  test("counts and lengths that no bytes can hold are errors, not arrays of that size") {
    val items = SchemaBuilder
      .record("w")
      .fields()
      .name("x")
      .`type`(Schema.createArray(Schema.createFixed("F", null, null, 0)))
      .noDefault()
      .endRecord()
    val out = new ByteArrayOutputStream
    val encoder = EncoderFactory.get.binaryEncoder(out, null)
    encoder.writeLong(Int.MaxValue.toLong)
    encoder.writeLong(0L)
    encoder.flush()
    val columns = new StructType().add("x", ArrayType(BinaryType))
    intercept[DamagedTable](decoded(items, columns, Seq(out.toByteArray)))
    val text = SchemaBuilder.record("w").fields().requiredString("x").endRecord()
    intercept[DamagedTable](decoded(text, new StructType().add("x", StringType), Seq(out.toByteArray)))
  }

  test("errors of bytes in a file name it and the offset") {
    val text = SchemaBuilder.record("w").fields().requiredString("x").endRecord()
    val columns = new StructType().add("x", StringType)
    val in = new ByteCursor(Array[Byte](0, 0, 90, 1), 2, 4, "a.log.1", 1000L, new DamagedTable(_))
    val avro = AvroColumns.compile(text, columns, None, rules, "x")
    val thrown = intercept[DamagedTable](avro.append(in, 2, PlainValues.vectors(columns)))
    assert(thrown.getMessage.contains("a.log.1") && thrown.getMessage.contains("offset 1001"))
  }

  test("rows copied from vectors and from rows are the same rows") {
    forAll(several, minSuccessful(100)) { case (schema, records) =>
      val columns = AvroSchemaConverter.structType(schema, "x")
      val count = records.size
      val from = decoded(schema, columns, records.map(LogBlocks.encode(schema, _)))
      val expected = PlainValues.rows(from, count, columns)
      val copy = new RowCopy(columns)
      val byRange, byRow, byUnsafe = PlainValues.vectors(columns)
      copy.append(from.toArray[ColumnVector], 0, count, byRange)
      val batch = new ColumnarBatch(from.toArray[ColumnVector], count)
      val unsafe = UnsafeProjection.create(columns)
      (count - 1 to 0 by -1).foreach { i =>
        copy.append(batch.getRow(i), byRow)
        copy.append(unsafe(batch.getRow(i)), byUnsafe)
      }
      assert(PlainValues.rows(byRange, count, columns) === expected)
      assert(PlainValues.rows(byRow, count, columns) === expected.reverse)
      assert(PlainValues.rows(byUnsafe, count, columns) === expected.reverse)
    }
  }
}
