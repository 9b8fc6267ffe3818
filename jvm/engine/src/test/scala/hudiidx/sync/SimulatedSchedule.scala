package hudiidx.sync

import hudiidx.store.{InstantId, Retention}
import hudiidx.sync.build.{Indexer, SyncResult}
import hudiidx.{HudiIdxException, IndexNotFound}
import java.io.IOException
import scala.util.Random

/** What happened in schedules. */
final class Seen {
  var steps, reads, overlaid, listed, rebases, killed, faults, broken, keys = 0L

  def add(other: Seen): Unit = {
    steps += other.steps
    reads += other.reads
    overlaid += other.overlaid
    listed += other.listed
    rebases += other.rebases
    killed += other.killed
    faults += other.faults
    broken += other.broken
    keys += other.keys
  }

  override def toString: String =
    s"$steps steps; $reads reads, $overlaid of them with instants laid over the index, $listed without index; $rebases rebases, " +
      s"$killed killed, $faults faults, $broken versions published later than orphans stay; $keys keys looked up"
}

/** How many keys were looked up, and why they were read from files. */
final case class KeysSeen(keys: Long, fallback: Option[Fallback])

/** What a simulated index has beside the manifest, and who asks it. */
trait SimulatedKind {
  def contents: SimulatedContents
  def accessOf(storage: SteppedStorage): TableAccess
  def parts(access: TableAccess, random: Random): Vector[IndexPart]

  /** A reader that looks for keys, and finds them where one of these truths has them. */
  def lookUp(access: TableAccess, path: String, strict: Boolean, truths: => Seq[SimulatedTruth]): KeysSeen
}

/** Index of files alone. */
object FilesAlone extends SimulatedKind {
  override def contents: SimulatedContents = SimulatedContents.Sized
  override def accessOf(storage: SteppedStorage): TableAccess = IndexerSuite.accessOf(storage)
  override def parts(access: TableAccess, random: Random): Vector[IndexPart] = Vector.empty
  override def lookUp(access: TableAccess, path: String, strict: Boolean, truths: => Seq[SimulatedTruth]): KeysSeen =
    KeysSeen(0, None)
}

/** Two writers, a cleaner, indexers, readers and expiry of one table, in an order that a seed decides. */
final class SimulatedSchedule(seed: Long, seen: Seen, kind: SimulatedKind, recording: Boolean = false)
    extends org.scalatest.Assertions {
  private val random = new Random(seed)
  private val simulation = new Simulation(random, Vector(1.0, 0.5, 0.1, 0.02)(random.nextInt(4)), recording)
  private val table = new SimulatedTable(random, simulation.storage, kind.contents)
  private val faultRate = if (random.nextInt(3) == 0) 0.02 else 0.0
  private val options = IndexOptions(mergeMinFiles = random.nextInt(4), retention = retention())
  private val watch = new VersionWatch(simulation, options.indexDir(table.path), options.retention)

  /** In two of three schedules nothing gets so old that it is an orphan. */
  private def retention(): Retention = {
    val retained = 1 + random.nextInt(2)
    def steps(n: Int) = n * SimulatedClock.StepMillis
    if (random.nextInt(3) > 0) Retention(retained, 0, steps(100000))
    else Retention(retained, steps(Vector(0, 10, 60)(random.nextInt(3))), steps(Vector(20, 60, 150)(random.nextInt(3))))
  }

  def run(): Unit = {
    if (random.nextInt(3) > 0) bringUp(simulation.storage)
    Seq("a", "b/c").foreach { partition =>
      simulation.actor(s"writer of $partition")(s =>
        (0 until 1 + random.nextInt(4)).foreach(_ => table.write(s, partition))
      )
    }
    simulation.actor("cleaner")(s => (0 until random.nextInt(3)).foreach(_ => table.clean(s)))
    (1 to 1 + random.nextInt(3)).foreach { i =>
      val killAt = if (random.nextInt(3) == 0) 1 + random.nextInt(80) else Int.MaxValue
      simulation.actor(s"indexer $i", killAt, faultRate) { s =>
        (0 until 1 + random.nextInt(3)).foreach(_ => typed(bringUp(s)))
      }
    }
    (1 to 2).foreach { i =>
      simulation.actor(s"reader $i", faultRate = faultRate)(s => (0 until 2).foreach(_ => typed(read(s))))
    }
    simulation.actor("expiry", faultRate = faultRate)(s => typed(expire(s)))
    simulation.run()
    watch.fault.foreach(fail(_))
    seen.steps += simulation.clock.steps
    seen.killed += simulation.killed
    seen.faults += simulation.faults
    atTheEnd()
  }

  /** Without what is chance in names of files: tokens. */
  def steps: Vector[String] =
    simulation.steps.map(MemoryFiles.withoutTokens)

  /** Where the store fails an error that is ours, or says so itself, is as good as an answer. */
  private def typed(work: => Unit): Unit =
    try work
    catch { case e @ (_: HudiIdxException | _: IOException) if faultRate > 0 => () }

  private def indexer(access: TableAccess): Indexer =
    new Indexer(access, table.path, options, LocalScanner, kind.parts(access, random), simulation.clock)

  /** Who takes longer than orphans stay may lose his files, and be told so. */
  private def bringUp(storage: SteppedStorage): Unit = table.using { _ =>
    val start = simulation.clock.millis()
    try seen.rebases += broughtUp(indexer(kind.accessOf(storage))).rebases
    catch {
      case _: HudiIdxException | _: IOException
          if simulation.clock.millis() - start >= options.retention.orphanAgeMillis =>
        ()
    }
  }

  private def broughtUp(own: Indexer): SyncResult =
    if (random.nextInt(12) == 0) own.create()
    else
      try own.update()
      catch { case _: IndexNotFound => own.create() }

  private def expire(storage: SteppedStorage): Unit =
    try indexer(kind.accessOf(storage)).expire(): Unit
    catch { case _: IndexNotFound => () }

  /** Laws 1, 2 and 4: what a reader sees was so at some moment of its read. */
  private def read(storage: SteppedStorage): Unit = table.using { from =>
    val (start, inForce) = (simulation.clock.millis(), watch.newest)
    def fallback(f: Fallback): Unit = {
      val mayLose = storage.versionRead < inForce || simulation.clock.millis() - start >= options.retention.minAgeMillis
      assert(
        isFine(f.code, inForce, mayLose || watch.broken(storage.versionRead)),
        s"a reader did without the index: $f"
      )
    }
    val access = kind.accessOf(storage)
    val snapshot = TableSnapshot.open(access, table.path, IndexOptions())
    try {
      val found = slicesOf(snapshot)
      assert(
        table.truths.drop(from).exists(_.slices == found),
        s"a reader saw what never was in its time: ${snapshot.use}"
      )
      explained(snapshot)
      snapshot.use.fallback.foreach(fallback)
      seen.reads += 1
      if (snapshot.use.unseenInstants.nonEmpty) seen.overlaid += 1
      if (snapshot.use.fallback.isDefined) seen.listed += 1
    } finally snapshot.close()
    val keys = kind.lookUp(access, table.path, strict = false, table.truths.drop(from).toSeq)
    keys.fallback.foreach(fallback)
    seen.keys += keys.keys
  }

  /** Law 5: without the index only where there was none, or none for the reader's time, or one that he could not keep. */
  private def isFine(code: String, inForce: Long, mayLose: Boolean): Boolean = code match {
    case _ if faultRate > 0                                                                    => true
    case FallbackCode.NoIndex                                                                  => inForce == 0
    case FallbackCode.TimelineGap                                                              => watch.newest > inForce
    case FallbackCode.DamagedIndex | FallbackCode.ReadFailed | FallbackCode.DamagedRecordIndex =>
      mayLose
    case _ => false
  }

  /** Law 7: all that completed by the reader's timeline is in the version that he used or was laid over it, in order, and either
    * he used a version or he says why not.
    */
  private def explained(snapshot: TableSnapshot): Unit = {
    val use = snapshot.use
    assert(use.version.isDefined === use.fallback.isEmpty)
    assert(faultRate > 0 || use.passedOver.isEmpty)
    val lacking = snapshot.table.completed.filterNot(i =>
      use.version.forall(_.coverage.covers(InstantId(i.requestedTime, i.action)))
    )
    assert(use.unseenInstants === lacking.sortBy(_.completionTime).map(_.requestedTime))
  }

  private def slicesOf(snapshot: TableSnapshot): Map[String, Set[SliceSeen]] = snapshot.view.partitions
    .map(p => p -> snapshot.view.latestMergedFileSlices(p).map(SliceSeen.of).toSet)
    .filter(_._2.nonEmpty)
    .toMap

  /** Laws 5 and 6: one more update makes an index that is whole and in step. */
  private def atTheEnd(): Unit = {
    if (watch.isBroken) {
      seen.broken += 1
      // An update that has nothing to take in does not look for files.
      indexer(kind.accessOf(simulation.storage)).create()
    }
    bringUp(simulation.storage)
    watch.fault.foreach(fail(_))
    val access = kind.accessOf(simulation.storage)
    val strict = IndexOptions(strict = true)
    val info = IndexInfo.of(access, table.path, strict)
    // A killed create leaves its marker, which fades with time.
    assert(Set(IndexInfo.Ready, IndexInfo.Building)(info.state), info.reason)
    assert(info.files === table.fileCount)
    val snapshot = TableSnapshot.open(access, table.path, strict)
    try {
      val truth = table.truths.last
      assert(slicesOf(snapshot) === truth.slices)
      truth.slices.foreach { case (p, slices) =>
        assert(snapshot.view.latestBaseFiles(p).map(_.fileName).toSet === slices.flatMap(_.base).map(_.name))
      }
      explained(snapshot)
    } finally snapshot.close()
    seen.keys += kind.lookUp(access, table.path, strict = true, Seq(table.truths.last)).keys
  }
}
