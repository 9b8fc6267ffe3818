package hudiidx.record

import java.nio.charset.StandardCharsets.UTF_8
import hudiidx.record.page.{EntryCursor, KeyCode}
import org.scalacheck.Gen
import org.scalatest.funsuite.AnyFunSuite
import org.scalatestplus.scalacheck.ScalaCheckPropertyChecks

/** Sets large enough for every way of sorting: by radix, by further bytes of texts, by merging, by insertion. */
class KeySorterSuite extends AnyFunSuite with ScalaCheckPropertyChecks {
  private val shapes: Vector[(String, java.util.Random => String)] = Vector(
    "random UUIDs" -> (r => new java.util.UUID(r.nextLong(), r.nextLong()).toString),
    "UUIDs that count" -> (r => new java.util.UUID(0x0190000000004000L, r.nextInt(5000).toLong).toString),
    "UUIDs of a few high halves" -> (r => new java.util.UUID(r.nextInt(3).toLong << 40, r.nextLong()).toString),
    "numbers close together" -> (r => r.nextInt(3000).toString),
    "numbers of all sizes" -> (r => (r.nextLong() >> r.nextInt(64)).toString),
    "one key" -> (_ => "7"),
    "one text" -> (_ => "the same text again and again"),
    "texts of one long beginning" -> (r => "region:europe,city:amsterdam,id:" + r.nextInt(4000)),
    "texts that begin each other" -> (r => "abcdefgh" * (1 + r.nextInt(40)) + "\u0000" * r.nextInt(3)),
    "short texts" -> (r => Seq.fill(r.nextInt(4))("ab\u0000é".charAt(r.nextInt(4))).mkString),
    "a mixture" -> (r =>
      Seq("x" + r.nextInt(9), r.nextInt(9).toString, new java.util.UUID(1, r.nextLong()).toString)(r.nextInt(3))
    )
  )

  for ((name, key) <- shapes)
    test(s"entries come by group, key and ordinal, each mapping once: $name") {
      forAll(Gen.long, Gen.choose(1, 4000), Gen.choose(1, 3), minSuccessful(5)) { (seed, count, groups) =>
        val random = new java.util.Random(seed)
        val entries = Vector.fill(count)((key(random), random.nextInt(3)))
        val ranges = HashRange.tile(groups)
        var sections = Vector.empty[Vector[(String, Int)]]
        val builder = new RunBuilder(
          ranges,
          1L << 30,
          {
            case run: SorterRun =>
              sections = ranges.indices.toVector.map(g => all(run.group(g)))
            case other => fail(s"$other")
          }
        )
        val input = if (seed % 3 == 0) entries.sorted else entries
        input.foreach { case (k, o) =>
          val bytes = k.getBytes(UTF_8)
          builder.add(bytes, 0, bytes.length, o)
        }
        builder.flushRest()
        assert(builder.pending === 0)
        val due = ranges.map { range =>
          val mine = entries.distinct.filter { case (k, _) =>
            val bytes = k.getBytes(UTF_8)
            range.contains(KeyCode.hash(bytes, 0, bytes.length))
          }
          mine.sortWith { case ((a, x), (b, y)) =>
            val order = KeyCode.compare(KeyCode.encode(a.getBytes(UTF_8)), KeyCode.encode(b.getBytes(UTF_8)))
            order < 0 || (order == 0 && x < y)
          }
        }
        assert(sections === due)
      }
    }

  test("a builder hands over within its budget, and again what it was given") {
    var runs = Vector.empty[Long]
    var most = 0L
    lazy val builder: RunBuilder = new RunBuilder(
      HashRange.tile(2),
      100000,
      { run =>
        most = math.max(most, builder.pendingBytes)
        runs :+= run.entries
      }
    )
    (0 until 20000).foreach { i =>
      val bytes = (if (i % 3 == 0) s"text number $i" else i.toString).getBytes(UTF_8)
      builder.add(bytes, 0, bytes.length, 0)
    }
    builder.flushRest()
    builder.flushRest()
    assert(runs.sum === 20000 && runs.size > 5 && most <= 100000)
  }

  private def all(cursor: EntryCursor): Vector[(String, Int)] = {
    val out = Vector.newBuilder[(String, Int)]
    while (cursor.next()) out += new String(cursor.keyBytes, UTF_8) -> cursor.ordinal
    out.result()
  }
}
