package hudiidx.log

import hudiidx.{Fixtures, IndexNotWritable}
import hudiidx.bytes.{ByteSlice, Bytes}
import java.nio.file.Files
import org.scalacheck.Gen
import org.scalatest.funsuite.AnyFunSuite
import org.scalatestplus.scalacheck.ScalaCheckPropertyChecks

final class EntrySorterSuite extends AnyFunSuite with ScalaCheckPropertyChecks {

  private val bytes: Gen[Array[Byte]] = Gen.oneOf(
    Gen.listOf(Gen.oneOf(Seq[Byte](0, 1, 127, -128, -1))).map(_.toArray),
    Gen.listOf(Gen.choose(Byte.MinValue, Byte.MaxValue)).map(_.toArray),
    Gen.choose(0, 30).map(n => f"common prefix $n%05d".getBytes),
    Gen.choose(0, 400).map(n => Array.fill[Byte](n)(7))
  )

  private def sorted(entries: Seq[(Array[Byte], Array[Byte])], budget: Long): Vector[(Vector[Byte], Vector[Byte])] = {
    val dir = Fixtures.newFolder("sorter")
    val sorter = new EntrySorter(budget, dir)
    val (key, value) = (new ByteSlice, new ByteSlice)
    entries.foreach { case (k, v) =>
      key.set(Array[Byte](9) ++ k, 1, k.length)
      value.set(v)
      sorter.add(key, value)
    }
    val cursor = sorter.sorted()
    val found = Vector.newBuilder[(Vector[Byte], Vector[Byte])]
    while (cursor.next()) found += cursor.key.copy.toVector -> cursor.value.copy.toVector
    sorter.close()
    assert(Files.list(dir).count() === 0L)
    found.result()
  }

  test("entries come out by unsigned key bytes, those of one key in the order they came, whatever the budget") {
    val order = Ordering.fromLessThan[Vector[Byte]]((a, b) => Bytes.compare(a.toArray, b.toArray) < 0)
    forAll(Gen.listOf(bytes), Gen.oneOf(1L, 50L, 300L, 3000L, 1L << 20), minSuccessful(200)) { (keys, budget) =>
      val entries = keys.zipWithIndex.map { case (k, i) => k -> BigInt(i).toByteArray }
      val expected = entries.map { case (k, v) => k.toVector -> v.toVector }.toVector.sortBy(_._1)(order)
      assert(sorted(entries, budget) === expected)
    }
  }

  test("thousands of runs are merged level by level, and no more than a few dozen files are open") {
    val entries = (0 until 5000).map(i => s"k${i * 7919 % 5000}".getBytes -> Array[Byte]((i % 100).toByte))
    val found = sorted(entries, budget = 1)
    assert(found.map(e => new String(e._1.toArray)) === entries.map(e => new String(e._1)).sorted.toVector)
  }

  test("temporary files have no name while the sorter is open, so that a killed process leaves none") {
    val dir = Fixtures.newFolder("sorter")
    val sorter = new EntrySorter(10, dir)
    val slice = new ByteSlice
    slice.set("0123456789".getBytes)
    (0 until 100).foreach(_ => sorter.add(slice, slice))
    assert(sorter.spilledBytes > 0)
    assert(Files.list(dir).count() === 0L)
    sorter.close()
  }

  test("a folder that takes no files is an error that names it and a remedy") {
    val gone = Fixtures.newFolder("sorter").resolve("missing")
    val sorter = new EntrySorter(10, gone)
    val slice = new ByteSlice
    slice.set("0123456789".getBytes)
    val e = intercept[IndexNotWritable](sorter.add(slice, slice))
    assert(e.getMessage.startsWith(gone.toString) && e.getMessage.contains("java.io.tmpdir"))
  }
}
