package hudiidx.spark.tag

import hudiidx.spark.options.{RowsEstimate, TagSizes, TagStrategy}
import hudiidx.InvalidOption
import org.scalatest.funsuite.AnyFunSuite

final class TagStrategySuite extends AnyFunSuite {
  private val megabyte = 1L << 20
  private val small =
    TagSizes(groups = 2, indexBytes = 30 * megabyte, sliceBytes = 0, cores = 4, cacheBytes = 64 * megabyte)
  private val large = small.copy(groups = 100, indexBytes = 6400 * megabyte)

  private def auto(sizes: TagSizes, most: Option[Long], bytes: Option[Long]): String =
    sizes.choose(TagStrategy.Auto, RowsEstimate(most, bytes)).strategy

  test("few rows come to the driver, unless they are wide") {
    assert(auto(large, Some(1000), Some(100000)) === TagStrategy.Driver)
    assert(auto(large, Some(1000), Some(1L << 40)) === TagStrategy.Shuffle)
  }

  test("an index that fits into a cache is looked up by each task") {
    assert(auto(small, None, None) === TagStrategy.Direct)
    assert(auto(small, None, Some(1L << 40)) === TagStrategy.Direct)
  }

  test("a small DataFrame in many parts is looked up by as many tasks as run at once") {
    def tasks(bytes: Option[Long]): Int = small.choose(TagStrategy.Direct, RowsEstimate(None, bytes)).parts
    assert(tasks(Some(megabyte)) === 4)
    assert(tasks(Some(1280 * megabyte)) === 10)
    assert(tasks(None) === Int.MaxValue)
  }

  test("a large index: directly for few rows, by hash for many or for who knows how many") {
    assert(auto(large, None, Some(megabyte)) === TagStrategy.Direct)
    assert(auto(large, None, Some(100000 * megabyte)) === TagStrategy.Shuffle)
    assert(auto(large, None, None) === TagStrategy.Shuffle)
  }

  test("many files beside the index: by hash, in parts that fit into memory, even if direct was asked for") {
    val behind = small.copy(sliceBytes = 3200 * megabyte)
    assert(auto(behind, None, Some(megabyte)) === TagStrategy.Shuffle)
    val asked = behind.choose(TagStrategy.Direct, RowsEstimate(None, None))
    assert(asked.strategy === TagStrategy.Shuffle && asked.parts === 200)
    assert(small.choose(TagStrategy.Shuffle, RowsEstimate(None, None)).parts === 4)
    assert(large.choose(TagStrategy.Shuffle, RowsEstimate(None, None)).parts === 100)
  }

  test("an unknown strategy is refused with those that are known") {
    assert(intercept[InvalidOption](TagStrategy.checked("join")).getMessage.contains("shuffle"))
  }
}
