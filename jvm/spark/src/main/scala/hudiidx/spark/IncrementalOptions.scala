package hudiidx.spark

import java.util.Locale

import hudiidx.InvalidOption
import hudiidx.sync.{IndexOptions, OptionDoc}
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
  private val Filters = "hoodie.datasource.read.incr.filters"

  val Docs: Vector[OptionDoc] = Vector(
    OptionDoc(Begin, "none", "Incremental query: the commits after this instant; on tables of version 8 with it."),
    OptionDoc(End, "the latest", "Incremental query: the commits up to this instant, with it."),
    OptionDoc(
      Fallback,
      "true from version 8 on",
      "Incremental query: where commits of the range are archived or their files cleaned, read the table's latest files."
    ),
    OptionDoc(
      Holes,
      "FAIL",
      "Incremental query, version 6: FAIL or BLOCK (stop before it) at a write that has not completed."
    ),
    OptionDoc(PathGlob, "none", "Incremental query: only files whose path ends as this glob pattern says."),
    OptionDoc(SkipCompaction, "false", "Incremental query of merge-on-read tables: pass over compactions."),
    OptionDoc(EndSchema, "false", "Incremental query: columns as of the last commit of the range.")
  )

  /** @param own the reader's options and the session's, names in lower case. InvalidOption without a begin, and for change
    *            data capture
    */
  def of(own: Map[String, String]): IncrementalOptions = {
    refuseOthers(own)
    val begin = own.getOrElse(Begin, throw new InvalidOption(s"$Begin: an incremental query needs it"))
    IncrementalOptions(
      IncrementalRequest(
        instant(Begin, begin),
        own.get(End).map(instant(End, _)),
        own.get(Fallback).map(_ => IndexOptions.boolean(own, Fallback, default = true)),
        blockHoles = blocks(own.getOrElse(Holes, "FAIL")),
        skipCompaction = IndexOptions.boolean(own, SkipCompaction, default = false)
      ),
      own.get(PathGlob).filter(_.nonEmpty),
      IndexOptions.boolean(own, EndSchema, default = false)
    )
  }

  private def refuseOthers(own: Map[String, String]): Unit = {
    own.get(Format).map(_.toLowerCase(Locale.ROOT)).foreach {
      case "latest_state" => ()
      case "cdc"          =>
        throw new InvalidOption(
          s"$Format: change data capture queries are not served; read the table with Hudi for them"
        )
      case other => throw new InvalidOption(s"$Format: '$other' is no format; known is latest_state")
    }
    if (own.get(Filters).exists(_.nonEmpty))
      throw new InvalidOption(s"$Filters: not served; filter the DataFrame, filters are pushed down to the files")
    if (own.contains(ReadOptions.AsOfInstant))
      throw new InvalidOption(s"${ReadOptions.AsOfInstant}: an incremental query takes $End in its place")
  }

  /** Compared as a string, so the first digits of an instant are enough: `000` is before all. */
  private def instant(option: String, value: String): String =
    if (value.matches("\\d{1,17}")) value else QueryInstant.parse(option, value)

  private def blocks(policy: String): Boolean = policy.toUpperCase(Locale.ROOT) match {
    case "FAIL"  => false
    case "BLOCK" => true
    case _       => throw new InvalidOption(s"$Holes: '$policy' is not served; known are FAIL and BLOCK")
  }
}
