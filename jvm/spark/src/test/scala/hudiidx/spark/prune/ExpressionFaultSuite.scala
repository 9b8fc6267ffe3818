package hudiidx.spark.prune

import hudiidx.TestSettings.seed
import hudiidx.Fixtures
import hudiidx.column.segment.ColumnIndex
import hudiidx.column.IndexSpec
import hudiidx.engine.column.{ColumnChange, ColumnFaultSuite, ColumnPart, ColumnSettings, ColumnVerifier, SlottedEngine}
import hudiidx.engine.record.RecordFaultSuite.{copy, current}
import hudiidx.engine.{Tables, TimelineCut}
import hudiidx.hfile.BlockCache
import hudiidx.spark.SparkExpressions
import hudiidx.storage.{Fault, FaultyStorage, InjectedFault, LocalStorage, Storage}
import hudiidx.sync._
import hudiidx.sync.build.Indexer

/** Indexes on expressions of columns whose writers die at any step. */
final class ExpressionFaultSuite extends SkippingSuite {
  import ExpressionFaultSuite._

  /** A piece of work, and the table before it. */
  private case class Job(name: String, table: () => String, work: (Indexer, TableAccess) => Any)

  private lazy val jobs = Vector(
    Job("create", () => Fixtures.copy(Table), (i, _) => i.create()),
    Job("add index", () => made(Fixtures.copy(Table)), (i, a) => i.addPart(part(a, ColumnChange.Add(Vector(Added))))),
    Job("drop index", () => made(Fixtures.copy(Table)), (i, a) => i.dropPart(part(a, dropped(a)))),
    Job("update", () => behind(), (i, _) => i.update())
  )

  for (n <- Names.indices)
    test(
      s"killed before, in or behind any write step of ${Names(n)}: expressions' values are right, now and behind the next run"
    ) {
      val job = jobs(n)
      assert(job.name === Names(n))
      val ready = job.table()
      val before = current(ready)
      val counting = new FaultyStorage(LocalStorage, Int.MaxValue, Fault.Before)
      val whole = copy(ready)
      run(job, whole, counting)
      val wanted = expressions(whole)
      val calls = counting.mutatingCalls
      for {
        step <- FaultyStorage.someCalls(calls, oneOf = 6, seed)
        fault <-
          if (calls < 3) Fault.All
          else Fault.All.slice((step + n) % Fault.All.size, (step + n) % Fault.All.size + 1)
      } withClue(s"HUDIIDX_TEST_SEED=$seed, step $step, $fault: ") {
        val path = copy(ready)
        val faulty = new FaultyStorage(LocalStorage, step, fault)
        try run(job, path, faulty)
        catch { case e: hudiidx.IndexNotWritable => assert(e.getCause.isInstanceOf[InjectedFault]) }
        assert(faulty.hasFailed && (before.isEmpty || current(path).isDefined))
        if (current(path).exists(ColumnIndex.isIn)) assertRight(path)
        run(if (current(path).isEmpty) jobs.head else job, path, LocalStorage)
        assertRight(path)
        assert(expressions(path) === wanted)
      }
      assert(rows(read(whole).where(Where)) === rows(read(whole, off).where(Where)))
    }

  private def part(access: TableAccess, change: ColumnChange = ColumnChange.Whole): ColumnPart = new ColumnPart(
    new SlottedEngine(access, 4),
    ColumnOptions(range = Some("fare,n + qty"), bloom = Some("upper(rider)")),
    change,
    Some(new SparkExpressions(spark))
  )

  /** As the API asks for it: in a spelling of its own. */
  private def dropped(access: TableAccess): ColumnChange = {
    val context = TableContext.load(access, dropTable)
    ColumnChange.Drop(
      Vector(IndexSpec.parse("range(`=QTY + n`)")),
      ColumnSettings.columnsOf(context),
      Some(new SparkExpressions(spark).of(context.config, context.schema()))
    )
  }

  // All copies have the same columns.
  private lazy val dropTable = Fixtures.copy(Table)

  private def run(job: Job, path: String, storage: Storage): Unit = {
    val access = Tables.access(storage, new BlockCache(1 << 20))
    job.work(new Indexer(access, path, IndexOptions(), LocalScanner, Vector(part(access))), access): Unit
  }

  private def made(path: String): String = {
    run(jobs.head, path, LocalStorage)
    path
  }

  private def behind(): String = {
    val path = Fixtures.copy(Table)
    val cut = new TimelineCut(path)
    cut.showFirst(cut.size - 2)
    made(path)
    cut.showFirst(cut.size)
    path
  }

  /** The indexes on expressions that readers know of. */
  private def expressions(path: String): Set[String] = {
    val version = current(path).get
    version.properties.filter(_._1 == IndexSpec.Property).values.flatMap(IndexSpec.parseAll).map(_.text).toSet
  }

  /** Statistics and filters, of columns and of expressions, against those that the files give now. */
  private def assertRight(path: String): Unit = {
    val access = ColumnFaultSuite.access
    val verifier = new ColumnVerifier(new SlottedEngine(access, 2), 3, Some(new SparkExpressions(spark)))
    val found = verifier.verify(TableContext.load(access, path), IndexOptions())
    assert(found.ok && found.files > 0 && found.equal > 0, found)
  }
}

object ExpressionFaultSuite {
  private val Table = "v9-cow-part"
  private val Names = Vector("create", "add index", "drop index", "update")
  private val Added = IndexSpec.parse("values(`=n + qty`)")
  private val Where = "n + qty > 20 AND upper(rider) >= 'R'"
}
