package hudiidx.manifest

import hudiidx.DamagedIndex
import hudiidx.table.{FileEntry, FileSource}
import java.nio.charset.StandardCharsets.UTF_8
import java.util.{Map => JMap}
import scala.collection.JavaConverters._

/** Changes of a table's files by partition, in the order of partition keys (unsigned UTF-8 bytes). */
final class ManifestChanges {
  private val byKey = new java.util.TreeMap[Array[Byte], PartitionChange](PartitionKey.Order)
  private val byPath = new java.util.HashMap[String, PartitionChange]
  private var unmarking = Unmarking.None
  private var rolledBack = Set.empty[String]
  private var tellsLogs = false
  private var replacesArchived = false

  /** The change of a partition, made on first use. */
  def of(partitionPath: String): PartitionChange = {
    val known = byPath.get(partitionPath)
    if (known != null) known
    else {
      val change = new PartitionChange(partitionPath)
      byPath.put(partitionPath, change)
      byKey.put(PartitionKey.encode(partitionPath), change)
      change
    }
  }

  def get(partitionPath: String): Option[PartitionChange] = Option(byPath.get(partitionPath))

  /** Replacements by these instants count no more, in whatever partition: they were rolled back.
    *
    * @param others the earliest one that counts, by partition path and file id
    */
  def unmark(instants: Set[String], others: (String, String) => Option[String]): Unit =
    unmarking = Unmarking(instants, others)

  /** Are there such, so that entries of any partition may change? */
  def unmarks: Boolean = unmarking.instants.nonEmpty

  /** Entries of a partition before the changes -> entries after them. */
  def applyTo(partitionPath: String, entries: Array[FileEntry]): Array[FileEntry] = {
    val changed = get(partitionPath).fold(entries)(_.applyTo(entries))
    if (unmarks) changed.map(unmarking(partitionPath, _)) else changed
  }

  /** Names each partition that has entries to unmark. */
  def unmarkIn(source: FileSource): Unit = if (unmarks) source.partitions.foreach { path =>
    if (source.files(path).exists(unmarking.concerns)) of(path).unmark(unmarking)
  }

  /** Files that came since to groups which were replaced before are replaced with them.
    *
    * @param replacements the earliest one by partition path and file id
    */
  def replaceAdded(replacements: JMap[String, _ <: JMap[String, String]]): Unit = byPath.forEach { (path, change) =>
    val inPartition = replacements.get(path)
    if (inPartition != null) change.replaceAdded(inPartition)
  }

  /** These instants were rolled back, so that no file of theirs is left, in whatever partition.
    *
    * @param logs a log file's name tells its instant too
    */
  def rollBack(instants: Set[String], logs: Boolean): Unit = {
    rolledBack = instants
    tellsLogs = logs
  }

  /** As [[PartitionChange.replaceArchived]]. */
  def replaceArchived(partitionPath: String, fileId: String, instantTime: String, isCovered: Boolean): Unit = {
    replacesArchived = true
    of(partitionPath).replaceArchived(fileId, instantTime, isCovered)
  }

  /** Does `requireCredible` concern record keys too, so that it comes before any of them is looked up? */
  def isToBeHeldFirst: Boolean = rolledBack.nonEmpty || replacesArchived

  /** As [[PartitionChange.requireCredible]], of all partitions as `source` has them. DamagedIndex too for a file that is left of an instant
    * which was rolled back: a restore says what its last run removed, and one before it may have failed half-way.
    */
  def requireCredible(source: FileSource): Unit =
    if (rolledBack.nonEmpty)
      (source.partitions.iterator ++ byPath.keySet.asScala).toSet
        .foreach((path: String) => requireRolledBack(path, applyTo(path, source.files(path))))
    else
      byPath.values.forEach(change => if (change.isToBeHeld) change.requireCredible(source.files(change.partitionPath)))

  private def requireRolledBack(partitionPath: String, left: Array[FileEntry]): Unit =
    left.find(e => (e.isBase || tellsLogs) && rolledBack(e.instantTime)).foreach { e =>
      throw new DamagedIndex(
        s"partition '$partitionPath': a rollback or restore of ${e.instantTime} does not say that it removed ${e.fileName}; an index cannot follow that"
      )
    }

  /** No partition is named. */
  def isEmpty: Boolean = byPath.isEmpty

  def inKeyOrder: java.util.Iterator[PartitionChange] = byKey.values.iterator
}

/** Replacements that were rolled back.
  *
  *  @param instants requested times
  *  @param others   the earliest replacement that counts, by partition path and file id
  */
private[manifest] final case class Unmarking(instants: Set[String], others: (String, String) => Option[String]) {
  def concerns(e: FileEntry): Boolean = instants.nonEmpty && e.replacedAt.exists(instants)

  def apply(partitionPath: String, e: FileEntry): FileEntry =
    if (concerns(e)) e.copy(replacedAt = others(partitionPath, e.fileId)) else e
}

private[manifest] object Unmarking {
  val None: Unmarking = Unmarking(Set.empty, (_, _) => scala.None)
}

/** Keys of partitions in our HFiles: `p` and the partition path in UTF-8, so that no key is empty. */
object PartitionKey {
  private val Prefix = 'p'.toByte

  val Order: java.util.Comparator[Array[Byte]] = new java.util.Comparator[Array[Byte]] {
    override def compare(a: Array[Byte], b: Array[Byte]): Int = java.util.Arrays.compareUnsigned(a, b)
  }

  def encode(partitionPath: String): Array[Byte] = {
    val utf8 = partitionPath.getBytes(UTF_8)
    val key = new Array[Byte](utf8.length + 1)
    key(0) = Prefix
    System.arraycopy(utf8, 0, key, 1, utf8.length)
    key
  }

  def decode(key: Array[Byte]): String = new String(key, 1, key.length - 1, UTF_8)

  /** Partition paths in the order of their keys. */
  def sorted(partitionPaths: Iterable[String]): Vector[String] = {
    val keys = new java.util.TreeMap[Array[Byte], String](Order)
    partitionPaths.foreach(p => keys.put(encode(p), p))
    val out = Vector.newBuilder[String]
    val it = keys.values.iterator
    while (it.hasNext) out += it.next()
    out.result()
  }
}
