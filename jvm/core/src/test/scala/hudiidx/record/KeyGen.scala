package hudiidx.record

import java.nio.charset.StandardCharsets.UTF_8
import java.util.UUID
import org.scalacheck.Gen

/** Record keys of every kind that once went wrong somewhere, and beside them keys that differ by little. */
object KeyGen {
  private val uuid: Gen[String] = Gen.zip(Gen.long, Gen.long).map { case (a, b) => new UUID(a, b).toString }
  private val randomUuid: Gen[String] = Gen.zip(Gen.long, Gen.long).map { case (a, b) =>
    new UUID((a & ~0xf000L) | 0x4000L, (b & 0x3fffffffffffffffL) | Long.MinValue).toString
  }
  private val likeUuid: Gen[String] = Gen.oneOf(
    uuid.map(_.toUpperCase),
    uuid.map(_.dropRight(1)),
    uuid.map(_ + "0"),
    uuid.map(_.replace("-", "")),
    uuid.map(u => u.updated(8, '_')),
    uuid.map(u => u.updated(35, 'g')),
    uuid.map(u => "{" + u + "}"),
    uuid.map(u => u.updated(20, 'A'))
  )
  private val number: Gen[String] = Gen.oneOf(
    Gen.long.map(_.toString),
    Gen.choose(-200L, 20000L).map(_.toString),
    Gen.oneOf(
      "0",
      "-0",
      "+0",
      "+1",
      "-1",
      "00",
      "01",
      "007",
      "-01",
      "--1",
      "-",
      "+",
      "1.0",
      "1e3",
      " 1",
      "1 ",
      "9223372036854775807",
      "9223372036854775808",
      "-9223372036854775808",
      "-9223372036854775809",
      "9223372036854775800",
      "18446744073709551616",
      "99999999999999999999999",
      "0000000000000000000001",
      "922337203685477580",
      "-922337203685477580"
    )
  )
  private val digits: Gen[String] =
    Gen.zip(Gen.oneOf("user-", "k", "a:1,b:"), Gen.choose(0, 99999)).map { case (p, n) =>
      f"$p$n%08d"
    }
  private val unicode: Gen[String] =
    Gen.oneOf("", "\u0000", "\u0000\u0000", "ü", "é", "\uD83D\uDE00", "\uFFFF", "日本", "a\u0300")
  private val text: Gen[String] =
    Gen.oneOf(
      Gen.alphaNumStr,
      unicode,
      Gen.listOf(unicode).map(_.mkString),
      Gen.asciiStr,
      Gen.oneOf("a", "ab", "a\u0000", "b")
    )
  private val literal: Gen[String] =
    Gen.oneOf(Gen.oneOf(",item:", ":", "/", "-", " ", "x", "ü", "\u0000", "\uFFFF", ",b:"), Gen.alphaStr.map(_ + "_"))
  private val field: Gen[Gen[String]] = Gen.oneOf(
    Gen.choose(0L, 99L).map(_.toString),
    Gen.choose(100000L, 102000L).map(_.toString),
    Gen.choose(0L, Int.MaxValue.toLong).map(_.toString),
    Gen.choose(0, 999).map(n => f"$n%06d"),
    Gen.listOf(Gen.oneOf("0", "1", "9")).map(_.mkString),
    Gen.choose(0L, Long.MaxValue).map(_.toString),
    Gen.const("7"),
    Gen.const("")
  )

  /** Keys of one pattern of digits and literals. */
  val ofPattern: Gen[Gen[String]] = for {
    prefix <- Gen.oneOf("", "account:", "k1", "9")
    fields <- Gen.choose(1, 4).flatMap(Gen.listOfN(_, field))
    literals <- Gen.listOfN(fields.size, literal)
    closed <- Gen.prob(0.2)
  } yield fields
    .zip(literals)
    .zipWithIndex
    .map { case ((f, l), i) => f.map(_ + (if (i + 1 < fields.size || closed) l else "")) }
    .foldLeft(Gen.const(prefix))((all, next) => all.flatMap(a => next.map(a + _)))

  /** Keys that differ by one byte. */
  def near(key: String): Gen[String] = for {
    at <- Gen.choose(0, key.length)
    byte <- Gen.oneOf("0", "9", "5", ",", "/", ":", "a", "")
    skip <- Gen.choose(0, 1)
  } yield key.take(at) + byte + key.drop(at + skip)

  private val complex: Gen[String] = Gen.zip(text, number).map { case (a, b) => s"a:$a,b:$b" }
  private val long: Gen[String] =
    Gen.zip(Gen.choose(1, 4), Gen.alphaNumStr).map { case (n, tail) => "long" * (n * 60) + tail }

  val string: Gen[String] =
    Gen.frequency(
      4 -> randomUuid,
      1 -> uuid,
      1 -> likeUuid,
      4 -> number,
      2 -> digits,
      3 -> text,
      1 -> complex,
      1 -> long
    )

  /** Any bytes at all: a key column may hold what is no UTF-8. */
  val bytes: Gen[Array[Byte]] = Gen.frequency(
    20 -> string.map(_.getBytes(UTF_8)),
    1 -> Gen.listOf(Gen.choose(-128, 127).map(_.toByte)).map(_.toArray),
    1 -> Gen.listOfN(36, Gen.choose(-128, 127).map(_.toByte)).map(_.toArray),
    1 -> Gen.listOfN(16, Gen.choose(-128, 127).map(_.toByte)).map(_.toArray)
  )
}
