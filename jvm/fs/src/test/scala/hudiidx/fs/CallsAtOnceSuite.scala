package hudiidx.fs

import java.io.{IOException, InterruptedIOException}
import java.security.PrivilegedExceptionAction
import java.util.concurrent.atomic.AtomicInteger
import java.util.concurrent.{CountDownLatch, TimeUnit}

import org.apache.hadoop.security.UserGroupInformation
import org.scalatest.funsuite.AnyFunSuite

final class CallsAtOnceSuite extends AnyFunSuite {

  test("calls are made at the same time, and what they give comes in their order") {
    val all = new CountDownLatch(8)
    val found = CallsAtOnce(
      Vector.tabulate(8)(n =>
        () => {
          all.countDown()
          assert(all.await(60, TimeUnit.SECONDS), "each waits for all")
          n
        }
      )
    )
    assert(found === Vector.range(0, 8))
  }

  test("the first error by their order is raised, when all have ended") {
    val ended = new AtomicInteger
    val calls = Vector.tabulate(6)(n =>
      () => {
        Thread.sleep(n * 10L)
        ended.incrementAndGet()
        if (n == 2 || n == 4) throw new IOException(s"call $n")
      }
    )
    assert(intercept[IOException](CallsAtOnce(calls)).getMessage === "call 2")
    assert(ended.get === 6)
    intercept[StackOverflowError](CallsAtOnce(Vector(() => 1, () => throw new StackOverflowError)))
  }

  test("who is interrupted waiting for a call that goes on leaves it to the next one who waits") {
    val goesOn = new CountDownLatch(1)
    val end = CallsAtOnce.begin(() => assert(goesOn.await(60, TimeUnit.SECONDS)))
    Thread.currentThread.interrupt()
    intercept[InterruptedIOException](end())
    assert(Thread.interrupted())
    goesOn.countDown()
    end()
    end()
  }

  test("calls that make calls end, however many there are") {
    val found = CallsAtOnce(Vector.tabulate(200)(n => () => CallsAtOnce(Vector.tabulate(5)(m => () => n * m)).sum))
    assert(found === Vector.tabulate(200)(_ * 10))
  }

  test("they are made as the caller's user and with its class loader") {
    val loader = new ClassLoader(getClass.getClassLoader) {}
    val thread = Thread.currentThread
    val before = thread.getContextClassLoader
    def seen() = (UserGroupInformation.getCurrentUser.getUserName, Thread.currentThread.getContextClassLoader)
    val ask: PrivilegedExceptionAction[Vector[(String, ClassLoader)]] = () => CallsAtOnce(Vector.fill(4)(() => seen()))
    thread.setContextClassLoader(loader)
    val found =
      try UserGroupInformation.createRemoteUser("ada").doAs(ask)
      finally thread.setContextClassLoader(before)
    assert(found.distinct === Vector(("ada", loader)))
    assert(
      CallsAtOnce(Vector.fill(4)(() => seen()._1)).distinct === Vector(UserGroupInformation.getCurrentUser.getUserName)
    )
  }

  test("who is interrupted while it waits stops, and so do the calls") {
    val stopped = new CountDownLatch(1)
    val waiter = new Thread(() =>
      try CallsAtOnce(Vector(() => (), () => new CountDownLatch(1).await()))
      catch { case _: InterruptedIOException if Thread.currentThread.isInterrupted => stopped.countDown() }
    )
    waiter.start()
    Thread.sleep(100)
    waiter.interrupt()
    assert(stopped.await(60, TimeUnit.SECONDS))
  }
}
