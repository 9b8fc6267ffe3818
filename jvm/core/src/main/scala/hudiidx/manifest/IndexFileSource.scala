package hudiidx.manifest

import hudiidx.table.{FileEntry, FileSource, FilesFound}

/** The files of a table from its index: master, delta since then, and what completed instants changed since the index
  *  version was made. Nothing of it holds more than one partition at a time.
  */
final class IndexFileSource(master: MasterManifest, delta: Option[DeltaManifest], overlay: ManifestChanges)
    extends FileSource {

  override def partitions: Vector[String] = {
    val lists = delta.map(_.partitionChanges).getOrElse(PartitionListChange.None)
    val removed = lists.removed.toSet
    val indexed = master.partitions.filterNot(removed).toVector ++ lists.added
    val paths = if (overlay.isEmpty) indexed else overlaid(indexed)
    if (isSorted(paths)) paths else paths.sorted
  }

  override def files(partitionPath: String): Array[FileEntry] =
    overlay.applyTo(partitionPath, indexedFiles(partitionPath))

  override def filesOfSizes(partitionPath: String, sizes: Array[Long]): FilesFound =
    if (overlay.unmarks || overlay.get(partitionPath).isDefined) FilesFound(files(partitionPath), 0)
    else {
      val changes = delta.flatMap(d => d.partition(partitionPath))
      val added = changes.fold(Array.empty[FileEntry])(_.added(partitionPath, delta.get.where(partitionPath)))
      val removed = changes.fold(Array.emptyIntArray)(_.removed)
      val wanted = new WantedGroups(sizes, removed, added.iterator.map(_.fileId).toSet)
      if (!changes.exists(_.cleared)) master.run(partitionPath).foreach(master.select(partitionPath, _, wanted))
      FilesFound(FileMerge.merge(wanted.entries, added), wanted.passedOver)
    }

  private def indexedFiles(partitionPath: String): Array[FileEntry] = {
    val changes = delta.flatMap(d => d.partition(partitionPath))
    val run = master.run(partitionPath)
    val kept = run match {
      case Some(r) if !changes.exists(_.cleared) =>
        val entries = master.entries(partitionPath, r)
        changes.fold(entries)(_.remaining(entries, r.firstNumber))
      case _ => Array.empty[FileEntry]
    }
    changes.fold(kept)(c => FileMerge.merge(kept, c.added(partitionPath, delta.get.where(partitionPath))))
  }

  private def overlaid(indexed: Vector[String]): Vector[String] = {
    val set = new java.util.TreeSet[String]
    indexed.foreach(set.add)
    val it = overlay.inKeyOrder
    while (it.hasNext) {
      val change = it.next()
      val path = change.partitionPath
      if (change.isToBeHeld && change.isCleared && set.contains(path)) change.requireCredible(indexedFiles(path))
      if (change.exists(set.contains(path))) set.add(path) else set.remove(path)
    }
    set.toArray(new Array[String](0)).toVector
  }

  private def isSorted(paths: Vector[String]): Boolean = {
    var i = 1
    while (i < paths.size && paths(i - 1).compareTo(paths(i)) < 0) i += 1
    i >= paths.size
  }
}
