package hudiidx

import java.util.concurrent.ConcurrentHashMap

/** Warns of a thing once in this process, until what there is to say of it changes: of what is looked at time and again. */
final class LogOnce(log: Log) {
  private val told = new ConcurrentHashMap[String, String]

  /** @param of    table or folder
    * @param found None: all is well
    */
  def warn(of: String, found: Option[String]): Unit = found match {
    case None       => told.remove(of): Unit
    case Some(text) => if (told.put(of, text) != text) log.warn("{}", text)
  }

  /** Next time it is said again. */
  def forget(of: String): Unit = told.remove(of): Unit
}
