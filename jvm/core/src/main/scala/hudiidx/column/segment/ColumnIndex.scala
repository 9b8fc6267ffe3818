package hudiidx.column.segment

import hudiidx.IndexNotFound
import hudiidx.RecentlyUsed
import hudiidx.column.{ColumnChoice, ColumnCondition, ColumnProperty, ColumnStats, IndexedColumn}
import hudiidx.hfile.BlockCache
import hudiidx.store.{IndexStore, IndexVersion}
import hudiidx.storage.RandomReader

/** The column index of one index version: which files can have rows that a condition wants. Design §3.4; docs/format.md,
  * "Column files". Safe for several threads. What it holds in memory does not grow with columns: names of partitions, and
  * what the block cache keeps. A damaged file is DamagedIndex, from any method.
  *
  *  @param segments files of statistics, in the version's order: oldest first
  *  @param records  files of records of other kinds, likewise
  */
final class ColumnIndex private[column] (
    val segments: Vector[Segment],
    val records: Vector[RecordsFile],
    val choice: ColumnChoice,
    private[column] val isComplete: Boolean,
    readers: Vector[RandomReader]
) extends AutoCloseable {
  private[column] lazy val partitions = new SegmentPartitions(segments)
  private[column] val files = new CoveredFiles(segments.map(_.file) ++ records.map(_.file))

  /** All columns that have an index, those that are indexed together in one vector. Reads the names of all of them. */
  def columns: Vector[Vector[IndexedColumn]] =
    (segments.flatMap(_.columns) ++ records.flatMap(_.columns)).map(_.columns).distinct.filter(choice.has)

  /** Which partitions and files may have rows that a condition wants.
    *
    *  @param mayHaveMore true for partitions that may have files which the index version's manifest does not list, as those
    *                     of instants after it: they are never ruled out as a whole
    */
  def select(condition: ColumnCondition, mayHaveMore: String => Boolean = _ => false): ColumnSelection =
    new SelectionBuilder(this, mayHaveMore).build(condition)

  /** True if some segment covers the file. */
  def covers(partitionPath: String, fileName: String, sizeBytes: Long): Boolean =
    places(partitionPath, fileName, sizeBytes).exists(_._1.source < segments.size)

  /** What is known of a column in a file, by the type that the file has it in; empty if nothing is. */
  def stats(
      partitionPath: String,
      fileName: String,
      sizeBytes: Long,
      columnPath: String
  ): Vector[(IndexedColumn, ColumnStats)] = for {
    (member, place) <- places(partitionPath, fileName, sizeBytes) if member.source < segments.size
    segment = segments(member.source)
    entry <- segment.columns(columnPath).filter(e => choice.has(e.columns))
    found = segment.stats(entry, member.partition, place, member.table.rows(place)) if found != ColumnStats.Unknown
  } yield (entry.columns.head, found)

  /** The column files that cover a file, and its place in the partition. */
  private[column] def places(
      partitionPath: String,
      fileName: String,
      sizeBytes: Long
  ): Vector[(CoveredPartition, Int)] = {
    val digest = NameDigest.of(fileName)
    files.of(partitionPath).toVector.flatMap { p =>
      p.members.toVector.flatMap { m =>
        val place = m.table.find(digest, sizeBytes)
        if (place < 0) None else Some((m, place))
      }
    }
  }

  override def close(): Unit = readers.foreach(_.close())
}

object ColumnIndex {

  /** True if the version has a column index. */
  def isIn(version: IndexVersion): Boolean = !ColumnChoice.of(version).isEmpty

  /** IndexNotFound if the version has no column index, DamagedIndex if a file of it is gone, cut or cannot be read. */
  def open(store: IndexStore, version: IndexVersion, cache: BlockCache): ColumnIndex = {
    if (!isIn(version))
      throw new IndexNotFound(
        s"${store.dir}: index version ${version.number} has no column index; `hudiidx add-index TABLE COLUMN` makes one"
      )
    var opened = Vector.empty[RandomReader]
    def all[A](kind: String)(open: RandomReader => A): Vector[A] = version.files.filter(_.kind == kind).map { f =>
      val reader = store.openWhole(f)
      opened :+= reader
      open(reader)
    }
    try {
      val segments = all(ColumnKind.Stats)(Segment.open(_, cache))
      val records = all(ColumnKind.Records)(RecordsFile.open(_, cache))
      val complete = version.properties.get(ColumnProperty.Complete).contains("true")
      new ColumnIndex(segments, records, ColumnChoice.of(version), complete, opened)
    } catch {
      case e: Throwable =>
        opened.foreach(_.close())
        throw e
    }
  }
}

/** The files of a partition in one column file.
  *
  *  @param source    place of the column file
  *  @param partition place of the partition in it
  *  @param from      ordinal of the partition's first file
  */
private[column] final class CoveredPartition(
    val source: Int,
    val partition: Int,
    val from: Int,
    val until: Int,
    val fingerprint: Long,
    val table: FileTable
)

/** The files of one partition in all column files that know it. */
private[column] final class CoveredFilesOf(val path: String, val members: Array[CoveredPartition])

/** Finds files by partition in all column files. Tables of the partitions last asked for are kept, up to a number of files. */
private[column] final class CoveredFiles(sources: Vector[ColumnFileReader]) {
  private val recent = new RecentlyUsed[String, CoveredFilesOf](CoveredFiles.MostHeld)(weight)
  @volatile private var last: CoveredFilesOf = _

  /** None for a partition that no column file knows. */
  def of(path: String): Option[CoveredFilesOf] = {
    val before = last
    if (before != null && before.path == path) Some(before)
    else {
      val found = recent.get(path)
      val files = if (found != null) found else read(path)
      if (files.members.isEmpty) None
      else {
        last = files
        Some(files)
      }
    }
  }

  private def read(path: String): CoveredFilesOf = {
    val members = sources.indices.toArray.flatMap { s =>
      val directory = sources(s).directory
      val p = directory.find(path)
      if (p < 0) None
      else {
        val table = sources(s).fileTable(p)
        Some(new CoveredPartition(s, p, directory.starts(p), directory.starts(p + 1), directory.fingerprints(p), table))
      }
    }
    val files = new CoveredFilesOf(path, members)
    if (members.nonEmpty) recent.put(path, files)
    files
  }

  private def weight(files: CoveredFilesOf): Long = files.members.iterator.map(_.table.count.toLong).sum + 16
}

private[column] object CoveredFiles {

  /** Files whose names are kept, at about 30 bytes each. */
  val MostHeld = 200000L
}
