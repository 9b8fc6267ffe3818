package hudiidx.bytes

import org.scalacheck.Gen
import org.scalatest.funsuite.AnyFunSuite
import org.scalatestplus.scalacheck.ScalaCheckPropertyChecks

class PackedIntsSuite extends AnyFunSuite with ScalaCheckPropertyChecks {
  private val edges = Gen.oneOf(Long.MinValue, Long.MaxValue, -1L, 0L, 1L, 127L, 128L, Int.MaxValue.toLong)
  private val anyLong = Gen.oneOf(edges, Gen.long, Gen.choose(-300L, 300L))

  test("a column gives back the numbers that were put in, whatever their width") {
    forAll(Gen.listOf(anyLong), Gen.choose(0, 63)) { (values, shift) =>
      val numbers = values.map(_ >> shift).toArray
      val out = new PackedOutput
      out.string("before")
      out.column(numbers, numbers.length)
      out.varint(7)
      val in = new PackedInput(out.toBytes)
      assert(in.string() === "before")
      assert(in.column(numbers.length).toSeq === numbers.toSeq)
      assert(in.varint() === 7)
      assert(in.remaining === 0)
    }
  }

  test("varints and zigzags keep every number") {
    forAll(anyLong) { v =>
      val out = new PackedOutput
      out.varint(v)
      out.zigzag(v)
      val in = new PackedInput(out.toBytes)
      assert(in.varint() === v)
      assert(in.zigzag() === v)
    }
  }

  test("a constant column takes two bytes") {
    val out = new PackedOutput
    out.column(Array.fill(1000)(42L), 1000)
    assert(out.size === 2)
  }

  test("data cut at any length is refused, never read past its end") {
    val out = new PackedOutput
    out.string("text")
    out.column(Array.tabulate(50)(i => i * 977L), 50)
    out.bytes(Array.fill(9)(3))
    val whole = out.toBytes
    (0 until whole.length).foreach { length =>
      val in = new PackedInput(java.util.Arrays.copyOf(whole, length))
      assertThrows[IllegalArgumentException] {
        in.string()
        in.column(50)
        in.bytes()
      }
    }
  }

  test("a hostile count is refused before anything is allocated") {
    val out = new PackedOutput
    out.varint(Int.MaxValue)
    assertThrows[IllegalArgumentException](new PackedInput(out.toBytes).count(1))
    assertThrows[IllegalArgumentException](new PackedInput(out.toBytes).bytes())
  }
}
