package hudiidx.engine.column

import hudiidx.column._
import hudiidx.column.segment.{ColumnIndex, ColumnKind, ColumnScan}
import hudiidx.engine.TimelineCut
import hudiidx.engine.record.{KeyWrite, KeyedTable}
import hudiidx.storage.LocalStorage
import hudiidx.store.{IndexStore, IndexVersion}
import hudiidx.sync._
import hudiidx.sync.build.Indexer
import hudiidx.{Fixtures, InvalidOption, TestSettings}
import org.scalatest.funsuite.AnyFunSuite

/** The indexes on columns as a part of the index: made, brought up, added to and taken from, on tables that stock Hudi wrote. */
class ColumnPartSuite extends AnyFunSuite {
  import ColumnPartSuite._

  private val sampled = Seq("v6-cow-types", "v6-mor-event", "v6-mor-rollback", "v6-savepoint-restore", "v8-mor-part") ++
    Seq("v9-mor-types", "v9-cow-evolution", "v9-partial-updates", "v9-cow-replace")

  for (name <- sampled)
    test(s"$name: what is indexed of every file is what the file says, made at once or brought up instant by instant") {
      val path = Fixtures.copy(name)
      val cut = new TimelineCut(path)
      val from = math.max(1, cut.size / 3)
      cut.showFirst(from)
      if (TableContext.load(new TableFiles(path).access, path).timeline.start.isDefined) {
        create(path, ColumnOptions(range = Some("*")))
        (from + 1 to cut.size).foreach { n =>
          cut.showFirst(n)
          indexer(path).update()
        }
      } else create(path, ColumnOptions(range = Some("*")))
      assertIndexed(path)
      val version = create(path, ColumnOptions(range = Some("*")))
      assertIndexed(path)
      assert(version.files.count(_.kind == ColumnKind.Stats) === 1)
    }

  for (name <- Seq("v9-cow-evolution", "v6-mor-evolution"))
    test(s"$name: columns that the table got later are known to be null in older files") {
      val path = Fixtures.copy(name)
      val cut = new TimelineCut(path)
      cut.showFirst(math.max(1, cut.size / 3))
      create(path, ColumnOptions(range = Some("*")))
      val before = new TableFiles(path).columns.all.map(_._1).toSet
      cut.showAll()
      val synced = indexer(path).update().version
      val late = new TableFiles(path).columns.all.collect { case (c, Some(_)) if !before(c) => c }
      val pending = ColumnSettings.of(synced).pending
      assert(late.nonEmpty && pending.flatMap(_.columns).nonEmpty && pending.flatMap(_.columns).forall(late.contains))
      val made = add(path, pending: _*)
      assert(ColumnSettings.of(made) === ColumnSettings.of(synced).copy(pending = Vector.empty))
      assertIndexed(path, nullsToo = true)
    }

  test("columns are added and dropped one by one, and other columns' files stay as they are") {
    val path = Fixtures.copy("v9-cow-part")
    val first = create(path, ColumnOptions(range = Some("fare")))
    assert(known(path) === Set("range(fare)"))
    val added = add(path, IndexSpec("range", Vector("city")), IndexSpec("bloom", Vector("rider")))
    assert(known(path) === Set("range(fare)", "range(city)", "bloom(rider)"))
    // The new file is as large as the old one, so the two are merged.
    assert(added.files.count(_.kind == ColumnKind.Stats) <= 2 && added.files.count(_.kind == ColumnKind.Records) === 1)
    assertIndexed(path)
    val dropped = drop(path, IndexSpec(ColumnSettings.AnyKind, Vector("city")))
    assert(known(path) === Set("range(fare)", "bloom(rider)"))
    assert(dropped.files === added.files)
    drop(path, IndexSpec("bloom", Vector("rider")))
    assert(known(path) === Set("range(fare)"))
    val bare = drop(path, IndexSpec("range", Vector("fare")))
    assert(!bare.files.exists(f => ColumnKind.All(f.kind)) && !bare.properties.keys.exists(_.startsWith("column.")))
    assert(first.files.filterNot(f => ColumnKind.All(f.kind)) === bare.files)
    assert(drop(path, IndexSpec("range", Vector("fare"))) === bare)
  }

  test("of all columns one can be dropped, and settings stay through updates and a new creation") {
    val path = Fixtures.copy("v9-cow-part")
    create(path, ColumnOptions(range = Some("*"), bloom = Some("rider"), fpp = Some("0.001")))
    drop(path, IndexSpec("range", Vector("fare")))
    assert(known(path).contains("range(city)") && !known(path).contains("range(fare)"))
    val again = create(path, ColumnOptions())
    assert(!known(path).contains("range(fare)") && known(path).contains("bloom(rider)"))
    assert(again.properties(IndexSpec.Property).contains("bloom(rider,fpp=0.001)"))
  }

  test("an index that is asked for later is made by the next update, and until then files count as matches") {
    val path = Fixtures.copy("v9-cow-part")
    create(path, ColumnOptions(range = Some("fare")))
    val part = new ColumnPart(
      new LocalEngine(access),
      ColumnOptions(),
      ColumnChange.Add(Vector(IndexSpec("range", Vector("city"))), later = true)
    )
    val noted = indexer(path).addPart(part).version
    assert(noted.properties(IndexSpec.PendingProperty) === "range(city)")
    val condition = ColumnCondition.In("city", nulls = false, _ => Some(new ValueSet.Texts(Array.empty, Array.empty)))
    opened(path)((index, state) => assert(state.view.partitions.forall(index.select(condition).mightMatch)))
  }

  test("after many updates, rollbacks and replacements all is as in a fresh index, in few files") {
    val table = new KeyedTable
    val random = new scala.util.Random(7)
    def keys(n: Int): Vector[String] = Vector.fill(n)(KeyedTable.uuid(random.nextInt(100000)))
    def write(): Unit = table.write(
      Seq.fill(1 + random.nextInt(3))(
        KeyWrite(s"p${random.nextInt(4)}", random.nextInt(6) - 1, random.nextBoolean(), keys(5), random.nextInt(3))
      )
    )
    val named = "_hoodie_record_key,_hoodie_commit_time"
    write()
    create(table.path, ColumnOptions(range = Some(named), bloom = Some("_hoodie_record_key")))
    var most = 0
    (1 to 50).foreach { n =>
      n % 10 match {
        case 4 => table.rollback()
        case 7 => table.replace(s"p${random.nextInt(4)}", keys(4))
        case 9 => table.compact()
        case _ => write()
      }
      val before = new TableFiles(table.path).version.files.map(_.name).toSet
      val after = indexer(table.path).update().version
      val added = after.files.filter(f => ColumnKind.All(f.kind) && !before(f.name))
      assert(added.size <= 3, s"update $n")
      most = math.max(most, after.files.count(f => ColumnKind.All(f.kind)))
    }
    assert(most <= 18)
    // Of every instant the files that may have rows of it.
    def kept: Vector[Set[(String, String)]] = opened(table.path) { (index, state) =>
      val slices = state.view.partitions.flatMap(p => state.view.latestMergedFileSlices(p, None))
      slices.map(_.baseInstantTime).distinct.sorted.map { instant =>
        val selected = index.select(ColumnCondition.In("_hoodie_commit_time", nulls = false, _ => Some(point(instant))))
        val partitions = slices.map(_.partitionPath).distinct.filter(selected.mightMatch).toSet
        slices
          .filter(s => partitions(s.partitionPath) && selected.mightMatch(s))
          .map(s => s.partitionPath -> s.fileId)
          .toSet
      }
    }
    def held: Set[(String, String, ColumnStats)] = opened(table.path) { (index, state) =>
      val scan = new ColumnScan(index)
      val found = Set.newBuilder[(String, String, ColumnStats)]
      state.view.partitions.foreach { p =>
        val files = state.view.source.files(p).toSeq.map(f => f.fileName -> f.sizeBytes)
        scan.stats(p, files)((file, column, stats) => found += ((file, column.path, stats)): Unit)
        scan.records(p, files)((file, columns, r) =>
          found += ((file, columns.head.path + r.hashCode, ColumnStats.Empty)): Unit
        )
      }
      found.result()
    }
    val (updated, selected) = (held, kept)
    create(table.path, ColumnOptions())
    assert(updated === held && updated.size > 50)
    assert(selected === kept && selected.size > 5)
    assert(selected.map(_.size).sum < selected.size * table.groupCount * 3 / 4)
  }

  private def point(text: String): ValueSet = {
    val bytes = text.getBytes("UTF-8")
    ValueSets.texts(Seq(bytes -> (bytes :+ 0.toByte)))
  }

  test("2,078 columns live in a few files, as they are made and after updates alone") {
    val table = new KeyedTable(more = 2078)
    def write(n: Int): Unit =
      table.write(Seq(KeyWrite(s"p${n % 2}", -1, log = false, Vector.tabulate(3)(i => KeyedTable.uuid(n * 3 + i)), 0)))
    write(0)
    val named = (0 until 2078).map(c => s"c$c").mkString(",")
    assert(create(table.path, ColumnOptions(range = Some(named))).files.count(f => ColumnKind.All(f.kind)) <= 2)
    (1 to TestSettings.upTo(12, 4)).foreach { n =>
      write(n)
      val before = new TableFiles(table.path).version.files.map(_.name).toSet
      val files = indexer(table.path).update().version.files.filter(f => ColumnKind.All(f.kind))
      assert(files.size <= 20 && files.count(f => !before(f.name)) <= 3, s"update $n")
    }
    assertIndexed(table.path)
  }

  test("an update stores the column file that it names, and none that it merges at once") {
    val table = new KeyedTable(more = 2)
    def write(partition: String, files: Int, from: Int): Unit = table.write(
      Vector.tabulate(files)(i => KeyWrite(partition, -1, log = false, Vector(KeyedTable.uuid(from + i)), 0))
    )
    write("a", 900, 0)
    create(table.path, ColumnOptions(range = Some("c0")))
    def columnFiles: Set[String] =
      LocalStorage.list(IndexStore.defaultDir(table.path)).map(_.name).filter(_.endsWith(".column_stats")).toSet
    for ((n, added) <- Seq(1 -> 2, 2 -> 2, 3 -> 2)) {
      val before = columnFiles
      write("b", 1, 2000 + n)
      val named = indexer(table.path).update().version.files.filter(f => ColumnKind.All(f.kind)).map(_.name).toSet
      assert(named.size === added && named.subsetOf(columnFiles), s"update $n")
      assert((columnFiles -- before).size === 1, s"update $n")
    }
    assertIndexed(table.path)
  }

  test("while an index is being made its state is BUILDING, readers use what is there, and then it is READY") {
    val path = Fixtures.copy("v9-cow-part")
    create(path, ColumnOptions(range = Some("fare")))
    var states = Vector.empty[(String, String)]
    val local = new LocalEngine(access)
    def look(): Unit = {
      val info = IndexInfo.of(access, path, IndexOptions())
      states :+= info.state -> info.reason
      assert(known(path) === Set("range(fare)"))
    }
    val watching = new TaskEngine {
      override def parallelism: Int = 4
      override def run[A, B](what: String, inputs: Vector[A])(work: (TableAccess, A) => B): Vector[B] =
        local.run(what, inputs)(work)
      override def runShowing[A, B](what: String, inputs: Vector[A], done: Seq[Int] => Unit)(
          work: (TableAccess, A) => B
      ): Vector[B] = {
        look()
        local.runShowing(what, inputs, places => { done(places); look() })(work)
      }
    }
    // Markers count that are younger than the version in force.
    Thread.sleep(5)
    val change = ColumnChange.Add(Vector(IndexSpec("range", Vector("city"))))
    indexer(path).addPart(new ColumnPart(watching, ColumnOptions(), change))
    assert(states.map(_._1).toSet === Set(IndexInfo.Building))
    val percents = states.map(_._2.stripSuffix(" %").toInt)
    assert(percents.head === 0 && percents === percents.sorted && percents.last >= 50)
    assert(IndexInfo.of(access, path, IndexOptions()).state === IndexInfo.Ready)
  }

  test("an index version says that all its files are covered only if they are") {
    def complete(v: IndexVersion): Boolean = v.properties.get(ColumnProperty.Complete).contains("true")
    val path = Fixtures.copy("v9-cow-part")
    assert(!complete(create(path, ColumnOptions(bloom = Some("rider")))))
    val fare = IndexSpec("range", Vector("fare"))
    val later = new ColumnPart(new LocalEngine(access), ColumnOptions(), ColumnChange.Add(Vector(fare), later = true))
    assert(!complete(indexer(path).addPart(later).version))
    assert(complete(add(path, fare)))
    assert(complete(add(path, IndexSpec("values", Vector("city")))))
    assert(!complete(drop(path, fare)))
    val cut = new TimelineCut(path)
    cut.showFirst(cut.size - 1)
    assert(!complete(create(path, ColumnOptions())) && !complete(indexer(path).addPart(later).version))
    cut.showFirst(cut.size)
    assert(!complete(indexer(path).update().version))
  }

  test("names that the table does not have, structs and lists are refused with what there is") {
    val path = Fixtures.copy("v9-cow-types")
    new Indexer(access, path, IndexOptions()).create()
    for (bad <- Seq("nope", "c_struct", "c_array", "c_map"))
      assert(intercept[InvalidOption](create(path, ColumnOptions(range = Some(bad)))).getMessage.contains(bad))
    assert(intercept[InvalidOption](add(path, IndexSpec("nokind", Vector("id")))).getMessage.contains("nokind"))
    assert(intercept[InvalidOption](add(path, IndexSpec("bloom", Vector("id", "n")))).getMessage.contains("one column"))
    assert(
      intercept[InvalidOption](create(path, ColumnOptions(bloom = Some("id"), fpp = Some("2")))).getMessage
        .contains("2")
    )
  }
}

object ColumnPartSuite extends org.scalatest.Assertions {
  val access: TableAccess = new TableFiles(Fixtures.table("v9-cow-part")).access

  def indexer(path: String, options: ColumnOptions = ColumnOptions(), slots: Int = 1): Indexer = {
    val part = new ColumnPart(new SlottedEngine(access, slots), options)
    new Indexer(access, path, IndexOptions(), LocalScanner, Vector(part))
  }

  def create(path: String, options: ColumnOptions, slots: Int = 1): IndexVersion =
    indexer(path, options, slots).create().version

  def add(path: String, specs: IndexSpec*): IndexVersion =
    indexer(path)
      .addPart(new ColumnPart(new LocalEngine(access), ColumnOptions(), ColumnChange.Add(specs.toVector)))
      .version

  def drop(path: String, spec: IndexSpec): IndexVersion = {
    val all = new TableFiles(path).columns.all.map(_._1)
    indexer(path).dropPart(
      new ColumnPart(new LocalEngine(access), ColumnOptions(), ColumnChange.Drop(Vector(spec), all))
    )
  }

  def opened[A](path: String)(use: (ColumnIndex, IndexState) => A): A = {
    val snapshot = TableSnapshot.open(access, path, IndexOptions(strict = true))
    val store = new hudiidx.store.IndexStore(access.storage, IndexOptions().indexDir(path))
    try {
      val index = ColumnIndex.open(store, snapshot.use.version.get, access.cache)
      try use(index, IndexState(snapshot.table, snapshot.view, store))
      finally index.close()
    } finally snapshot.close()
  }

  /** The indexes that readers may use. */
  def known(path: String): Set[String] = opened(path) { (index, _) =>
    index.columns.map(c => s"${c.head.kind}(${c.map(_.path).mkString(",")})").toSet
  }

  /** What is indexed of files is what they say. */
  def assertSound(path: String): Unit = {
    val snapshot = TableSnapshot.open(access, path, IndexOptions())
    val hasColumns =
      try snapshot.use.version.exists(ColumnIndex.isIn)
      finally snapshot.close()
    if (hasColumns) assertIndexed(path, all = false)
  }

  /** Every committed file is covered, with what it says of itself now. */
  def assertIndexed(path: String, all: Boolean = true, nullsToo: Boolean = false): Unit = {
    val table = new TableFiles(path)
    opened(path) { (index, state) =>
      state.view.partitions.foreach { p =>
        state.view.source.files(p).foreach { file =>
          if (all) assert(index.covers(p, file.fileName, file.sizeBytes), file)
          // A log file that was appended to since is another file.
          assert(!index.covers(p, file.fileName, file.sizeBytes + 1), file)
          val facts = if (table.isThere(file)) table.facts(file).facts else Vector.empty
          facts.filter(f => index.choice.has(Vector(f.column)) && !f.column.path.startsWith("_hoodie")).foreach {
            fact =>
              val found = index.stats(p, file.fileName, file.sizeBytes, fact.column.path).distinct
              // A column that came into the schema later was not looked for, unless that was made up for.
              if (found.nonEmpty || nullsToo || (all && fact.stats.bounds != Bounds.NoValues))
                assert(
                  found.contains(fact.column -> fact.stats),
                  s"${file.fileName} ${fact.column}: $found, ${fact.stats}"
                )
          }
        }
      }
    }
  }
}

/** Runs in this thread as if so many pieces ran at once. */
final class SlottedEngine(access: TableAccess, override val parallelism: Int) extends TaskEngine {
  override def run[A, B](what: String, inputs: Vector[A])(work: (TableAccess, A) => B): Vector[B] =
    inputs.map(work(access, _))
}
