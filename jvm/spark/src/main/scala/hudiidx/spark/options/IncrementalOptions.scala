package hudiidx.spark.options

import hudiidx.InvalidOption
import hudiidx.sync.OptionDoc
import hudiidx.sync.OptionKind.{Flag, OneOf, Text}
import hudiidx.table.query.{IncrementalRequest, QueryInstant}

/** Settings of an incremental read, under stock Hudi's names.
  *
  *  @param pathGlob only files whose path ends as this pattern says; Hadoop's glob syntax
  *  @param endSchema columns as of the last commit of the range, not of the table
  */
final case class IncrementalOptions(request: IncrementalRequest, pathGlob: Option[String], endSchema: Boolean)

object IncrementalOptions {
  val Begin = "hoodie.datasource.read.begin.instanttime"
  val End = "hoodie.datasource.read.end.instanttime"
  val Fallback = "hoodie.datasource.read.incr.fallback.fulltablescan.enable"
  val Holes = "hoodie.read.timeline.holes.resolution.policy"
  val PathGlob = "hoodie.datasource.read.incr.path.glob"
  val SkipCompaction = "hoodie.datasource.read.incr.skip_compact"
  val EndSchema = "hoodie.datasource.read.schema.use.end.instanttime"
  val Format = "hoodie.datasource.query.incremental.format"

  private val LatestState = "latest_state"
  private val Changes = "cdc"

  private[spark] val Earliest = "earliest"
  private val BeforeAll = "000"
  private val Fail = "FAIL"
  private val Block = "BLOCK"

  private val fallback = OptionDoc(
    Fallback,
    Flag,
    "(`true` from version 8 on)",
    "Incremental: where commits of the range are archived, or files that they wrote are cleaned, take their rows from the " +
      "table's latest files. Else archived commits are left out (version 6) and a file that is gone is `DamagedTable`."
  )
  private val holes = OptionDoc(
    Holes,
    OneOf(Vector(Fail, Block)),
    Fail,
    "Incremental, version 6: at a write that has not completed while later ones have, `FAIL` is an `InvalidOption`, `BLOCK` " +
      "reads the commits before it."
  )
  private val skipCompaction = OptionDoc(
    SkipCompaction,
    Flag,
    "false",
    "Incremental, merge-on-read from version 8 on: skip compactions."
  )
  private val endSchema =
    OptionDoc(EndSchema, Flag, "false", "Incremental: columns as of the last commit of the range.")

  private val format = OptionDoc(
    Format,
    OneOf(Vector(LatestState, Changes)),
    LatestState,
    s"Incremental: `$LatestState`, the rows that the commits wrote, as they left them; `$Changes`, a row for each change of a record " +
      "([changes.md](changes.md)), of tables that keep change data."
  )

  val Docs: Vector[OptionDoc] = Vector(
    format,
    OptionDoc(
      Begin,
      Text("instant"),
      "(none)",
      "Incremental, which needs it: commits after this instant. A requested time on tables of version 6, a completion time later; " +
        "the first digits are enough, `000` and `earliest` are before all. On tables of version 8 a commit that completed at this very time " +
        "counts, as in Hudi 1.0; Hudi 1.2 leaves it out: ask from a millisecond later for their rows."
    ),
    OptionDoc(End, Text("instant"), "(the latest)", "Incremental: commits up to this instant, with it."),
    fallback,
    holes,
    OptionDoc(
      PathGlob,
      Text("glob pattern"),
      "(none)",
      "Incremental: only files whose path ends as this pattern says."
    ),
    skipCompaction,
    endSchema
  )

  /** Are changes asked for? InvalidOption for a form of answers that is not known.
    *
    * @param own the reader's options and the session's, names in lower case
    */
  def isOfChanges(own: Map[String, String]): Boolean = format.choice(own) == Changes

  /** InvalidOption for what would leave changes out.
    *
    * @param own as above
    */
  def ofChanges(own: Map[String, String]): ChangeOptions = {
    val (from, to, commits) = range(own)
    def refuse(option: String) = throw new InvalidOption(
      s"$option: not taken with $Format=$Changes, which tells all changes of the range; leave it out, and filter the DataFrame"
    )
    if (own.get(PathGlob).exists(_.nonEmpty)) refuse(PathGlob)
    if (endSchema.flag(own)) refuse(EndSchema)
    if (own.contains(Fallback) && fallback.flag(own)) refuse(Fallback)
    // Images hold the values that the files have.
    if (own.get(ReadOptions.PartitionsFromPaths).exists(_.equalsIgnoreCase("true")))
      refuse(ReadOptions.PartitionsFromPaths)
    ChangeOptions(from, to, commits)
  }

  /** @param own as above; without a begin it asks for no commits, see `lacksBegin` */
  def of(own: Map[String, String]): IncrementalOptions = {
    val (from, to, commits) = range(own)
    IncrementalOptions(
      IncrementalRequest(
        from,
        to,
        own.get(Fallback).map(_ => fallback.flag(own)),
        blockHoles = holes.choice(own) == Block,
        skipCompaction = IncrementalOptions.skipCompaction.flag(own),
        commits = commits
      ),
      own.get(PathGlob).filter(_.nonEmpty),
      IncrementalOptions.endSchema.flag(own)
    )
  }

  /** Spark asks for the table of a stream as for that of a query, so that only what reads it knows that a begin is needed.
    *
    * @param own as above
    */
  def lacksBegin(own: Map[String, String]): Boolean = !own.contains(Begin)

  private[spark] def beginNeeded = new InvalidOption(
    s"$Begin: an incremental query needs it; give the instant after which commits count, 000 for all"
  )

  private def range(own: Map[String, String]): (String, Option[String], Option[Set[String]]) = {
    if (own.contains(ReadOptions.AsOfInstant))
      throw new InvalidOption(s"${ReadOptions.AsOfInstant}: an incremental query takes $End in its place")
    val from = own.get(Begin).map { b =>
      if (b.trim.equalsIgnoreCase(Earliest)) BeforeAll else instant(Begin, b)
    }
    val none = if (from.isEmpty) Some(Set.empty[String]) else None
    (from.getOrElse(""), own.get(End).map(instant(End, _)), none)
  }

  /** Compared as a string, so the first digits of an instant are enough: `000` is before all. */
  private[spark] def instant(option: String, value: String): String =
    if (value.matches("\\d{1,17}")) value else QueryInstant.parse(option, value)
}
