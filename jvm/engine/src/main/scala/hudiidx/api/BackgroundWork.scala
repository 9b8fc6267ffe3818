package hudiidx.api

import hudiidx.Log
import java.util.concurrent.ConcurrentHashMap

import scala.util.control.NonFatal

/** Work that nobody waits for. It ends with the process; what it leaves undone a later call takes up. */
private[api] object BackgroundWork {
  private val log = Log.of(BackgroundWork.getClass)

  private val running = ConcurrentHashMap.newKeySet[String]()

  /** True while work on this table's index runs in this process. */
  def isOn(tablePath: String): Boolean = running.contains(tablePath)

  def start(tablePath: String, title: String)(work: => Any): Unit = {
    val loader = Thread.currentThread.getContextClassLoader
    running.add(tablePath)
    val thread = new Thread(
      () =>
        try { work; () }
        catch { case NonFatal(e) => log.failed(s"$tablePath: $title: not done, `hudiidx update` tries again", e) }
        finally running.remove(tablePath): Unit,
      s"hudiidx: $title of $tablePath"
    )
    // Kinds of index may come from jars that the session added.
    thread.setContextClassLoader(loader)
    thread.setDaemon(true)
    thread.start()
  }
}
