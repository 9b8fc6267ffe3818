package hudiidx.log

import java.math.{BigDecimal, BigInteger}
import java.nio.charset.StandardCharsets.UTF_8
import java.time.LocalDate
import org.scalacheck.Gen
import org.scalatest.funsuite.AnyFunSuite
import org.scalatestplus.scalacheck.ScalaCheckPropertyChecks

/** Keys made from fields, against what Java prints and what stock Hudi's complex keys look like. */
class RecordKeyBuilderSuite extends AnyFunSuite with ScalaCheckPropertyChecks {
  private val strings = Gen.oneOf(
    Gen.const(""),
    Gen.alphaNumStr,
    Gen.listOf(Gen.oneOf(",:_é€😀\u0000 a".codePoints.toArray.toSeq)).map { points =>
      new String(points.toArray, 0, points.size)
    }
  )

  /** A value: how the builder takes it, and the text that Java gives it (null: no value). */
  private val values: Gen[(RecordKeyBuilder => Unit, String)] = Gen.oneOf(
    strings.map(s => ((b: RecordKeyBuilder) => b.text(s), s)),
    Gen.const(((b: RecordKeyBuilder) => b.nullValue(), null: String)),
    Gen.long.map(n => ((b: RecordKeyBuilder) => b.long(n), s"$n")),
    Gen.oneOf(Gen.double, Gen.oneOf(0.0, -0.0, 1e7, 1e-3, 1.0e-10, Double.NaN, Double.PositiveInfinity)).map { d =>
      ((b: RecordKeyBuilder) => b.double(d), d.toString)
    },
    Gen.oneOf(Gen.choose(-1e9f, 1e9f), Gen.oneOf(170.06f, 1e-3f, Float.MinValue)).map { f =>
      ((b: RecordKeyBuilder) => b.float(f), f.toString)
    },
    Gen.oneOf(true, false).map(v => ((b: RecordKeyBuilder) => b.boolean(v), v.toString)),
    Gen
      .choose(-800000, 800000)
      .map(d => ((b: RecordKeyBuilder) => b.date(d.toLong), LocalDate.ofEpochDay(d.toLong).toString)),
    Gen.zip(Gen.long, Gen.choose(0, 18)).map { case (u, scale) =>
      ((b: RecordKeyBuilder) => b.decimal(BigInteger.valueOf(u), scale), BigDecimal.valueOf(u, scale).toString)
    },
    Gen.long.map(t => ((b: RecordKeyBuilder) => b.timestampMicros(t), t.toString)),
    Gen.listOf(Gen.choose(-128, 127)).map { bytes =>
      val array = bytes.map(_.toByte).toArray
      ((b: RecordKeyBuilder) => b.binary(array, 0, array.length), array.map(v => f"$v%02x").mkString)
    }
  )

  private def build(builder: RecordKeyBuilder, puts: Seq[RecordKeyBuilder => Unit]): Option[String] = {
    builder.start()
    puts.foreach(_(builder))
    if (builder.isKey) Some(new String(builder.bytes, 0, builder.length, UTF_8)) else None
  }

  test("a complex key names each field and its value, with words for null and empty values") {
    forAll(Gen.choose(1, 4).flatMap(Gen.listOfN(_, values))) { fields =>
      val names = fields.indices.map(i => s"f.$i").toVector
      val builder = new RecordKeyBuilder(RecordKeyForm(names, named = true, timestamps = false))
      val texts = fields.map { case (_, text) =>
        if (text == null) RecordKeyForm.NullValue else if (text.isEmpty) RecordKeyForm.EmptyValue else text
      }
      val expected = names.zip(texts).map { case (name, text) => s"$name:$text" }.mkString(",")
      val isKey = fields.exists { case (_, text) => text != null && text.nonEmpty }
      (1 to 2).foreach { _ =>
        assert(build(builder, fields.map(_._1)) === (if (isKey) Some(expected) else None))
      }
    }
  }

  test("a simple key is the value's text; null and empty are no key") {
    val builder = new RecordKeyBuilder(RecordKeyForm(Vector("id"), named = false, timestamps = false))
    forAll(values) { case (put, text) =>
      assert(build(builder, Seq(put)) === Option(text).filter(_.nonEmpty))
    }
  }

  test("timestamps are formatted where the table says so") {
    val builder = new RecordKeyBuilder(RecordKeyForm(Vector("a", "b"), named = true, timestamps = true))
    val key = build(builder, Seq(_.timestampMillis(1500L), _.timestampMicros(1700000000123456L)))
    val (a, b) = (new java.sql.Timestamp(1500L), new java.sql.Timestamp(1700000000123L))
    assert(key === Some(s"a:$a,b:$b"))
  }

  test("days are numbers in Flink's form") {
    val form = RecordKeyForm(Vector("a", "b"), named = true, timestamps = false, numberedDays = true)
    assert(build(new RecordKeyBuilder(form), Seq(_.date(19724), _.long(1))) === Some("a:19724,b:1"))
  }
}
