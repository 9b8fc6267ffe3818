package hudiidx.spark

import java.io.IOException
import java.nio.charset.StandardCharsets.UTF_8
import java.util.concurrent.ConcurrentHashMap
import java.util.concurrent.atomic.AtomicLong

import scala.collection.JavaConverters._
import scala.collection.mutable

import com.fasterxml.jackson.databind.{JsonNode, ObjectMapper}
import hudiidx.IndexNotWritable
import hudiidx.storage.{FileInfo, Storage}
import hudiidx.store.IndexStore
import org.apache.spark.sql.catalyst.expressions.{AttributeReference, Expression, In, InSet}
import org.slf4j.LoggerFactory

/** Scans that were run, for advice: which columns are asked for over time (RFC-15's hot columns). Those of this process are kept in
  * memory; with `hudiidx.read.record.scans` each scan of a table that has an index leaves a file in its index folder.
  */
object ScanRecords {

  /** Of a scan that is about to run. A failure to write it is one warning, and does no harm to the scan. */
  def add(table: PinnedTable, spec: ScanSpec, facts: PlanFacts): Unit = if (isKept(spec.filters)) {
    RecordedScans.add(table.path, spec.filters)
    if (table.recordsScans && table.indexUse.exists(_.version.isDefined)) {
      val files = new ScanFiles(table)
      try files.add(ScanRecord(System.currentTimeMillis(), table.instantText, spec.filters.map(textOf), facts))
      catch {
        case e: IndexNotWritable => warnOnce(files.dir, e)
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

  /** As SQL that is understood of the table alone, whatever it was called in the query. */
  private def textOf(filter: Expression): String =
    filter.transform { case a: AttributeReference => a.withQualifier(Seq.empty) }.sql

  private val warned = ConcurrentHashMap.newKeySet[String]()
  private val log = LoggerFactory.getLogger("hudiidx.spark.ScanRecords")

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

/** A scan as its file has it. docs/format.md, "Recorded scans".
  *
  *  @param atMillis when it began
  *  @param filters  in SQL
  */
final case class ScanRecord(atMillis: Long, reads: String, filters: Seq[String], metrics: Map[String, Long]) {

  def encode: Array[Byte] = {
    val json = ScanRecord.mapper.createObjectNode().put("at_millis", atMillis).put("reads", reads)
    val texts = json.putArray("filters")
    filters.foreach(f => texts.add(f))
    val numbers = json.putObject("metrics")
    metrics.toVector.sorted.foreach { case (name, value) => numbers.put(name, value) }
    ScanRecord.mapper.writeValueAsBytes(json)
  }
}

object ScanRecord {
  private val mapper = new ObjectMapper()

  def apply(atMillis: Long, reads: String, filters: Seq[String], facts: PlanFacts): ScanRecord =
    ScanRecord(atMillis, reads, filters, facts.metrics.map(m => m.name -> m.value).toMap)

  /** None for bytes that are no such record. */
  def decode(bytes: Array[Byte]): Option[ScanRecord] =
    try {
      val json = mapper.readTree(new String(bytes, UTF_8))
      if (json == null || !json.path("filters").isArray) None
      else {
        val metrics = json.path("metrics").properties.asScala.map(e => e.getKey -> e.getValue.asLong).toMap
        Some(ScanRecord(json.path("at_millis").asLong, json.path("reads").asText, texts(json), metrics))
      }
    } catch { case _: IOException => None }

  private def texts(json: JsonNode): Vector[String] = json.path("filters").elements.asScala.map(_.asText).toVector
}

/** The recorded scans of a table, a file each: `scans/<millis>.<process>.<number>.json` in the index folder. */
final class ScanFiles(table: PinnedTable) {
  private val storage = table.shared.context.storage
  val dir: String = Storage.join(table.indexDir, "scans")
  private val store = new IndexStore(storage, dir)

  def add(record: ScanRecord): Unit = {
    val number = ScanFiles.written.incrementAndGet()
    val name = f"${record.atMillis}%015d.${ScanFiles.process}.$number.json"
    store.writeScratch(name, "scan")(_.write(record.encode))
    if (number % ScanFiles.Most == 1) all.dropRight(ScanFiles.Most).foreach(f => store.remove(f.name))
  }

  /** Those of other processes: what this one has run it knows. */
  def ofOthers: Vector[ScanRecord] = all
    .filterNot(_.name.contains(s".${ScanFiles.process}."))
    .takeRight(ScanFiles.Most)
    .flatMap { f =>
      try ScanRecord.decode(storage.readAll(f.path))
      catch { case _: IOException => None } // gone since
    }

  /** Oldest first. */
  private def all: Vector[FileInfo] = storage.list(dir).filter(_.name.endsWith(".json")).sortBy(_.name)
}

object ScanFiles {

  /** Newest files that are kept; a process looks after so many of its own. */
  val Most = 1000

  private val process = IndexStore.newToken()
  private val written = new AtomicLong
}
