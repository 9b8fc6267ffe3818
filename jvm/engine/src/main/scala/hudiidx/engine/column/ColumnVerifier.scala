package hudiidx.engine.column

import scala.collection.mutable

import hudiidx.column._
import hudiidx.column.segment.{ColumnIndex, ColumnScan}
import hudiidx.storage.EndsAhead
import hudiidx.store.{IndexStore, IndexVersion}
import hudiidx.sync._
import hudiidx.table.FileEntry
import hudiidx.{DamagedIndex, IndexNotFound, StaleIndex}

/** One thing that an index on columns says otherwise than the file.
  *
  *  @param kind   [[ColumnDifferenceKind]]
  *  @param column its path, or an expression; several with commas between them
  *  @param detail what stands on either side
  */
final case class ColumnDifference(kind: String, partitionPath: String, file: String, column: String, detail: String)

object ColumnDifferenceKind {

  /** Bounds or counts rule out rows that the file has. */
  val StatsWrong = "STATS_WRONG"

  /** A record of another kind is not what the file's rows give. */
  val RecordWrong = "RECORD_WRONG"

  /** A file of the index cannot be read, or the index cannot be used. */
  val Unusable = "INDEX_UNUSABLE"

  /** The index says something of a column of which nothing is certain now: the table's schema or the file changed. */
  val Unproven = "UNPROVEN"

  /** Bounds or counts are wider than need be. */
  val Wider = "STATS_WIDER"

  /** The index could know more: the file is read. */
  val Missing = "MISSING"

  /** These may cost rows; the others cost time. */
  val Wrong: Vector[String] = Vector(StatsWrong, RecordWrong, Unusable)
  val All: Vector[String] = Wrong ++ Vector(Unproven, Wider, Missing)
}

/** What a comparison of the indexes on columns with the table's files found.
  *
  *  @param counts    differences by [[ColumnDifferenceKind]], kinds without any included
  *  @param files     files of the index that were read
  *  @param uncovered files that the index knows nothing of, as those that came after it: they are read
  *  @param equal     statistics and records that are what the files give
  */
final case class ColumnVerifyResult(
    counts: Map[String, Long],
    samples: Vector[ColumnDifference],
    files: Long,
    uncovered: Long,
    equal: Long,
    seconds: Double
) {

  /** No row can be missed. */
  def ok: Boolean = ColumnDifferenceKind.Wrong.forall(counts(_) == 0)
}

/** Compares statistics, bloom filters, value sets and other records, of columns and of expressions, with the files: tasks read
  * every file of the table as for a new index.
  *
  *  @param samples     most differences of a kind that are told one by one
  *  @param expressions evaluates expressions; None: those are skipped
  */
final class ColumnVerifier(engine: TaskEngine, samples: Int, expressions: Option[ExpressionEngine] = None) {

  /** IndexNotFound if no column has an index. An index that cannot be used is a difference. */
  def verify(context: TableContext, options: IndexOptions): ColumnVerifyResult = {
    val from = System.nanoTime()
    val found =
      try compared(context, options)
      catch {
        case e: DamagedIndex => unusable(e.getMessage)
        case e: StaleIndex   => unusable(e.getMessage)
      }
    ColumnVerifyResult(
      ColumnDifferenceKind.All.map(k => k -> found.counts.getOrElse(k, 0L)).toMap,
      found.samples,
      found.files,
      found.uncovered,
      found.equal,
      (System.nanoTime() - from) / 1e9
    )
  }

  private def unusable(why: String): ColumnFindings = {
    val sample = ColumnDifference(ColumnDifferenceKind.Unusable, "", "", "", why)
    ColumnFindings(Map(sample.kind -> 1L), Vector(sample), 0, 0, 0)
  }

  private def compared(context: TableContext, options: IndexOptions): ColumnFindings = {
    val snapshot = TableSnapshot.of(context, options.copy(enabled = true, strict = true))
    try {
      val dir = options.indexDir(context.tablePath)
      val version = snapshot.use.version.get // strict: it is there or an error was raised
      if (!ColumnIndex.isIn(version))
        throw new IndexNotFound(
          s"$dir: index version ${version.number} has no index on columns; `hudiidx add-index TABLE COLUMN` makes one"
        )
      ColumnIndex.open(new IndexStore(context.storage, dir), version, context.access.cache).close()
      val table = TableColumns.of(context)
      val specs = ColumnSettings.of(version).specs
      val work =
        ColumnWork(
          context.tablePath,
          table,
          specs,
          new SpecExpressions(expressions, table).evaluated(specs),
          NeverColumns.of(version).of(context.config)
        )
      val files = snapshot.source.partitions.toVector.sorted.flatMap(snapshot.source.files(_))
      val each = math.max(1, math.min(ColumnVerifier.MostFiles, files.size / (engine.parallelism * 3) + 1))
      val found = engine.run(s"compare columns of ${files.size} files", files.grouped(each).toVector)(
        ColumnVerifier.comparing(work, dir, version, samples)
      )
      found.foldLeft(ColumnFindings.None)(_.and(_, samples))
    } finally snapshot.close()
  }
}

private object ColumnVerifier {
  private val MostFiles = 500

  // Made here, so that a task carries what it needs and nothing else.
  private def comparing(
      work: ColumnWork,
      dir: String,
      version: IndexVersion,
      samples: Int
  ): (TableAccess, Vector[FileEntry]) => ColumnFindings = { (access, files) =>
    val index = ColumnIndex.open(new IndexStore(access.storage, dir), version, access.cache)
    val ahead = new EndsAhead(access.storage)
    try
      files.groupBy(_.partitionPath).toVector.sortBy(_._1).foldLeft(ColumnFindings.None) {
        case (sofar, (path, there)) =>
          val held = new HeldFacts(index, path, there)
          ahead.over(there)(work.fileOf).foldLeft(sofar) { (all, file) =>
            val isCovered = index.covers(path, file.fileName, file.sizeBytes) || held.hasRecords(file.fileName)
            val found =
              if (!isCovered) ColumnFindings.None.copy(uncovered = 1)
              else new FileComparison(work.read(ahead, file), held, samples).findings
            all.and(found, samples)
          }
      }
    finally index.close()
  }
}

/** What was found so far. */
private final case class ColumnFindings(
    counts: Map[String, Long],
    samples: Vector[ColumnDifference],
    files: Long,
    uncovered: Long,
    equal: Long
) {
  def and(other: ColumnFindings, most: Int): ColumnFindings = {
    val kept = (samples ++ other.samples).groupBy(_.kind).toVector.sortBy(_._1).flatMap(_._2.take(most))
    val kinds =
      (counts.keySet ++ other.counts.keySet).map(k => k -> (counts.getOrElse(k, 0L) + other.counts.getOrElse(k, 0L)))
    ColumnFindings(kinds.toMap, kept, files + other.files, uncovered + other.uncovered, equal + other.equal)
  }
}

private object ColumnFindings {
  val None: ColumnFindings = ColumnFindings(Map.empty, Vector.empty, 0, 0, 0)
}

/** What an index says of the files of a partition, by file. */
private final class HeldFacts(index: ColumnIndex, partition: String, files: Vector[FileEntry]) {
  private val names = files.map(f => f.fileName -> f.sizeBytes)
  val stats: Map[String, Vector[ColumnFact]] = {
    val out = mutable.HashMap.empty[String, Vector[ColumnFact]]
    new ColumnScan(index).stats(partition, names) { (file, column, found) =>
      out(file) = out.getOrElse(file, Vector.empty) :+ ColumnFact(column, found)
    }
    out.toMap
  }
  val records: Map[String, Vector[ColumnRecord]] = {
    val out = mutable.HashMap.empty[String, Vector[ColumnRecord]]
    new ColumnScan(index).records(partition, names) { (file, columns, found) =>
      val bytes = new Array[Byte](found.remaining)
      found.duplicate().get(bytes)
      out(file) = out.getOrElse(file, Vector.empty) :+ ColumnRecord(columns, bytes)
    }
    out.toMap
  }

  def hasRecords(file: String): Boolean = records.contains(file)
}

/** One file as it is beside what the index says of it. */
private final class FileComparison(read: ReadFile, held: HeldFacts, samples: Int) {
  private val name = read.file.fileName
  private val facts = read.facts.filter(_.stats != ColumnStats.Unknown)
  private val known = held.stats.getOrElse(name, Vector.empty)
  private val records = held.records.getOrElse(name, Vector.empty)

  def findings: ColumnFindings = {
    val all = known.flatMap(judgedFact) ++
      facts.filterNot(f => known.exists(isOf(f, _))).map(f => missing(shown(Vector(f.column)))) ++
      records.flatMap(judgedRecord) ++
      read.records.filterNot(r => records.exists(_.columns == r.columns)).map(r => missing(shown(r.columns)))
    val equal = known.size + records.size - all.count(_.kind != ColumnDifferenceKind.Missing)
    val counts = all.groupBy(_.kind).map { case (kind, some) => kind -> some.size.toLong }
    ColumnFindings(counts, all.groupBy(_.kind).toVector.flatMap(_._2.take(samples)), 1, 0, equal.toLong)
  }

  /** Of one column. Where a file has no value of a column, as one of deletes alone or one that is older than the column, the type
    * is that which the table had when the file was read, and says nothing.
    */
  private def isOf(file: ColumnFact, held: ColumnFact): Boolean = file.column == held.column ||
    (file.column.path == held.column.path && file.stats == held.stats && file.stats.bounds == Bounds.NoValues)

  private def judgedFact(held: ColumnFact): Option[ColumnDifference] = {
    val path = shown(Vector(held.column))
    facts.filter(_.column.path == held.column.path) match {
      case Vector(file) if isOf(file, held) =>
        if (file.stats == held.stats) None
        else if (StatsOrder.covers(held.stats, file.stats))
          Some(difference(ColumnDifferenceKind.Wider, path, held.stats, file.stats))
        else Some(difference(ColumnDifferenceKind.StatsWrong, path, held.stats, file.stats))
      case Vector() => Some(difference(ColumnDifferenceKind.Unproven, path, held.stats, "nothing that is certain"))
      case other    =>
        Some(
          difference(
            ColumnDifferenceKind.StatsWrong,
            path,
            held.column.columnType.text,
            other.map(_.column.columnType.text).mkString(", ")
          )
        )
    }
  }

  private def judgedRecord(held: ColumnRecord): Option[ColumnDifference] = {
    val path = s"${held.columns.head.kind}(${shown(held.columns)})"
    read.records.find(_.columns == held.columns) match {
      case Some(file) if java.util.Arrays.equals(file.bytes, held.bytes) => None
      case Some(file)                                                    =>
        Some(
          difference(
            ColumnDifferenceKind.RecordWrong,
            path,
            s"${held.bytes.length} bytes",
            s"${file.bytes.length} other bytes"
          )
        )
      case None =>
        Some(difference(ColumnDifferenceKind.Unproven, path, s"${held.bytes.length} bytes", "nothing that is certain"))
    }
  }

  private def missing(path: String): ColumnDifference =
    difference(ColumnDifferenceKind.Missing, path, "nothing", "something")

  private def difference(kind: String, path: String, held: Any, file: Any): ColumnDifference =
    ColumnDifference(
      kind,
      read.file.partitionPath,
      name,
      path,
      s"${text(held)} in the index, ${text(file)} by the file"
    )

  private def shown(columns: Vector[IndexedColumn]): String =
    columns.map(c => ColumnExpression.shown(c.path)).mkString(",")

  private def text(side: Any): String = side match {
    case ColumnStats(rows, nulls, bounds) => s"$rows rows, $nulls nulls, ${boundsText(bounds)}"
    case other                            => other.toString
  }

  private def boundsText(bounds: Bounds): String = bounds match {
    case Bounds.LongRange(min, max, _) => s"$min to $max"
    case Bounds.TextRange(min, max, _) => s"${quoted(min)} to ${if (max == null) "any" else quoted(max)}"
    case other                         => other.toString
  }

  private def quoted(bytes: Array[Byte]): String = "'" + new String(bytes, "UTF-8") + "'"
}

/** Which statistics are true of all of which others are. */
private[column] object StatsOrder {

  /** No condition that `wide` rules out has a row where `narrow` is true. */
  def covers(wide: ColumnStats, narrow: ColumnStats): Boolean =
    (wide.nulls == -1 || wide.nulls == narrow.nulls) && (wide.rows == -1 || wide.rows == narrow.rows) &&
      covers(wide.bounds, narrow.bounds)

  private def covers(wide: Bounds, narrow: Bounds): Boolean = (wide, narrow) match {
    case (Bounds.Unknown, _) | (_, Bounds.NoValues)             => true
    case (Bounds.LongRange(a, b, _), Bounds.LongRange(c, d, _)) => a <= c && b >= d
    case (Bounds.TextRange(a, b, _), Bounds.TextRange(c, d, _)) =>
      java.util.Arrays.compareUnsigned(a, c) <= 0 &&
      (b == null || (d != null && java.util.Arrays.compareUnsigned(b, d) >= 0))
    case _ => false
  }
}
