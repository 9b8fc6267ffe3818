package hudiidx.hive

import java.io.IOException

import hudiidx.DamagedIndex
import hudiidx.column.{ColumnCondition, Conditions}
import hudiidx.column.segment.{ColumnIndex, ColumnSelection}
import hudiidx.store.IndexStore
import hudiidx.sync.{Fallback, FallbackCode, TableSnapshot}
import hudiidx.table.FileSlice

/** Which partitions and file slices may hold rows that a predicate wants, by the table's column index. A file of it that fails is
  * one warning, and from then on nothing is left out; in strict mode it is DamagedIndex.
  */
private[hive] final class ColumnBounds private (
    index: ColumnIndex,
    selection: ColumnSelection,
    warn: Throwable => Unit
) extends AutoCloseable {
  private var hasFailed = false

  /** False only if no row of the partition is wanted. */
  def mightMatch(partitionPath: String): Boolean = guarded(selection.mightMatch(partitionPath))

  /** False only if no row of the slice is wanted. */
  def mightMatch(slice: FileSlice): Boolean = guarded(selection.mightMatch(slice))

  private def guarded(work: => Boolean): Boolean = hasFailed || {
    try work
    catch {
      case e @ (_: DamagedIndex | _: IOException) =>
        hasFailed = true
        warn(e)
        true
    }
  }

  override def close(): Unit = index.close()
}

private[hive] object ColumnBounds {

  /** None where nothing can be left out: no column is indexed, the predicate speaks of none, or the index fails. DamagedIndex in
    * strict mode.
    */
  def of(
      snapshot: TableSnapshot,
      settings: ReadSettings,
      columns: TableColumns,
      wanted: RowPredicate
  ): Option[ColumnBounds] = {
    val condition = wanted.condition(columns.struct, columns.isInFiles)
    val isTold = condition == ColumnCondition.Nothing || Conditions.paths(condition).nonEmpty
    snapshot.use.version.filter(v => isTold && ColumnIndex.isIn(v)).flatMap { version =>
      val store = new IndexStore(snapshot.table.storage, settings.index.indexDir(snapshot.tablePath))
      def warn(e: Throwable): Unit =
        Fallback(FallbackCode.DamagedColumnIndex, e.getMessage).warn(
          snapshot.tablePath,
          store.dir,
          settings.index.strict
        )
      try {
        val index = ColumnIndex.open(store, version, snapshot.table.access.cache)
        Some(new ColumnBounds(index, index.select(condition, snapshot.mayHaveMore), warn))
      } catch {
        case e @ (_: DamagedIndex | _: IOException) =>
          warn(e)
          None
      }
    }
  }
}
