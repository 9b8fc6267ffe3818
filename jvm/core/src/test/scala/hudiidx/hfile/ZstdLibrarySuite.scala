package hudiidx.hfile

import java.io.{ByteArrayInputStream, IOException}
import java.util.Arrays

import org.scalacheck.Gen
import org.scalatest.funsuite.AnyFunSuite
import org.scalatestplus.scalacheck.ScalaCheckPropertyChecks

/** zstd-jni and aircompressor read each other's frames, and agree on what is none. */
final class ZstdLibrarySuite extends AnyFunSuite with ScalaCheckPropertyChecks {
  private val libraries = Vector(NativeZstd, JavaZstd)

  test("a class path with zstd-jni takes it") {
    assert(ZstdLibrary.current eq NativeZstd)
  }

  test("any bytes come back through the other library, as a block and as a stream") {
    val bytes = Gen.oneOf(Gen.listOf(Gen.choose(0, 3)), Gen.listOf(Gen.choose(-128, 127))).map(_.map(_.toByte).toArray)
    forAll(bytes, Gen.oneOf(libraries), Gen.oneOf(libraries))((b, from, to) => roundTrip(b, from, to))
  }

  test("a frame with any byte changed, or cut, is an IOException or some bytes, never another error") {
    val plain = Array.tabulate[Byte](3000)(i => (i % 37 * (i / 100)).toByte)
    for (library <- libraries) {
      val (frame, length) = library.compress(plain, plain.length, 3)
      val damaged = Vector.tabulate(length)(i => flipped(frame, length, i)) ++
        Vector.tabulate(length)(Arrays.copyOf(frame, _))
      damaged.foreach { bytes =>
        libraries.foreach { reader =>
          try reader.decompress(bytes, 0, bytes.length, new Array[Byte](plain.length), plain.length)
          catch { case _: IOException => () }
          try reader.open(new ByteArrayInputStream(bytes)).readNBytes(plain.length)
          catch { case _: IOException => () }
        }
      }
    }
  }

  private def flipped(frame: Array[Byte], length: Int, at: Int): Array[Byte] = {
    val copy = Arrays.copyOf(frame, length)
    copy(at) = (copy(at) ^ 0x41).toByte
    copy
  }

  private def roundTrip(plain: Array[Byte], from: ZstdLibrary, to: ZstdLibrary): Unit =
    ZstdLibraries.roundTrip(plain, from, to)
}

private[hfile] object ZstdLibraries extends org.scalatest.Assertions {

  /** What one library compressed comes back through the other, as a block and as a stream. */
  def roundTrip(plain: Array[Byte], from: ZstdLibrary, to: ZstdLibrary): Unit = {
    val (frame, length) = from.compress(plain, plain.length, 3)
    val size = to.plainSize(frame, 0, length)
    assert(size === plain.length || size <= 0)
    val target = new Array[Byte](plain.length)
    assert(to.decompress(frame, 0, length, target, plain.length) === plain.length)
    assert(Arrays.equals(target, plain))
    assert(Arrays.equals(to.open(new ByteArrayInputStream(frame, 0, length)).readAllBytes(), plain)): Unit
  }
}
