package hudiidx.report

import hudiidx.column.{ColumnPath, IndexSpec}
import hudiidx.sync.IndexInfo
import hudiidx.sync.build.NeverNames
import hudiidx.table.KeyTexts
import hudiidx.{ShellCommand, Sql}

/** Something that would help.
  *
  *  @param kind    `create`, `update`, `compact`, `cluster`, `add_index`, `drop_index`, `never` or `read_history`
  *  @param title   what to do, in a few words
  *  @param why     what was seen
  *  @param command that does it; empty where none can, which `why` tells
  *  @param runsIn  where it is typed: `shell`, `sql` (a session of Spark with stock Hudi) or `python`
  */
final case class Advice(kind: String, title: String, why: String, command: String, runsIn: String)

/** What a report advises, the most urgent first. */
private[report] final class Advisor(report: TableReport, indexPath: Option[String]) {
  import Advisor._
  private val info = report.info
  private val files = report.files
  private val scans = report.scans
  private val ranged: Vector[String] = info.columns.filter(_.kind == Range).flatMap(_.columns)

  def all: Vector[Advice] = state.toVector ++ never ++ compact ++ cluster ++ addIndex ++ dropIndex ++ readHistory

  private def state: Option[Advice] = info.state match {
    case IndexInfo.Absent =>
      Some(shell("create", "Make the index", "There is no index: files are listed.", "create"))
    case IndexInfo.Broken =>
      Some(shell("create", "Make the index anew", s"It cannot be used: ${info.reason}.", "create"))
    case IndexInfo.Lagging =>
      val why = s"${counted(info.instantsBehind.toLong, "instant")} behind: each read takes these from commit metadata."
      Some(shell("update", "Bring the index up", why, "update"))
    case _ => None
  }

  private def never: Option[Advice] = NeverNames.text(report.strangers).map { why =>
    Advice("never", "Check the columns that are never to be indexed", s"$why.", "", "shell")
  }

  private def compact: Option[Advice] = {
    val most = files.mostLogged.all.headOption.fold(0)(_.logFiles)
    val share = files.logBytes.toDouble / math.max(1L, files.latestBytes)
    if (files.slicesWithLogs == 0 || (share < WorthCompacting && most < ManyLogs)) None
    else {
      val why =
        s"${counted(files.logFiles, "log file")} in ${counted(files.slicesWithLogs, "file slice")}, up to $most in one, " +
          s"are ${percent(share)} of what a query reads, and are merged by each."
      Some(shell("compact", "Compact", why, "compact-table"))
    }
  }

  /** Columns that queries ask for, or that somebody chose to index, and whose bounds are in nearly every slice. */
  private def cluster: Option[Advice] = {
    val poor = report.bounds.columns.filter { c =>
      c.overlap.slices >= FewSlices && c.overlap.skippedOfOne < WellClustered &&
      (scans.naming(c.column) > 0 || (scans.scans == 0 && ranged.contains(c.column)))
    }
    val chosen = poor.sortBy(c => (-scans.naming(c.column), c.overlap.skippedOfOne, c.column)).take(MostSorted)
    chosen.headOption.map { worst =>
      val why = s"Values of ${worst.column} are all over the table: a query for one of them skips " +
        s"${percent(worst.overlap.skippedOfOne)} of the file slices. Sorted, it would skip nearly all."
      val names = chosen.map(_.column).flatMap(sortable)
      if (names.isEmpty) Advice("cluster", s"Cluster by ${worst.column}", s"$why $NotSortable", "", "sql")
      else {
        val order = names.mkString(",")
        val sql = s"CALL run_clustering(path => ${Sql.literal(report.path)}, order => ${Sql.literal(order)})"
        val read = if (Vector(report.path, order).exists(Sql.hasEscapes)) s" $ReadEscaped" else ""
        Advice("cluster", s"Cluster by $order", why + read, sql, "sql")
      }
    }
  }

  /** What `run_clustering` takes in its list: a column of the table's own, not within another. */
  private def sortable(path: String): Option[String] =
    report.columns.find(c => ColumnPath.of(Seq(c)) == path).filter(c => !c.contains(',') && c.trim == c)

  private def addIndex: Vector[Advice] = {
    val known = info.columns.flatMap(_.columns).toSet
    val asked = for {
      c <- report.columns if !report.config.isPartitionField(c)
      times = scans.naming(c) if times > 0 && !known(ColumnPath.of(Seq(c))) && !known(IndexSpec.All) && hasIndex
    } yield (c, times)
    asked.sortBy { case (c, times) => (-times, c) }.take(MostAdded).map { case (c, times) =>
      val isKey =
        report.config.recordKeyFields == Vector(c) && KeyTexts.of(report.config).isRight && info.record.isEmpty
      val what = if (isKey) "record" else ColumnPath.typed(ColumnPath.of(Seq(c)))
      val why =
        s"${counted(times.toLong, "recorded scan")} of ${scans.scans} asked for $c, and nothing is indexed of it."
      shell("add_index", s"Index $c", why, "add-index", what)
    }
  }

  /** Of those that were asked for by name. Lookups and writers are not recorded, so the record index may be of use unseen. */
  private def dropIndex: Vector[Advice] =
    if (scans.scans < EnoughScans) Vector.empty
    else
      for {
        index <- info.columns if !index.isPending
        told = index.columns.zip(index.typed)
        (names, typed) <- (if (index.kind == Range) told.map(Vector(_)) else Vector(told)).map(_.unzip)
        if !names.contains(IndexSpec.All) && names.forall(scans.naming(_) == 0)
      } yield {
        val why = s"None of the last ${scans.scans} recorded scans asked for ${names.mkString(", ")}."
        val command = ShellCommand("drop-index", report.path +: typed, Vector("--kind" -> index.kind))
        shell("drop_index", s"Drop ${index.kind}(${names.mkString(", ")})", why, command)
      }

  private def readHistory: Option[Advice] =
    if (scans.scans > 0 || !hasIndex) None
    else
      Some(
        Advice(
          "read_history",
          "Record what is read",
          "No scans are recorded: with them this page tells which queries the index helps, and which columns to index.",
          """spark.conf.set("hudiidx.read.history", "true")""",
          "python"
        )
      )

  private def hasIndex: Boolean = info.version.isDefined

  private def shell(kind: String, title: String, why: String, command: String, more: String*): Advice =
    shell(kind, title, why, ShellCommand(command, report.path +: more.toVector))

  private def shell(kind: String, title: String, why: String, command: ShellCommand): Advice = {
    val whole = command.copy(options = command.options ++ indexPath.map("--index-path" -> _))
    whole.line.fold(
      reason => Advice(kind, title, s"$why $reason.", "", "shell"),
      line => Advice(kind, title, why, line, "shell")
    )
  }
}

private object Advisor {
  private val Range = hudiidx.column.IndexKind.Range

  /** Share of bytes in log files from which a compaction is advised, and log files of one slice likewise. */
  private val WorthCompacting = 0.1
  private val ManyLogs = 5

  /** Of so few slices a query may as well read all. */
  private val FewSlices = 8
  private val WellClustered = 0.5
  private val MostSorted = 2
  private val MostAdded = 3

  /** Before so many scans nothing is called unused. */
  private val EnoughScans = 20

  private val NotSortable =
    "run_clustering cannot sort by it: it takes columns that stand in no struct and have no comma in their names."
  private val ReadEscaped =
    "The command is for Spark's usual way to read texts, spark.sql.parser.escapedStringLiterals=false."

  private def percent(share: Double): String = {
    val hundredths = share * 100
    if (hundredths > 0 && hundredths < 1) "less than 1 %" else s"${hundredths.round} %"
  }

  private def counted(n: Long, what: String): String = s"$n $what${if (n == 1) "" else "s"}"
}
