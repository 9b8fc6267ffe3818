package hudiidx.report

import scala.collection.JavaConverters._

import com.fasterxml.jackson.databind.ObjectMapper
import hudiidx.column.{ColumnPath, NeverColumns}
import hudiidx.store.ScanFiles
import hudiidx.sync.{IndexInfo, IndexOptions, TableAccess, TableContext, TableSnapshot}
import hudiidx.sync.build.NeverNames
import hudiidx.table.{TableConfig, TableSchema}

/** What there is to know of a table and its index, for a page: no more than histograms and lists of bounded length, whatever the
  * table's size.
  *
  *  @param fallback why the files come from a listing: code of [[hudiidx.sync.FallbackCode]]
  *  @param strangers what the rule of columns that are never indexed names, and the table does not have
  *  @param columns  top-level columns of the table's rows, of which an index may hold values
  */
final case class TableReport(
    path: String,
    config: TableConfig,
    info: IndexInfo,
    fallback: Option[String],
    files: FileTally,
    timeline: TimelineFacts,
    bounds: ColumnsFacts,
    scans: ScanFacts,
    strangers: Vector[String],
    columns: Vector[String],
    advice: Vector[Advice]
)

object TableReport {

  /** Errors as [[TableSnapshot.open]]. */
  def of(access: TableAccess, tablePath: String, options: IndexOptions): TableReport = {
    val path = tablePath.stripSuffix("/")
    val info = IndexInfo.of(access, path, options)
    val scans = ScanFacts.of(new ScanFiles(access.storage, options.indexDir(path), path).newest(ScanFacts.MostScans))
    val snapshot = TableSnapshot.open(access, path, options)
    try {
      val version = snapshot.use.version.fold(NeverColumns.None)(NeverColumns.of)
      val never = (options.never ++ version).of(snapshot.config)
      val (files, bounds) = tally(snapshot, options.indexDir(path), scans, never)
      val bare = TableReport(
        path,
        snapshot.config,
        info,
        snapshot.use.fallback.map(_.code),
        files,
        TimelineFacts.of(snapshot.table),
        bounds,
        scans,
        NeverNames.unknown(options.never ++ version, snapshot.table),
        columnsOf(snapshot.table).filterNot(c => never.forbids(ColumnPath.of(Seq(c)))),
        Vector.empty
      )
      bare.copy(advice = new Advisor(bare, options.indexPath).all)
    } finally snapshot.close()
  }

  private def tally(
      snapshot: TableSnapshot,
      indexDir: String,
      scans: ScanFacts,
      never: NeverColumns
  ): (FileTally, ColumnsFacts) = {
    val files = new FileTally
    val bounds = new ColumnTally(snapshot, indexDir, never)
    try {
      snapshot.view.partitions.foreach { p =>
        val all = snapshot.source.files(p)
        val latest = snapshot.view.latestMergedFileSlices(p)
        files.add(p, all, latest)
        bounds.add(latest)
      }
      (files, bounds.facts(scans.naming))
    } finally bounds.close()
  }

  /** Without Hudi's own. Empty where no commit tells. */
  private def columnsOf(table: TableContext): Vector[String] =
    table.schema().fold(Vector.empty[String]) { schema =>
      val fields = mapper.readTree(schema.avroJson).path("fields").elements.asScala
      fields.map(_.path("name").asText).filterNot(TableSchema.isMeta).toVector
    }

  private val mapper = new ObjectMapper
}
