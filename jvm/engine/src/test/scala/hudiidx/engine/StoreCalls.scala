package hudiidx.engine

import java.nio.file.Path

import hudiidx.Figures
import hudiidx.column.{ColumnCondition, ColumnType, Conditions, ValueSet}
import hudiidx.column.segment.ColumnIndex
import hudiidx.engine.column.{ColumnPart, ColumnVerifier}
import hudiidx.engine.record.{RecordLookups, RecordPart, RecordVerifier}
import hudiidx.record.PackedKeys
import hudiidx.store.{IndexStore, Retention}
import hudiidx.sync._
import hudiidx.sync.build.Indexer
import org.apache.hadoop.fs.FileSystem
import org.scalatest.BeforeAndAfterAll
import org.scalatest.funsuite.AnyFunSuite

/** At most so many calls of a store, by kinds, as a suite says, and none of kinds that it does not name. On a small table and
  * a large one, so that what grows with a table is told from what does not.
  */
trait CallBounds { this: AnyFunSuite =>
  protected def store: String

  /** Calls that `deed` makes, by kind. */
  protected def callsOf(deed: => Unit): Map[String, Long]

  /** By operation and kind: at most so many on the table of 3 partitions, and on that of 20. */
  protected def bounds: Map[String, Map[String, (Long, Long)]]

  protected def sizes: Vector[Int] = Vector(3, 20)

  protected def at(small: Long, large: Long): (Long, Long) = (small, large)
  protected def at(any: Long): (Long, Long) = (any, any)

  /** @param prepare what comes before; gives what is counted */
  protected def operation[T](name: String, tables: => Vector[T])(prepare: T => () => Any): Unit =
    test(s"$name: no more calls of any kind than it is to make") {
      val calls = tables.map { table =>
        val deed = prepare(table)
        if (!name.endsWith(CallBounds.Again)) RemoteTable.forget()
        callsOf(deed(): Unit)
      }
      for ((found, i) <- calls.zipWithIndex) {
        info(s"${sizes(i)} partitions: " + found.toVector.sorted.map { case (kind, n) => s"$n $kind" }.mkString(", "))
        found.foreach { case (kind, n) => Figures.add(s"$store, $name, ${sizes(i)} partitions: $kind", n) }
      }
      val most = bounds.getOrElse(name, Map.empty)
      for {
        (found, i) <- calls.zipWithIndex
        (kind, n) <- found
        (small, large) = most.getOrElse(kind, at(0))
      } assert(n <= (if (i == 0) small else large), s"calls of $kind on a table of ${sizes(i)} partitions")
    }
}

object CallBounds {

  /** Of an operation in a process that did it before, with new objects. Each other one finds nothing that the process keeps. */
  val Again = ", again"
}

/** What each operation of index and table asks of a store. */
abstract class StoreCalls extends AnyFunSuite with CallBounds with BeforeAndAfterAll {
  protected def fs: FileSystem
  protected def folder: Path
  private val strict = IndexOptions(strict = true)

  protected lazy val listed: Vector[RemoteTable] = sizes.map(new RemoteTable(fs, folder, _).fill())
  private lazy val keyed: Vector[RemoteKeyedTable] = sizes.map(new RemoteKeyedTable(fs, folder, _).fill())

  private def access(): TableAccess = RemoteTable.access(fs)

  protected def indexer(t: RemoteTable): Indexer = new Indexer(access(), t.path, strict)

  /** With all kinds of indexes. */
  private def indexer(t: RemoteKeyedTable, options: IndexOptions = strict): Indexer = {
    val a = access()
    val record = new RecordPart(new LocalEngine(a), RecordOptions(mode = Some("global"), fileGroups = Some(2)))
    val columns = new ColumnPart(new LocalEngine(a), ColumnOptions(range = Some("c0")))
    new Indexer(a, t.path, options, LocalScanner, Vector(record, columns))
  }

  operation("create", listed)(t => () => indexer(t).create())
  operation("plan one partition", listed)(t => () => RemoteTable.plan(fs, t.path, 1, strict))
  operation("plan one partition, again", listed) { t =>
    def plan() = RemoteTable.plan(fs, t.path, 1, strict)
    plan()
    () => plan()
  }
  operation("plan all partitions", listed)(t => () => RemoteTable.plan(fs, t.path, t.partitions, strict))
  operation("update with nothing to do", listed)(t => () => indexer(t).update())
  operation("update with nothing to do, again", listed) { t =>
    indexer(t).update()
    () => indexer(t).update()
  }
  operation("update of one commit", listed) { t =>
    t.write(Seq("p001"))
    () => indexer(t).update()
  }
  operation("info", listed)(t => () => IndexInfo.of(access(), t.path, strict))
  operation("verify", listed)(t => () => verify(t.path))
  operation("expire", listed) { t =>
    t.write(Seq("p001"))
    indexer(t).update()
    () => new Indexer(access(), t.path, strict.copy(retention = Retention(1, 0, 0))).expire()
  }

  operation("create, all indexes", keyed)(t => () => indexer(t).create())
  operation("update with nothing to do, all indexes", keyed)(t => () => indexer(t).update())
  operation("update of one commit, all indexes", keyed) { t =>
    t.write(Seq("p001"))
    () => indexer(t).update()
  }
  operation("look up a key, opened anew", keyed)(t => () => lookup(lookups(t), t.key(1)))
  operation("look up a key, opened anew, again", keyed) { t =>
    lookup(lookups(t), t.key(1))
    () => lookup(lookups(t), t.key(1))
  }
  operation("look up another key", keyed) { t =>
    val opened = lookups(t)
    lookup(opened, t.key(1))
    () => lookup(opened, t.key(4))
  }
  operation("plan by an indexed column", keyed)(t => () => planByColumn(t))
  operation("plan by an indexed column, again", keyed) { t =>
    planByColumn(t)
    () => planByColumn(t)
  }
  operation("verify, all indexes", keyed) { t => () =>
    verify(t.path)
    val context = TableContext.load(access(), t.path)
    assert(new RecordVerifier(new LocalEngine(context.access)).verify(context, strict).ok)
    assert(new ColumnVerifier(new LocalEngine(context.access), 1).verify(context, strict).ok)
  }
  operation("expire, all indexes", keyed) { t =>
    t.write(Seq("p001"))
    indexer(t).update()
    () => indexer(t, strict.copy(retention = Retention(1, 0, 0))).expire()
  }

  private def verify(path: String): Unit = {
    val context = TableContext.load(access(), path)
    val (index, listing) = (TableSnapshot.of(context, strict), TableSnapshot.of(context, IndexOptions(enabled = false)))
    try assert(Verifier.compare(index.source, listing.source).ok)
    finally Seq(index, listing).foreach(_.close())
  }

  private def lookups(t: RemoteKeyedTable): RecordLookups = {
    val a = access()
    new RecordLookups(a, t.path, strict, new LocalEngine(a))
  }

  private def lookup(opened: RecordLookups, key: String): Unit = {
    val keys = PackedKeys.of(Vector(key))
    assert(opened.locate(keys, None, None).locations.records(keys).size === 1)
  }

  /** Slices of all partitions, without those that an index on `c0` rules out. */
  private def planByColumn(t: RemoteKeyedTable): Unit = {
    val snapshot = TableSnapshot.open(access(), t.path, strict)
    val files = new IndexStore(snapshot.table.storage, strict.indexDir(t.path))
    val index = ColumnIndex.open(files, snapshot.use.version.get, snapshot.table.access.cache)
    try {
      val selection = index.select(StoreCalls.OfC0, snapshot.mayHaveMore)
      val left = snapshot.view.partitions
        .filter(selection.mightMatch(_))
        .flatMap(p => snapshot.view.latestMergedFileSlices(p).filter(selection.mightMatch(_)))
      assert(left.size < 2 * t.partitions)
    } finally Seq(index, snapshot).foreach(_.close())
  }
}

private object StoreCalls {
  val OfC0: ColumnCondition = Conditions.leaf("c0", nulls = false) {
    case ColumnType.Int32 => Some(new ValueSet.Longs(Array(0L), Array(100000L)))
    case _                => None
  }
}
