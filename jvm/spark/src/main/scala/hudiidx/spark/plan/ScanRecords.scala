package hudiidx.spark.plan

import java.io.IOException
import java.util.concurrent.ConcurrentHashMap

import scala.collection.mutable

import hudiidx.spark.pinned.PinnedTable
import hudiidx.{HudiIdxException, Log}
import hudiidx.store.{ScanFiles, ScanRecord}
import org.apache.spark.sql.catalyst.expressions.{Expression, In, InSet}

/** Scans that were run, for advice: which columns are asked for over time (RFC-15's hot columns). Those of this process are kept in
  * memory; with `hudiidx.read.history` each scan of a table that has an index leaves a file in its index folder.
  */
object ScanRecords {

  /** Of a scan that is about to run. A failure to write it is one warning, and does no harm to the scan. */
  def add(table: PinnedTable, spec: ScanSpec, facts: PlanFacts): Unit = if (isKept(spec.filters)) {
    RecordedScans.add(table.path, spec.filters)
    if (table.keepsHistory && table.indexUse.exists(_.version.isDefined)) {
      val files = new ScanFiles(table.shared.context.storage, table.indexDir, table.path)
      val metrics = facts.metrics.map(m => m.name -> m.value).toMap
      try
        files.add(
          ScanRecord(
            System.currentTimeMillis(),
            table.instantText,
            ScanText.of(spec.filters, table.never),
            metrics
          )
        )
      catch {
        case e: HudiIdxException => warnOnce(files.dir, e)
        case e: IOException      => warnOnce(files.dir, e)
      }
    }
  }

  private def isKept(filters: Seq[Expression]): Boolean =
    filters.nonEmpty && filters.forall(f => f.deterministic && !f.exists(isLarge))

  /** Lists of so many values would take memory for as long as the process lives. */
  private def isLarge(e: Expression): Boolean = e match {
    case InSet(_, values) => values.size > MostValues
    case In(_, list)      => list.size > MostValues
    case _                => false
  }

  private val MostValues = 1000

  private val warned = ConcurrentHashMap.newKeySet[String]()
  private val log = Log.of("hudiidx.spark.plan.ScanRecords")

  private def warnOnce(dir: String, e: Throwable): Unit =
    if (warned.add(dir)) log.warn(s"$dir: scans are not recorded: $e")
}

/** Filters of the scans that this process has run, by table. */
object RecordedScans {

  /** Different filters that are kept of a table; the oldest go first. */
  val MostFilters = 500

  private val byTable = mutable.HashMap.empty[String, mutable.LinkedHashMap[String, (Seq[Expression], Int)]]

  def add(path: String, filters: Seq[Expression]): Unit = synchronized {
    val text = filters.map(_.sql).mkString(" AND ")
    val known = byTable.getOrElseUpdate(path, mutable.LinkedHashMap.empty)
    val times = known.remove(text).fold(0)(_._2)
    known.put(text, (filters, times + 1))
    if (known.size > MostFilters) known.remove(known.head._1): Unit
  }

  /** Filters, and how many scans had them. */
  def of(path: String): Vector[(Seq[Expression], Int)] =
    synchronized(byTable.get(path).fold(Vector.empty[(Seq[Expression], Int)])(_.values.toVector))
}
