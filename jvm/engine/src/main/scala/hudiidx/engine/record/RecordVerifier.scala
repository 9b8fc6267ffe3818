package hudiidx.engine.record

import java.io.IOException
import java.util.BitSet

import hudiidx.record._
import hudiidx.storage.{FileInfo, Storage}
import hudiidx.store.{IndexFile, IndexFolder, IndexNames, IndexStore, IndexVersion}
import hudiidx.sync._
import hudiidx.table.{FileGroup, FileSlice}
import hudiidx.{DamagedIndex, IndexNotWritable, Log, StaleIndex}

/** @param samples most differences of a kind that are told one by one
  *  @param scratch folder for the sorted runs of the table's keys, removed afterwards; tasks must reach it. None: the index
  *                 folder
  */
final case class RecordVerifyOptions(samples: Int = 20, scratch: Option[String] = None)

/** One mapping that the record index and the table have otherwise.
  *
  *  @param kind  [[MappingKind]] or [[StockDifference]]
  *  @param cause what most likely led to it
  */
final case class MappingDifference(
    kind: String,
    key: String,
    partitionPath: String,
    fileId: String,
    detail: String,
    cause: String
)

/** What a comparison of the record index with the table's keys found.
  *
  *  @param counts        differences by [[MappingKind]], kinds without any included
  *  @param keys          different keys that the table or the index has
  *  @param mappings      mappings that are the same on both sides
  *  @param fileGroups    visible file groups that were compared
  *  @param overlaidGroups visible file groups that were not, since readers take their keys from files: the index has not
  *                       taken in what changed them
  *  @param stock         the comparison with Hudi's own record index; None if the table has none
  */
final case class RecordVerifyResult(
    counts: Map[String, Long],
    samples: Vector[MappingDifference],
    keys: Long,
    mappings: Long,
    fileGroups: Long,
    overlaidGroups: Long,
    seconds: Double,
    stock: Option[StockComparison]
) {
  def ok: Boolean = counts.values.forall(_ == 0)
}

object RecordVerifyResult {

  private[record] def unusable(why: String): RecordVerifyResult = {
    val cause = "a file of the index was damaged or removed, or the table was changed behind its timeline"
    val sample = MappingDifference(MappingKind.IndexUnusable, "", "", "", why, cause)
    val counts = MappingKind.All.map(_ -> 0L).toMap + (MappingKind.IndexUnusable -> 1L)
    RecordVerifyResult(counts, Vector(sample), 0, 0, 0, 0, 0, None)
  }
}

/** Compares a record index with the key columns of its table, at full size, as a reader of this moment sees them: a visible
  * file group that the index knows must have exactly the live keys of its slice; what instants changed that the index has
  * not taken in readers take from files, so it is left out, and mappings of groups that no reader sees are none. Tasks read
  * keys and write sorted runs, as creation does; then a task for each hash group merges its section of all runs with the
  * index's mappings. A task holds what a task of creation holds.
  */
final class RecordVerifier(engine: TaskEngine, options: RecordVerifyOptions = RecordVerifyOptions()) {

  /** IndexNotFound if there is no record index, IndexNotWritable if the folder takes no runs, DamagedTable if files of the
    * table are gone. An index that cannot be used is a difference.
    */
  def verify(context: TableContext, index: IndexOptions): RecordVerifyResult = {
    val from = System.nanoTime()
    val found =
      try compared(context, index)
      catch {
        case e: DamagedIndex => RecordVerifyResult.unusable(e.getMessage)
        case e: StaleIndex   => RecordVerifyResult.unusable(e.getMessage)
      }
    found.copy(seconds = (System.nanoTime() - from) / 1e9)
  }

  private def compared(context: TableContext, index: IndexOptions): RecordVerifyResult = {
    val snapshot = TableSnapshot.of(context, index.copy(enabled = true, strict = true))
    try {
      val store = new IndexStore(context.storage, index.indexDir(context.tablePath))
      val version = snapshot.use.version.get // strict: it is there or an error was raised
      if (options.scratch.isEmpty) store.requireOwn(context.tablePath)
      val opened = RecordIndex.open(version, store, context.access.cache)
      try new RecordVerification(engine, options, snapshot, store, version, opened).run()
      finally opened.close()
    } finally snapshot.close()
  }
}

/** One comparison. */
private final class RecordVerification(
    engine: TaskEngine,
    options: RecordVerifyOptions,
    snapshot: TableSnapshot,
    store: IndexStore,
    version: IndexVersion,
    index: RecordIndex
) {
  private val storage = snapshot.table.storage
  private val scratch = new IndexFolder(storage, options.scratch.fold(store.dir)(_.stripSuffix("/")))
  private val name = IndexNames.RecordVerify + IndexStore.newToken()
  private val folder = Storage.join(scratch.dir, name)
  private val table =
    RecordTable.of(IndexState(snapshot.table, snapshot.view, store), index.windowDays)
  // Of a record outside the window the index may have a mapping, which must be right.
  private val allKeys = table.copy(firstDay = table.firstDay.map(_ => Int.MinValue))
  private val ranges = index.groups.map(_.range)
  private val dirty = new UncoveredFileGroups(snapshot, version, index, None, table.isDated)
  private val compared, withLogs = new BitSet
  private var strangers = Vector.empty[FileGroup]
  private var overlaid = 0L

  def run(): RecordVerifyResult = {
    checkDictionary()
    try {
      probe()
      val runs = slices().grouped(RecordVerification.SlicesPerWave).flatMap(readKeys(_)).toVector
      val scope = CompareScope(compared, withLogs, index.dictionary.size, strangers, table.firstDay, options.samples)
      val found = RecordVerification.compare(engine, store.dir, version, folder, runs, scope)(MappingComparison.ofTable)
      val stock = new StockVerification(engine, snapshot, store.dir, version, index, folder, scope).run(isInStep)
      RecordVerifyResult(
        MappingKind.All.map(k => k -> found.count(k)).toMap,
        new MappingCauses(index, scope).of(found.samples),
        found.keys,
        found.count(MappingComparison.Equal),
        compared.cardinality.toLong,
        overlaid,
        0,
        stock
      )
    } finally clear()
  }

  private def isInStep: Boolean = dirty.groups.isEmpty && snapshot.use.unseenInstants.isEmpty

  /** Those whose keys the index must have. */
  private def slices(): Iterator[FileSlice] =
    snapshot.view.partitions.iterator.flatMap { p =>
      val (others, known) =
        snapshot.view.latestMergedFileSlices(p).partition(s => dirty.groups(FileGroup(p, s.fileId)))
      overlaid += others.size
      known
    }

  /** Runs with the keys of slices. */
  private def readKeys(wave: Seq[FileSlice]): Vector[IndexFile] = {
    val inputs = wave.toVector.flatMap { slice =>
      val group = FileGroup(slice.partitionPath, slice.fileId)
      val ordinal = index.dictionary.find(group).getOrElse {
        strangers :+= group
        index.dictionary.size + strangers.size - 1
      }
      compared.set(ordinal)
      if (slice.logFiles.nonEmpty) withLogs.set(ordinal)
      SliceInput.of(ordinal, slice)
    }
    KeyTasks.write(engine, allKeys, folder, ranges, inputs)
  }

  /** Entries may name ordinals up to the version's count. */
  private def checkDictionary(): Unit = {
    val wanted = version.long(RecordProperty.NextOrdinal)
    if (index.dictionary.size != wanted)
      throw new DamagedIndex(
        s"${store.dir}: the dictionary has ${index.dictionary.size} file groups, index version ${version.number} says " +
          s"$wanted; `hudiidx create` makes a new index"
      )
  }

  /** Tries the folder before any key is read. */
  private def probe(): Unit =
    try {
      val folders = new IndexFolder(storage, store.dir)
      storage.list(store.dir).filter(isLeftover).foreach(f => folders.removeWork(f.name))
      storage.write(Storage.join(folder, IndexNames.Probe))(_.write(0))
    } catch {
      case e: IOException =>
        throw new IndexNotWritable(
          s"$folder: cannot be written ($e); the comparison of record keys writes all keys there, sorted, about as much " +
            s"as the record index has (${index.groups.map(_.sizeBytes).sum} bytes), and removes them afterwards; make " +
            "the folder writable, or name another one: verify(record=True, scratch=...), `hudiidx verify --scratch`",
          e
        )
    }

  private def isLeftover(f: FileInfo): Boolean =
    f.isDirectory && f.name.startsWith(IndexNames.RecordVerify) && IndexNames.isWorkFolder(f.name) &&
      System.currentTimeMillis() - f.modifiedMillis > RecordVerification.LeftoverMillis

  private def clear(): Unit =
    try scratch.removeMade(name): Unit
    catch {
      case e: IOException =>
        Log.of(classOf[RecordVerifier]).warn(s"$folder: cannot be removed: $e")
    }
}

private[record] object RecordVerification {

  /** A folder that nobody wrote to for so long was left by a comparison that was killed. */
  val LeftoverMillis: Long = 24L * 3600 * 1000
  val SlicesPerWave = 200000

  /** Merges each hash group's sections of the runs with the index's mappings. */
  def compare(
      engine: TaskEngine,
      indexDir: String,
      version: IndexVersion,
      folder: String,
      runs: Vector[IndexFile],
      scope: CompareScope
  )(judge: (PairedKeys, CompareScope) => Tally): Tally = {
    val groups = HashGroup.of(version).indices.toVector
    engine
      .run(s"compare record keys of ${groups.size} hash groups", groups)(
        task(indexDir, version, folder, runs, scope, judge)
      )
      .foldLeft(Tally.Empty)(_.plus(_, scope.mostSamples))
  }

  private def task(
      indexDir: String,
      version: IndexVersion,
      folder: String,
      runs: Vector[IndexFile],
      scope: CompareScope,
      judge: (PairedKeys, CompareScope) => Tally
  ): (TableAccess, Int) => Tally = { (access, group) =>
    val index = RecordIndex.open(version, new IndexStore(access.storage, indexDir), access.cache)
    val files = new RunFolder(access.storage, folder)
    try
      PairedKeys.ofRuns(runs.map(run => () => files.open(run)), index, group, scope.compared.get(_))(
        judge(_, scope)
      )
    finally index.close()
  }
}
