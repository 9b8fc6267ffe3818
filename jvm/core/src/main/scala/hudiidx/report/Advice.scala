package hudiidx.report

import hudiidx.column.IndexSpec
import hudiidx.sync.IndexInfo
import hudiidx.table.KeyTexts

/** Something that would help.
  *
  *  @param kind    `create`, `update`, `compact`, `cluster`, `add_index`, `drop_index` or `read_history`
  *  @param title   what to do, in a few words
  *  @param why     what was seen
  *  @param command that does it
  *  @param runsIn  where it is typed: `shell`, `sql` (a session of Spark with stock Hudi) or `python`
  */
final case class Advice(kind: String, title: String, why: String, command: String, runsIn: String)

/** What a report advises, the most urgent first. */
private[report] final class Advisor(report: TableReport, indexPath: Option[String]) {
  import Advisor._
  private val info = report.info
  private val files = report.files
  private val scans = report.scans
  private val table = quoted(report.path)
  private val where = indexPath.fold("")(p => s" --index-path ${quoted(p)}")
  private val ranged: Vector[String] = info.columns.filter(_.kind == Range).flatMap(_.columns)

  def all: Vector[Advice] = state.toVector ++ compact ++ cluster ++ addIndex ++ dropIndex ++ readHistory

  private def state: Option[Advice] = info.state match {
    case IndexInfo.Absent =>
      Some(shell("create", "Make the index", "There is no index: files are listed.", s"hudiidx create $table"))
    case IndexInfo.Broken =>
      Some(shell("create", "Make the index anew", s"It cannot be used: ${info.reason}.", s"hudiidx create $table"))
    case IndexInfo.Lagging =>
      val why = s"${counted(info.instantsBehind.toLong, "instant")} behind: each read takes these from commit metadata."
      Some(shell("update", "Bring the index up", why, s"hudiidx update $table"))
    case _ => None
  }

  private def compact: Option[Advice] = {
    val most = files.mostLogged.all.headOption.fold(0)(_.logFiles)
    val share = files.logBytes.toDouble / math.max(1L, files.latestBytes)
    if (files.slicesWithLogs == 0 || (share < WorthCompacting && most < ManyLogs)) None
    else {
      val why =
        s"${counted(files.logFiles, "log file")} in ${counted(files.slicesWithLogs, "file slice")}, up to $most in one, " +
          s"are ${percent(share)} of what a query reads, and are merged by each."
      Some(shell("compact", "Compact", why, s"hudiidx compact-table $table"))
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
      val names = chosen.map(_.column).mkString(",")
      val why = s"Values of ${worst.column} are all over the table: a query for one of them skips " +
        s"${percent(worst.overlap.skippedOfOne)} of the file slices. Sorted, it would skip nearly all."
      val sql = s"CALL run_clustering(path => '${report.path.replace("'", "\\'")}', order => '$names')"
      Advice("cluster", s"Cluster by $names", why, sql, "sql")
    }
  }

  private def addIndex: Vector[Advice] = {
    val known = info.columns.flatMap(_.columns).toSet
    val asked = for {
      c <- report.columns if !report.config.partitionFields.contains(c)
      times = scans.naming(c) if times > 0 && !known(c) && !known(IndexSpec.All) && hasIndex
    } yield (c, times)
    asked.sortBy { case (c, times) => (-times, c) }.take(MostAdded).map { case (c, times) =>
      val isKey =
        report.config.recordKeyFields == Vector(c) && KeyTexts.of(report.config).isRight && info.record.isEmpty
      val what = if (isKey) "record" else c
      val why =
        s"${counted(times.toLong, "recorded scan")} of ${scans.scans} asked for $c, and nothing is indexed of it."
      shell("add_index", s"Index $c", why, s"hudiidx add-index $table ${quoted(what)}")
    }
  }

  /** Of those that were asked for by name. Lookups and writers are not recorded, so the record index may be of use unseen. */
  private def dropIndex: Vector[Advice] =
    if (scans.scans < EnoughScans) Vector.empty
    else
      for {
        index <- info.columns if !index.isPending
        names <- if (index.kind == Range) index.columns.map(Vector(_)) else Vector(index.columns)
        if !names.contains(IndexSpec.All) && names.forall(scans.naming(_) == 0)
      } yield {
        val why = s"None of the last ${scans.scans} recorded scans asked for ${names.mkString(", ")}."
        val command = s"hudiidx drop-index $table ${names.map(quoted).mkString(" ")} --kind ${index.kind}"
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

  private def shell(kind: String, title: String, why: String, command: String): Advice =
    Advice(kind, title, why, command + where, "shell")
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

  private def percent(share: Double): String = {
    val hundredths = share * 100
    if (hundredths > 0 && hundredths < 1) "less than 1 %" else s"${hundredths.round} %"
  }

  private def counted(n: Long, what: String): String = s"$n $what${if (n == 1) "" else "s"}"

  /** For a shell. */
  private def quoted(text: String): String =
    if (text.matches("""[\w@%+=:,./-]+""")) text else "'" + text.replace("'", """'\''""") + "'"
}
