package hudiidx.symlink

import hudiidx.{HudiIdxException, IndexNotWritable, Texts, UnsupportedTable, WriteConflict}
import hudiidx.storage.Storage
import hudiidx.store.{IndexNames, IndexStore}
import hudiidx.sync.TableSnapshot
import hudiidx.table.{BaseFile, FileSlice, ReadableRows, SchemaHistory}
import java.io.IOException
import java.nio.charset.StandardCharsets.UTF_8
import java.util.zip.CRC32C

/** What an export did.
  *
  *  @param path       folder of the manifests
  *  @param partitions partitions that have a manifest
  *  @param files      base files that the manifests name
  *  @param written    manifests that were written, the others being right already
  *  @param removed    manifests of partitions that have no files any more
  *  @param indexVersion 0 if the files come from a listing
  */
final case class SymlinkResult(
    path: String,
    partitions: Int,
    files: Long,
    written: Int,
    removed: Int,
    indexVersion: Long
)

/** A table's latest base files as texts that name them, one `manifest` in a folder for each partition, as Hive's
  * SymlinkTextInputFormat, Presto, Trino and Athena read them. docs/format.md, "Symlink manifests".
  *
  * A manifest is replaced in one step; of several partitions one comes after the other. Of two exports that run at once the one
  * that began later counts: it knows a later table. The other notices before each step, waits for it, and puts
  * right what it may have put in its way.
  *
  *  @param isOwn the folder is the index folder's own: whatever manifest is in it is ours. Elsewhere those are that its state names
  */
final class SymlinkManifest(storage: Storage, tablePath: String, settings: SymlinkSettings, isOwn: Boolean) {
  private val folder = settings.path.stripSuffix("/")
  private val statePath = Storage.join(folder, SymlinkState.FileName)

  /** True if the manifests are known to name the files of this index version, or of a later one that there is.
    *
    * @param newest number of the newest version; a state of a later one is forged, or of an index before this one
    */
  def isInStep(indexVersion: Long, newest: => Long): Boolean = state().exists { s =>
    s.isComplete && s.tablePath == tablePath && s.indexVersion >= indexVersion &&
    (s.indexVersion == indexVersion || s.indexVersion <= newest)
  }

  /** Writes the manifests that are not as the table is now. UnsupportedTable if a file slice has logs and not only base
    * files were asked for, or the table was bootstrapped: no manifest is touched then. IndexNotWritable if the folder refuses a write. WriteConflict if others
    * export without end.
    *
    *  @param inForce number of the index version in force, 0 without one
    *  @param open    opens the table as it is when it is called
    */
  def export(inForce: () => Long, open: () => TableSnapshot): SymlinkResult = {
    var result: Option[SymlinkResult] = None
    var doubtful = Set.empty[String]
    var tries = 0
    while (result.isEmpty) {
      if (tries > 0) awaitOther(tries)
      tries += 1
      val done = once(inForce, open, doubtful)
      result = done.result
      doubtful ++= done.put
    }
    result.get
  }

  private def once(inForce: () => Long, open: () => TableSnapshot, doubtful: Set[String]): ExportTry = {
    // The folder is claimed before the table is opened: whoever claims later opens a later table.
    requireNoLink("")
    val before = claimable()
    val named = before.fold(Map.empty[String, Long])(_.manifests)
    val exporter = IndexStore.newToken()
    put(SymlinkState(exporter, isComplete = false, tablePath, 0, named))
    // Read before the table is: the timeline then has all that this version has taken in.
    val known = inForce()
    val snapshot = orGivenBack(before, exporter)(open())
    try {
      val wanted = orGivenBack(before, exporter)(manifestsOf(snapshot))
      val written = before.filter(_.isComplete).map(_.manifests -- doubtful)
      val changed = wanted.filter { case (p, m) => !written.exists(_.get(p).contains(m.crc)) }.toVector.sortBy(_._1)
      val there = if (written.isEmpty && isOwn) manifestsThere() else Set.empty
      val gone = (named.keySet ++ doubtful ++ there -- wanted.keySet).toVector.sorted
      // Whoever goes on where this export dies removes what this names.
      val all = named ++ wanted.map { case (p, m) => p -> m.crc }
      if (all.size > named.size && isMine(exporter)) put(SymlinkState(exporter, isComplete = false, tablePath, 0, all))
      val done = steps(exporter, changed.map { case (p, m) => p -> Some(m) } ++ gone.map(_ -> None))
      val isLast = done.size == changed.size + gone.size && isMine(exporter)
      if (isLast)
        put(SymlinkState(exporter, isComplete = true, tablePath, known, wanted.map { case (p, m) => p -> m.crc }))
      val files = wanted.valuesIterator.map(_.files.toLong).sum
      val version = snapshot.use.version.fold(0L)(_.number)
      val result = SymlinkResult(folder, wanted.size, files, changed.size, gone.size, version)
      ExportTry(if (isLast) Some(result) else None, done)
    } finally snapshot.close()
  }

  /** Where the table is refused no manifest is touched, and the state is again what it was. */
  private def orGivenBack[A](before: Option[SymlinkState], exporter: String)(body: => A): A =
    try body
    catch {
      case e: HudiIdxException =>
        if (isMine(exporter)) before match {
          case Some(state) => put(state)
          case None        => writing(storage.deleteOne(statePath): Unit)
        }
        throw e
    }

  /** By partition path, of partitions that have files. */
  private def manifestsOf(snapshot: TableSnapshot): Map[String, Manifest] = {
    requireRowsInFiles(snapshot)
    snapshot.view.partitions.iterator
      .map(p => p -> baseFiles(snapshot, p))
      .filter(_._2.nonEmpty)
      .map { case (p, files) => p -> Manifest(files.size, text(files)) }
      .toMap
  }

  /** Partitions of the steps that were taken: all, unless another export began. */
  private def steps(exporter: String, all: Vector[(String, Option[Manifest])]): Set[String] =
    all.iterator
      .takeWhile(_ => isMine(exporter))
      .map { case (partition, manifest) =>
        requireNoLink(partition)
        writing(manifest match {
          case Some(m) => storage.replace(manifestPath(partition), m.bytes)
          case None    => storage.deleteOne(manifestPath(partition)): Unit
        })
        partition
      }
      .toSet

  private def baseFiles(snapshot: TableSnapshot, partition: String): Vector[BaseFile] =
    if (settings.readOptimized) snapshot.view.latestBaseFiles(partition)
    else {
      val slices = snapshot.view.latestMergedFileSlices(partition)
      slices.find(_.dataLogFiles.nonEmpty).foreach(s => throw withLogs(s))
      slices.flatMap(_.baseFile)
    }

  /** Who reads by manifests knows files alone, and columns by the names in them. */
  private def requireRowsInFiles(snapshot: TableSnapshot): Unit = {
    ReadableRows.check(snapshot.config)
    val history = SchemaHistory.read(storage, tablePath, snapshot.viewTimeline.isCommitted)
    ReadableRows.requireNamesOfFiles(tablePath, history.renamed)
  }

  private def withLogs(s: FileSlice): UnsupportedTable = new UnsupportedTable(
    s"$tablePath: file group ${s.fileId} of partition '${s.partitionPath}' has log files, and its rows are those of all of " +
      "them merged: a symlink manifest cannot say that; compact the table, or export the base files alone with --read-optimized"
  )

  private def text(files: Vector[BaseFile]): Array[Byte] =
    files
      .map(f => Storage.join(Storage.join(tablePath, f.partitionPath), f.fileName))
      .map(oneFile)
      .mkString("", "\n", "\n")
      .getBytes(UTF_8)

  /** What stood on a line of its own would be read as another file, and so would what a line matches as a pattern. */
  private def oneFile(path: String): String = {
    def refused(what: String) = throw new UnsupportedTable(
      s"$tablePath: the path '${Texts.shown(path)}' has $what; move these rows to another partition"
    )
    if (path.exists(c => c == '\n' || c == '\r'))
      refused(
        "an end of line in it, and a symlink manifest has a file on each line: its readers would take parts of the path for files"
      )
    path.find(SymlinkManifest.OfPatterns.contains(_)).foreach { c =>
      refused(s"a '$c' in it, and readers of symlink manifests take lines for patterns, which may match other files")
    }
    path
  }

  private def manifestPath(partition: String): String =
    Storage.join(Storage.join(folder, partition), SymlinkManifest.FileName)

  /** IndexNotWritable if a manifest would be written, or removed, through a link that lies in the folder. */
  private def requireNoLink(partition: String): Unit = {
    val below = partition.split('/').toVector.filter(_.nonEmpty).scanLeft(folder)(Storage.join)
    // Where the caller says where manifests go, that may be a link.
    (if (isOwn) below else below.drop(1)).find(storage.isLink).foreach { link =>
      throw new IndexNotWritable(s"$link: a link, and symlink manifests are not written through links; remove it")
    }
  }

  /** Partitions that have a manifest, where no export says which. */
  private def manifestsThere(): Set[String] = {
    val found = Set.newBuilder[String]
    Storage.walk("") { partition =>
      val (folders, files) = storage.list(Storage.join(folder, partition)).partition(_.isDirectory)
      if (files.exists(_.name == SymlinkManifest.FileName)) found += partition
      folders
        .filterNot(f => storage.isLink(f.path))
        .map(f => if (partition.isEmpty) f.name else s"$partition/${f.name}")
    }: Unit
    found.result()
  }

  private def state(): Option[SymlinkState] = SymlinkState.read(storage, folder)

  private def put(state: SymlinkState): Unit = writing(storage.replace(statePath, SymlinkState.encode(state)))

  private def isMine(exporter: String): Boolean = state().exists(_.exporter == exporter)

  /** The state that an export goes out from. That of another table in the index folder is of this one, before it was moved. */
  private def claimable(): Option[SymlinkState] = {
    val before = state()
    if (!isOwn) requireTable(before)
    before.filter(_.tablePath == tablePath)
  }

  private def requireTable(before: Option[SymlinkState]): Unit = {
    if (before.isEmpty) storage.list(folder).headOption.foreach { f =>
      throw new IndexNotWritable(
        s"$folder: holds other files (${f.name}) and no state of symlink manifests that can be read; export to a folder that is " +
          "empty or not there"
      )
    }
    before.filter(_.tablePath != tablePath).foreach { other =>
      throw new IndexNotWritable(
        s"$folder: holds symlink manifests of ${other.tablePath}; export to another folder, or remove this one"
      )
    }
  }

  /** Until the other export is complete; one that takes longer than this has died. */
  private def awaitOther(tries: Int): Unit = {
    if (tries > SymlinkManifest.MaxTries)
      throw new WriteConflict(s"$folder: other exports began $tries times meanwhile; run this one again later")
    val until = System.nanoTime() + SymlinkManifest.PatienceNanos
    while (!state().exists(_.isComplete) && System.nanoTime() < until) Thread.sleep(50)
  }

  private def writing(body: => Unit): Unit =
    try body
    catch {
      case e: IOException =>
        throw new IndexNotWritable(
          s"$folder: symlink manifests cannot be written ($e); make the folder writable, or export to another",
          e
        )
    }
}

/** @param result None if another export began meanwhile
  *  @param put    partitions whose manifests it has touched
  */
final private case class ExportTry(result: Option[SymlinkResult], put: Set[String])

/** A manifest's bytes, and how many files they name. */
final private case class Manifest(files: Int, bytes: Array[Byte]) {
  val crc: Long = {
    val sum = new CRC32C
    sum.update(bytes)
    sum.getValue
  }
}

object SymlinkManifest {

  /** Name of the file in each partition's folder. */
  val FileName: String = IndexNames.SymlinkManifest
  private val MaxTries = 20

  /** Hadoop's input formats take these for parts of a pattern. */
  private val OfPatterns = "{}[]*?\\"
  private val PatienceNanos = 10000000000L
}
