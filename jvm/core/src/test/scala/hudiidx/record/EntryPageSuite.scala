package hudiidx.record

import hudiidx.bytes.{Bytes, PackedOutput}
import hudiidx.record.page.{
  EntryColumns,
  EntryPage,
  EntryPageBuilder,
  KeyCode,
  MonotoneColumn,
  PageReader,
  PagedCursor,
  ParsedKey
}
import java.nio.charset.StandardCharsets.UTF_8
import org.scalacheck.Gen
import org.scalatest.funsuite.AnyFunSuite
import org.scalatestplus.scalacheck.ScalaCheckPropertyChecks

class EntryPageSuite extends AnyFunSuite with ScalaCheckPropertyChecks {
  implicit override val generatorDrivenConfig: PropertyCheckConfiguration =
    PropertyCheckConfiguration(minSuccessful = 300)

  private case class Entry(key: Seq[Byte], ordinal: Int, flags: Int, stamp: Int) {
    val code: Array[Byte] = KeyCode.encode(key.toArray)
  }

  private def parsed(key: Seq[Byte]): ParsedKey = {
    val p = new ParsedKey
    p.set(key.toArray, 0, key.size)
    p
  }

  private def entry(keys: Gen[Array[Byte]]): Gen[Entry] = for {
    key <- keys
    ordinal <- Gen.frequency(5 -> Gen.choose(0, 3), 1 -> Gen.choose(0, Int.MaxValue))
    flags <- Gen.choose(0, 3)
    stamp <- Gen.oneOf(Gen.const(0), Gen.choose(0, 65535))
  } yield Entry(key.toSeq, ordinal, flags, stamp)

  /** Entries of one class, sorted, and keys to ask for. */
  private def contentOf(
      keys: Gen[Array[Byte]],
      asked: Seq[Entry] => Gen[Seq[Array[Byte]]]
  ): Gen[(Vector[Entry], Vector[Seq[Byte]])] = for {
    entries <- Gen.nonEmptyListOf(entry(keys))
    kind <- Gen.oneOf(entries).map(_.code(0))
    others <- asked(entries)
  } yield {
    val mine = entries.filter(_.code(0) == kind).map(e => (e.key, e.ordinal) -> e).toMap.values.toVector
    val sorted = mine.sortWith { (a, b) =>
      val order = Bytes.compare(a.code, b.code)
      order < 0 || (order == 0 && a.ordinal < b.ordinal)
    }
    (sorted, (entries.map(_.key) ++ others.map(_.toSeq)).toVector)
  }

  private val anyContent = contentOf(KeyGen.bytes, _ => Gen.listOf(KeyGen.bytes))

  /** Of texts that are alike, and asked for what is almost one of them. */
  private val patterned = KeyGen.ofPattern.flatMap { keys =>
    contentOf(
      keys.map(_.getBytes(UTF_8)),
      entries =>
        Gen.sequence[Seq[Array[Byte]], Array[Byte]](
          entries.map(e => KeyGen.near(new String(e.key.toArray, UTF_8)).map(_.getBytes(UTF_8)))
        )
    )
  }

  private val content = Gen.frequency(2 -> anyContent, 3 -> patterned)

  private def page(entries: Vector[Entry]): Array[Byte] = {
    val builder = new EntryPageBuilder(entries.size)
    entries.foreach(e => builder.add(parsed(e.key), e.ordinal, e.flags, e.stamp))
    builder.encode().toBytes
  }

  test("a page gives back its entries, and finds exactly the entries of any key") {
    forAll(content, Gen.choose(0, 3)) { case ((entries, asked), shift) =>
      val encoded = page(entries)
      val reader = new PageReader
      reader.open(new Array[Byte](shift) ++ encoded, shift, encoded.length)
      asked.foreach { key =>
        val code = KeyCode.encode(key.toArray)
        val beyond = reader.search(parsed(key))
        val found = (reader.first until reader.until).map(i => (reader.ordinal(i), reader.flag(i), reader.stamp(i)))
        assert(found === entries.filter(_.key == key).map(e => (e.ordinal, e.flags, e.stamp)))
        assert(beyond === (Bytes.compare(code, entries.last.code) >= 0))
      }
      val columns = new EntryColumns
      reader.decode(columns)
      val cursor = new PagedCursor("page") {
        private var given = false
        protected def nextPage(): Boolean = !given && {
          given = true
          pageReader.open(encoded, 0, encoded.length)
          true
        }
      }
      entries.foreach { e =>
        assert(cursor.next())
        assert(cursor.keyBytes.toSeq === e.key)
        assert((cursor.ordinal, cursor.flags, cursor.stamp) === ((e.ordinal, e.flags, e.stamp)))
      }
      assert(!cursor.next() && !cursor.next())
    }
  }

  private val asked = Vector(
    "u-",
    "u-009",
    "u-0090",
    "u-00900",
    "u-009:",
    "u-009/",
    "u-0099",
    "u-01",
    "u-0108",
    "u-0108x",
    "u-0109",
    "u-02",
    "t",
    "v",
    "",
    "u",
    "u-x",
    "u- "
  )

  private def finds(encoded: Array[Byte], keys: Seq[String], asked: Seq[String]): Unit = {
    val reader = new PageReader
    reader.open(encoded, 0, encoded.length)
    (keys ++ asked).foreach { key =>
      val beyond = reader.search(parsed(key.getBytes(UTF_8).toSeq))
      assert(reader.until - reader.first === keys.count(_ == key), key)
      assert(beyond === (key >= keys.last), key)
    }
    val columns = new EntryColumns
    reader.decode(columns)
    val ends = 0 +: columns.ends.toVector.take(keys.size)
    val texts = ends.zip(ends.tail).map { case (from, to) => new String(columns.texts, from, to - from, UTF_8) }
    assert(texts === keys)
  }

  test("texts of one pattern are stored as numbers, and neighbours in text order are told apart") {
    def stored(keys: String*): Unit = {
      val sorted = keys.toVector.sorted
      val encoded = page(sorted.map(k => Entry(k.getBytes(UTF_8).toSeq, 1, 0, 0)))
      assert(encoded(1) === EntryPage.PatternTexts, keys)
      finds(encoded, sorted, asked ++ sorted.flatMap(k => Seq(k + "0", k.dropRight(1), k.replace(",", "0,"))))
    }
    stored("u-0090", "u-0095", "u-0100", "u-0108")
    stored("u-1", "u-10", "u-100", "u-2", "u-02")
    stored("account:12,item:3", "account:7,item:11", "account:123,item:0", "account:12,item:10", "account:1,item:3")
    // A colon stands behind the digits: the shorter of two beginnings comes last.
    stored("u12:1", "u1:1", "u19:1", "u123:0", "u129:5", "u199:1", "u:0")
    stored("2026-01-31 10", "2026-02-01 9", "2025-12-31 11", "2026-01-31 1")
  }

  test("texts that are no pattern, or whose numbers do not fit, stay texts") {
    def stays(keys: String*): Unit = {
      val sorted = keys.toVector.sorted
      val encoded = page(sorted.map(k => Entry(k.getBytes(UTF_8).toSeq, 1, 0, 0)))
      assert(encoded(1) === EntryPage.Texts, keys)
      finds(encoded, sorted, asked)
    }
    stays("a1b", "a1c")
    stays("u-1", "u-1x")
    stays("u-1234567890123456789", "u-2234567890123456789")
    stays("u-1,999999999999999999", "u-2000000,0")
    stays("0a0a0a0a0a0a0a0a0a", "1a0a0a0a0a0a0a0a0a")
  }

  test("a page of version 1 whose texts are a prefix and digits is read") {
    val keys = Vector("u-0090", "u-0095", "u-0100", "u-0108")
    val out = new PackedOutput
    Seq(1, EntryPage.DigitTexts).foreach(out.byte)
    out.varint(keys.size.toLong)
    out.bytes("u-0".getBytes(UTF_8))
    out.byte(3)
    MonotoneColumn.write(out, keys.map(_.drop(3).toLong).toArray, keys.size)
    (0 to 2).foreach(_ => out.column(new Array[Long](keys.size), keys.size))
    finds(out.toBytes, keys, asked)
  }

  test("pages end before their texts are too long, and take long texts that share a beginning") {
    val builder = new EntryPageBuilder(100)
    def add(key: String): Unit = builder.add(parsed(key.getBytes(UTF_8).toSeq), 0, 0, 0)
    def fits(key: String): Boolean = builder.fits(parsed(key.getBytes(UTF_8).toSeq), 100)
    assert(fits("a" * 1000))
    add("long" * 20 + "a")
    assert(fits("long" * 20 + "b") && !fits("b" * 30) && !fits("17"))
    (0 until 8).foreach(i => add("long" * 20 + s"b$i"))
    assert(!fits("long" * 20 + "c"), "the texts in memory are limited too")
  }

  test("a page cut at any length is refused, and a changed one is refused or read within its bounds") {
    forAll(content, Gen.long, minSuccessful(60)) { case ((entries, asked), seed) =>
      val encoded = page(entries)
      val reader = new PageReader
      (0 until encoded.length).foreach { n =>
        assertThrows[IllegalArgumentException](reader.open(java.util.Arrays.copyOf(encoded, n), 0, n))
      }
      val random = new java.util.Random(seed)
      (0 until 20).foreach { _ =>
        val broken = encoded.clone()
        val at = random.nextInt(broken.length)
        broken(at) = (broken(at) ^ (1 << random.nextInt(8))).toByte
        try {
          reader.open(broken, 0, broken.length)
          asked.take(5).foreach(k => reader.search(parsed(k)))
          reader.decode(new EntryColumns)
        } catch { case _: IllegalArgumentException | _: IndexOutOfBoundsException | _: ArithmeticException => () }
      }
    }
  }
}
