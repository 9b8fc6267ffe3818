package hudiidx.bytes

import java.nio.{ByteBuffer, ByteOrder}

import org.scalatest.funsuite.AnyFunSuite

class SeededHashSuite extends AnyFunSuite {
  private def buffer(bytes: Array[Byte]) = ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN)

  test("the hash is that of the bytes, wherever they stand, and of their number") {
    val hashes = new SeededHash
    val bytes = Array.tabulate[Byte](64)(i => (i * 37).toByte)
    for (from <- 0 to 20; length <- 0 to 40) {
      val alone = java.util.Arrays.copyOfRange(bytes, from, from + length)
      assert(hashes.hash(buffer(bytes), from, length) === hashes.hash(buffer(alone), 0, length))
    }
    val zeros = (0 to 40).map(n => hashes.hash(buffer(new Array[Byte](n)), 0, n))
    assert(zeros.distinct.size === zeros.size)
  }

  test("keys that differ have different hashes, in their upper and in their lower half") {
    for (_ <- 1 to 5) {
      val hashes = new SeededHash
      val found = (0 until 100000).map { n =>
        val key = f"city=oslo,id:$n%08d".getBytes
        hashes.hash(buffer(key), 0, key.length)
      }
      assert(found.distinct.size === found.size)
      // Of 100,000 numbers of 20 bits 95,380 are expected to differ.
      for (shift <- Seq(0, 32)) assert(math.abs(found.map(h => (h >>> shift) & 0xfffff).distinct.size - 95380) < 1000)
    }
  }

  test("two seeds have two orders of the same keys") {
    def order = {
      val hashes = new SeededHash
      (0 until 50).sortBy(n => hashes.hash(buffer(Array[Byte](n.toByte)), 0, 1))
    }
    assert(order !== order)
  }
}
