package hudiidx

import org.slf4j.{Logger, LoggerFactory}
import org.slf4j.helpers.MessageFormatter

/** A log whose lines are lines: see [[Texts]]. Nothing else of ours logs. */
final class Log private (to: Logger) {

  /** @param format with `{}` for each argument */
  def warn(format: String, arguments: Any*): Unit = if (to.isWarnEnabled) to.warn("{}", line(format, arguments))

  def info(format: String, arguments: Any*): Unit = if (to.isInfoEnabled) to.info("{}", line(format, arguments))

  def debug(format: String, arguments: Any*): Unit = if (to.isDebugEnabled) to.debug("{}", line(format, arguments))

  /** With the stack of what failed. */
  def failed(text: String, cause: Throwable): Unit =
    if (to.isWarnEnabled) to.warn(Texts.shown(s"$text: $cause"), Log.told(cause, Log.MostCauses))

  private def line(format: String, arguments: Seq[Any]): String = Texts.shown(
    if (arguments.isEmpty) format
    else MessageFormatter.arrayFormat(format, arguments.map(_.asInstanceOf[AnyRef]).toArray, null).getMessage
  )
}

object Log {
  def of(name: String): Log = new Log(LoggerFactory.getLogger(name))
  def of(owner: Class[_]): Log = new Log(LoggerFactory.getLogger(owner))

  /** A failure as it is logged: messages of others' exceptions hold names too. */
  private final class Told(text: String, cause: Throwable) extends RuntimeException(text, cause, false, true) {
    override def toString: String = text
  }

  private def told(failure: Throwable, causes: Int): Throwable =
    if (failure == null || causes == 0) null
    else {
      val made = new Told(Texts.shown(failure.toString), told(failure.getCause, causes - 1))
      made.setStackTrace(failure.getStackTrace)
      made
    }

  private val MostCauses = 12
}
