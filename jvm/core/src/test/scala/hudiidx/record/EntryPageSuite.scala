package hudiidx.record

import hudiidx.bytes.Bytes
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

  private val entry: Gen[Entry] = for {
    key <- KeyGen.bytes
    ordinal <- Gen.frequency(5 -> Gen.choose(0, 3), 1 -> Gen.choose(0, Int.MaxValue))
    flags <- Gen.choose(0, 3)
    stamp <- Gen.oneOf(Gen.const(0), Gen.choose(0, 65535))
  } yield Entry(key.toSeq, ordinal, flags, stamp)

  /** Entries of one class, sorted, and keys to ask for. */
  private val content: Gen[(Vector[Entry], Vector[Seq[Byte]])] = for {
    entries <- Gen.nonEmptyListOf(entry)
    kind <- Gen.oneOf(entries).map(_.code(0))
    others <- Gen.listOf(KeyGen.bytes)
  } yield {
    val mine = entries.filter(_.code(0) == kind).map(e => (e.key, e.ordinal) -> e).toMap.values.toVector
    val sorted = mine.sortWith { (a, b) =>
      val order = Bytes.compare(a.code, b.code)
      order < 0 || (order == 0 && a.ordinal < b.ordinal)
    }
    (sorted, (entries.map(_.key) ++ others.map(_.toSeq)).toVector)
  }

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

  test(
    "texts of one prefix and equally many digits are stored as numbers, and neighbours in text order are told apart"
  ) {
    val entries = Vector("u-0090", "u-0095", "u-0100", "u-0108").map(k => Entry(k.getBytes.toSeq, 1, 0, 0))
    val reader = new PageReader
    val encoded = page(entries)
    reader.open(encoded, 0, encoded.length)
    assert(encoded(1) === EntryPage.DigitTexts)
    val asked = Vector(
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
    asked.foreach { key =>
      val beyond = reader.search(parsed(key.getBytes.toSeq))
      assert(reader.until - reader.first === entries.count(_.key == key.getBytes.toSeq), key)
      assert(beyond === (key >= "u-0108"), key)
    }
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
        } catch { case _: IllegalArgumentException | _: IndexOutOfBoundsException => () }
      }
    }
  }
}
