package hudiidx.table.query

import java.time.format.{DateTimeFormatter, DateTimeParseException}
import java.time.{LocalDate, LocalDateTime}

import hudiidx.InvalidOption

/** The forms in which Hudi takes a query instant. */
object QueryInstant {
  private val Millis = DateTimeFormatter.ofPattern("yyyyMMddHHmmssSSS")
  private val Text = DateTimeFormatter.ofPattern("yyyy-MM-dd HH:mm:ss.SSS")

  /** An instant time that orders as a string among the table's instants. `yyyyMMddHHmmss[SSS]` stays as it is;
    *  `yyyy-MM-dd HH:mm:ss` without milliseconds means the end of that second, `yyyy-MM-dd` the start of the day.
    *  InvalidOption for anything else. `option` is named in the error.
    */
  def parse(option: String, value: String): String =
    try
      value.length match {
        case 14 => checked(value, value + "000")
        case 17 => checked(value, value)
        case 19 => LocalDateTime.parse(value + ".999", Text).format(Millis)
        case 23 => LocalDateTime.parse(value, Text).format(Millis)
        case 10 => LocalDate.parse(value).atStartOfDay.format(Millis)
        case _  => throw invalid(option, value)
      }
    catch { case _: DateTimeParseException => throw invalid(option, value) }

  private def checked(value: String, millis: String): String = {
    LocalDateTime.parse(millis, Millis)
    value
  }

  private def invalid(option: String, value: String): InvalidOption = new InvalidOption(
    s"$option: '$value' is not an instant; use yyyyMMddHHmmss[SSS], 'yyyy-MM-dd HH:mm:ss[.SSS]' or yyyy-MM-dd"
  )
}
