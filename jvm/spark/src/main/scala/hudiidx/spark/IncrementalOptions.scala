package hudiidx.spark

import hudiidx.InvalidOption
import hudiidx.sync.OptionDoc
import hudiidx.sync.OptionKind.{Flag, OneOf, Text}
import hudiidx.table.{IncrementalRequest, QueryInstant}

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

  private val Earliest = "earliest"
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
    "Incremental, merge-on-read from version 8 on: pass over compactions."
  )
  private val endSchema =
    OptionDoc(EndSchema, Flag, "false", "Incremental: columns as of the last commit of the range.")

  val Docs: Vector[OptionDoc] = Vector(
    OptionDoc(
      Begin,
      Text("instant"),
      "(none)",
      "Incremental, which needs it: commits after this instant. A requested time on tables of version 6, a completion time later; " +
        "the first digits are enough, `000` and `earliest` are before all. On tables of version 8 a commit that completed at this very time " +
        "counts, as in Hudi 1.0."
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

  /** @param own the reader's options and the session's, names in lower case. InvalidOption without a begin */
  def of(own: Map[String, String]): IncrementalOptions = {
    if (own.contains(ReadOptions.AsOfInstant))
      throw new InvalidOption(s"${ReadOptions.AsOfInstant}: an incremental query takes $End in its place")
    val begin = own.getOrElse(
      Begin,
      throw new InvalidOption(
        s"$Begin: an incremental query needs it; give the instant after which commits count, 000 for all"
      )
    )
    IncrementalOptions(
      IncrementalRequest(
        if (begin.trim.equalsIgnoreCase(Earliest)) BeforeAll else instant(Begin, begin),
        own.get(End).map(instant(End, _)),
        own.get(Fallback).map(_ => fallback.flag(own)),
        blockHoles = holes.choice(own) == Block,
        skipCompaction = IncrementalOptions.skipCompaction.flag(own)
      ),
      own.get(PathGlob).filter(_.nonEmpty),
      IncrementalOptions.endSchema.flag(own)
    )
  }

  /** Compared as a string, so the first digits of an instant are enough: `000` is before all. */
  private def instant(option: String, value: String): String =
    if (value.matches("\\d{1,17}")) value else QueryInstant.parse(option, value)
}
