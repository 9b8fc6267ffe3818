package hudiidx.bytes

import java.nio.charset.StandardCharsets.UTF_8
import net.jpountz.xxhash.XXHashFactory
import org.scalacheck.Gen
import org.scalatest.funsuite.AnyFunSuite
import org.scalatestplus.scalacheck.ScalaCheckPropertyChecks

class XxHash64Suite extends AnyFunSuite with ScalaCheckPropertyChecks {
  private val oracle = XXHashFactory.safeInstance().hash64()

  test("published values") {
    def hash(text: String, seed: Long = 0): String = {
      val bytes = text.getBytes(UTF_8)
      f"${XxHash64.hash(bytes, 0, bytes.length, seed)}%016x"
    }
    assert(hash("") === "ef46db3751d8e999")
    assert(hash("a") === "d24ec4f1a98c6e5b")
    assert(hash("abc") === "44bc2cf5ad770999")
    assert(hash("xxhash") === "32dd38952c4bc720")
    assert(hash("xxhash", 20141025) === "b559b98d844e0635")
    assert(hash("Nobody inspects the spammish repetition") === "fbcea83c8a378bf1")
  }

  test("every length to 200, at any place in an array and under any seed, gives what another implementation gives") {
    forAll(Gen.choose(0, 200), Gen.choose(0, 9), Gen.long, Gen.long) { (length, from, seed, content) =>
      val bytes = new Array[Byte](from + length + 5)
      new java.util.Random(content).nextBytes(bytes)
      assert(XxHash64.hash(bytes, from, length, seed) === oracle.hash(bytes, from, length, seed))
    }
  }
}
