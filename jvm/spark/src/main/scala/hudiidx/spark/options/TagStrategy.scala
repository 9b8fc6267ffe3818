package hudiidx.spark.options

import hudiidx.InvalidOption
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan

/** How a DataFrame's keys are looked up. */
object TagStrategy {
  val OptionName = "hudiidx.tag.strategy"
  val Auto = "auto"

  /** The rows come to the driver and are looked up there. */
  val Driver = "driver"

  /** Each task looks its own rows up. */
  val Direct = "direct"

  /** Rows go to tasks by the hash of their keys first, so that each task opens a part of the index only. */
  val Shuffle = "shuffle"
  val All: Vector[String] = Vector(Auto, Driver, Direct, Shuffle)

  /** InvalidOption for another name. */
  def checked(name: String): String =
    if (All.contains(name)) name
    else throw new InvalidOption(s"option $OptionName is '$name'; it takes one of ${All.mkString(", ")}")
}

/** A strategy and the reason for it.
  *
  *  @param parts for `shuffle`, tasks that rows go to; for `direct`, most tasks that look up
  */
final case class TagChoice(strategy: String, reason: String, parts: Int)

/** Chooses by sizes that are known before any row is read.
  *
  *  @param indexBytes of the record files
  *  @param sliceBytes of files that are read because the index does not know them
  *  @param cores      tasks that run at once
  *  @param cacheBytes that a process keeps of index files
  */
final case class TagSizes(groups: Int, indexBytes: Long, sliceBytes: Long, cores: Int, cacheBytes: Long) {
  import TagSizes._

  /** @param wanted      `auto`, or the strategy to take
    * @param severalKeys a row may be in the table under one of several keys, so that none of them tells a task: no shuffle.
    *                    InvalidOption where only that would do
    */
  def choose(wanted: String, rows: RowsEstimate, severalKeys: Boolean = false): TagChoice = {
    val choice = choose(wanted, rows)
    if (!severalKeys || choice.strategy != TagStrategy.Shuffle) choice
    else if (sliceBytes > OverlayBytes)
      throw new InvalidOption(
        s"key: the table may have keys of several forms, which are looked up together, and $sliceBytes bytes of files are to be " +
          "read beside the index, too many for that; make or update the record index, or name a text column with record keys as " +
          "they stand in _hoodie_record_key"
      )
    else direct(rows, "the table may have keys of several forms")
  }

  private def choose(wanted: String, rows: RowsEstimate): TagChoice = wanted match {
    case TagStrategy.Auto                                => auto(rows)
    case TagStrategy.Direct if sliceBytes > OverlayBytes =>
      chosen(
        TagStrategy.Shuffle,
        s"direct was asked for, but $sliceBytes bytes of files are to be read beside the index"
      )
    case TagStrategy.Direct => direct(rows, "asked for")
    case other              => chosen(other, "asked for")
  }

  private def chosen(strategy: String, reason: String): TagChoice = TagChoice(strategy, reason, parts)

  /** Each task opens the pages of its own keys. Tasks with few rows each, of a DataFrame in many parts, would all open
    * almost all pages.
    */
  private def direct(rows: RowsEstimate, reason: String): TagChoice =
    TagChoice(
      TagStrategy.Direct,
      reason,
      rows.bytes.fold(Int.MaxValue)(b => tasksFor(b).min(Int.MaxValue.toLong).toInt)
    )

  private def tasksFor(rowBytes: Long): Long = math.max(cores.toLong, rowBytes / TaskBytes)

  /** So many that each part of the slices' keys fits into a task's memory. */
  private def parts: Int = {
    val forSlices = (sliceBytes + SliceBytesPerPart - 1) / SliceBytesPerPart
    math.min(MostParts.toLong, math.max(forSlices, math.max(groups, cores).toLong)).toInt
  }

  private def auto(rows: RowsEstimate): TagChoice =
    if (rows.most.exists(_ <= DriverRows) && rows.bytes.forall(_ <= DriverBytes))
      chosen(TagStrategy.Driver, s"at most ${rows.most.get} rows")
    else if (sliceBytes > OverlayBytes)
      chosen(TagStrategy.Shuffle, s"$sliceBytes bytes of files are to be read beside the index")
    else if (indexBytes <= cacheBytes)
      direct(rows, s"the index ($indexBytes bytes) fits into a task's cache")
    else
      rows.bytes match {
        case Some(bytes) => bySize(bytes, rows)
        case None        =>
          chosen(TagStrategy.Shuffle, "the number of rows is unknown and the index does not fit into a cache")
      }

  /** Direct lookups read the pages of every task's keys; a shuffle writes and reads the rows, and each page once. */
  private def bySize(rowBytes: Long, estimate: RowsEstimate): TagChoice = {
    val rows = rowBytes / RowBytes + 1
    val tasks = tasksFor(rowBytes)
    val direct = tasks * math.min(indexBytes, rows / tasks * PageBytes)
    val shuffle = math.min(indexBytes, rows * PageBytes) + 2 * rowBytes
    if (direct > 2 * shuffle)
      chosen(TagStrategy.Shuffle, s"about $rows rows: tasks would read $direct bytes of the index")
    else this.direct(estimate, s"about $rows rows: tasks read at most $direct bytes of the index")
  }
}

object TagSizes {
  val DriverRows = 10000L
  val DriverBytes: Long = 16L << 20

  /** Keys of files of so many bytes may be sent to every task. */
  val OverlayBytes: Long = 64L << 20
  private val SliceBytesPerPart = 16L << 20
  private val MostParts = 4096
  private val RowBytes = 64L
  private val PageBytes = 8L << 10
  private val TaskBytes = 128L << 20
}

/** What the planner knows of the rows.
  *
  *  @param most  there are not more
  *  @param bytes about; None if it knows nothing
  */
final case class RowsEstimate(most: Option[Long], bytes: Option[Long])

object RowsEstimate {

  /** Spark's stand-in for "unknown" is larger than any real table. */
  private val Unknown = BigInt(1L << 60)

  def of(plan: LogicalPlan): RowsEstimate = {
    val bytes = plan.stats.sizeInBytes
    RowsEstimate(plan.maxRows, if (bytes < Unknown) Some(bytes.toLong) else None)
  }
}
