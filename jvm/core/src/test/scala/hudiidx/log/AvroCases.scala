package hudiidx.log

import hudiidx.AvroSchemas
import java.nio.ByteBuffer
import org.apache.avro.generic.{GenericData, GenericRecord}
import org.apache.avro.{LogicalType, LogicalTypes, Schema, SchemaBuilder}
import org.scalacheck.Gen
import scala.collection.JavaConverters._

/** Random Avro schemas and data of them.
  *
  * @param logical dates, timestamps, decimals and unions of several types as well, but no field that is always null, for
  *                which Spark has no column. Items of arrays always take bytes
  */
final class AvroCases(logical: Boolean) {
  private var serial = 0

  private def unique(): Int = {
    serial += 1
    serial
  }

  def cases(depth: Int): Gen[(Schema, GenericRecord)] =
    for (schema <- records(depth); value <- values(schema)) yield (schema, value.asInstanceOf[GenericRecord])

  def records(depth: Int): Gen[Schema] = Gen.nonEmptyListOf(schemas(depth)).map { types =>
    val fields = types.take(6).zipWithIndex.map { case (t, i) => new Schema.Field(s"f$i", t, null, null: Object) }
    Schema.createRecord(s"R${unique()}", null, null, false, fields.asJava)
  }

  def schemas(depth: Int): Gen[Schema] =
    if (depth == 0) Gen.oneOf(leaf, named)
    else {
      val inner = schemas(depth - 1)
      val optional =
        leaf.suchThat(_.getType != Schema.Type.NULL).flatMap(s => Gen.oneOf(union(nullType, s), union(s, nullType)))
      val nested = Gen.frequency(
        1 -> inner.suchThat(AvroSchemas.takesBytes).map(Schema.createArray(_)),
        1 -> inner.map(Schema.createMap(_)),
        2 -> records(depth - 1)
      )
      val plain = Gen.frequency(4 -> leaf, 1 -> named, 2 -> nested, 2 -> optional)
      if (!logical) plain
      else Gen.frequency(8 -> plain, 2 -> nested.map(union(nullType, _)), 1 -> several)
    }

  private def nullType: Schema = Schema.create(Schema.Type.NULL)

  private def union(types: Schema*): Schema = Schema.createUnion(types: _*)

  private val plainLeaf: Gen[Schema] = Gen
    .oneOf(
      if (logical) Schema.Type.BOOLEAN else Schema.Type.NULL,
      Schema.Type.BOOLEAN,
      Schema.Type.INT,
      Schema.Type.LONG,
      Schema.Type.FLOAT,
      Schema.Type.DOUBLE,
      Schema.Type.STRING,
      Schema.Type.BYTES
    )
    .map(Schema.create)

  private def leaf: Gen[Schema] = if (logical) Gen.oneOf(plainLeaf, logicalLeaf) else plainLeaf

  private val logicalLeaf: Gen[Schema] = {
    def of(base: Schema.Type, t: LogicalType) = Gen.const(()).map(_ => t.addToSchema(Schema.create(base)))
    Gen.oneOf(
      of(Schema.Type.INT, LogicalTypes.date()),
      of(Schema.Type.LONG, LogicalTypes.timestampMillis()),
      of(Schema.Type.LONG, LogicalTypes.timestampMicros()),
      of(Schema.Type.LONG, LogicalTypes.localTimestampMillis()),
      of(Schema.Type.LONG, LogicalTypes.localTimestampMicros()),
      decimals
    )
  }

  private def decimals: Gen[Schema] = for {
    precision <- Gen.oneOf(1, 5, 9, 10, 18, 19, 25, 38)
    scale <- Gen.choose(0, precision)
    fixed <- Gen.oneOf(true, false)
  } yield {
    val least = java.math.BigInteger.TEN.pow(precision).bitLength / 8 + 1
    val base =
      if (fixed) Schema.createFixed(s"D${unique()}", null, null, least) else Schema.create(Schema.Type.BYTES)
    LogicalTypes.decimal(precision, scale).addToSchema(base)
  }

  private val named: Gen[Schema] = Gen.choose(0, 9).map { n =>
    if (n % 2 == 0) Schema.createFixed(s"F${unique()}", null, null, n)
    else SchemaBuilder.enumeration(s"E${unique()}").symbols("A", "B")
  }

  private def several: Gen[Schema] = {
    def create(types: Schema.Type*) = Gen.const(()).map(_ => union(types.map(t => Schema.create(t)): _*))
    Gen.oneOf(
      create(Schema.Type.INT, Schema.Type.LONG),
      create(Schema.Type.NULL, Schema.Type.FLOAT, Schema.Type.DOUBLE),
      create(Schema.Type.STRING, Schema.Type.INT, Schema.Type.NULL),
      create(Schema.Type.NULL, Schema.Type.BOOLEAN, Schema.Type.BYTES, Schema.Type.DOUBLE)
    )
  }

  def values(schema: Schema): Gen[Any] = (schema.getType, schema.getLogicalType) match {
    case (Schema.Type.BYTES, d: LogicalTypes.Decimal) =>
      unscaled(d.getPrecision).map(v => ByteBuffer.wrap(v.toByteArray))
    case (Schema.Type.FIXED, d: LogicalTypes.Decimal) =>
      unscaled(d.getPrecision).map(v => new GenericData.Fixed(schema, extended(v, schema.getFixedSize)))
    case (Schema.Type.LONG, t) if t != null => Gen.choose(-1000000000000L, 4000000000000L)
    case (Schema.Type.INT, t) if t != null  => Gen.choose(-800000, 3000000)
    case (Schema.Type.NULL, _)              => Gen.const(null)
    case (Schema.Type.BOOLEAN, _)           => Gen.oneOf(true, false)
    case (Schema.Type.INT, _)               => Gen.choose(Int.MinValue, Int.MaxValue)
    case (Schema.Type.LONG, _)              => Gen.choose(Long.MinValue, Long.MaxValue)
    case (Schema.Type.FLOAT, _)             => Gen.choose(-1e9f, 1e9f)
    case (Schema.Type.DOUBLE, _)            => Gen.choose(-1e99, 1e99)
    case (Schema.Type.STRING, _)            => Gen.alphaNumStr
    case (Schema.Type.BYTES, _)             => Gen.alphaNumStr.map(s => ByteBuffer.wrap(s.getBytes))
    case (Schema.Type.FIXED, _) => Gen.const(new GenericData.Fixed(schema, new Array[Byte](schema.getFixedSize)))
    case (Schema.Type.ENUM, _)  => Gen.oneOf("A", "B").map(new GenericData.EnumSymbol(schema, _))
    case (Schema.Type.ARRAY, _) => Gen.resize(4, Gen.listOf(values(schema.getElementType))).map(_.asJava)
    case (Schema.Type.MAP, _)   =>
      Gen
        .resize(4, Gen.listOf(values(schema.getValueType)))
        .map(_.zipWithIndex.map { case (v, i) => s"k$i" -> v }.toMap.asJava)
    case (Schema.Type.UNION, _)  => Gen.oneOf(schema.getTypes.asScala.toVector).flatMap(values)
    case (Schema.Type.RECORD, _) => record(schema)
  }

  private def record(schema: Schema): Gen[GenericRecord] =
    schema.getFields.asScala.foldLeft(Gen.const(new GenericData.Record(schema))) { (made, f) =>
      for (r <- made; v <- values(f.schema)) yield {
        val copy = new GenericData.Record(r, false)
        copy.put(f.name, v)
        copy
      }
    }

  /** Of at most so many digits. */
  private def unscaled(precision: Int): Gen[java.math.BigInteger] = for {
    digits <- Gen.choose(1, precision)
    text <- Gen.listOfN(digits, Gen.numChar)
    sign <- Gen.oneOf("", "-")
  } yield new java.math.BigInteger(sign + text.mkString)

  private def extended(value: java.math.BigInteger, size: Int): Array[Byte] = {
    val bytes = value.toByteArray
    Array.fill(size - bytes.length)((if (value.signum < 0) -1 else 0).toByte) ++ bytes
  }
}
