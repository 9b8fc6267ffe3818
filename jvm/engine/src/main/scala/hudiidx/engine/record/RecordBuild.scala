package hudiidx.engine.record

import hudiidx.{DamagedIndex, IndexNotWritable, Log}
import hudiidx.record._
import hudiidx.store.IndexFile
import hudiidx.sync.{IndexState, PartFiles, TaskEngine}
import hudiidx.table.{FileGroup, FileSlice}
import scala.util.control.NonFatal

/** A part of a file slice that one task reads: row groups of its base file, or all of it with its log files.
  *
  *  @param ordinal the file group's in the dictionary
  *  @param part    which of `parts` equal shares of the base file's row groups
  *  @param name    names the input, its content and what is taken of it: a run that names it holds its keys
  */
final case class SliceInput(ordinal: Int, slice: FileSlice, part: Int, parts: Int, name: String) {
  def bytes: Long = SliceInput.bytes(slice) / parts
}

object SliceInput {

  /** A base file without logs is read in parts of about so many bytes. */
  val PartBytes: Long = 128L << 20

  def bytes(slice: FileSlice): Long = slice.baseFile.fold(0L)(_.sizeBytes) + slice.logFiles.map(_.sizeBytes).sum

  /** @param firstDay records of earlier days are left out, see [[RecordTable]] */
  def of(ordinal: Int, slice: FileSlice, firstDay: Option[Int] = None): Vector[SliceInput] = {
    val parts = if (slice.logFiles.nonEmpty) 1 else math.max(1L, bytes(slice) / PartBytes).toInt
    val content = slice.baseFile.toVector.map(b => s"${b.fileName}:${b.sizeBytes}") ++
      slice.logFiles.map(l => s"${l.fileName}:${l.sizeBytes}")
    val all =
      (slice.partitionPath +: slice.fileId +: (content ++ firstDay.map(_.toString))).mkString("\n").getBytes("UTF-8")
    val digest = new java.math.BigInteger(1, java.security.MessageDigest.getInstance("SHA-256").digest(all))
    Vector.tabulate(parts)(p =>
      SliceInput(ordinal, slice, p, parts, s"$ordinal.${digest.toString(36).take(24)}.$p/$parts")
    )
  }
}

/** Makes a record index from the keys of all visible file slices.
  *
  * Tasks read keys and write sorted runs; then a task for each hash group merges its section of all runs into a base file.
  * A creation that is killed leaves plan and runs, and the next one reads only what no whole run has. No step holds more
  * than a wave of file slices, or a task's memory budget.
  */
private[record] final class RecordBuild(engine: TaskEngine, state: IndexState, settings: RecordSettings) {
  private val folder = RunFolder.ofBuild(state.store)
  private val shared = RecordTable.of(state, settings.windowDays)

  private val log = Log.of(classOf[RecordBuild])

  def run(): PartFiles = run(RecordBuild.Tries)

  /** A run file that turns out to be damaged only when it is merged costs another try, and so does another creation at the
    * same time that was first and has taken the folder away.
    */
  private def run(tries: Int): PartFiles = {
    var attempt = Option.empty[BuildAttempt]
    def again(e: Throwable): Boolean = attempt.fold(e.isInstanceOf[IndexNotWritable])(_.lacksFiles())
    try {
      val (planName, plan) = folder.plan(serves).getOrElse(newPlan())
      attempt = Some(new BuildAttempt(engine, state, shared, folder, plan, planName))
      attempt.get.run(settings)
    } catch {
      case NonFatal(e) if tries > 1 && again(e) =>
        log.warn(s"${folder.path}: files went away or are damaged, what they held is read again: $e")
        run(tries - 1)
    }
  }

  /** An old plan serves if it is of the same settings and its dictionary is there. */
  private def serves(plan: BuildPlan): Boolean =
    plan.settings.mode == settings.mode && plan.settings.windowDays == settings.windowDays &&
      plan.settings.groupBytes == settings.groupBytes && settings.fileGroups.forall(_ == plan.groups) &&
      settings.leastGroups.forall(_ <= plan.groups) && plan.groups > 0 && plan.groups <= HashRange.MaxGroups &&
      plan.segments.forall(s =>
        state.table.storage.status(s"${state.store.dir}/${s.name}").exists(_.sizeBytes == s.sizeBytes)
      )

  private def newPlan(): (String, BuildPlan) = {
    def bySize = new KeyEstimate(engine, shared, state.view, settings.plan).groups()
    val groups = settings.fileGroups.getOrElse(math.max(settings.leastGroups.getOrElse(1), bySize))
    val plan = BuildPlan(settings, groups, Vector.empty)
    folder.writePlan(plan) -> plan
  }
}

private object RecordBuild {

  /** File slices that the driver has at a time. */
  val SlicesPerWave = 200000

  private val Tries = 8

  /** Of the work, about: reading keys. The rest is merging them. */
  private val ReadShare = 0.7

  def reading(show: Double => Unit): Double => Unit = done => show(done * ReadShare)

  def merging(show: Double => Unit): Double => Unit = done => show(ReadShare + done * (1 - ReadShare))
}

/** One try to make a record index by a plan, with the runs that are there. */
private final class BuildAttempt(
    engine: TaskEngine,
    state: IndexState,
    table: RecordTable,
    folder: RunFolder,
    plan: BuildPlan,
    planName: String
) {
  private val writer = new HashGroupWriter(state.store, state.instant)
  private val ranges = HashRange.tile(plan.groups)
  private var runs = Vector.empty[IndexFile]

  def run(settings: RecordSettings): PartFiles = {
    var found = folder.finished(ranges)
    val dictionary = new GrowingDictionary(state, writer, plan.segments)
    if (plan.segments.nonEmpty) {
      // Cleaning may take the old files before a version names them.
      try dictionary.rewrite()
      catch {
        case e: DamagedIndex =>
          folder.remove(planName)
          throw e
      }
      folder.writePlan(plan.copy(segments = dictionary.segments))
    }
    slices().grouped(RecordBuild.SlicesPerWave).foreach(wave => found = read(wave, dictionary, found))
    val bases = KeyTasks.merge(engine, state.store.dir, state.instant, ranges, runs, RecordBuild.merging(state.show))
    PartFiles(bases.map(_.file) ++ dictionary.segments, properties(settings, bases, dictionary), Vector(folder.path))
  }

  /** Reads the keys of slices as far as no run of those found has them; the runs that are for other slices. */
  private def read(
      wave: Seq[FileSlice],
      dictionary: GrowingDictionary,
      found: Vector[FinishedRun]
  ): Vector[FinishedRun] = {
    val ordinals = dictionary.ordinals(wave.map(s => FileGroup(s.partitionPath, s.fileId)).toVector)
    if (dictionary.hasGrown) folder.writePlan(plan.copy(segments = dictionary.segments))
    val inputs = wave.zip(ordinals).flatMap { case (s, o) => SliceInput.of(o, s, table.firstDay) }.toVector
    val (usable, rest) = FinishedRuns.usable(found, inputs.map(_.name).toSet)
    runs ++= usable.flatMap(_.files)
    val done = usable.flatMap(_.inputs).toSet
    runs ++= KeyTasks.write(
      engine,
      table,
      folder.path,
      ranges,
      inputs.filterNot(i => done(i.name)),
      RecordBuild.reading(state.show)
    )
    rest
  }

  /** After a failure: true if files that this try needed are gone, or were damaged and are removed now. */
  def lacksFiles(): Boolean =
    try !folder.has(runs.map(_.name).toSet + planName) || folder.removeDamaged(runs) > 0
    catch { case NonFatal(_) => false }

  private def properties(
      settings: RecordSettings,
      bases: Vector[WrittenGroup],
      dictionary: GrowingDictionary
  ): Map[String, String] = settings.properties ++ Map(
    RecordProperty.Groups -> bases.size.toString,
    RecordProperty.Mappings -> bases.map(_.stats.entries).sum.toString,
    RecordProperty.NextOrdinal -> dictionary.size.toString
  ) ++ RecordPart.repeated(bases.map(_.stats))

  private def slices(): Iterator[FileSlice] =
    state.view.partitions.iterator.flatMap(p => state.view.latestMergedFileSlices(p).iterator)
}

/** A run with those written before it that hold the beginning of its inputs. */
private[record] final case class RunChain(files: Vector[IndexFile], inputs: Vector[String])

private[record] object FinishedRuns {

  /** Of runs found those that can be taken over: all their inputs are among `wanted`, none twice. Also the runs that are
    * not for these inputs at all.
    */
  def usable(runs: Vector[FinishedRun], wanted: Set[String]): (Vector[RunChain], Vector[FinishedRun]) = {
    val there = runs.map(r => r.name -> r.file).toMap
    val (ours, others) = runs.partition(_.inputs.exists(wanted))
    var taken = Set.empty[String]
    val chains = ours.flatMap { run =>
      val fits = run.inputs.forall(i => wanted(i) && !taken(i)) && run.previous.forall(there.contains)
      if (!fits) None
      else {
        taken ++= run.inputs
        Some(RunChain(run.previous.map(there) :+ run.file, run.inputs))
      }
    }
    (chains, others)
  }
}
