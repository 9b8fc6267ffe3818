package hudiidx.table

/** Stock Hudi's file-system view (format notes §5, as of 1.1.1) over committed files. Results are in order of file id,
  *  within a file group by instant. An unknown partition gives nothing. As in stock's view a slice has its change-data
  *  files (`.cdc`) among its log files; a snapshot reader skips them.
  *
  *  `asOf` is a requested time: instants after it do not count, replacements by them neither. None means all instants;
  *  it differs from the last instant only in that `latestFileSlices` then keeps the empty slice of a pending compaction.
  */
final class FileSystemView(val source: FileSource, val timeline: ViewTimeline) {

  def partitions: Vector[String] = source.partitions

  /** Every base file of the groups that are not replaced. */
  def allBaseFiles(partitionPath: String, asOf: Option[String] = None): Vector[BaseFile] = {
    val found = Vector.newBuilder[BaseFile]
    foreachLiveGroup(partitionPath, asOf) { (group, max) =>
      val last = group.latest(max)
      var s = 0
      while (s <= last) {
        if (group.base(s) != null) found += GroupSlices.baseFile(group.base(s))
        s += 1
      }
    }
    found.result()
  }

  /** The newest base file of each group that has one; logs and pending compactions do not count. */
  def latestBaseFiles(partitionPath: String, asOf: Option[String] = None): Vector[BaseFile] =
    latestBaseFiles(groups(partitionPath), asOf)

  private def latestBaseFiles(groups: GroupSlices, asOf: Option[String]): Vector[BaseFile] = {
    val found = Vector.newBuilder[BaseFile]
    foreachLive(groups, asOf) { (group, max) =>
      var s = group.latest(max)
      while (s >= 0 && group.base(s) == null) s -= 1
      if (s >= 0) found += GroupSlices.baseFile(group.base(s))
    }
    found.result()
  }

  /** The groups that are not replaced and have a slice. */
  def allFileGroups(partitionPath: String, asOf: Option[String] = None): Vector[FileGroup] = {
    val found = Vector.newBuilder[FileGroup]
    foreachLiveGroup(partitionPath, asOf) { (group, max) =>
      if (group.latest(max) >= 0) found += FileGroup(partitionPath, group.fileId)
    }
    found.result()
  }

  /** The groups that are replaced and still have files. */
  def allReplacedFileGroups(partitionPath: String, asOf: Option[String] = None): Vector[FileGroup] = {
    val found = Vector.newBuilder[FileGroup]
    val max = asOf.orNull
    val group = groups(partitionPath)
    while (group.next()) if (isReplaced(group, max)) found += FileGroup(partitionPath, group.fileId)
    found.result()
  }

  /** Every slice, the empty one of a pending compaction included. */
  def allFileSlices(partitionPath: String, asOf: Option[String] = None): Vector[FileSlice] = {
    val found = Vector.newBuilder[FileSlice]
    foreachLiveGroup(partitionPath, asOf)((group, max) => group.foreachSlice(max)(found += _))
    found.result()
  }

  /** The newest slice of each group: behind a pending compaction the one that has only the logs since then. With `asOf`
    *  the newest slice that has a file (stock's getLatestFileSlicesBeforeOrOn, pending compactions included).
    */
  def latestFileSlices(partitionPath: String, asOf: Option[String] = None): Vector[FileSlice] = {
    val found = Vector.newBuilder[FileSlice]
    foreachLiveGroup(partitionPath, asOf) { (group, max) =>
      var s = group.latest(max)
      // Only a pending compaction makes an empty slice, so this looks back by one at most.
      if (max != null && s >= 0 && !group.hasFiles(s)) s -= 1
      if (s >= 0) found += group.slice(s)
    }
    found.result()
  }

  /** As `latestFileSlices`, but of a group in pending compaction the newest slice before the compaction. */
  def latestUncompactedFileSlices(partitionPath: String, asOf: Option[String] = None): Vector[FileSlice] = {
    val found = Vector.newBuilder[FileSlice]
    foreachLiveGroup(partitionPath, asOf) { (group, max) =>
      var s = group.latest(max)
      if (group.compaction != null) while (s >= 0 && group.instant(s).compareTo(group.compaction) >= 0) s -= 1
      if (s >= 0) found += group.slice(s)
    }
    found.result()
  }

  /** What a snapshot query reads: the newest slice of each group, behind a pending compaction joined with the slice
    *  before it.
    */
  def latestMergedFileSlices(partitionPath: String, asOf: Option[String] = None): Vector[FileSlice] =
    latestMergedFileSlices(groups(partitionPath), asOf)

  private def latestMergedFileSlices(groups: GroupSlices, asOf: Option[String]): Vector[FileSlice] = {
    val found = Vector.newBuilder[FileSlice]
    foreachLive(groups, asOf) { (group, max) =>
      val s = group.latest(max)
      if (s > 0 && group.instant(s) == group.compaction) found += group.mergedWithPrevious(s)
      else if (s >= 0) found += group.slice(s)
    }
    found.result()
  }

  /** As `latestMergedFileSlices`, or as `latestBaseFiles` if `baseFiles`, of the groups that have a file of one of these
    *  sizes, perhaps of others too.
    *
    *  @param sizes in bytes, ascending
    */
  def latestOfSizes(partitionPath: String, sizes: Array[Long], baseFiles: Boolean): SlicesFound = {
    val found = source.filesOfSizes(partitionPath, sizes)
    val groups = new GroupSlices(FileOrder.sorted(found.files), partitionPath, timeline)
    val slices =
      if (!baseFiles) latestMergedFileSlices(groups, None)
      else latestBaseFiles(groups, None).map(FileSlice.of)
    SlicesFound(slices, found.passedOver)
  }

  /** A call on every partition as one stream that holds one partition's result at a time. */
  def iterate[A](call: String => Iterable[A]): Iterator[A] = partitions.iterator.flatMap(p => call(p).iterator)

  private def groups(partitionPath: String): GroupSlices =
    new GroupSlices(FileOrder.sorted(source.files(partitionPath)), partitionPath, timeline)

  private def foreachLiveGroup(
      partitionPath: String,
      asOf: Option[String]
  )(use: (GroupSlices, String) => Unit): Unit = foreachLive(groups(partitionPath), asOf)(use)

  private def foreachLive(group: GroupSlices, asOf: Option[String])(use: (GroupSlices, String) => Unit): Unit = {
    val max = asOf.orNull
    while (group.next()) if (!isReplaced(group, max)) use(group, max)
  }

  private def isReplaced(group: GroupSlices, max: String): Boolean =
    group.replacedAt != null && (max == null || group.replacedAt.compareTo(max) <= 0)
}
