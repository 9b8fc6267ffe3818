package hudiidx.command

import java.util.concurrent.{ExecutionException, FutureTask}

/** Work on a thread of its own, beside what its maker does next. Loading classes is most of a short command's time, and two threads load
  *  them at once; of different libraries, as two that initialise the classes of one can wait for each other for ever.
  */
private[hudiidx] final class BackgroundTask[A](work: => A) {
  private val task = new FutureTask[A](() => work)
  private val thread = new Thread(task, "hudiidx-background")
  thread.setDaemon(true)
  thread.start()

  /** What the work gave, or threw. */
  def get: A =
    try task.get()
    catch { case e: ExecutionException => throw e.getCause }
}
