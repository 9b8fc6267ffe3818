package hudiidx.fuzz

import hudiidx.Figures
import java.util.Random
import org.scalatest.concurrent.TimeLimits
import org.scalatest.funsuite.AnyFunSuite
import org.scalatest.time.SpanSugar._

/** Every parser under changed, cut and mixed seeds: the short form of `scripts/fuzz`, whose findings are seeds here. */
class ParserFuzzSuite extends ParserFuzz(FuzzTarget.all)

/** @param targets of one module */
abstract class ParserFuzz(targets: => Vector[FuzzTarget]) extends AnyFunSuite with TimeLimits {
  private val rounds = sys.env.get("HUDIIDX_FUZZ_ROUNDS").fold(500)(_.toInt)
  private val first = sys.env.get("HUDIIDX_TEST_SEED").fold(20261122L)(_.toLong)

  targets.foreach { target =>
    val name = target.getClass.getSimpleName.stripSuffix("$")
    test(
      s"$name: any change of a file is read or refused with an error of ours, and takes memory in proportion to its bytes"
    ) {
      val seeds = target.seeds
      assert(seeds.nonEmpty)
      Figures.add("hostile files given to parsers", rounds.toLong)
      seeds.zipWithIndex.foreach { case (s, i) => withClue(s"file $i of the seeds: ")(target.fuzzerTestOneInput(s)) }
      for (round <- 0 until rounds) {
        val drawn = new Random(first + round)
        val bytes = changed(seeds(drawn.nextInt(seeds.size)), seeds(drawn.nextInt(seeds.size)), drawn)
        withClue(s"seed ${first + round}: ")(failAfter(20.seconds)(target.fuzzerTestOneInput(bytes)))
      }
    }
  }

  private def changed(seed: Array[Byte], other: Array[Byte], drawn: Random): Array[Byte] = {
    var bytes = seed.clone()
    for (_ <- 0 to drawn.nextInt(4) if bytes.nonEmpty) {
      val at = drawn.nextInt(bytes.length)
      drawn.nextInt(5) match {
        case 0 => bytes(at) = drawn.nextInt().toByte
        case 1 => bytes(at) = ParserFuzzSuite.Extremes(drawn.nextInt(ParserFuzzSuite.Extremes.length))
        case 2 => bytes = bytes.take(at)
        case 3 => bytes = bytes.take(at) ++ bytes.drop(math.min(bytes.length, at + drawn.nextInt(16)))
        case _ => bytes = bytes.take(at) ++ other.slice(at, at + drawn.nextInt(64)) ++ bytes.drop(at)
      }
    }
    bytes
  }
}

private object ParserFuzzSuite {
  val Extremes: Array[Byte] = Array(0, 1, -1, 127, -128)
}
