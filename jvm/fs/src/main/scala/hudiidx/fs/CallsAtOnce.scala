package hudiidx.fs

import java.io.InterruptedIOException
import java.security.PrivilegedExceptionAction
import java.util.concurrent.{Callable, Future, SynchronousQueue, ThreadPoolExecutor, TimeUnit}
import java.util.concurrent.atomic.AtomicLong

import hudiidx.storage.FarCalls
import org.apache.hadoop.security.UserGroupInformation

/** Calls of a store that do not wait for each other, made at the same time as the user who asks. The caller's thread makes the first
  * of them, and whatever finds no thread: one that is made here may make others at once.
  */
private[fs] object CallsAtOnce {
  private val MostThreads = 64
  private val IdleSeconds = 30L
  private val made = new AtomicLong

  private val threads = new ThreadPoolExecutor(
    0,
    MostThreads,
    IdleSeconds,
    TimeUnit.SECONDS,
    new SynchronousQueue[Runnable],
    (task: Runnable) => {
      val thread = new Thread(task, s"hudiidx-calls-${made.incrementAndGet()}")
      thread.setDaemon(true)
      thread
    },
    new ThreadPoolExecutor.CallerRunsPolicy
  )

  private type Outcome[A] = Either[Throwable, A]

  /** What they give, in their order; the first error in this order once all have ended. */
  def apply[A](calls: Vector[() => A]): Vector[A] = {
    val others = calls.drop(1).map(submit(_))
    val outcomes = outcome(calls.head) +: ended(others, isOurs = true)
    outcomes.map(_.fold(e => throw e, identity))
  }

  /** Makes a call, and waits for its end where the result is called, which may be often: who is interrupted there leaves it to others. */
  def begin(call: () => Unit): () => Unit = {
    val begun = submit(call)
    () => ended(Vector(begun), isOurs = false).foreach(_.fold(e => throw e, identity))
  }

  private def submit[A](call: () => A): Future[Outcome[A]] =
    threads.submit(
      task(UserGroupInformation.getCurrentUser, Thread.currentThread.getContextClassLoader, FarCalls.heardHere(call))
    )

  private def outcome[A](call: () => A): Outcome[A] =
    try Right(call())
    catch { case e: Throwable => Left(e) }

  private def task[A](user: UserGroupInformation, loader: ClassLoader, call: () => A): Callable[Outcome[A]] = () => {
    val thread = Thread.currentThread
    val before = thread.getContextClassLoader
    thread.setContextClassLoader(loader)
    try user.doAs((() => outcome(call)): PrivilegedExceptionAction[Outcome[A]])
    finally thread.setContextClassLoader(before)
  }

  /** @param isOurs nobody else waits for them */
  private def ended[A](all: Vector[Future[Outcome[A]]], isOurs: Boolean): Vector[Outcome[A]] =
    try all.map(_.get)
    catch {
      case e: InterruptedException =>
        if (isOurs) all.foreach(_.cancel(true))
        Thread.currentThread.interrupt()
        val stopped = new InterruptedIOException("interrupted while waiting for calls of a store")
        stopped.initCause(e)
        throw stopped
    }
}
