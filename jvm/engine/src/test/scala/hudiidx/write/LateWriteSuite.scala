package hudiidx.write

import hudiidx.storage._
import hudiidx.sync.{IndexerSuite, TableContext}
import hudiidx.{Figures, Fixtures, TableFormats, TestSettings, WriteConflict}
import java.io.OutputStream
import java.util.concurrent.{CountDownLatch, Executors}
import java.util.concurrent.atomic.AtomicInteger
import org.scalatest.funsuite.AnyFunSuite
import scala.concurrent.duration.DurationInt
import scala.concurrent.{Await, ExecutionContext, Future}
import scala.util.{Random, Try}

/** A writer that was silent for so long that another one takes it for dead, and goes on at any step of that one's. */
class LateWriteSuite extends AnyFunSuite {
  import CompactionStepsSuite.{compact, runPlanned}
  import LateWriteSuite._
  import WriteStepsSuite._

  for (version <- TableFormats.written)
    test(s"version $version: a late writer's rows are there exactly if it was told so, whatever step it goes on at") {
      races(tableOf(version, "a"))((storage, table) => write(storage, table, "late", slow)) { steps =>
        val table = tableOf(version, "a")
        val race = raced(steps)(write(_, table, "late", slow))(write(_, table, "other", silentAtOnce))
        val told = Set("a") ++ race.late.toOption.map(_ => "late") ++ race.other.toOption.map(_ => "other")
        assert(keys(table) === told, race)
        Thread.sleep(2)
        write(LocalStorage, table, "next", silentAtOnce)
        assert(keys(table) === told + "next", race)
        assert(Fixtures.filesBelow(table).count(_.contains(".log.")) === told.size + 1, race)
        requireTidy(table, race)
      }
    }

  for (version <- TestSettings.versions(9))
    test(
      s"version $version: a late overwrite is there exactly if its writer was told so, whatever step it goes on at"
    ) {
      races(tableOf(version, "a"), oneIn = 240)((storage, table) => overwrite(storage, table, "late", slow)) { steps =>
        val table = tableOf(version, "a")
        val race = raced(steps)(overwrite(_, table, "late", slow))(write(_, table, "other", silentAtOnce))
        val first = Set(if (race.late.isSuccess) "late" else "a")
        val both = first ++ race.other.toOption.map(_ => "other")
        val found = keys(table)
        // It may have begun when the other one was done.
        assert(found == both || (race.late.isSuccess && found == first), race)
        Thread.sleep(2)
        write(LocalStorage, table, "next", silentAtOnce)
        assert(keys(table) === found + "next", race)
        requireTidy(table, race)
      }
    }

  for (version <- TestSettings.versions(9))
    test(s"version $version: a table that is made anew late is the new one exactly if its writer was told so") {
      races(tableOf(version, "a"), oneIn = 240)((storage, table) => remake(storage, table, "late", slow)) { steps =>
        val table = tableOf(version, "a")
        val race = raced(steps)(remake(_, table, "late", slow))(write(_, table, "other", silentAtOnce))
        assert(keyFields(table) === Vector(if (race.late.isSuccess) "other" else "k"), race)
        val first = Set(if (race.late.isSuccess) "late" else "a")
        val both = first ++ race.other.toOption.map(_ => "other")
        val found = keys(table)
        assert(found == both || (race.late.isSuccess && found == first), race)
        Thread.sleep(2)
        write(LocalStorage, table, "next", silentAtOnce)
        assert(keys(table) === found + "next", race)
        requireTidy(table, race)
      }
    }

  for (version <- TestSettings.versions(9))
    test(
      s"version $version: of a late compaction and one that runs it again one is done, whatever step it goes on at"
    ) {
      races(planned(version))((storage, table) => runPlanned(storage, table, slow)) { steps =>
        val table = planned(version)
        val race = raced(steps)(runPlanned(_, table, slow))(runPlanned(_, table, silentAtOnce))
        assert(CompactionStepsSuite.keys(table) === Vector("a", "b"), race)
        val left = OpenCompaction.planned(TableContext.load(IndexerSuite.accessOf(LocalStorage), table))
        assert(left.isEmpty || (race.late.isFailure && race.other.isFailure), race)
        Thread.sleep(2)
        runPlanned(LocalStorage, table, silentAtOnce)
        write(LocalStorage, table, "c", silentAtOnce)
        compact(LocalStorage, table, silentAtOnce)
        assert(CompactionStepsSuite.keys(table) === Vector("a", "b", "c"), race)
        assert(Fixtures.filesBelow(table).count(_.endsWith(".parquet")) === 3, race)
        requireTidy(table, race)
      }
    }

  for (version <- TableFormats.written)
    test(s"version $version: a writer that is ended before its request, and goes on meanwhile, leaves no file") {
      val table = tableOf(version, "a")
      val isAsking, isBeingEnded, isFileMade, isOtherOver = new CountDownLatch(1)
      val lates = new ToldStorage({
        case Call("publish", path) if path.endsWith(".requested") => isAsking.countDown(); isBeingEnded.await()
        // It looks for its files when they are made.
        case Call("list", path) if path.contains("/.temp/") => isFileMade.countDown(); isOtherOver.await()
      })
      val late = Future(Try(write(lates, table, "late", slow)))
      isAsking.await()
      Thread.sleep(2)
      val dead = new Heartbeats(LocalStorage, table).all.map(_.instant).head
      val others = new ToldStorage({
        case Call("publish" | "delete", path) if path.endsWith(s"/$dead.2") || path.endsWith(s"/.temp/$dead") =>
          isBeingEnded.countDown(); isFileMade.await()
      })
      val other = Try(write(others, table, "other", silentAtOnce))
      isOtherOver.countDown()
      val results = Vector(Await.result(late, 1.minute), other)
      assert(results.forall(_.failed.toOption.exists(_.isInstanceOf[WriteConflict])), results)
      assert(Fixtures.filesBelow(table).count(_.contains(".log.")) === 1)
      for (key <- Vector("next", "last")) {
        Thread.sleep(2)
        write(LocalStorage, table, key, silentAtOnce)
      }
      assert(keys(table) === Set("a", "next", "last"))
      requireTidy(table, Race(Steps(0, 0), results(0), results(1)))
    }

  /** Pairs of steps, each in a race of its own: half of those from before the late one's decision to behind its completion, and
    * some; all of them where tests are long.
    */
  private def races(table: String, oneIn: Int = 120)(job: (Storage, String) => Unit)(race: Steps => Any): Unit = {
    val calls = new SteppedStorage(Int.MaxValue, () => ())
    job(calls, table)
    val random = new Random(TestSettings.seed)
    info(s"HUDIIDX_TEST_SEED=${TestSettings.seed}")
    val deciding = calls.publishes.takeRight(2).head to calls.publishes.last + 1
    for {
      late <- 1 to calls.count
      // The other one does the same, and before that takes the late one back.
      other <- 1 to 2 * calls.count
      if TestSettings.isLong || random.nextInt(if (deciding.contains(late)) 2 else oneIn) == 0
    } {
      race(Steps(late, other))
      Figures.add("races of a late writer and the one that takes it for dead", 1)
    }
  }

  private def requireTidy(table: String, race: Race): Unit = {
    val left = Fixtures.filesBelow(table).filter(f => f.contains("/.temp/") || f.contains("/.heartbeat/"))
    assert(left === Vector.empty, race): Unit
  }
}

private[hudiidx] object LateWriteSuite {
  import WriteStepsSuite._

  val silentAtOnce: HeartbeatOptions = HeartbeatOptions(intervalMillis = 60000, misses = 0)
  private implicit val threads: ExecutionContext = ExecutionContext.fromExecutor(Executors.newCachedThreadPool { work =>
    val made = new Thread(work, "other-writer")
    made.setDaemon(true)
    made
  })

  def tableOf(version: Int, keys: String*): String = {
    val table = newTable(version)
    keys.foreach(write(LocalStorage, table, _, slow))
    table
  }

  def planned(version: Int): String = {
    val table = tableOf(version, "a", "b")
    CompactionStepsSuite.plan(LocalStorage, table, slow)
    table
  }

  /** Calls of storage, counted from 1, before which the late writer stops, and before which of the other's it goes on. */
  final case class Steps(late: Int, other: Int)

  final case class Race(steps: Steps, late: Try[Unit], other: Try[Unit])

  /** The late one stops, the other begins; the late one goes on to its end at the other's step, and then that one does. What
    * fails is a WriteConflict.
    */
  def raced(steps: Steps)(late: Storage => Unit)(other: Storage => Unit): Race = {
    val isReached, isLateOver = new CountDownLatch(1)
    val others = new SteppedStorage(
      steps.other,
      () => {
        isReached.countDown()
        isLateOver.await()
      }
    )
    var running = Future.unit
    val lates = new SteppedStorage(
      steps.late,
      () => {
        Thread.sleep(2)
        running = Future(other(others))
        running.onComplete(_ => isReached.countDown())
        isReached.await()
      }
    )
    val first = Try(late(lates))
    isLateOver.countDown()
    val race = Race(steps, first, Try(Await.result(running, 1.minute)))
    Vector(race.late, race.other).foreach(_.failed.foreach(e => require(e.isInstanceOf[WriteConflict], race)))
    race
  }

  final case class Call(name: String, path: String)

  /** Tells of calls before it does them. */
  final class ToldStorage(before: PartialFunction[Call, Unit]) extends PassingStorage(LocalStorage) {
    private def tell(name: String, path: String): Unit = before.applyOrElse(Call(name, path), (_: Call) => ())

    override def list(dir: String): Vector[FileInfo] = {
      tell("list", dir)
      super.list(dir)
    }
    override def publish(path: String, content: Array[Byte]): Boolean = {
      tell("publish", path)
      super.publish(path, content)
    }
    override def delete(path: String): Boolean = {
      tell("delete", path)
      super.delete(path)
    }
  }

  /** Does something before its call `at`, and counts them. */
  final class SteppedStorage(at: Int, before: () => Unit) extends Storage {
    private val calls = new AtomicInteger

    def count: Int = calls.get

    /** Calls that published, in their order. */
    @volatile var publishes: Vector[Int] = Vector.empty

    private def step[A](call: => A): A = {
      if (calls.incrementAndGet() == at) before()
      call
    }

    override def list(dir: String): Vector[FileInfo] = step(LocalStorage.list(dir))
    override def status(path: String): Option[FileInfo] = step(LocalStorage.status(path))
    override def open(path: String): RandomReader = step(LocalStorage.open(path))
    override def readAll(path: String): Array[Byte] = step(LocalStorage.readAll(path))
    override def write(path: String)(content: OutputStream => Unit): Unit = step(LocalStorage.write(path)(content))
    override def writeInPlace(path: String)(content: OutputStream => Unit): Unit =
      step(LocalStorage.writeInPlace(path)(content))
    override def replace(path: String, content: Array[Byte]): Unit = step(LocalStorage.replace(path, content))
    override def touch(path: String): Unit = step(LocalStorage.touch(path))
    override def publish(path: String, content: Array[Byte]): Boolean = step {
      publishes :+= count
      LocalStorage.publish(path, content)
    }
    override def delete(path: String): Boolean = step(LocalStorage.delete(path))
  }
}
