package hudiidx

import org.scalatest.funsuite.AnyFunSuite

final class ElapsedSuite extends AnyFunSuite {
  test("no span of time that waits is told as none") {
    assert(
      Seq(0L, 1L, 400L, 999L, 1000L, 120999L)
        .map(Elapsed.text) === Seq("0 ms", "1 ms", "400 ms", "999 ms", "1 s", "120 s")
    )
  }
}
