package hudiidx.spark.pinned

import hudiidx.TableChanged
import hudiidx.spark.options.IncrementalOptions
import hudiidx.storage.Storage
import hudiidx.table._
import hudiidx.table.listing.SizeCheck
import hudiidx.table.query.{Increment, IncrementalQuery, StreamCommits, WrittenFiles}
import org.apache.hadoop.fs.GlobPattern

/** The commits of an incremental read, decided.
  *
  *  @param view the files that the commits wrote; None: rows are taken from the table's latest files
  */
final class PinnedIncrement private (
    tablePath: String,
    val found: Increment,
    val view: Option[FileSystemView],
    pathGlob: Option[GlobPattern]
) {

  /** As stock, a slice's base file decides, or else its latest log file. */
  def covers(slice: FileSlice): Boolean = pathGlob.forall { glob =>
    val name = slice.baseFile.map(_.fileName).orElse(slice.logFiles.lastOption.map(_.fileName))
    name.exists(n => glob.matches(Storage.join(Storage.join(tablePath, slice.partitionPath), n)))
  }

  def text: String = {
    val commits = found.instants.length
    val range = found.instants.headOption.fold("")(first => s" from $first to ${found.instants.last}")
    s"of $commits commits$range${if (view.isEmpty) ", from the latest files" else ""}"
  }
}

object PinnedIncrement {

  /** Errors as `IncrementalQuery`. */
  def of(table: SharedTable, options: IncrementalOptions): PinnedIncrement = {
    val query = new IncrementalQuery(table.config, table.timeline, table.contents, table.context.history)
    val asked = query.increment(options.request)
    val found = asked.copy(source = asked.source.measured(sizeOf(table, _)))
    val fallback = found.fallback && (found.archived || gone(table, found.source).isDefined)
    // A stream must not pass over what a commit wrote.
    if (options.request.commits.isDefined && !found.fallback)
      gone(table, found.source).foreach(path => throw cleaned(path))
    val view = if (fallback) None else Some(new FileSystemView(found.source, table.viewTimeline))
    new PinnedIncrement(table.path, found, view, options.pathGlob.map(g => new GlobPattern("*" + g)))
  }

  /** As stock, every file that the commits wrote is asked for: where one was cleaned the latest files are read. */
  private def gone(table: SharedTable, source: WrittenFiles): Option[String] = {
    val storage = table.context.storage
    val paths =
      for (partition <- source.partitions; file <- source.files(partition))
        yield Storage.join(Storage.join(table.path, partition), file.fileName)
    val missing =
      java.util.Arrays.stream(paths.toArray).parallel().filter(path => !storage.isThere(path)).findAny()
    if (missing.isPresent) Some(missing.get) else None
  }

  /** Any of a file that is gone: whoever reads it finds that out. */
  private def sizeOf(table: SharedTable, file: FileEntry): Long =
    SizeCheck.measuredWhole(table.context.storage, table.path, file).fold(1L)(_.sizeBytes)

  private def cleaned(path: String): TableChanged = new TableChanged(
    s"$path: was cleaned before the stream has read it; set ${IncrementalOptions.Fallback}=true to take the rows of such commits from " +
      s"the table's latest files, or ${StreamCommits.anew}"
  )
}
