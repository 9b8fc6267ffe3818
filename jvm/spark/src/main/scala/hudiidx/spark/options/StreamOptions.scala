package hudiidx.spark.options

import java.util.Locale

import hudiidx.{InvalidOption, TableFormat, WholeNumber}
import hudiidx.sync.OptionDoc
import hudiidx.sync.OptionKind.{IntRange, Text}
import hudiidx.table._
import hudiidx.table.query.{StreamCommits, StreamRequest, StreamStart}

/** Settings of a stream.
  *
  * @param incremental  of each of its batches, but which commits it has
  * @param request      how it goes through the commits
  * @param most         commits of a batch
  * @param tableVersion the version of which it is said that the table has it
  */
final case class StreamOptions(
    start: StreamStart,
    incremental: IncrementalOptions,
    request: StreamRequest,
    most: Option[Int],
    tableVersion: Option[Int]
)

object StreamOptions {
  val Start: String = StreamCommits.Start
  val MaxCommits = "maxCommitsPerTrigger"
  val TableVersion = "hoodie.datasource.read.streaming.table.version"

  private val Latest = "latest"

  private val start = OptionDoc(
    Start,
    Text("`earliest`, `latest` or instant"),
    IncrementalOptions.Earliest,
    "Streams, once: where a new checkpoint begins, with all commits, with those to come, or after an instant, which is meant as " +
      s"that of `${IncrementalOptions.Begin}` and never counts itself."
  )
  private val most = OptionDoc(
    MaxCommits,
    IntRange(1, Int.MaxValue),
    "(all)",
    "Streams: a batch has so many commits at most."
  )

  val Docs: Vector[OptionDoc] = Vector(start, most)

  /** How much others' streams read at once; not followed. */
  private val OtherLimits =
    Vector(
      "maxFilesPerTrigger",
      "maxBytesPerTrigger",
      "maxRowsPerTrigger",
      "maxRecordsPerTrigger",
      "maxVersionsPerTrigger"
    )

  /** Is it a stream's alone, which a batch's rows do not depend on? */
  def isOne(name: String): Boolean = Vector(Start, MaxCommits, TableVersion).exists(_.equalsIgnoreCase(name))

  /** InvalidOption for what a stream does not follow.
    *
    * @param given   the reader's options
    * @param session the session's settings, of which those count that begin with `hoodie.`
    * @param read    what the table was opened by
    */
  def of(given: Map[String, String], session: Map[String, String], read: ReadOptions): StreamOptions = {
    def lower(settings: Map[String, String]) = settings.map { case (k, v) => k.toLowerCase(Locale.ROOT) -> v }
    val asked = lower(session).filter(_._1.startsWith(ReadOptions.HudiPrefix)) ++ lower(given)
    refuseBounds(asked, read)
    OtherLimits.find(name => asked.contains(name.toLowerCase(Locale.ROOT))).foreach { name =>
      throw new InvalidOption(s"$name: not taken here; $MaxCommits bounds the commits of a batch")
    }
    val incremental = IncrementalOptions.of(asked)
    if (incremental.endSchema)
      throw new InvalidOption(
        s"${IncrementalOptions.EndSchema}: a stream has the table's columns as of its start; leave it out"
      )
    StreamOptions(
      startOf(value(asked, start)),
      incremental,
      StreamRequest(read.changes.isDefined, incremental.request.fallback, failsAtHoles(asked, incremental)),
      value(asked, most).map(v => most.whole(Map(MaxCommits -> v)).toInt),
      value(asked, TableVersion).map(version)
    )
  }

  private def refuseBounds(asked: Map[String, String], read: ReadOptions): Unit = {
    Vector(IncrementalOptions.Begin, IncrementalOptions.End, ReadOptions.AsOfInstant).find(asked.contains).foreach {
      name => throw new InvalidOption(s"$name: a stream does not take it; $Start says where it begins")
    }
    if (read.queryType == ReadOptions.ReadOptimized)
      throw new InvalidOption(
        s"${ReadOptions.QueryType}: a stream reads what commits wrote, with logs; set it to ${ReadOptions.Incremental}, or leave it out"
      )
  }

  /** Where nobody asks for it, streams wait for a write that has not completed. */
  private def failsAtHoles(asked: Map[String, String], incremental: IncrementalOptions): Boolean =
    asked.contains(IncrementalOptions.Holes) && !incremental.request.blockHoles

  private def value(asked: Map[String, String], option: OptionDoc): Option[String] = value(asked, option.name)

  private def value(asked: Map[String, String], name: String): Option[String] =
    asked.get(name.toLowerCase(Locale.ROOT)).map(_.trim)

  private def startOf(text: Option[String]): StreamStart =
    text.getOrElse(start.default).toLowerCase(Locale.ROOT) match {
      case IncrementalOptions.Earliest => StreamStart.Earliest
      case Latest                      => StreamStart.Latest
      case instant                     => StreamStart.After(IncrementalOptions.instant(Start, instant))
    }

  private def version(text: String): Int =
    WholeNumber
      .of(text, Int.MaxValue.toLong)
      .getOrElse(throw new InvalidOption(s"$TableVersion: '$text' is not a table version"))
      .toInt

  /** InvalidOption where instants are meant otherwise than the table has them. */
  def check(asked: StreamOptions, config: TableConfig): Unit = asked.tableVersion.foreach { version =>
    if (TableFormat.upTo(version).exists(_.completionTimes) != config.format.completionTimes)
      throw new InvalidOption(
        s"$TableVersion: unsupported value '$version': the table has version ${config.version}, which decides what instants mean; leave it out"
      )
  }
}
