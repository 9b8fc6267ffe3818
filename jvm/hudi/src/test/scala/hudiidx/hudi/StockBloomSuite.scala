package hudiidx.hudi

import java.nio.ByteBuffer
import java.nio.charset.StandardCharsets.UTF_8

import hudiidx.column._
import org.apache.hudi.common.bloom.BloomFilterFactory
import org.scalacheck.Gen
import org.scalacheck.rng.Seed
import org.scalatest.funsuite.AnyFunSuite

/** Bloom records made of filters that stock Hudi's own classes make. */
class StockBloomSuite extends AnyFunSuite {
  private val columns = Vector(IndexedColumn("_hoodie_record_key", ColumnType.Text, "bloom"))

  // Lengths of all remainders by four, with bytes that Java takes for negative.
  private val key =
    Gen.choose(1, 23).flatMap(Gen.listOfN(_, Gen.oneOf("a", "0", "-", "é", "日", "😀", "\u007f"))).map(_.mkString)

  for ((kind, entries, most) <- Seq(("SIMPLE", 4000, 0), ("DYNAMIC_V0", 2000, 6000), ("DYNAMIC_V0", 60000, 100000)))
    test(s"$kind of $entries entries: every key is found in its record, few others are") {
      val seed = System.nanoTime()
      info(s"seed $seed")
      val keys = Gen.listOfN(2500, key).pureApply(Gen.Parameters.default, Seed(seed)).distinct
      val stock = BloomFilterFactory.createBloomFilter(entries, 1e-7, most, kind)
      keys.foreach(stock.add)
      val footer = Map(HudiBloom.FilterKeys.head -> stock.serializeToString, HudiBloom.TypeKey -> kind)
      Seq(0.1, 0.01, 0.0001).foreach { fpp =>
        val record = HudiBloom.of(footer.get).flatMap(_.record(fpp)).get
        keys.foreach(k => assert(might(record, k), s"seed $seed, '$k'"))
        val wrong = (0 until 4000).count(i => might(record, s"other-$i"))
        assert(wrong <= 4000 * fpp * 2 + 8, s"$wrong at $fpp")
        assert(record.length * 8.0 / keys.size < 1.44 * -math.log(fpp) / math.log(2) * 2 + 8)
      }
    }

  private def might(record: Array[Byte], key: String): Boolean = {
    val leaf = LeafTest(nulls = false, Some(ValueSets.oneOf(Array(key.getBytes(UTF_8)))))
    BloomKind.test(columns, Vector(Some(leaf))).get.mightMatch(ByteBuffer.wrap(record))
  }
}
