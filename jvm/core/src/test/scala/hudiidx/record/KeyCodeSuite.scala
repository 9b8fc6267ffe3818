package hudiidx.record

import java.nio.charset.StandardCharsets.UTF_8
import java.util.UUID
import hudiidx.record.page.{KeyCode, KeyParts, ParsedKey}
import org.scalacheck.Gen
import org.scalatest.funsuite.AnyFunSuite
import org.scalatestplus.scalacheck.ScalaCheckPropertyChecks

class KeyCodeSuite extends AnyFunSuite with ScalaCheckPropertyChecks {
  implicit override val generatorDrivenConfig: PropertyCheckConfiguration =
    PropertyCheckConfiguration(minSuccessful = 500)

  private def code(key: String): Array[Byte] = KeyCode.encode(key.getBytes(UTF_8))

  test("a key comes back from its code byte by byte, whatever it is") {
    forAll(KeyGen.bytes)(key => assert(KeyCode.decode(KeyCode.encode(key)).toSeq === key.toSeq))
  }

  test("no two keys have one code, and one key has one wherever it stands") {
    forAll(Gen.listOf(KeyGen.bytes), Gen.choose(0, 5)) { (keys, from) =>
      val distinct = keys.map(_.toSeq).distinct
      assert(distinct.map(k => KeyCode.encode(k.toArray).toSeq).distinct.size === distinct.size)
      distinct.foreach { k =>
        val placed = new Array[Byte](from) ++ k ++ new Array[Byte](3)
        assert(KeyCode.encode(placed, from, k.size).toSeq === KeyCode.encode(k.toArray).toSeq)
      }
    }
  }

  test("codes order as numbers among numbers, and as bytes among UUIDs and among texts") {
    forAll(Gen.long, Gen.long) { (a, b) =>
      assert(Integer.signum(KeyCode.compare(code(a.toString), code(b.toString))) === java.lang.Long.compare(a, b))
      val (u, v) = (new UUID(a, b).toString, new UUID(b, a).toString)
      assert(Integer.signum(KeyCode.compare(code(u), code(v))) === Integer.signum(u.compareTo(v)))
    }
    forAll(KeyGen.bytes, KeyGen.bytes) { (a, b) =>
      val (x, y) = (KeyCode.encode(a), KeyCode.encode(b))
      if (x(0) == KeyCode.Text && y(0) == KeyCode.Text)
        assert(Integer.signum(KeyCode.compare(x, y)) === Integer.signum(java.util.Arrays.compareUnsigned(a, b)))
    }
  }

  test("the first word of a key orders keys of its class as they are ordered, where it differs") {
    def parsed(key: Array[Byte]) = {
      val out = new ParsedKey
      out.set(key, 0, key.length)
      out
    }
    def assertAlike(a: Array[Byte], b: Array[Byte]): Unit = {
      val (x, y) = (parsed(a), parsed(b))
      val leads = java.lang.Long.compareUnsigned(KeyParts.lead(x), KeyParts.lead(y))
      if (x.kind == y.kind && leads != 0)
        assert(Integer.signum(leads) === Integer.signum(KeyParts.compare(x, y)))
    }
    val near = Gen.zip(KeyGen.bytes, KeyGen.bytes, Gen.choose(0, 12)).map { case (a, b, n) => a.take(n) ++ b }
    forAll(KeyGen.bytes, KeyGen.bytes)(assertAlike(_, _))
    forAll(near, near)(assertAlike(_, _))
    forAll(KeyGen.bytes, near)((a, b) => assertAlike(a, a ++ b))
  }

  test("only canonical numbers and canonical lower-case UUIDs are taken for such") {
    val numbers = Seq("0", "7", "-1", "9223372036854775807", "-9223372036854775808", "922337203685477580")
    numbers.foreach(k => assert(code(k).length === 9 && code(k)(0) === KeyCode.Number, k))
    val uuids =
      Seq("00000000-0000-0000-0000-000000000000", "ffffffff-ffff-ffff-ffff-ffffffffffff", UUID.randomUUID.toString)
    uuids.foreach(k => assert(code(k).length === 17 && code(k)(0) === KeyCode.Uuid, k))
    val texts = Seq(
      "",
      "-0",
      "+1",
      "01",
      "-01",
      "1.0",
      "9223372036854775808",
      "-9223372036854775809",
      "-",
      "１",
      "FFFFFFFF-FFFF-FFFF-FFFF-FFFFFFFFFFFF",
      "00000000-0000-0000-0000-00000000000",
      "00000000-0000-0000-0000-0000000000000",
      "00000000+0000-0000-0000-000000000000",
      "0000000g-0000-0000-0000-000000000000",
      "00000000000000000000000000000000"
    )
    texts.foreach(k => assert(code(k)(0) === KeyCode.Text && code(k).length === 1 + k.getBytes(UTF_8).length, k))
  }

  test("what is no code is refused") {
    Seq(Array[Byte](), Array[Byte](0), Array[Byte](9, 1), Array[Byte](1, 2), Array[Byte](2, 2, 2)).foreach { c =>
      assertThrows[IllegalArgumentException](KeyCode.decode(c))
    }
  }

  test("keys cross from Python and back, texts with lone surrogates included") {
    val odd = Gen.oneOf("\ud800", "a\udc00b", "\udc00\ud800", "x\ud83d\ude00\ud83d")
    forAll(Gen.listOf(Gen.frequency(9 -> KeyGen.string, 1 -> odd))) { keys =>
      val packed = PackedKeys.decode(PackedKeys.encode(keys))
      val direct = PackedKeys.of(keys)
      def all(p: PackedKeys): Seq[Seq[Byte]] =
        (0 until p.count).map(i => p.bytes.slice(p.from(i), p.from(i) + p.length(i)).toSeq)
      assert(all(packed) === all(direct))
      assert(all(packed).distinct.size === keys.distinct.size)
      keys.indices.foreach { i =>
        if (!keys(i).exists(Character.isSurrogate)) assert(packed.key(i) === keys(i))
      }
    }
  }

  test("packed keys that are cut or changed are an invalid option") {
    val packed = PackedKeys.encode(Seq("a", "", "ccc"))
    (0 until packed.length).foreach { n =>
      assertThrows[hudiidx.InvalidOption](PackedKeys.decode(java.util.Arrays.copyOf(packed, n)))
    }
    assertThrows[hudiidx.InvalidOption](PackedKeys.decode(packed :+ 0.toByte))
  }
}
