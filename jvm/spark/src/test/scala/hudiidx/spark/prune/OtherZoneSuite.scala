package hudiidx.spark.prune

import java.util.TimeZone

import hudiidx.TestSettings.{isLong, seed}
import hudiidx.spark.Answer
import hudiidx.spark.api.HudiIdxApi
import hudiidx.{Fixtures, HudiIdxException}
import org.scalacheck.Gen
import org.scalacheck.rng.Seed

/** The process is in one zone and the session in another, both of which set their clocks: rows, time travel and filters are what
  * they are elsewhere.
  */
final class OtherZoneSuite extends SkippingSuite {
  private val names = Vector("v6-cow-types", "v9-mor-types", "v8-mor-part", "v9-cow-part")

  private def abroad[A](work: => A): A = {
    val own = TimeZone.getDefault
    TimeZone.setDefault(TimeZone.getTimeZone("America/New_York"))
    try inZone("Australia/Lord_Howe")(work)
    finally TimeZone.setDefault(own)
  }

  for (name <- names) {
    test(s"$name: in other zones rows, now and as of each instant, are stock Hudi's") {
      val stock = Fixtures.json(name)
      abroad {
        Answer.expect(stock.get("snapshot"), Answer.of(read(Fixtures.table(name))))
        stock.get("time_travel").forEach { point =>
          val asOf = point.get("as_of").asText
          def answer = Answer.of(read(Fixtures.table(name), "as.of.instant" -> asOf))
          if (point.has("error")) assert(intercept[HudiIdxException](answer).getMessage.contains(asOf))
          else withClue(s"as of $asOf: ")(Answer.expect(point, answer))
        }
      }
    }

    test(s"$name: in other zones rows of random filters are the same with the column index and without it") {
      info(s"HUDIIDX_TEST_SEED=$seed")
      val table = Fixtures.copy(name)
      val gen = TablePredicates.of(read(table))
      abroad {
        new HudiIdxApi(spark, table, java.util.Map.of("hudiidx.columns", "*")).create()
        (0 until (if (isLong) 200 else 10)).foreach { i =>
          val where = gen.pureApply(Gen.Parameters.default, Seed(seed + i))
          withClue(s"seed $seed, $where: ") {
            assert(rows(read(table).where(where)) === rows(read(table, off).where(where)))
          }
        }
      }
    }
  }
}
