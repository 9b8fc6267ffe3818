package hudiidx.command

import scala.annotation.tailrec

import hudiidx.InvalidOption
import hudiidx.store.Retention
import hudiidx.sync.IndexOptions
import hudiidx.table.query.QueryInstant

/** @param asOf   requested time of an instant; None: the latest
  *  @param limit  most files or slices to print; None = all
  *  @param output folder of an export; None: the usual one
  *  @param keep   whether updates of the index keep the export in step from now on; None: as it is
  */
final case class CommandLine(
    command: String,
    table: String,
    partition: Option[String] = None,
    asOf: Option[String] = None,
    limit: Option[Int] = None,
    sweep: Boolean = false,
    options: IndexOptions = IndexOptions(),
    output: Option[String] = None,
    readOptimized: Boolean = false,
    keep: Option[Boolean] = None
)

/** An argument behind command and table.
  *
  *  @param value what its value is called; None: it has none
  *  @param set   what it does to a call; the value is empty where it has none
  */
final private case class Argument(name: String, value: Option[String], set: (CommandLine, String) => CommandLine) {
  def usage: String = s"[$name${value.fold("")(" " + _)}]"
}

object CommandLine {
  val Commands: Vector[String] = Vector(
    "partitions",
    "files",
    "slices",
    "lookup",
    "info",
    "perf",
    "log-show",
    "log-find",
    "export-symlinks",
    "expire",
    "doctor",
    "report"
  )

  private val Arguments: Vector[Argument] = Vector(
    valued("--partition", "P")((call, p) => call.copy(partition = Some(p))),
    valued("--as-of", "T")((call, t) => call.copy(asOf = Some(QueryInstant.parse("--as-of", t)))),
    valued("--limit", "N")((call, n) => call.copy(limit = Some(count("--limit", n)))),
    valued("--index-path", "P")((call, p) => withOptions(call)(_.copy(indexPath = Some(p)))),
    flag("--strict")(call => withOptions(call)(_.copy(strict = true))),
    flag("--sweep")(_.copy(sweep = true)),
    valued("--retain-last", "N") { (call, n) =>
      retaining(call)(_.copy(retained = math.max(1, count("--retain-last", n))))
    },
    valued("--older-than-minutes", "N") { (call, n) =>
      retaining(call)(_.copy(minAgeMillis = count("--older-than-minutes", n) * 60000L))
    },
    valued("--output", "P")((call, p) => call.copy(output = Some(p))),
    flag("--read-optimized")(_.copy(readOptimized = true)),
    flag("--keep")(_.copy(keep = Some(true))),
    flag("--no-keep")(_.copy(keep = Some(false)))
  )

  private val Usage = s"usage: ${Commands.mkString("|")} TABLE ${Arguments.map(_.usage).mkString(" ")}"

  /** InvalidOption for anything that is not a call. */
  def parse(args: Array[String]): CommandLine =
    if (args.length < 2 || !Commands.contains(args(0))) throw new InvalidOption(Usage)
    else of(args(0), args(1), args.drop(2).toSeq)

  /** A call of any command. InvalidOption for what is no argument. */
  private[hudiidx] def of(command: String, table: String, arguments: Seq[String]): CommandLine =
    taken(CommandLine(command, table), arguments.toList)

  @tailrec private def taken(call: CommandLine, rest: List[String]): CommandLine = rest match {
    case Nil          => call
    case name :: more =>
      val argument = Arguments.find(a => a.name == name && (a.value.isEmpty || more.nonEmpty)).getOrElse {
        throw new InvalidOption(s"argument '$name' is unknown or lacks its value; $Usage")
      }
      if (argument.value.isEmpty) taken(argument.set(call, ""), more)
      else taken(argument.set(call, more.head), more.tail)
  }

  private def valued(name: String, value: String)(set: (CommandLine, String) => CommandLine): Argument =
    Argument(name, Some(value), set)

  private def flag(name: String)(set: CommandLine => CommandLine): Argument =
    Argument(name, None, (call, _) => set(call))

  private def withOptions(call: CommandLine)(change: IndexOptions => IndexOptions): CommandLine =
    call.copy(options = change(call.options))

  private def retaining(call: CommandLine)(change: Retention => Retention): CommandLine =
    withOptions(call)(o => o.copy(retention = change(o.retention)))

  private def count(name: String, value: String): Int =
    try math.max(0, value.toInt)
    catch { case _: NumberFormatException => throw new InvalidOption(s"$name takes a whole number, not '$value'") }
}
