package hudiidx.engine.column

import hudiidx.column._
import hudiidx.storage.{RandomReader, Storage}
import hudiidx.table.{FileEntry, FileKind}

/** What is known of one column of a file, under the type that it has there. */
final case class ColumnFact(column: IndexedColumn, stats: ColumnStats)

/** What is known of a file's columns, those of which nothing is known left out.
  *
  *  @param rows -1 where that is not certain
  */
final case class FileFacts(rows: Long, facts: Vector[ColumnFact])

/** Facts about the columns of a table's files.
  *
  *  @param named paths to look at
  *  @param all   all others too that files or table have, but Hudi's own
  *  @param never columns of which nothing is told
  */
private[column] final class FileColumns(
    table: TableColumns,
    named: Vector[String],
    all: Boolean,
    never: NeverColumns = NeverColumns.None
) {
  private val asked = if (all) None else Some(named.toSet)

  /** Of kind `range`. DamagedTable if the file cannot be decoded. */
  def facts(file: RandomReader, kind: FileKind): FileFacts = kind match {
    case FileKind.Parquet => collect(Vector(FooterStats.of(file)), isLog = false)
    case FileKind.Log     => LogStats.of(file, asked).fold(FileFacts(-1, Vector.empty))(collect(_, isLog = true))
    case FileKind.Orc | FileKind.HFile | FileKind.CdcLog => FileFacts(-1, Vector.empty)
  }

  private def collect(sources: Vector[SourceStats], isLog: Boolean): FileFacts =
    FileFacts(sources.map(_.rows).sum, paths(sources).flatMap(fact(_, sources, isLog)))

  private def paths(sources: Vector[SourceStats]): Vector[String] =
    if (!all) named
    else {
      val others = (table.all.map(_._1) ++ sources.flatMap(_.columns.keys)).filterNot(FileColumns.isMeta)
      (named ++ others.filterNot(never.forbids)).distinct
    }

  private def fact(path: String, sources: Vector[SourceStats], isLog: Boolean): Option[ColumnFact] = {
    val types = sources.flatMap(_.columns.get(path)).map(_.columnType).distinct
    val columnType = if (types.isEmpty) table.columnType(path) else types.headOption
    if (types.size > 1 || (isLog && table.mayMislabel(path))) None
    else
      columnType.flatMap { t =>
        val parts = ColumnPath.parts(path)
        val builder = new StatsBuilder(t)
        val isKnown = sources.forall { source =>
          source.columns.get(path) match {
            case Some(typed) =>
              builder.add(typed.stats)
              true
            case None =>
              val present = source.schema.present(parts)
              val isNull = present < parts.size && table.readsNull(path, present)
              if (isNull) builder.add(FileColumns.absent(source))
              isNull
          }
        }
        if (isKnown) Some(ColumnFact(IndexedColumn(path, t, IndexKind.Range), settled(path, builder.result))) else None
      }
  }

  /** A partition column may be shown as null, as its path says, where the file has a value. */
  private def settled(path: String, stats: ColumnStats): ColumnStats = {
    val kept = if (table.hudiType(path).isDefined) FileColumns.withoutBounds(stats) else stats
    if (table.isPartitionColumn(path) && kept.nulls != kept.rows) kept.copy(nulls = -1) else kept
  }
}

private[column] object FileColumns {
  private val MetaPrefix = "_hoodie_"

  /** Partial rows keep what older ones have; of those without an older one it is null. */
  private def absent(source: SourceStats): ColumnStats =
    ColumnStats(source.rows, if (source.isPartial) -1 else source.rows, Bounds.NoValues)

  private def withoutBounds(stats: ColumnStats): ColumnStats =
    if (stats.bounds == Bounds.NoValues) stats else stats.copy(bounds = Bounds.Unknown)

  def isMeta(path: String): Boolean = path.startsWith(MetaPrefix)

  def pathOf(tablePath: String, file: FileEntry): String =
    Storage.join(Storage.join(tablePath, file.partitionPath), file.fileName)
}
