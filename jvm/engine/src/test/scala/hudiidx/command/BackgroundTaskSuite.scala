package hudiidx.command

import java.util.concurrent.CountDownLatch

import hudiidx.InvalidOption
import org.scalatest.funsuite.AnyFunSuite

final class BackgroundTaskSuite extends AnyFunSuite {
  test("work goes on beside its maker, who gets what it gives") {
    val made = new CountDownLatch(1)
    val work = new BackgroundTask({ made.await(); 7 })
    made.countDown()
    assert(work.get === 7)
    assert(work.get === 7)
  }

  test("what the work throws is thrown where it is asked for") {
    val work = new BackgroundTask[Int](throw new InvalidOption("no such thing"))
    assert(intercept[InvalidOption](work.get).getMessage === "no such thing")
  }
}
