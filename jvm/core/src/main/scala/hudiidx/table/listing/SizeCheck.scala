package hudiidx.table.listing

import hudiidx.DamagedTable
import hudiidx.storage.Storage
import hudiidx.table.{FileEntry, FileName}
import hudiidx.timeline.{Action, ActiveTimeline, Instant, InstantContents}
import java.util.{Arrays, HashMap => JMap, HashSet => JSet}

/** A file that is not as the timeline says.
  *
  *  @param nameHash      `SizeCheck.hash` of its name
  *  @param expectedBytes size that the write at `instant` recorded
  *  @param foundBytes    size on storage; -1 if the file is missing
  */
final case class Suspect(nameHash: Long, expectedBytes: Long, instant: Instant, foundBytes: Long)

/** Files that one partition must have: sizes by hash of the file name, so that millions fit into a driver. */
final class ExpectedPartition private[table] (hashes: Array[Long], sizes: Array[Long], instants: Array[Instant])
    extends Serializable {

  def size: Int = hashes.length

  /** The expected files that are missing among `entries`, or shorter. A log file may have grown. */
  def suspects(entries: Array[FileEntry]): Vector[Suspect] =
    if (hashes.length == 0) Vector.empty
    else {
      val found = Array.fill(hashes.length)(-1L)
      entries.foreach { e =>
        val at = Arrays.binarySearch(hashes, SizeCheck.hash(e.fileName))
        if (at >= 0) found(at) = e.sizeBytes
      }
      val bad = Vector.newBuilder[Suspect]
      var i = 0
      while (i < hashes.length) {
        if (found(i) < sizes(i)) bad += Suspect(hashes(i), sizes(i), instants(i), found(i))
        i += 1
      }
      bad.result()
    }

  /** The file, if it is expected and has fewer bytes. */
  def shorter(fileName: String, sizeBytes: Long): Option[Suspect] = {
    val at = Arrays.binarySearch(hashes, SizeCheck.hash(fileName))
    if (at >= 0 && sizeBytes < sizes(at)) Some(Suspect(hashes(at), sizes(at), instants(at), sizeBytes)) else None
  }
}

object ExpectedPartition {
  val Empty: ExpectedPartition = new ExpectedPartition(Array.empty, Array.empty, Array.empty)
}

/** Which files the active timeline says must be there. Stock Hudi on version 6 leaves a missing base file out silently
  *  and reads a cut log file as far as it goes: fewer rows, no error.
  *
  *  Expected of each file group that is not replaced: the newest base file of the active timeline, and the log files of
  *  later instants. These make up its latest slice, which no clean removes; instants that were rolled back or restored
  *  away are not on the timeline; older slices may be gone. A file that a clean names is not expected either way.
  */
object SizeCheck {

  /** Of a file that lacks bytes, or (`foundBytes` below 0) is not there. */
  def damaged(path: String, foundBytes: Long, instant: String, wroteBytes: Long): DamagedTable = {
    val state = if (foundBytes < 0) "the file is missing" else s"the file has only $foundBytes bytes"
    new DamagedTable(
      s"$path: $state, but instant $instant wrote $wroteBytes bytes; restore the file from a copy, or restore the table with Hudi to a " +
        "savepoint before that instant"
    )
  }

  /** A file with the size that it has on storage, whatever was told of it; None if it is gone. */
  def measured(storage: Storage, tablePath: String, file: FileEntry): Option[FileEntry] =
    storage.status(pathOf(tablePath, file)).map(f => file.copy(sizeBytes = f.sizeBytes))

  /** As `measured`; DamagedTable if it has fewer bytes than was told of it. */
  def measuredWhole(storage: Storage, tablePath: String, file: FileEntry): Option[FileEntry] = {
    val found = measured(storage, tablePath, file)
    found.filter(_.sizeBytes < file.sizeBytes).foreach { f =>
      throw damaged(pathOf(tablePath, file), f.sizeBytes, file.instantTime, file.sizeBytes)
    }
    found
  }

  private def pathOf(tablePath: String, file: FileEntry): String =
    Storage.join(Storage.join(tablePath, file.partitionPath), file.fileName)

  /** By partition path. Reads every completed write and clean of the timeline, newest first, one at a time. */
  def expected(timeline: ActiveTimeline, contents: InstantContents): Map[String, ExpectedPartition] = {
    val replaced = ListingRules.replacements(timeline.completedWrites, contents)
    val cleaned = cleanedFiles(timeline, contents)
    val byPartition = new JMap[String, Collector]()
    timeline.completedWrites.reverseIterator.foreach { instant =>
      contents.commit(instant).writeStats.foreach { stat =>
        for (path <- stat.path; name <- stat.fileName if stat.fileSizeBytes > 0) {
          val gone = replaced.get(stat.partitionPath)
          if ((gone == null || !gone.containsKey(stat.fileId)) && !cleaned.contains(path))
            byPartition
              .computeIfAbsent(stat.partitionPath, _ => new Collector)
              .add(stat.fileId, name, stat.fileSizeBytes, instant)
        }
      }
    }
    resultOf(byPartition)
  }

  /** Log files that completed writes up to an instant left, with their sizes then, by partition path. Whether they are still
    * there is another matter: a cleaner may have removed them.
    */
  def logsAsOf(timeline: ActiveTimeline, contents: InstantContents, asOf: String): Map[String, ExpectedPartition] = {
    val byPartition = new JMap[String, Collector]()
    timeline.completedWrites.reverseIterator.filter(_.requestedTime <= asOf).foreach { instant =>
      for (
        stat <- contents.commit(instant).writeStats; name <- stat.fileName
        if FileName.isLog(name) && stat.fileSizeBytes > 0
      )
        byPartition
          .computeIfAbsent(stat.partitionPath, _ => new Collector)
          .add(stat.fileId, name, stat.fileSizeBytes, instant)
    }
    resultOf(byPartition)
  }

  private def resultOf(byPartition: JMap[String, Collector]): Map[String, ExpectedPartition] = {
    val result = Map.newBuilder[String, ExpectedPartition]
    byPartition.forEach((partition, files) => result += partition -> files.result())
    result.result()
  }

  private def cleanedFiles(timeline: ActiveTimeline, contents: InstantContents): JSet[String] = {
    val names = new JSet[String]()
    timeline.completed.filter(_.action == Action.Clean).foreach { instant =>
      contents.clean(instant).partitions.foreach { case (partition, files) =>
        files.deletedFileNames.foreach(name => names.add(ListingRules.pathBelowTable(partition, name)))
      }
    }
    names
  }

  /** 64-bit FNV-1a over UTF-16 code units, then mixed: two names of one partition never meet in practice. */
  private[table] def hash(name: String): Long = {
    var h = 0xcbf29ce484222325L
    var i = 0
    while (i < name.length) {
      h = (h ^ name.charAt(i).toLong) * 0x100000001b3L
      i += 1
    }
    h ^= h >>> 32
    h *= 0x9e3779b97f4a7c15L
    h ^ (h >>> 29)
  }

  /** One partition's expected files, newest instants first. */
  private final class Collector {
    private val closedGroups = new JSet[String]()
    private val files = new java.util.TreeMap[java.lang.Long, (Long, Instant)]()

    def add(fileId: String, name: String, sizeBytes: Long, instant: Instant): Unit =
      if (!closedGroups.contains(fileId)) {
        // Of a log file that several instants appended to, the newest size counts.
        files.putIfAbsent(hash(name), (sizeBytes, instant))
        if (!FileName.isLog(name)) closedGroups.add(fileId)
      }

    def result(): ExpectedPartition = {
      val hashes = new Array[Long](files.size)
      val sizes = new Array[Long](files.size)
      val instants = new Array[Instant](files.size)
      var i = 0
      files.forEach { (hash, file) =>
        hashes(i) = hash
        sizes(i) = file._1
        instants(i) = file._2
        i += 1
      }
      new ExpectedPartition(hashes, sizes, instants)
    }
  }
}
