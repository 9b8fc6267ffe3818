package hudiidx.manifest

import hudiidx.DamagedIndex
import hudiidx.bytes.{PackedInput, PackedOutput}
import hudiidx.hfile.{HFileReader, HFileWriter}
import hudiidx.storage.Storage

/** Reads a delta manifest: all changes since the master, one cell a partition, and a cell of the partitions that came or
  *  went. docs/format.md, "Delta manifest".
  */
final class DeltaManifest(file: HFileReader, name: String) {

  def partition(partitionPath: String): Option[DeltaPartition] = {
    val value = file.get(PartitionKey.encode(partitionPath))
    if (value == null) None else Some(DeltaPartition.decode(DeltaManifest.copy(value), where(partitionPath)))
  }

  /** Partitions that the master does not know, and partitions of the master that are gone. */
  def partitionChanges: PartitionListChange = {
    val value = file.get(DeltaManifest.ListKey)
    if (value == null) PartitionListChange.None
    else PartitionListChange.decode(DeltaManifest.copy(value), name)
  }

  /** Every changed partition with its cell's bytes, in the order of keys. */
  def cells: Iterator[(Array[Byte], Array[Byte])] = new Iterator[(Array[Byte], Array[Byte])] {
    private val cursor = file.scan(PartitionKey.encode(""))
    private var more = cursor.next()
    override def hasNext: Boolean = more
    override def next(): (Array[Byte], Array[Byte]) = {
      val cell = cursor.key -> DeltaManifest.copy(cursor.valueBuffer)
      more = cursor.next()
      cell
    }
  }

  def where(partitionPath: String): String = s"$name, partition '$partitionPath'"
}

object DeltaManifest {

  /** Sorts before every partition's key. */
  private[manifest] val ListKey: Array[Byte] = Array('l'.toByte)

  private[manifest] def copy(value: java.nio.ByteBuffer): Array[Byte] = {
    val bytes = new Array[Byte](value.remaining)
    value.get(bytes)
    bytes
  }
}

/** @param added   partitions that the master does not know, in key order
  *  @param removed partitions of the master that are gone, in key order
  */
final case class PartitionListChange(added: Vector[String], removed: Vector[String])

object PartitionListChange {
  val None: PartitionListChange = PartitionListChange(Vector.empty, Vector.empty)

  def encode(change: PartitionListChange): Array[Byte] = {
    val out = new PackedOutput
    Seq(change.added, change.removed).foreach { paths =>
      out.varint(paths.size.toLong)
      paths.foreach(out.string)
    }
    out.toBytes
  }

  def decode(bytes: Array[Byte], name: String): PartitionListChange =
    try {
      val in = new PackedInput(bytes)
      val change = PartitionListChange(Vector.fill(in.count(8))(in.string()), Vector.fill(in.count(8))(in.string()))
      change.added.foreach(p => require(!Storage.leaves(p), s"partition '$p' leaves the table"))
      change
    } catch {
      case e: IllegalArgumentException =>
        throw new DamagedIndex(
          s"$name: partition list cannot be decoded: ${e.getMessage}; `hudiidx create` makes a new index",
          e
        )
    }
}

/** Sizes of a delta: entries added since the master, entries of the master removed, and the next free file number. */
final case class DeltaCounts(
    added: Long,
    removed: Long,
    addedPartitions: Long,
    removedPartitions: Long,
    nextNumber: Int
)

/** Writes the delta that follows from an older one (None: the master alone) and further changes. Cells of partitions without
  *  further changes are copied as they are, so the cost follows the changes and the delta's bytes, not the table.
  */
final class DeltaBuilder(master: MasterManifest, old: Option[DeltaManifest], entriesPerPage: Int) {
  private var added, removed = 0L
  private var newPartitions, gonePartitions = Set.empty[String]
  private var nextNumber = 0

  def write(file: HFileWriter, changes: ManifestChanges, before: DeltaCounts): DeltaCounts = {
    added = before.added
    removed = before.removed
    nextNumber = before.nextNumber
    changes.unmarkIn(new IndexFileSource(master, old, new ManifestChanges))
    val lists = old.map(_.partitionChanges).getOrElse(PartitionListChange.None)
    newPartitions = lists.added.toSet
    gonePartitions = lists.removed.toSet
    val changed = new java.util.TreeMap[Array[Byte], Array[Byte]](PartitionKey.Order)
    val it = changes.inKeyOrder
    while (it.hasNext) {
      val change = it.next()
      changed.put(PartitionKey.encode(change.partitionPath), DeltaPartition.encode(cell(change)))
    }
    val list = PartitionListChange(PartitionKey.sorted(newPartitions), PartitionKey.sorted(gonePartitions))
    file.append(DeltaManifest.ListKey, PartitionListChange.encode(list))
    old.foreach(_.cells.foreach { case (key, value) => changed.putIfAbsent(key, value) })
    val cells = changed.entrySet.iterator
    while (cells.hasNext) {
      val e = cells.next()
      file.append(e.getKey, e.getValue)
    }
    DeltaCounts(added, removed, newPartitions.size.toLong, gonePartitions.size.toLong, nextNumber)
  }

  private def cell(change: PartitionChange): DeltaPartition = {
    val path = change.partitionPath
    val before = old.flatMap(_.partition(path)).getOrElse(DeltaPartition.Empty)
    val run = master.run(path)
    val cleared = run.isDefined && (before.cleared || change.isCleared)
    // Only a change that touches files from before has to look at the master.
    val affected =
      if (run.isEmpty || cleared || !change.touchesExisting) Vector.empty
      else affectedNumbers(change, before, path, run.get)
    val gone = (before.removed ++ affected.map(_._1)).sorted
    val where = old.map(_.where(path)).getOrElse(path)
    val again = affected.flatMap(_._2)
    val entries = FileMerge.merge(change.applyTo(before.added(path, where)), again.toArray)
    val next = DeltaPartition(run.isEmpty, cleared, if (cleared) Array.empty else gone, number(entries))
    count(path, run, before, next, change)
    next
  }

  /** Numbers of master entries that the change removes, or gives anew: then with the new entry. */
  private def affectedNumbers(
      change: PartitionChange,
      before: DeltaPartition,
      path: String,
      run: PartitionRun
  ): Vector[(Int, Option[hudiidx.table.FileEntry])] = {
    val entries = master.entries(path, run)
    val removedBefore = before.removed.toSet
    val out = Vector.newBuilder[(Int, Option[hudiidx.table.FileEntry])]
    var i = 0
    while (i < entries.length) {
      val number = run.firstNumber + i
      if (!removedBefore(number) && !change.keeps(entries(i))) out += number -> change.amended(entries(i))
      i += 1
    }
    out.result()
  }

  private def number(entries: Array[hudiidx.table.FileEntry]): Vector[NumberedPage] =
    EncodedPartition.pages(entries, entriesPerPage).map { page =>
      val first = nextNumber
      nextNumber = Math.addExact(nextNumber, page.entries)
      NumberedPage(first, page)
    }

  private def count(
      path: String,
      run: Option[PartitionRun],
      before: DeltaPartition,
      next: DeltaPartition,
      change: PartitionChange
  ): Unit = {
    added += next.addedCount - before.addedCount
    removed += goneOf(run, next) - goneOf(run, before)
    val existed = if (run.isEmpty) newPartitions(path) else !gonePartitions(path)
    val exists = change.exists(existed)
    if (run.isEmpty) { if (exists) newPartitions += path else newPartitions -= path }
    else if (exists) gonePartitions -= path
    else gonePartitions += path
  }

  private def goneOf(run: Option[PartitionRun], delta: DeltaPartition): Int =
    if (delta.cleared) run.map(_.count).getOrElse(0) else delta.removed.length
}
