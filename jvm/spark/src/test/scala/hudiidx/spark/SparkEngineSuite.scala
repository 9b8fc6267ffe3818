package hudiidx.spark

import hudiidx.engine.record.{RecordLookup, RecordPart}
import hudiidx.record.{PackedKeys, RecordLocation}
import hudiidx.sync._
import hudiidx.sync.build.Indexer
import hudiidx.{Causes, DamagedIndex, DamagedTable, Fixtures}

class SparkEngineSuite extends SparkSuite {
  import SparkEngineSuite._
  private lazy val engine = SparkEngine.of(spark)

  test("answers stand in the order of the inputs, each made by a task of its own with access to files") {
    assert(engine.parallelism === spark.sparkContext.defaultParallelism)
    assert(engine.run("nothing", Vector.empty[Int])(doubled) === Vector.empty)
    assert(engine.run("double", (1 to 50).toVector)(doubled) === (2 to 100 by 2))
    val here = Thread.currentThread.getName
    assert(engine.run("name threads", Vector(0))((_, _) => Thread.currentThread.getName) !== Vector(here))
  }

  test("while pieces run the calling thread is told which are done; a failure is raised as itself") {
    val here = Thread.currentThread
    var told = Vector.empty[Int]
    def done(places: Seq[Int]): Unit = {
      assert(Thread.currentThread eq here)
      told ++= places
    }
    assert(engine.runShowing("double", (1 to 50).toVector, done)(doubled) === (2 to 100 by 2))
    assert(told.sorted === (0 until 50))
    assert(engine.runShowing("nothing", Vector.empty[Int], done)(doubled) === Vector.empty)
    assert(
      intercept[DamagedIndex](engine.runShowing("fail", Vector(1, 2), done)(failing)).getMessage.contains("file 1")
    )
    intercept[IllegalStateException](
      engine.runShowing("stop", (1 to 50).toVector, _ => throw new IllegalStateException("stop"))(doubled)
    )
  }

  test("an error of ours in a task is raised as itself, and the description of the job before comes back") {
    spark.sparkContext.setJobDescription("mine")
    try {
      val e = intercept[DamagedIndex](engine.run("fail", Vector(1, 2))(failing))
      assert(e.getMessage === "file 1 is damaged")
      assert(spark.sparkContext.getLocalProperty("spark.job.description") === "mine")
    } finally spark.sparkContext.setJobDescription(null)
  }

  test("a task without a stack left is an error of ours, and the next one runs") {
    val e = intercept[DamagedTable](engine.run("go down", Vector(0))(deep))
    assert(e.getMessage.contains("nested too deeply"))
    assert(intercept[DamagedIndex](engine.run("go down", Vector(0))(damaged)).getMessage === "file 0")
    intercept[DamagedTable](engine.runShowing("go down", Vector(0), _ => ())(deep))
    assert(engine.run("double", Vector(1))(doubled) === Vector(2))
  }

  test("a task without memory left is an error of ours that names what was read, and the next one runs") {
    for (work <- Vector(large, largeFile)) {
      val e = intercept[DamagedTable](engine.run("hold much", Vector(0))(work))
      assert(e.getMessage.startsWith("a task has no memory left") && e.getCause === null)
      assert(e.getMessage.contains("file 0") === (work eq largeFile))
      intercept[DamagedTable](engine.runShowing("hold much", Vector(0), _ => ())(work))
    }
    assert(engine.run("double", Vector(1))(doubled) === Vector(2))
  }

  for (name <- Vector("v6-mor-part", "v8-cow-part", "v9-mor-rollback", "v9-mor-bucket-parquet", "v9-mor-log-only"))
    test(
      s"$name: a record index made by tasks finds what one made in this process finds, and files read by tasks too"
    ) {
      val mine = Fixtures.copy(name)
      val theirs = Fixtures.copy(name)
      create(mine, engine)
      create(theirs, local)
      val keys = stockKeys(name) :+ "absent"
      val wanted = lookup(theirs, keys, IndexOptions(strict = true), local)
      assert(wanted.nonEmpty)
      assert(lookup(mine, keys, IndexOptions(strict = true), local) === wanted)
      assert(lookup(mine, keys, IndexOptions(enabled = false), engine) === wanted)
    }
}

object SparkEngineSuite {
  private def access: TableAccess = hudiidx.engine.Tables.access(new org.apache.hadoop.conf.Configuration())
  private def local: TaskEngine = new LocalEngine(access)

  private val doubled: (TableAccess, Int) => Int = { (access, n) =>
    assert(access.storage.status("/").isDefined)
    2 * n
  }

  private val deep: (TableAccess, Int) => Int = (_, n) => down(n)

  private val damaged: (TableAccess, Int) => Int = (_, n) =>
    try down(n)
    catch { case e: StackOverflowError => throw new DamagedIndex(s"file $n", e) }

  private val large: (TableAccess, Int) => Int = (_, n) => new Array[Long](Int.MaxValue - n).length

  private val largeFile: (TableAccess, Int) => Int = (access, n) =>
    try large(access, n)
    catch { case e: OutOfMemoryError => throw new IllegalStateException("wrapped", Causes.reading(s"file $n", e)) }

  private def down(n: Int): Int = 1 + down(n + 1)

  private val failing: (TableAccess, Int) => Int =
    (_, n) => if (n == 1) throw new DamagedIndex(s"file $n is damaged") else n

  private def create(table: String, engine: TaskEngine): Unit = {
    val options = IndexOptions(record = RecordOptions(mode = Some("global"), fileGroups = Some(3)))
    new Indexer(access, table, options, LocalScanner, Vector(new RecordPart(engine, options.record))).create(): Unit
  }

  /** The keys of stock Hudi's answer. */
  private def stockKeys(name: String): Vector[String] = {
    val rows = Fixtures.json(name).path("key_location").path("rows")
    (0 until rows.size).map(i => rows.get(i).get(0).asText()).toVector
  }

  private def lookup(
      table: String,
      keys: Vector[String],
      options: IndexOptions,
      engine: TaskEngine
  ): Set[(String, String, String)] = {
    val opened = RecordLookup.open(TableContext.load(access, table), options, None, engine)
    try {
      val packed = PackedKeys.of(keys)
      opened.locate(packed).records(packed).map { case RecordLocation(k, p, f, _) => (k, p, f) }.toSet
    } finally opened.close()
  }
}
