package hudiidx.engine

import java.nio.file.{Files, Paths}

import hudiidx.Fixtures
import hudiidx.engine.column.{ColumnPart, SlottedEngine}
import hudiidx.engine.logindex.LogPart
import hudiidx.engine.record.RecordFaultSuite.{access, current, quick}
import hudiidx.engine.record.RecordPart
import hudiidx.storage.{LocalStorage, Storage}
import hudiidx.store.{IndexStore, IndexVersion}
import hudiidx.sync._
import hudiidx.sync.build.Indexer
import org.scalatest.funsuite.AnyFunSuite

/** Tasks that run again, for an executor was lost behind their last write, or twice at once. */
final class RepeatedTasksSuite extends AnyFunSuite {

  /** Runs each piece twice and takes the first answer of one, the second of the next. */
  private final class TwiceEngine(a: TableAccess, override val parallelism: Int) extends TaskEngine {
    private var pieces = 0

    override def run[A, B](what: String, inputs: Vector[A])(work: (TableAccess, A) => B): Vector[B] = inputs.map { i =>
      pieces += 1
      val answers = Vector.fill(2)(work(a, i))
      answers(pieces % 2)
    }
  }

  private def indexer(path: String, engine: TableAccess => TaskEngine): Indexer = {
    val a = access(LocalStorage)
    val (record, columns) = (RecordOptions(Some("global")), ColumnOptions(range = Some("*"), bloom = Some("rider")))
    val parts = Vector(
      new RecordPart(engine(a), record),
      new ColumnPart(engine(a), columns),
      new LogPart(engine(a), Some(true), shareBytes = 1L)
    )
    new Indexer(a, path, quick, LocalScanner, parts)
  }

  /** What each file of the version holds, by its kind; names have tokens. */
  private def contents(path: String, version: IndexVersion): Vector[(String, Vector[Byte])] = version.files.map { f =>
    f.kind -> Files.readAllBytes(Paths.get(Storage.join(IndexStore.defaultDir(path), f.name))).toVector
  }

  for {
    name <- Seq("v6-mor-part", "v8-mor-part", "v9-mor-part")
    slots <- Seq(1, 4)
  }
    test(s"$name, $slots at once: an index whose tasks all ran twice is the one that they make by running once") {
      val tables = Vector.fill(2)(Fixtures.copy(name))
      val cuts = tables.map(new TimelineCut(_))
      val engines = Vector[TableAccess => TaskEngine](new SlottedEngine(_, slots), new TwiceEngine(_, slots))
      val from = math.max(1, cuts.head.size / 3)
      (from to cuts.head.size).foreach { n =>
        cuts.foreach(_.showFirst(n))
        val made = tables.zip(engines).map { case (path, engine) =>
          if (n == from) indexer(path, engine).create() else indexer(path, engine).update()
          contents(path, current(path).get)
        }
        assert(made(0).map(_._1) === made(1).map(_._1), s"$n of ${cuts.head.size}")
        assert(made(0) == made(1), s"$n of ${cuts.head.size}")
      }
      val version = current(tables(1)).get
      val store = new IndexStore(LocalStorage, IndexStore.defaultDir(tables(1)))
      store.expire(version.number, quick.retention, System.currentTimeMillis() + 1)
      val left = Fixtures.filesBelow(store.dir).toSet
      assert(left === version.files.map(_.name).toSet + f"versions/${version.number}%020d.json")
    }
}
