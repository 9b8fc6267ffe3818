package hudiidx.sync

import hudiidx.{DamagedIndex, HudiIdxException, StaleIndex}
import hudiidx.table.{FileEntry, FileSource}

/** One difference between the index and the table.
  *
  *  @param kind   [[DifferenceKind]]
  *  @param file   name of the file; empty where a partition as a whole differs
  *  @param detail what stands on either side
  *  @param cause  what most likely led to it
  */
final case class Difference(kind: String, partitionPath: String, file: String, detail: String, cause: String)

object DifferenceKind {
  val PartitionMissing = "PARTITION_MISSING"
  val PartitionExtra = "PARTITION_EXTRA"
  val FileMissing = "FILE_MISSING"
  val FileExtra = "FILE_EXTRA"
  val SizeDiffers = "SIZE_DIFFERS"
  val ReplacementDiffers = "REPLACEMENT_DIFFERS"
  val IndexUnusable = "INDEX_UNUSABLE"
}

final case class VerifyResult(differences: Vector[Difference], partitions: Long, files: Long) {
  def ok: Boolean = differences.isEmpty
}

object VerifyResult {
  def sum(found: Vector[VerifyResult]): VerifyResult =
    VerifyResult(found.flatMap(_.differences), found.map(_.partitions).sum, found.map(_.files).sum)
}

/** Compares the index with a listing of the same moment. A file being written is in neither, so it is no difference. */
object Verifier {

  /** Differences of the partition lists. A partition without committed files is none: whether stock lists one depends on
    *  where it looks (folders stay behind when a write is rolled back; its metadata table may never have heard of them).
    */
  def partitions(indexed: FileSource, listed: FileSource): Vector[Difference] = {
    val (inIndex, onStorage) = (indexed.partitions, listed.partitions)
    val (indexedSet, listedSet) = (inIndex.toSet, onStorage.toSet)
    onStorage.filter(p => !indexedSet(p) && listed.files(p).nonEmpty).map { p =>
      Difference(
        DifferenceKind.PartitionMissing,
        p,
        "",
        "the table has the partition, the index does not",
        "the index lost an instant, or the folder was made by hand"
      )
    } ++ inIndex.filter(p => !listedSet(p) && indexed.files(p).nonEmpty).map { p =>
      Difference(
        DifferenceKind.PartitionExtra,
        p,
        "",
        "the index has the partition, the table does not",
        "the folder was removed by hand"
      )
    }
  }

  /** Differences of one partition; both sides as a source gives them. */
  def files(partitionPath: String, indexed: Array[FileEntry], listed: Array[FileEntry]): Vector[Difference] = {
    val replacedAt = replacements(indexed)
    val inIndex = indexed.map(e => e.fileName -> e.copy(replacedAt = replacedAt.get(e.fileId))).toMap
    val onStorage = listed.map(e => e.fileName -> e).toMap
    val out = Vector.newBuilder[Difference]
    listed.foreach { e =>
      inIndex.get(e.fileName) match {
        case None =>
          out += Difference(
            DifferenceKind.FileMissing,
            partitionPath,
            e.fileName,
            s"${e.sizeBytes} bytes on storage, not in the index",
            "a delete that failed left it behind, or it was copied in by hand"
          )
        case Some(known) => out ++= differing(partitionPath, known, e)
      }
    }
    indexed.filterNot(e => onStorage.contains(e.fileName)).foreach { e =>
      out += Difference(
        DifferenceKind.FileExtra,
        partitionPath,
        e.fileName,
        s"${e.sizeBytes} bytes in the index, not on storage",
        "the file was removed by hand, or a clean is under way"
      )
    }
    out.result()
  }

  /** A group is replaced whole: a file that came to it later need not say so, and views do not ask it. */
  private def replacements(files: Array[FileEntry]): Map[String, String] =
    files.flatMap(e => e.replacedAt.map(e.fileId -> _)).groupBy(_._1).map { case (id, times) =>
      id -> times.map(_._2).min
    }

  private def differing(partitionPath: String, indexed: FileEntry, listed: FileEntry): Vector[Difference] = {
    val size =
      if (indexed.sizeBytes == listed.sizeBytes) Vector.empty
      else
        Vector(
          Difference(
            DifferenceKind.SizeDiffers,
            partitionPath,
            listed.fileName,
            s"${indexed.sizeBytes} bytes in the index, ${listed.sizeBytes} on storage",
            if (listed.sizeBytes < indexed.sizeBytes) "the file was cut short after its commit"
            else "the file was written to after its commit"
          )
        )
    val replaced =
      if (indexed.replacedAt == listed.replacedAt) Vector.empty
      else
        Vector(
          Difference(
            DifferenceKind.ReplacementDiffers,
            partitionPath,
            listed.fileName,
            s"replaced at ${indexed.replacedAt.getOrElse("no instant")} in the index, at ${listed.replacedAt.getOrElse("no instant")} by the timeline",
            "the index lost a replacecommit"
          )
        )
    size ++ replaced
  }

  /** Compares whole sources, partition by partition, in this thread. */
  def compare(indexed: FileSource, listed: FileSource): VerifyResult =
    compare(indexed, listed, of(_, indexed, listed.files))

  /** The same, where `compared` does the work of partitions that both have. */
  def compare(indexed: FileSource, listed: FileSource, compared: Vector[String] => VerifyResult): VerifyResult = {
    val known = listed.partitions.toSet
    val found = compared(indexed.partitions.filter(known).sorted)
    VerifyResult(partitions(indexed, listed) ++ found.differences, known.size.toLong, found.files)
  }

  /** Compares what an index has of these partitions with a listing of them. */
  def of(some: Vector[String], indexed: FileSource, listed: String => Array[FileEntry]): VerifyResult =
    VerifyResult.sum(some.map(partition(_, indexed, listed)))

  /** An index that cannot be used as a difference. */
  def orUnusable(work: => VerifyResult): VerifyResult =
    try work
    catch {
      case e: DamagedIndex => unusable("", e)
      case e: StaleIndex   => unusable("", e)
    }

  /** Compares what an index has of one partition with a listing of it. An index that cannot be used is a difference. */
  private def partition(path: String, indexed: FileSource, listed: String => Array[FileEntry]): VerifyResult =
    try {
      val entries = indexed.files(path)
      VerifyResult(files(path, entries, listed(path)), 1L, entries.length.toLong)
    } catch { case e: DamagedIndex => unusable(path, e) }

  /** An index, or a partition of it, that cannot be used. */
  private def unusable(partition: String, e: HudiIdxException): VerifyResult = {
    val cause = "a file of the index was damaged or removed, or the table was changed behind its timeline"
    VerifyResult(Vector(Difference(DifferenceKind.IndexUnusable, partition, "", e.getMessage, cause)), 0L, 0L)
  }
}
