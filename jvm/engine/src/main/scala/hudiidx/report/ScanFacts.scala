package hudiidx.report

import hudiidx.store.ScanRecord

/** Scans with the same filters but for the values in them. Numbers are of a scan, on average.
  *
  *  @param filters   in SQL, with `?` for values
  *  @param filesKept that were read
  *  @param byColumns files that indexes on columns left out, those of partitions that they left out not counted
  *  @param keys      record keys that were looked up
  */
final case class ScanShape(
    filters: String,
    scans: Int,
    lastMillis: Long,
    filesKept: Double,
    partitionsKept: Double,
    partitionsTotal: Double,
    byColumns: Double,
    keys: Double,
    planningMillis: Double
)

/** The scans that were recorded.
  *
  *  @param scans  that were looked at, the newest
  *  @param shapes those that came most often
  */
final case class ScanFacts(scans: Int, fallbacks: Int, shapes: Vector[ScanShape], private val texts: Vector[String]) {

  /** Scans whose filters name a column. A name in a text that they look for counts too. */
  def naming(column: String): Int = texts.count(FilterTexts.names(_, column))
}

object ScanFacts {

  /** Records that are read. */
  val MostScans = 300
  val MostShapes = 20

  def of(records: Vector[ScanRecord]): ScanFacts = {
    val byShape = records.groupBy(r => shapeOf(r.filters))
    val shapes = byShape.toVector.map { case (filters, all) => shape(filters, all) }
    ScanFacts(
      records.size,
      records.count(_.metrics.getOrElse("indexFallbacks", 0L) > 0),
      shapes.sortBy(s => (-s.scans, s.filters)).take(MostShapes),
      records.map(_.filters.mkString(" AND "))
    )
  }

  private def shape(filters: String, records: Vector[ScanRecord]): ScanShape = {
    def mean(metric: String): Double = records.map(_.metrics.getOrElse(metric, 0L)).sum.toDouble / records.size
    ScanShape(
      filters,
      records.size,
      records.map(_.atMillis).max,
      mean("filesKept"),
      mean("partitionsKept"),
      mean("partitionsTotal"),
      mean("columnFilesSkipped"),
      mean("recordKeys"),
      mean("planningMillis")
    )
  }

  /** Values become `?`, and a list of them is as one. What only asks that a column is not null goes with another filter on it. */
  private def shapeOf(filters: Seq[String]): String = {
    val told = filters.filterNot(FilterTexts.isNotNull)
    (if (told.isEmpty) filters else told).map(FilterTexts.shape).distinct.sorted.mkString(" AND ")
  }
}
