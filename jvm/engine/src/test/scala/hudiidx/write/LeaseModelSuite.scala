package hudiidx.write

import hudiidx.TestSettings.{seed, upTo}
import hudiidx.storage._
import hudiidx.sync.IndexerSuite
import hudiidx.table.{FileKind, FileName}
import hudiidx.write.format.CompletedWrite
import hudiidx.{Figures, TableChanged, WriteConflict, WriteFailed, WriteUnknown}
import org.scalatest.funsuite.AnyFunSuite
import scala.util.{Failure, Random, Success, Try}

/** Models of stores on which processes stop before any call, for as long as others take them for dead, and go on at any later one. */
class LeaseModelSuite extends AnyFunSuite {
  import CompactionStepsSuite.runPlanned
  import LateWriteSuite.silentAtOnce
  import LeaseModelSuite._
  import WriteStepsSuite.{keys, write}

  for (model <- StoreModel.All) {
    test(s"$model: of two writers, each of which takes the other back, those are told so whose rows are there") {
      val start = table(model)(_ => ())
      pairs(start)(s => write(s, Path, "one", silentAtOnce), s => write(s, Path, "two", silentAtOnce)) { done =>
        requireTold(done, Set.empty, Vector("one", "two"))
      }
    }

    test(s"$model: a beat that looked before a write ended, and is done behind it, revives nothing") {
      val start = table(model)(_ => ())
      beats(start)(s => write(s, Path, "one", silentAtOnce), s => write(s, Path, "two", silentAtOnce)) { done =>
        requireTold(done, Set.empty, Vector("one", "two"))
      }
    }

    test(s"$model: of two that run a compaction one does, and no row is lost or there twice") {
      val start = table(model) { s =>
        Seq("a", "b").foreach(write(s, Path, _, silentAtOnce))
        CompactionStepsSuite.plan(s, Path, silentAtOnce)
      }
      def run(s: Storage): Unit = runPlanned(s, Path, silentAtOnce)
      pairs(start)(run, run)(requireCompacted(_, Set("a", "b")))
    }

    test(s"$model: a write beside a compaction that is planned and run takes nothing from it") {
      val start = table(model)(s => Seq("a", "b").foreach(write(s, Path, _, silentAtOnce)))
      pairs(start)(s => CompactionStepsSuite.compact(s, Path, silentAtOnce), s => write(s, Path, "c", silentAtOnce)) {
        done =>
          requireCompacted(done, Set("a", "b") ++ (if (done.results(1).isSuccess) Set("c") else Set.empty))
      }
    }

    test(s"$model: of two writers of one file group whose locks expire at once one commits, or each sees the other") {
      val start = table(model)(s => write(s, Path, "a", silentAtOnce))
      val saw = new java.util.concurrent.ConcurrentHashMap[String, Int]
      pairs(start)(locked(_, "one", saw), locked(_, "two", saw)) { done =>
        // The second of two that both succeed began after the first.
        if (done.results.forall(_.isSuccess)) assert(saw.get("one") !== saw.get("two"), done)
        requireTold(done, Set("a"), Vector("one", "two"))
      }
    }

    test(s"$model: of those who wait for a lock that expired one has it at a time") {
      val start = table(model)(_ => ())
      start.of(9).publish(s"$Path/.hoodie/lock", "LOCK-OWNER : the dead".getBytes)
      locks(start)(identity)
    }

    test(s"$model: whatever answer of a write is lost, it is there or not, and the next one finds out") {
      val start = table(model)(s => write(s, Path, "a", silentAtOnce))
      val calls = new CountedChanges(start.snapshot.of(0))
      write(calls, Path, "one", silentAtOnce)
      for (lost <- LostAnswer.All; step <- 1 to calls.count) {
        val store = start.snapshot
        val result = Try(write(store.of(0, Some(step -> lost)), Path, "one", silentAtOnce))
        val told = toldOf(result, s"$lost $step")
        val seen = keys(Path, store.of(9))
        told.foreach(isThere => assert(seen("one") === isThere, s"$lost $step: $result"))
        store.settle()
        next(store)
        val known = keys(Path, store.of(9))
        told.foreach(isThere => assert(known("one") === isThere, s"$lost $step: $result"))
        assert(Set(Set("a", "next"), Set("a", "one", "next"))(known), s"$lost $step: $known")
        assert(seen.subsetOf(known), s"$lost $step: $seen, then $known")
        Figures.add("calls whose answer is lost on models of stores", 1)
      }
    }
  }

  test(
    "any number of writers, compactions and beats in any order, and answers that are lost, on each model of a store"
  ) {
    info(s"HUDIIDX_TEST_SEED=$seed")
    inAnyOrder(upTo(6000, 40))(identity)
  }
}

private[hudiidx] object LeaseModelSuite {
  import org.scalatest.Assertions._

  /** Whether a writer was told that its write counts, or that it does not; None: the store does not say. */
  def toldOf(result: Try[Any], what: String): Option[Boolean] = result match {
    case Success(_)                                          => Some(true)
    case Failure(_: WriteConflict) | Failure(_: WriteFailed) => Some(false)
    case Failure(_: WriteUnknown)                            => None
    case Failure(e)                                          => fail(s"$what: no error of a write: $e", e)
  }
  import CompactionStepsSuite.runPlanned
  import LateWriteSuite.silentAtOnce
  import WriteStepsSuite.{keys, schema, slow, write}

  val Path = "/model/t"

  def table(model: StoreModel)(fill: Storage => Unit): ModelStore = {
    val store = new ModelStore(model, None)
    WriteStepsSuite.newTable(9, store.of(9), Path)
    fill(store.of(9))
    store.deleted.clear()
    store
  }

  /** Counts calls that change something. */
  final class CountedChanges(inner: Storage) extends PassingStorage(inner) {
    var count = 0
    private def counted[A](call: => A): A = {
      count += 1
      call
    }
    override def write(path: String)(content: java.io.OutputStream => Unit): Unit = counted(inner.write(path)(content))
    override def writeInPlace(path: String)(content: java.io.OutputStream => Unit): Unit = {
      count += 1 // some make the file, and then fill it
      counted(inner.writeInPlace(path)(content))
    }
    override def replace(path: String, content: Array[Byte]): Unit = counted(inner.replace(path, content))
    override def touch(path: String): Unit = counted(inner.touch(path))
    override def publish(path: String, content: Array[Byte]): Boolean = counted(inner.publish(path, content))
    override def delete(path: String): Boolean = counted(inner.delete(path))
  }

  final case class Done(store: ModelStore, results: Vector[Try[Unit]], how: String) {

    /** Completions that somebody saw and that are gone. */
    def removed: Seq[String] =
      store.deleted.filter(p => p.contains("/timeline/") && p.matches(".*_\\d+\\.(deltacommit|commit)")).toSeq
    override def toString: String = s"$how: $results"
  }

  /** A request whose writer was swept before it made it, and could not remove it then, is left to stock Hudi. */
  def rollBackAsStock(store: ModelStore): Unit = {
    val known = new Heartbeats(store.of(9), Path).all.filter(_.isOurs).map(_.instant).toSet
    val timeline = store.names.filter(_.contains("/timeline/"))
    def instant(f: String) = f.substring(f.lastIndexOf('/') + 1).takeWhile(_.isDigit)
    val complete = timeline.filter(_.matches(".*/\\d+_\\d+\\.[a-z]+")).map(instant).toSet
    timeline
      .filter(f => f.contains(".deltacommit.") && !complete(instant(f)) && !known(instant(f)))
      .foreach(f => store.of(9).delete(f))
  }

  def next(store: ModelStore, key: String = "next"): Unit = {
    Thread.sleep(1)
    WriteStepsSuite.write(store.of(9), Path, key, silentAtOnce)
  }

  /** Rows are there exactly if their writer was told so; then the next writer is served, and nothing is left. */
  def requireTold(done: Done, before: Set[String], written: Vector[String]): Unit = {
    done.results.foreach(_.failed.foreach(e => assert(e.isInstanceOf[WriteConflict], done)))
    val told = before ++ written.zip(done.results).collect { case (key, r) if r.isSuccess => key }
    assert(done.removed.isEmpty, s"${done.removed} $done")
    assert(keys(Path, done.store.of(9)) === told, done)
    next(done.store)
    assert(keys(Path, done.store.of(9)) === told + "next", done)
    assert(done.store.names.count(_.contains(".log.")) === told.size + 1, done)
    requireTidy(done)
  }

  def requireTidy(done: Done): Unit = {
    next(done.store, "last")
    // A beat that came late leaves an empty file, as stock's do; and the last record of locks stays.
    val left = done.store.names.filter { n =>
      n.contains("/.temp/") || (n.contains("/.heartbeat/") && n.substring(n.lastIndexOf('/')).contains(".") && !n
        .contains("/lock."))
    }
    assert(left.isEmpty, s"$left $done")
  }

  def requireCompacted(done: Done, wanted: Set[String]): Unit = {
    // A plan may be rolled back by who takes its planner for dead.
    def isTyped(e: Throwable) = e.isInstanceOf[WriteConflict] || e.isInstanceOf[TableChanged]
    done.results.foreach(_.failed.foreach(e => assert(isTyped(e), done)))
    assert(done.removed.isEmpty, s"${done.removed} $done")
    val storage = done.store.of(9)
    assert(CompactionStepsSuite.keys(Path, storage) === wanted.toVector.sorted, done)
    CompactionStepsSuite.runPlanned(storage, Path, silentAtOnce)
    assert(CompactionStepsSuite.keys(Path, storage) === wanted.toVector.sorted, done)
    next(done.store)
    CompactionStepsSuite.compact(storage, Path, silentAtOnce)
    assert(CompactionStepsSuite.keys(Path, storage) === (wanted + "next").toVector.sorted, done)
    requireTidy(done)
  }

  /** Five processes, each of which stops after some calls, again and again.
    *
    * @param reach how they reach the store
    * @param areLost now and then an answer is
    */
  def inAnyOrder(rounds: Int, models: Vector[StoreModel] = StoreModel.All, areLost: Boolean = true)(
      reach: Storage => Storage
  ): Unit = {
    val random = new Random(seed)
    (1 to rounds).foreach { round =>
      val model = models(round % models.size)
      val start = table(model)(s => Seq("a", "b").foreach(write(s, Path, _, silentAtOnce)))
      val works = Vector[Storage => Unit](
        write(_, Path, "one", silentAtOnce),
        write(_, Path, "two", silentAtOnce),
        s => CompactionStepsSuite.compact(s, Path, silentAtOnce),
        beatOf(_),
        s => runPlanned(s, Path, silentAtOnce)
      )
      // Calls that are done late are tried above: here nobody waits for a term, as the protocol expects of them.
      val faults = works.indices.map { _ =>
        if (areLost && random.nextInt(6) == 0) Some((1 + random.nextInt(20)) -> LostAnswer.All(random.nextInt(2)))
        else None
      }
      val order = Vector.fill(200)(random.nextInt(works.size) -> (1 + random.nextInt(6)))
      val turns = new Turns(order)
      val store = start.forTurns(turns)
      val results = turns.run(works.zipWithIndex.map { case (work, p) => () => work(reach(store.of(p, faults(p)))) })
      val done = Done(store, results, s"seed $seed, round $round, $model, $order, $faults")
      requireRows(done)
      Figures.add("random orders of five processes on models of stores", 1)
    }
  }

  private def requireRows(done: Done): Unit = {
    val told = done.results.take(2).map(toldOf(_, done.toString))
    // A compaction may meet a plan that is rolled back while it reads the table.
    if (!done.results(2).failed.toOption.exists(_.isInstanceOf[TableChanged])) toldOf(done.results(2), done.toString)
    assert(done.removed.isEmpty, s"${done.removed} $done")
    done.store.settle()
    rollBackAsStock(done.store)
    next(done.store)
    next(done.store, "last")
    val found = CompactionStepsSuite.keys(Path, done.store.of(9))
    assert(found.distinct === found, done)
    Vector("one", "two").zip(told).foreach { case (key, wasTold) =>
      wasTold.foreach(isThere => assert(found.contains(key) === isThere, s"$found $done"))
    }
    assert(Vector("a", "b", "next", "last").forall(found.contains), s"$found $done")
  }

  private def stepsOf(start: ModelStore, work: Storage => Unit): Int = {
    val turns = new Turns(Vector.empty)
    val store = start.forTurns(turns)
    turns.run(Vector(() => work(store.of(0))))
    turns.taken(0)
  }

  private def race(start: ModelStore, order: Vector[(Int, Int)], how: String, ageMillis: Long = ModelStore.Old)(
      works: (Storage => Unit)*
  ): Done = {
    val turns = new Turns(order)
    val store = start.forTurns(turns, ageMillis)
    val results = turns.run(works.toVector.zipWithIndex.map { case (work, p) => () => work(store.of(p)) })
    Done(store, results, s"${start.model}, $how $order")
  }

  private def isChosen(random: Random, oneOf: Int): Boolean = random.nextInt(oneOf) == 0

  /** Each stops before each of its calls, and goes on before each of the other's; all of them in long tests, with one stop more
    * for a sample.
    */
  def pairs(start: ModelStore, oneOf: Int = upTo(1, 80), more: Int = upTo(1000, 6))(
      one: Storage => Unit,
      two: Storage => Unit
  )(
      check: Done => Unit
  ): Unit = {
    val random = new Random(seed)
    val steps = stepsOf(start, one)
    val others = 2 * stepsOf(start, two)
    for (i <- 1 to steps; j <- 1 to others if isChosen(random, oneOf)) {
      check(race(start, Vector(0 -> i, 1 -> j, 0 -> 1000, 1 -> 1000), "pair")(one, two))
      Figures.add("orders of two processes on models of stores", 1)
    }
    for (_ <- 1 to more) {
      val order = Vector.fill(60)(random.nextInt(2) -> (1 + random.nextInt(8)))
      check(race(start, order, "many stops")(one, two))
      Figures.add("orders of two processes on models of stores", 1)
    }
  }

  /** Of the first writer whose heartbeat is there. */
  def beatOf(storage: Storage): Unit = {
    val beat = storage.list(s"$Path/.hoodie/.heartbeat").find(f => !f.name.contains("."))
    beat.foreach(f => Try(storage.touch(f.path)))
  }

  /** As `pairs`, with a beat of the first that looks when it stops, and is done when it goes on. */
  def beats(start: ModelStore)(one: Storage => Unit, two: Storage => Unit)(check: Done => Unit): Unit = {
    val random = new Random(seed)
    val steps = stepsOf(start, one)
    val others = 2 * stepsOf(start, two)
    for (i <- 1 to steps; j <- 1 to others if isChosen(random, upTo(1, 80))) {
      val order = Vector(0 -> i, 2 -> 3, 1 -> j, 2 -> 1000, 0 -> 1000, 1 -> 1000)
      val done = race(start, order, "beat")(one, two, beatOf)
      check(done.copy(results = done.results.take(2)))
      Figures.add("orders of two processes on models of stores", 1)
    }
  }

  private val expiring = LockOptions(expireMinutes = 1, retries = 2000, waitMillis = 1, settleMillis = 0)

  /** A record more in the file group that is there. */
  def locked(storage: Storage, key: String, saw: java.util.Map[String, Int]): Unit = {
    val open = OpenWrite.begin(IndexerSuite.accessOf(storage), Path, slow, Some(expiring))
    saw.put(key, open.table.timeline.completedWrites.size)
    val file = open.abortOnFailure {
      open.start()
      val slice = CompactionStepsSuite.slices(open.table).head
      val name = FileName.render(slice.fileId, open.instant, "0-1-3", FileKind.Log, 1)
      WriteStepsSuite.logFile(open, slice.fileId, name, key)
    }
    open.complete(CompletedWrite("UPSERT", schema.toString, Vector(file)))
  }

  /** Two who wait for the same lock. */
  def locks(start: ModelStore, oneOf: Int = upTo(1, 4))(reach: Storage => Storage): Unit = {
    def holder(holding: java.util.concurrent.atomic.AtomicInteger, s: Storage): Unit =
      new TableLock(reach(s), Path, expiring).held {
        require(holding.incrementAndGet() == 1, "two have the lock")
        s.status(s"$Path/.hoodie/lock")
        holding.decrementAndGet(): Unit
      }
    val random = new Random(seed)
    for (i <- 1 to 12; j <- 1 to 24 if isChosen(random, oneOf)) {
      val holding = new java.util.concurrent.atomic.AtomicInteger
      // The dead one's is old; those of the living are not.
      val order = Vector(0 -> i, 1 -> j, 0 -> 20, 1 -> 20, 0 -> 1000)
      val done = race(start, order, "locks", ageMillis = 0)(holder(holding, _), holder(holding, _))
      assert(done.results.forall(_.isSuccess), done)
      Figures.add("orders of two processes on models of stores", 1)
    }
  }
}
