package hudiidx.spark

import java.nio.charset.StandardCharsets.UTF_8

import hudiidx.log.{KeyValueKind, RecordKeyForm}
import hudiidx.spark.read.{KeyColumnsOf, KeyReader}
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.BoundReference
import org.apache.spark.sql.types._
import org.apache.spark.unsafe.types.UTF8String
import org.scalacheck.Gen
import org.scalatest.funsuite.AnyFunSuite
import org.scalatestplus.scalacheck.ScalaCheckPropertyChecks

/** Keys from columns are the texts that Hudi's key generators write: what Java's toString makes of the logical value. */
final class KeyReaderSuite extends AnyFunSuite with ScalaCheckPropertyChecks {

  private def key(types: Seq[DataType], values: Seq[Any], forms: Vector[RecordKeyForm]): Option[String] = {
    val columns = types.zipWithIndex.map { case (t, i) => BoundReference(i, t, nullable = true) }
    val reader = KeyColumnsOf(columns.toVector, forms).readers().head
    if (reader.read(InternalRow.fromSeq(values))) Some(new String(reader.bytes, 0, reader.length, UTF_8)) else None
  }

  private def plain(dataType: DataType, value: Any, timestamps: Boolean = false): Option[String] =
    key(Seq(dataType), Seq(value), Vector(RecordKeyForm(Vector("id"), named = false, timestamps)))

  private def text(value: String): UTF8String = UTF8String.fromString(value)

  test("numbers, booleans and binaries") {
    forAll { (b: Byte, s: Short, i: Int, l: Long) =>
      assert(plain(ByteType, b) === Some(b.toString) && plain(ShortType, s) === Some(s.toString))
      assert(plain(IntegerType, i) === Some(i.toString) && plain(LongType, l) === Some(l.toString))
    }
    forAll { (f: Float, d: Double, b: Boolean, bytes: Array[Byte]) =>
      assert(plain(FloatType, f) === Some(java.lang.Float.toString(f)))
      assert(plain(DoubleType, d) === Some(java.lang.Double.toString(d)))
      assert(plain(BooleanType, b) === Some(b.toString))
      if (bytes.nonEmpty) assert(plain(BinaryType, bytes) === Some(bytes.map(x => f"$x%02x").mkString))
    }
  }

  test("dates, timestamps and decimals") {
    forAll(Gen.chooseNum(-100000, 100000)) { days =>
      assert(plain(DateType, days) === Some(java.time.LocalDate.ofEpochDay(days.toLong).toString))
    }
    forAll(Gen.chooseNum(-4000000000000000L, 4000000000000000L)) { micros =>
      assert(plain(TimestampType, micros) === Some(micros.toString))
      assert(plain(TimestampNTZType, micros) === Some(micros.toString))
      val formatted = new java.sql.Timestamp(micros / 1000).toString
      assert(plain(TimestampType, micros, timestamps = true) === Some(formatted))
    }
    forAll(Gen.chooseNum(-999999999999L, 999999999999L), Gen.chooseNum(0, 12)) { (unscaled, scale) =>
      val value = new java.math.BigDecimal(java.math.BigInteger.valueOf(unscaled), scale)
      assert(plain(DecimalType(18, scale), Decimal(unscaled, 18, scale)) === Some(value.toString))
      val wide = Decimal(BigDecimal(value), 38, scale)
      assert(plain(DecimalType(38, scale), wide) === Some(value.toString))
    }
  }

  test("texts stay as they are; several fields are named, with words for null and empty") {
    val form = Vector(RecordKeyForm(Vector("a", "b"), named = true, timestamps = false))
    val types = Seq(StringType, LongType)
    forAll { (a: String, b: Long) =>
      val clean = new String(a.getBytes(UTF_8), UTF_8)
      if (clean.nonEmpty) assert(plain(StringType, text(clean)) === Some(clean))
      assert(key(Seq(StringType), Seq(text(clean)), Vector.empty) === Some(clean))
      val named = if (clean.isEmpty) "__empty__" else clean
      assert(key(types, Seq(text(clean), b), form) === Some(s"a:$named,b:$b"))
    }
    assert(key(types, Seq(text("x"), null), form) === Some("a:x,b:__null__"))
    assert(key(types, Seq(null, null), form) === None)
    assert(key(Seq(StringType), Seq(null), Vector.empty) === None)
    assert(plain(LongType, null) === None)
  }

  test("types without a text of their own are none that keys are made from") {
    Seq(ArrayType(StringType), MapType(StringType, StringType), StructType(Nil), CalendarIntervalType).foreach { t =>
      assert(KeyReader.kindOf(t) === KeyValueKind.Other)
    }
  }
}
