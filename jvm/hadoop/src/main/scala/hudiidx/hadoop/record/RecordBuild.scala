package hudiidx.hadoop.record

import hudiidx.record._
import hudiidx.sync.{IndexState, PartFiles, TaskEngine}
import hudiidx.table.{FileGroup, FileSlice}

/** A part of a file slice that one task reads: row groups of its base file, or all of it with its log files.
  *
  *  @param ordinal the file group's in the dictionary
  *  @param part    which of `parts` equal shares of the base file's row groups
  *  @param name    names the input and its content: a run that names it holds its keys
  */
final case class SliceInput(ordinal: Int, slice: FileSlice, part: Int, parts: Int, name: String) {
  def bytes: Long = SliceInput.bytes(slice) / parts
}

object SliceInput {

  /** A base file without logs is read in parts of about so many bytes. */
  val PartBytes: Long = 128L << 20

  def bytes(slice: FileSlice): Long = slice.baseFile.fold(0L)(_.sizeBytes) + slice.logFiles.map(_.sizeBytes).sum

  def of(ordinal: Int, slice: FileSlice): Vector[SliceInput] = {
    val parts = if (slice.logFiles.nonEmpty) 1 else math.max(1L, bytes(slice) / PartBytes).toInt
    val content = slice.baseFile.toVector.map(b => s"${b.fileName}:${b.sizeBytes}") ++
      slice.logFiles.map(l => s"${l.fileName}:${l.sizeBytes}")
    val all = (slice.partitionPath +: slice.fileId +: content).mkString("\n").getBytes("UTF-8")
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
  private val writer = new GroupWriter(state.store, state.instant)
  private val shared = RecordTable.of(state, settings.windowDays)

  def run(): PartFiles = {
    val plan = folder.plan().filter(fits).getOrElse(newPlan())
    val ranges = HashRange.tile(plan.groups)
    val whole = folder.finished(ranges)
    val dictionary = new GrowingDictionary(state, writer, plan.segments)
    val runs = Vector.newBuilder[String]
    var read = whole
    slices().grouped(RecordBuild.SlicesPerWave).foreach { wave =>
      val ordinals = dictionary.ordinals(wave.map(s => FileGroup(s.partitionPath, s.fileId)).toVector)
      if (dictionary.hasGrown) folder.writePlan(plan.copy(segments = dictionary.segments))
      val inputs = wave.zip(ordinals).flatMap { case (s, o) => SliceInput.of(o, s) }.toVector
      val (usable, rest) = FinishedRuns.usable(read, inputs.map(_.name).toSet)
      read = rest
      runs ++= usable.flatMap(_.names)
      val done = usable.flatMap(_.inputs).toSet
      runs ++= KeyTasks.write(engine, shared, folder.path, ranges, inputs.filterNot(i => done(i.name)))
    }
    val bases = KeyTasks.merge(engine, state.store.dir, state.instant, ranges, runs.result())
    PartFiles(bases.map(_.file) ++ dictionary.segments, properties(bases, dictionary.size), Vector(folder.path))
  }

  private def properties(bases: Vector[WrittenGroup], ordinals: Int): Map[String, String] = Map(
    RecordProperty.Mode -> settings.mode,
    RecordProperty.Groups -> bases.size.toString,
    RecordProperty.Mappings -> bases.map(_.stats.entries).sum.toString,
    RecordProperty.NextOrdinal -> ordinals.toString
  ) ++ settings.windowDays.map(d => RecordProperty.WindowDays -> d.toString)

  private def slices(): Iterator[FileSlice] =
    state.view.partitions.iterator.flatMap(p => state.view.latestMergedFileSlices(p).iterator)

  /** An old plan serves if it is of the same settings and its dictionary is there. */
  private def fits(plan: BuildPlan): Boolean =
    plan.mode == settings.mode && plan.windowDays == settings.windowDays &&
      settings.fileGroups.forall(_ == plan.groups) && plan.groups > 0 && plan.groups <= HashRange.MaxGroups &&
      plan.segments.forall(s =>
        state.table.storage.status(s"${state.store.dir}/${s.name}").exists(_.sizeBytes == s.sizeBytes)
      )

  private def newPlan(): BuildPlan = {
    folder.clear()
    val groups = settings.fileGroups.getOrElse(new KeyEstimate(engine, shared, state.view).groups())
    val plan = BuildPlan(settings.mode, settings.windowDays, groups, Vector.empty)
    folder.writePlan(plan)
    plan
  }
}

private object RecordBuild {

  /** File slices that the driver has at a time. */
  val SlicesPerWave = 200000
}

/** A run with those written before it that hold the beginning of its inputs. */
private[record] final case class RunChain(names: Vector[String], inputs: Vector[String])

private[record] object FinishedRuns {

  /** Of runs found those that can be taken over: all their inputs are among `wanted`, none twice. Also the runs that are
    * not for these inputs at all.
    */
  def usable(runs: Vector[FinishedRun], wanted: Set[String]): (Vector[RunChain], Vector[FinishedRun]) = {
    val there = runs.map(_.name).toSet
    val (ours, others) = runs.partition(_.inputs.exists(wanted))
    var taken = Set.empty[String]
    val chains = ours.flatMap { run =>
      val fits = run.inputs.forall(i => wanted(i) && !taken(i)) && run.previous.forall(there)
      if (!fits) None
      else {
        taken ++= run.inputs
        Some(RunChain(run.previous :+ run.name, run.inputs))
      }
    }
    (chains, others)
  }
}
