package hudiidx.report

import java.io.IOException

import hudiidx.DamagedIndex
import hudiidx.column.{ColumnExpression, NeverColumns}
import hudiidx.column.segment.{ColumnIndex, SliceBounds}
import hudiidx.store.IndexStore
import hudiidx.sync.TableSnapshot
import hudiidx.table.FileSlice

/** How well bounds of a column keep file slices apart.
  *
  *  @param column   as somebody asked for it
  *  @param typeText type of the values, as index files have it
  *  @param least    least lower bound as text; empty if none is known
  *  @param greatest greatest upper bound likewise
  */
final case class ColumnFacts(column: String, typeText: String, least: String, greatest: String, overlap: Overlap)

/** Columns whose bounds are known.
  *
  *  @param stride  one of so many slices was looked at
  *  @param leftOut columns beyond [[ColumnTally.MostColumns]]
  *  @param problem why nothing can be told of an index on columns that is there
  */
final case class ColumnsFacts(stride: Int, columns: Vector[ColumnFacts], leftOut: Int, problem: Option[String])

/** Bounds of the slices of a snapshot: give it all of them, partition after partition.
  *
  *  @param never columns of which nothing is told
  */
private[report] final class ColumnTally(snapshot: TableSnapshot, indexDir: String, never: NeverColumns)
    extends AutoCloseable {
  private var problem = Option.empty[String]
  private val version = snapshot.use.version.filter(ColumnIndex.isIn)
  private val index: Option[ColumnIndex] = version.flatMap { v =>
    guarded(ColumnIndex.open(new IndexStore(snapshot.table.storage, indexDir), v, snapshot.table.access.cache))
  }
  private val bounds = index.map(new SliceBounds(_))
  private val stride =
    math.max(1L, (version.fold(0L)(hudiidx.sync.IndexCounts.files) + ColumnTally.Most - 1) / ColumnTally.Most).toInt
  private var seen = 0L

  def add(slices: Vector[FileSlice]): Unit = slices.foreach { s =>
    if (problem.isEmpty && seen % stride == 0) bounds.foreach(b => guarded(b.add(s)))
    seen += 1
  }

  /** @param first columns that matter most: where there are very many, these are told of before others */
  def facts(first: String => Int): ColumnsFacts = {
    val paths = bounds.toVector.flatMap(b => guarded(b.paths).getOrElse(Vector.empty)).filterNot(never.forbids)
    val told = paths.sortBy(p => -first(ColumnExpression.shown(p))).take(ColumnTally.MostColumns)
    val found = if (problem.isDefined) Vector.empty else told.flatMap(column)
    val sorted = found.sortBy(c => (-c.overlap.skippedOfOne, c.column))
    ColumnsFacts(stride, sorted, paths.size - told.size, problem)
  }

  private def column(path: String): Option[ColumnFacts] =
    guarded(bounds.flatMap(_.of(path))).flatten.map { case (columnType, found) =>
      val (least, greatest) = ValueText.ends(columnType, found)
      ColumnFacts(ColumnExpression.shown(path), columnType.text, least, greatest, Overlap.of(columnType, found))
    }

  /** What cannot be read of an index is told, and no reason to tell nothing else. */
  private def guarded[A](read: => A): Option[A] =
    try Some(read)
    catch {
      case e: DamagedIndex => failed(e.getMessage)
      case e: IOException  => failed(e.toString)
    }

  private def failed(why: String): None.type = {
    problem = problem.orElse(Some(why))
    None
  }

  override def close(): Unit = index.foreach(_.close())
}

private[report] object ColumnTally {

  /** Slices that are looked at, at most, and about half as many at least where there are more. */
  val Most = 100000L

  val MostColumns = 40
}
