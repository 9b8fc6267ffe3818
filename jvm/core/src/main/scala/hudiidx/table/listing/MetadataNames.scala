package hudiidx.table.listing

import hudiidx.storage.Storage
import hudiidx.table.{DataFiles, FileEntry, FileName}
import hudiidx.timeline.{ActiveTimeline, InstantContents}

/** Tells the files that the metadata table names from what else it may have: it was made from a listing of all that lay in the
  * partitions.
  *
  * @param timeline the table's, `contents` its commits
  */
private[table] final class MetadataNames(
    tablePath: String,
    files: DataFiles,
    timeline: ActiveTimeline,
    contents: InstantContents
) {

  /** None for what is no file of the table. UnsupportedTable for one that a commit wrote, and that is of a form which is not read. */
  def entry(partitionPath: String, name: String, sizeBytes: Long): Option[FileEntry] = {
    val known = files.entry(partitionPath, name, sizeBytes)
    if (known.isEmpty) FileName.instantOf(name).foreach(requireStray(partitionPath, name, _))
    known
  }

  /** A commit of the timeline says by itself what it wrote; of archived ones the metadata table does. */
  private def requireStray(partitionPath: String, name: String, instant: String): Unit = {
    timeline.completedWrites.filter(_.requestedTime == instant).foreach(contents.commit)
    if (timeline.start.exists(_ > instant))
      throw files.refusal(
        Storage.join(tablePath, partitionPath),
        s"the metadata table has $name of the archived instant $instant"
      )
  }
}
