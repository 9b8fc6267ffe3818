package hudiidx.engine

import java.util.concurrent.ConcurrentLinkedQueue

import scala.collection.JavaConverters._

import hudiidx.column.segment.ColumnScan
import hudiidx.column.IndexSpec
import hudiidx.engine.column._
import hudiidx.engine.logindex.{LogPart, LogPartSuite}
import hudiidx.engine.record._
import hudiidx.hfile.BlockCache
import hudiidx.logindex.LogIndex
import hudiidx.storage._
import hudiidx.store.{IndexFile, IndexVersion}
import hudiidx.symlink.{SymlinkPart, SymlinkSettings}
import hudiidx.sync._
import hudiidx.sync.build.Indexer
import org.scalatest.funsuite.AnyFunSuite

/** Others publish index versions at every step that a long making of an index takes at its store: it ends all the same, reads
  * no file of the table twice, and what the others made of other parts stays.
  */
final class BusyPublisherSuite extends AnyFunSuite {
  import BusyPublisherSuite._

  private val key = "_hoodie_record_key"

  /** What is added, and how the index is asked for it. */
  private case class Kind(name: String, part: TableAccess => IndexPart, check: KeyedTable => Unit)

  private def columns(spec: IndexSpec) = Kind(
    s"the index ${spec.text}",
    access => new ColumnPart(new SlottedEngine(access, 4), ColumnOptions(), ColumnChange.Add(Vector(spec))),
    table => {
      if (spec.kind == "range") ColumnPartSuite.assertIndexed(table.path) else assertRecorded(table.path)
      assert(ColumnPartSuite.known(table.path) === Set(spec.text))
    }
  )

  private val record = Kind(
    "the record index",
    access => new RecordPart(new LocalEngine(access), RecordOptions(mode = Some("global"), fileGroups = Some(2))),
    table =>
      assert(RecordPartSuite.lookup(table.path, table.keys :+ "absent", None, RecordPartSuite.indexed) === table.truth)
  )

  private val logs = Kind(
    "the index of logs",
    access => new LogPart(new SlottedEngine(access, 2), Some(true), shareBytes = 1L),
    table => assert(LogPartSuite.assertIndexed(table.path) > 0)
  )

  private val kinds = Vector(
    record,
    columns(IndexSpec("range", Vector(key))),
    columns(IndexSpec("bloom", Vector(key))),
    columns(IndexSpec("values", Vector(key))),
    logs
  )

  for (kind <- kinds; others <- Vector("instants", "settings"))
    test(s"others publish $others at every step: ${kind.name} is made once, brought up and published") {
      val table = tableOf(6)
      plain(table.path).create()
      val alone = readsOf(RecordFaultSuite.copy(table.path))(a => plain(_, a).addPart(kind.part(a)))
      val publisher = new Publisher(table, mostInstants = if (others == "instants") 8 else 0)
      var part: Disturbed = null
      val reads = readsOf(table.path, publisher) { a =>
        part = new Disturbed(kind.part(a), publisher)
        plain(_, a).addPart(part)
      }
      assert(publisher.published > 8 && part.made === 1 && part.broughtUp <= 5, (publisher.published, part.broughtUp))
      assert((others == "settings") === (part.broughtUp == 0))
      reads.foreach { case (file, times) => assert(times <= math.max(alone.getOrElse(file, 0), 2), file) }
      assert(alone.nonEmpty && alone.forall { case (file, times) => reads(file) <= times }, (reads, alone))
      assertState(table.path, IndexInfo.Ready)
      kind.check(table)
      assert(SymlinkSettings.of(RecordFaultSuite.current(table.path).get) === publisher.settings)
    }

  test("others add and drop column indexes while one is added: each has its own") {
    val table = tableOf(6)
    plain(table.path).create()
    ColumnPartSuite.add(table.path, IndexSpec("values", Vector("c0")), IndexSpec("range", Vector("c0")))
    val access = accessOf(LocalStorage)
    val inner = columns(IndexSpec("bloom", Vector(key))).part(access)
    val part = new Disturbing(
      inner,
      Vector(
        () => ColumnPartSuite.add(table.path, IndexSpec("range", Vector("c1"))): Unit,
        () => ColumnPartSuite.drop(table.path, IndexSpec("values", Vector("c0"))): Unit,
        () => {
          table.write(Seq(KeyWrite("p0", -1, log = false, Vector("new"), 0)))
          plain(table.path).update(): Unit
        }
      )
    )
    plain(table.path).addPart(part)
    assert(part.left.isEmpty)
    assert(ColumnPartSuite.known(table.path) === Set("range(c0)", "range(c1)", s"bloom($key)"))
    ColumnPartSuite.assertIndexed(table.path)
    assertState(table.path, IndexInfo.Ready)
  }

  test("of two that add the same column index at once both end, and it is right") {
    val table = tableOf(40)
    plain(table.path).create()
    val spec = IndexSpec("range", Vector("c0"))
    val inner = columns(spec).part(accessOf(LocalStorage))
    plain(table.path).addPart(new Disturbing(inner, Vector(() => ColumnPartSuite.add(table.path, spec): Unit)))
    ColumnPartSuite.assertIndexed(table.path)
    assertState(table.path, IndexInfo.Ready)
  }

  test("others publish at every step of a creation: it is made once, has what it asks for and what others added") {
    val table = tableOf(6)
    plain(table.path).create()
    val options = RecordOptions(mode = Some("partitioned"), fileGroups = Some(3))
    val publisher = new Publisher(
      table,
      mostInstants = 8,
      also = { n =>
        if (n == 2) plain(table.path).addPart(logs.part(accessOf(LocalStorage))): Unit
        if (n == 4) plain(table.path).addPart(record.part(accessOf(LocalStorage))): Unit
        if (n == 6)
          plain(table.path).addPart(columns(IndexSpec("bloom", Vector(key))).part(accessOf(LocalStorage))): Unit
      }
    )
    var made = Vector.empty[Disturbed]
    val reads = readsOf(table.path, publisher) { a =>
      made = Vector(
        new Disturbed(new RecordPart(new LocalEngine(a), options), publisher),
        new Disturbed(new ColumnPart(new SlottedEngine(a, 4), ColumnOptions(range = Some(key))), publisher)
      )
      new Indexer(
        a,
        _,
        IndexOptions(),
        LocalScanner,
        made ++ Vector(new LogPart(new LocalEngine(a), None), SymlinkPart)
      )
        .create()
    }
    assert(made.map(_.made) === Vector(1, 1) && made.forall(_.broughtUp <= 5), made.map(_.broughtUp))
    assert(publisher.published > 8)
    val version = RecordFaultSuite.current(table.path).get
    assert(RecordSettings.of(version).mode === "partitioned")
    assert(LogIndex.isIn(version) && SymlinkSettings.of(version) === publisher.settings)
    val settings = ColumnSettings.of(version)
    assert(settings.specs.map(_.text) === Vector(s"range($key)", s"bloom($key)"))
    assert(settings.pending.map(_.text) === Vector(s"bloom($key)"))
    record.check(table)
    logs.check(table)
    assertState(table.path, IndexInfo.Ready)
    assert(reads.nonEmpty && reads.values.max <= 4, reads)
  }

  test("others publish at every step of an update, without instants: it is made once") {
    val table = tableOf(4)
    val access = accessOf(LocalStorage)
    val parts = kinds.take(1).map(_.part(access)) :+ logs.part(access) :+ SymlinkPart
    new Indexer(access, table.path, IndexOptions(), LocalScanner, parts).create()
    table.write(Seq(KeyWrite("p0", -1, log = false, Vector("new"), 0), KeyWrite("p1", 0, log = true, Vector("x"), 1)))
    val publisher = new Publisher(table, mostInstants = 0)
    val disturbed = parts.init.map(new Disturbed(_, publisher))
    val busy = new StepStorage(() => publisher.step())
    new Indexer(accessOf(busy), table.path, IndexOptions(), LocalScanner, disturbed :+ SymlinkPart).update()
    assert(publisher.published > 3 && disturbed.map(_.broughtUp) === Vector(1, 1))
    record.check(table)
    logs.check(table)
    assert(SymlinkSettings.of(RecordFaultSuite.current(table.path).get) === publisher.settings)
    assertState(table.path, IndexInfo.Ready)
  }

  /** Runs work, and counts how often it opened each data file of the table that was there before. */
  private def readsOf(path: String, publisher: Publisher = null)(
      work: TableAccess => String => Any
  ): Map[String, Int] = {
    val storage = new StepStorage(() => if (publisher != null) publisher.step())
    work(accessOf(storage))(path)
    storage.dataFiles
  }
}

object BusyPublisherSuite extends org.scalatest.Assertions {
  def accessOf(storage: Storage): TableAccess = Tables.access(storage, new BlockCache(4 << 20))

  /** Base files and logs in so many partitions. */
  def tableOf(partitions: Int): KeyedTable = {
    val table = new KeyedTable(more = 2)
    def keys(i: Int) = (0 until 20).map(n => KeyedTable.uuid(1000 + i * 20 + n)).toVector
    table.write((0 until partitions).map(i => KeyWrite(s"p$i", -1, log = false, keys(i), 0)))
    table.write((0 until partitions by 2).map(i => KeyWrite(s"p$i", 0, log = true, Vector(s"log$i"), 1, 2)))
    table
  }

  /** Keeps what there is in step, whatever it is. */
  def plain(path: String, access: TableAccess = accessOf(LocalStorage)): Indexer = {
    val engine = new LocalEngine(access)
    val parts = Vector(
      new RecordPart(engine, RecordOptions()),
      new ColumnPart(engine, ColumnOptions()),
      new LogPart(engine, None),
      SymlinkPart
    )
    new Indexer(access, path, IndexOptions(), LocalScanner, parts)
  }

  /** Every base file has a record of the kind that is indexed. */
  def assertRecorded(path: String): Unit = ColumnPartSuite.opened(path) { (index, state) =>
    val scan = new ColumnScan(index)
    state.view.partitions.foreach { p =>
      val files = state.view.source.files(p).toVector
      var found = Set.empty[String]
      scan.records(p, files.map(f => f.fileName -> f.sizeBytes))((file, _, _) => found += file)
      assert(files.filter(_.isBase).forall(f => found(f.fileName)), p)
    }
  }

  def assertState(path: String, state: String): Unit =
    assert(IndexInfo.of(accessOf(LocalStorage), path, IndexOptions()).state === state): Unit

  /** Publishes a version at each step while it is on: the first ones with an instant more, the others with none.
    *
    * @param also done at the step of this number
    */
  final class Publisher(table: KeyedTable, mostInstants: Int, also: Int => Unit = _ => ()) {
    private var isOn = false
    var published = 0
    var settings: Option[SymlinkSettings] = None

    def step(): Unit = if (isOn) {
      isOn = false
      published += 1
      if (published <= mostInstants) {
        table.write(Seq(KeyWrite(s"q$published", -1, log = false, Vector(KeyedTable.uuid(published)), 0)))
        plain(table.path).update(): Unit
      } else {
        settings = Some(SymlinkSettings(s"/manifests/$published", readOptimized = false))
        plain(table.path).setPart(SymlinkPart)(_ => SymlinkPart.of(settings)): Unit
      }
      also(published)
      isOn = true
    }

    def during[A](work: => A): A = {
      isOn = true
      try work
      finally isOn = false
    }
  }

  /** A part while whose making others publish: at its first creation, and the first times that it is brought up. */
  final class Disturbed(inner: IndexPart, publisher: Publisher) extends IndexPart {
    var made = 0
    var broughtUp = 0
    override def owns(file: IndexFile): Boolean = inner.owns(file)
    override def owns(property: String): Boolean = inner.owns(property)
    override def isIn(version: IndexVersion): Boolean = inner.isIn(version)
    override def build(state: IndexState, before: Option[IndexVersion]): PartFiles = {
      made += 1
      publisher.during(inner.build(state, before))
    }
    override def piece(state: IndexState, before: IndexVersion): PartFiles = {
      made += 1
      publisher.during(inner.piece(state, before))
    }
    override def update(state: IndexState, before: IndexVersion, unseen: Vector[UnseenInstant]): PartFiles = {
      broughtUp += 1
      if (broughtUp <= 3) publisher.during(inner.update(state, before, unseen))
      else inner.update(state, before, unseen)
    }
    override def joined(state: IndexState, version: IndexVersion, piece: PartFiles): PartFiles =
      inner.joined(state, version, piece)
    override def withOthers(made: PartFiles, before: Option[IndexVersion], others: IndexVersion): PartFiles =
      inner.withOthers(made, before, others)
    override def drop(before: IndexVersion): PartFiles = inner.drop(before)
  }

  /** A piece behind whose making, and then behind each join, others do one thing more. */
  final class Disturbing(inner: IndexPart, deeds: Vector[() => Unit]) extends IndexPart {
    var left: Vector[() => Unit] = deeds
    private def next[A](made: A): A = {
      left.headOption.foreach(_())
      left = left.drop(1)
      made
    }
    override def owns(file: IndexFile): Boolean = inner.owns(file)
    override def owns(property: String): Boolean = inner.owns(property)
    override def isIn(version: IndexVersion): Boolean = inner.isIn(version)
    override def build(state: IndexState, before: Option[IndexVersion]): PartFiles = inner.build(state, before)
    override def piece(state: IndexState, before: IndexVersion): PartFiles = next(inner.piece(state, before))
    override def update(state: IndexState, before: IndexVersion, unseen: Vector[UnseenInstant]): PartFiles =
      inner.update(state, before, unseen)
    override def joined(state: IndexState, version: IndexVersion, piece: PartFiles): PartFiles =
      next(inner.joined(state, version, piece))
  }

  /** Calls `before` at each step, and notes the data files that are opened. */
  final class StepStorage(before: () => Unit) extends Storage {
    private val opens = new ConcurrentLinkedQueue[String]

    def dataFiles: Map[String, Int] = opens.asScala.toVector
      .map(p => p.substring(p.lastIndexOf('/') + 1))
      .filter(n => n.endsWith(".parquet") || n.contains(".log."))
      .groupBy(identity)
      .map { case (name, all) => name -> all.size }

    private def step[A](call: => A): A = {
      before()
      call
    }
    override def list(dir: String): Vector[FileInfo] = step(LocalStorage.list(dir))
    override def status(path: String): Option[FileInfo] = step(LocalStorage.status(path))
    override def readAll(path: String): Array[Byte] = step(LocalStorage.readAll(path))
    override def delete(path: String): Boolean = step(LocalStorage.delete(path))
    override def publish(path: String, content: Array[Byte]): Boolean = step(LocalStorage.publish(path, content))
    override def write(path: String)(content: java.io.OutputStream => Unit): Unit =
      step(LocalStorage.write(path)(content))
    override def open(path: String): RandomReader = step {
      opens.add(path)
      LocalStorage.open(path)
    }
  }
}
