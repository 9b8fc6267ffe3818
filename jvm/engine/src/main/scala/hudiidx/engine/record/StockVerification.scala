package hudiidx.engine.record

import hudiidx.DamagedTable
import hudiidx.record._
import hudiidx.store.{IndexFile, IndexStore, IndexVersion}
import hudiidx.sync._
import hudiidx.table.FileGroup
import hudiidx.table.listing.{MetadataTable, StockFileGroup, StockLocation, StockRecordIndex}

/** How Hudi's own record index, the partition `record_index` of its metadata table, compares with ours. Differences need be
  * nobody's fault: Hudi keeps one location of a key, and not all of its writers index what they insert into logs.
  *
  *  @param skipped  why they were not compared; empty if they were
  *  @param equal    mappings that both have
  *  @param onlyInHudi  differences by [[StockDifference]]
  *  @param onlyInIndex differences by [[StockDifference]]
  */
final case class StockComparison(
    skipped: String,
    equal: Long,
    onlyInHudi: Map[String, Long],
    onlyInIndex: Map[String, Long],
    samples: Vector[MappingDifference]
)

/** Compares Hudi's own record index with ours, hash group by hash group: tasks read Hudi's entries and write them as sorted
  * runs, which are merged with our mappings.
  */
private[record] final class StockVerification(
    engine: TaskEngine,
    snapshot: TableSnapshot,
    indexDir: String,
    version: IndexVersion,
    index: RecordIndex,
    folder: String,
    scope: CompareScope
) {

  /** None if the table has no record index of Hudi's. What is wrong with that one is told, and is no matter of ours. */
  def run(isInStep: Boolean): Option[StockComparison] =
    try compared(isInStep)
    catch { case e: DamagedTable => Some(skipped(s"Hudi's record index cannot be read: ${e.getMessage}")) }

  private def compared(isInStep: Boolean): Option[StockComparison] = {
    val table = snapshot.table
    val stock = MetadataTable.recordIndex(
      table.storage,
      table.tablePath,
      table.config,
      table.timeline,
      table.contents,
      table.access.cache,
      (path, config) => table.access.histories.open(table.storage, path, config)
    )
    stock.map { s =>
      if (!isInStep) skipped("this index is behind the table; update it first")
      else if (index.windowDays.isDefined) skipped("this index has only the records of a window of days")
      else if (!s.inStep) skipped("Hudi's metadata table is behind the table, or it cannot be told whether it is")
      else compare(s)
    }
  }

  private def skipped(why: String): StockComparison = StockComparison(why, 0, Map.empty, Map.empty, Vector.empty)

  private def compare(stock: StockRecordIndex): StockComparison = {
    val ranges = index.groups.map(_.range)
    val read = engine.run(s"read ${stock.groups.size} file groups of Hudi's record index", stock.groups)(
      StockVerification.runs(stock, indexDir, version, folder, ranges, scope)
    )
    val gone = read.map(_._2).foldLeft(Tally.Empty)(_.plus(_, scope.mostSamples))
    val merged =
      RecordVerification.compare(engine, indexDir, version, folder, read.flatMap(_._1), scope)(
        MappingComparison.ofStock
      )
    val found = merged.plus(gone, scope.mostSamples)
    StockComparison(
      "",
      found.count(MappingComparison.Equal),
      StockDifference.OnlyInHudi.map(k => k -> found.count(k)).toMap,
      StockDifference.OnlyInIndex.map(k => k -> found.count(k)).toMap,
      found.samples.map(told)
    )
  }

  private def told(sample: TallySample): MappingDifference = {
    val group = sample.group.getOrElse(scope.group(sample.ordinal, index.dictionary))
    val side = if (StockDifference.OnlyInHudi.contains(sample.kind)) "only Hudi's" else "only this"
    val detail = s"$side record index has the key there"
    val cause = StockVerification.Causes(sample.kind)
    MappingDifference(sample.kind, sample.key, group.partitionPath, group.fileId, detail, cause)
  }
}

private[record] object StockVerification {
  private val Causes = Map(
    StockDifference.GroupGone -> "the file group is replaced or not visible; Hudi's entry of it was not removed",
    StockDifference.KeyNotThere -> "the record is deleted or moved, and Hudi's entry of it was not removed",
    StockDifference.DuplicateKey -> "several records have the key; Hudi keeps one location",
    StockDifference.OtherLocation -> "Hudi has another location of the key: the record moved, or it has several",
    StockDifference.LogRecord -> "the record was inserted into a log file; not all of Hudi's writers index those",
    StockDifference.NotIndexed -> "Hudi lost the key: a write with its record index switched off, for one"
  )

  private def runs(
      stock: StockRecordIndex,
      indexDir: String,
      version: IndexVersion,
      folder: String,
      ranges: Vector[HashRange],
      scope: CompareScope
  ): (TableAccess, StockFileGroup) => (Vector[IndexFile], Tally) = { (access, group) =>
    val index = RecordIndex.open(version, new IndexStore(access.storage, indexDir), access.cache)
    try {
      val ordinals = new java.util.HashMap[FileGroup, Integer]
      val tally = new TallyBuilder(scope.mostSamples)
      val files = new RunFolder(access.storage, folder)
      var written = Vector.empty[IndexFile]
      val builder = new RunBuilder(
        ranges,
        KeyTasks.BudgetBytes,
        run => written :+= files.write(run, written.size.toString, Vector.empty, Vector.empty)
      )
      stock.foreach(access.storage, group) { (key, location: StockLocation) =>
        val place = FileGroup(location.partitionPath, location.fileId)
        val ordinal = ordinals.computeIfAbsent(place, p => scope.ordinal(p, index.dictionary)).intValue
        if (ordinal >= 0) builder.add(key, 0, key.length, ordinal)
        else tally.add(StockDifference.GroupGone, new String(key, "UTF-8"), ordinal, Some(place))
      }
      builder.flushRest()
      (written, tally.result)
    } finally index.close()
  }
}
