package hudiidx.command

import hudiidx.{HudiIdxException, ShellCommand}
import hudiidx.column.NeverColumns
import hudiidx.storage.Storage
import hudiidx.store.{IndexFolder, IndexStore}
import hudiidx.sync.{IndexInfo, IndexOptions, InstantEffects, TableAccess, TableContext, TableSnapshot}
import hudiidx.sync.build.NeverNames
import hudiidx.table.{TableConfig, TableProperties, ViewTimeline}
import java.io.IOException

/** One thing that was looked at.
  *
  *  @param status `ok`, `warning` or `failed`
  *  @param found  what was found
  *  @param advice what to do, empty if nothing
  */
final case class Finding(check: String, status: String, found: String, advice: String)

/** What a look at a table found. */
final case class Findings(findings: Vector[Finding])

object Finding {
  val Ok = "ok"
  val Warning = "warning"
  val Failed = "failed"
}

/** Looks whether a table and its index folder can be worked with. What it writes into the index folder it removes, and the folder
  * too if that was not there.
  *
  *  @param now milliseconds since 1970 of this machine's clock
  */
final class Doctor(access: TableAccess, tablePath: String, options: IndexOptions, now: () => Long) {
  import Finding._
  private val storage = access.storage
  private val path = tablePath.stripSuffix("/")
  private val indexDir = options.indexDir(path)
  private val toCreate = s"run ${IndexStore.command("create", path, indexDir).quoted}"
  private val toUpdate = s"run ${IndexStore.command("update", path, indexDir).quoted}"

  /** The table, and if it can be read its index, and the store under that. */
  def findings(): Vector[Finding] = table() match {
    case failed if failed.status == Failed => Vector(failed)
    case read                              => Vector(read, index()) ++ never() ++ logRecords() ++ store()
  }

  private lazy val context = TableContext.load(access, path)

  private def table(): Finding = checked("table", "check the path, and that the files in .hoodie can be read") {
    val config = context.config
    // All that a read looks into: a commit may have written files that are not read here.
    val effects = new InstantEffects
    context.timeline.completed.foreach(i => effects.take(i, context.contents.of(i)))
    ViewTimeline.load(config, context.timeline, context.contents, t => context.history.completionTime(t)): Unit
    val told =
      s"${config.tableName}, ${config.tableType.name}, version ${config.version}, ${context.completed.size} commits"
    TableProperties.warning(config) match {
      case None       => Finding("table", Ok, told, "")
      case Some(text) =>
        Finding("table", Warning, s"$told; $text", "look them up, and use stock Hudi if rows or paths go by them")
    }
  }

  private def index(): Finding = checked("index", toCreate) {
    val info = IndexInfo.of(access, path, options)
    val told = if (info.reason.isEmpty) info.state else s"${info.state}: ${info.reason}"
    info.state match {
      case IndexInfo.Building                  => Finding("index", Ok, told, "")
      case IndexInfo.Ready | IndexInfo.Lagging =>
        unread() match {
          case Some(why)                               => Finding("index", Failed, why, toCreate)
          case None if info.state == IndexInfo.Lagging =>
            Finding("index", Warning, s"$told, ${info.instantsBehind} instants behind", toUpdate)
          case None => Finding("index", Ok, told, "")
        }
      case IndexInfo.Absent => Finding("index", Warning, told, toCreate)
      case _                => Finding("index", Failed, told, toCreate)
    }
  }

  /** Why reads do not use the index, with the file that is to blame: `info` opens none. */
  private def unread(): Option[String] = {
    val snapshot = TableSnapshot.of(context, options)
    try {
      snapshot.source.partitions.foreach(snapshot.source.files(_))
      snapshot.use.fallback.map(f => s"${f.code}: ${f.why}")
    } finally snapshot.close()
  }

  /** Of a rule that names columns which the table does not have. */
  private def never(): Option[Finding] = {
    val look = checked("columns never indexed", toCreate) {
      val rule =
        IndexInfo.of(access, path, options).version.fold(options.never)(v => options.never ++ NeverColumns.of(v))
      NeverNames.text(NeverNames.unknown(rule, context)) match {
        case Some(text) => Finding("columns never indexed", Warning, text, "check the names, and make the index anew")
        case None       => Finding("columns never indexed", Ok, rule.text, "")
      }
    }
    if (look.status == Ok && look.found.isEmpty) None else Some(look)
  }

  /** Of merge-on-read tables: are there records where writers may not look for them? */
  private def logRecords(): Option[Finding] =
    if (!context.config.isMergeOnRead) None
    else
      Some(checked("new records", "look whether the table can be listed") {
        if (context.config.logInserts)
          Finding(
            "new records",
            Ok,
            s"go to logs, where all writers must look (${TableConfig.LogInserts} of the table)",
            ""
          )
        else {
          val groups = withoutBase()
          if (groups == 0) Finding("new records", Ok, "go to base files, and each file group has one", "")
          else
            Finding(
              "new records",
              Warning,
              s"$groups file groups have no base file: stock Hudi's default indexes do not find their records, and would insert " +
                "them again",
              s"run ${ShellCommand("compact-table", Vector(path)).quoted} before a stock writer writes, or let all writers look into logs " +
                s"(${TableConfig.LogInserts}=true)"
            )
        }
      })

  /** File groups of logs alone; behind a pending compaction those that had no base file before it. */
  private def withoutBase(): Int = {
    val snapshot = TableSnapshot.of(context, options)
    try snapshot.view.partitions.map(p => snapshot.view.latestMergedFileSlices(p).count(_.baseFile.isEmpty)).sum
    finally snapshot.close()
  }

  /** Writes a file, looks whether it is there at once and when it says it was written, tries to write it again, and removes it. */
  private def store(): Vector[Finding] = {
    val probe = Storage.join(indexDir, s"doctor.${IndexStore.newToken()}")
    val before = storage.status(indexDir).isDefined
    val bytes = "hudiidx doctor".getBytes("UTF-8")
    try {
      new IndexFolder(storage, indexDir).requireOwn(path)
      val from = System.nanoTime()
      if (!storage.publish(probe, bytes)) throw new IOException("a new name is taken")
      val millis = (System.nanoTime() - from) / 1000000
      Vector(
        Finding("index folder", Ok, s"$indexDir can be written ($millis ms for a small file)", ""),
        consistency(probe, bytes),
        clock(probe)
      )
    } catch {
      case e: IOException =>
        val advice = "make the folder writable, or set hudiidx.index.path (--index-path) to one elsewhere"
        Vector(Finding("index folder", Failed, s"$indexDir cannot be written: $e", advice))
      case e: HudiIdxException => Vector(Finding("index folder", Failed, e.getMessage, ""))
    } finally {
      removed(probe)
      if (!before) removed(indexDir)
    }
  }

  private def consistency(probe: String, bytes: Array[Byte]): Finding = {
    val isListed = storage.list(indexDir).exists(_.path == probe)
    val isRead = java.util.Arrays.equals(storage.readAll(probe), bytes)
    val isReplaced = storage.publish(probe, bytes)
    if (!isListed || !isRead)
      Finding(
        "store",
        Failed,
        "a file that was written is not there at once",
        "use a store that is consistent after a write"
      )
    else if (isReplaced)
      Finding(
        "store",
        Failed,
        "a file was put in the place of another of its name, where it was to be refused",
        "let one process at a time write the index"
      )
    else Finding("store", Ok, "files are there once written, and names are taken once", "")
  }

  private def clock(probe: String): Finding = {
    val skew = math.abs(now() - storage.status(probe).fold(now())(_.modifiedMillis))
    val told = f"the clocks of this machine and of the store differ by ${skew / 1000.0}%.1f s"
    if (skew < Doctor.MostSkewMillis) Finding("clock", Ok, told, "")
    else Finding("clock", Warning, told, "synchronize the clocks; lag and file ages are computed from them")
  }

  private def checked(check: String, advice: String)(look: => Finding): Finding =
    try look
    catch {
      case e: HudiIdxException => Finding(check, Failed, e.getMessage, "")
      case e: IOException      => Finding(check, Failed, e.toString, advice)
    }

  /** Never a folder in which another process has begun an index meanwhile. */
  private def removed(what: String): Unit =
    try storage.deleteOne(what): Unit
    catch { case _: IOException => () }
}

object Doctor {

  /** More than a store's rounding of times and a request's way. */
  private val MostSkewMillis = 10000L
}
