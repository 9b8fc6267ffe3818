package hudiidx.merge

import hudiidx.CpuClock
import hudiidx.bytes.{ByteSlice, XxHash64}
import hudiidx.log.{KeyVersion, OrderingValue}
import java.nio.{ByteBuffer, ByteOrder}
import org.scalatest.funsuite.AnyFunSuite

class WinnerTableSuite extends AnyFunSuite {

  test("keys that somebody made to have one XXH64 are merged in time") {
    val keys = WinnerTableSuite.ofOneHash(60000)
    val hashes = keys.map(k => XxHash64.hash(ByteBuffer.wrap(k).order(ByteOrder.LITTLE_ENDIAN), 0, k.length, 0L))
    assert(hashes.distinct.size === 1)
    val table = new WinnerTable(null)
    val key = new ByteSlice
    val took = CpuClock.millis(keys.zipWithIndex.foreach { case (bytes, n) =>
      key.set(bytes, 0, bytes.length)
      table.add(key, KeyVersion(isDelete = false, fromDeleteBlock = false, OrderingValue.Default, n))
    })
    assert(took < 5000)
    keys.zipWithIndex.foreach { case (bytes, n) => assert(table.find(bytes, 0, bytes.length) === n) }
  }
}

object WinnerTableSuite {
  private val Prime1 = 0x9e3779b185ebca87L
  private val Prime2 = 0xc2b2ae3d27d4eb4fL

  /** What one 64-bit word does to a lane of XXH64. */
  private def round(lane: Long, word: Long): Long = java.lang.Long.rotateLeft(lane + word * Prime2, 31) * Prime1

  /** The number whose product with `odd` is 1. */
  private def inverse(odd: Long): Long = (1 to 6).foldLeft(odd)((x, _) => x * (2 - odd * x))

  /** Keys of 64 bytes: the second word of the first lane undoes what the first one did. */
  def ofOneHash(count: Int): Vector[Array[Byte]] = {
    val start = Prime1 + Prime2
    Vector.tabulate(count) { n =>
      val first = round(start, n.toLong)
      val key = ByteBuffer.allocate(64).order(ByteOrder.LITTLE_ENDIAN)
      key.putLong(0, n.toLong).putLong(32, -first * inverse(Prime2))
      key.array
    }
  }
}
