package hudiidx.spark

import scala.collection.mutable

import org.apache.logging.log4j.core.appender.AbstractAppender
import org.apache.logging.log4j.core.config.{LoggerConfig, Property}
import org.apache.logging.log4j.core.{LogEvent, LoggerContext}
import org.apache.logging.log4j.{Level, LogManager}

/** What our packages log while something is done. */
object LogLines {

  /** @param least of the levels */
  def of(least: Level)(work: => Any): Vector[String] = {
    val told = mutable.ArrayBuffer.empty[String]
    val appender = new AbstractAppender("told", null, null, true, Property.EMPTY_ARRAY) {
      override def append(event: LogEvent): Unit =
        synchronized(told += event.getMessage.getFormattedMessage ++= Option(event.getThrown).map(_.toString)): Unit
    }
    appender.start()
    val context = LogManager.getContext(false).asInstanceOf[LoggerContext]
    val logger = new LoggerConfig("hudiidx", least, false)
    logger.addAppender(appender, least, null)
    context.getConfiguration.addLogger("hudiidx", logger)
    context.updateLoggers()
    try work: Unit
    finally {
      context.getConfiguration.removeLogger("hudiidx")
      context.updateLoggers()
    }
    told.toVector
  }
}
