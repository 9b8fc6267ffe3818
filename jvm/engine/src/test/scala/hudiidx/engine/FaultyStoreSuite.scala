package hudiidx.engine

import hudiidx.fs.StoreFaults
import hudiidx.fs.StoreFault
import hudiidx.Fixtures
import hudiidx.engine.record._
import hudiidx.record.{PackedKeys, RecordLocation}
import hudiidx.storage.{LocalStorage, Storage}
import hudiidx.sync._
import hudiidx.sync.build.Indexer
import org.scalatest.funsuite.AnyFunSuite

/** A store that refuses a call, loses its answer, does it twice or late, cuts files and reads, lies about renames and lists what is past: what is
  * asked of a table is answered right or is an error, and what is left behind is an index that is right, or found to be none.
  */
class FaultyStoreSuite extends AnyFunSuite with FaultTrials {
  import FaultyStoreSuite._

  private val record = RecordOptions(mode = Some("global"), fileGroups = Some(2))

  /** @param before what was right before the last write: a store that lists what is past shows that */
  private case class Ready(path: String, truth: Set[RecordLocation], before: Set[RecordLocation])

  private val tables: Map[Boolean, Ready] = Seq(false, true).map { hasIndex =>
    val table = new KeyedTable
    def insert(partition: String, keys: Range) =
      KeyWrite(partition, -1, log = false, keys.map(KeyedTable.uuid).toVector, 0)
    table.write(Seq(insert("a", 1 to 20), insert("b", 21 to 40)))
    if (hasIndex) RecordFaultSuite.indexerOf(RecordFaultSuite.access(LocalStorage), table.path, record).create()
    val before = table.truth
    table.write(Seq(KeyWrite("a", 0, log = true, (41 to 50).map(KeyedTable.uuid).toVector, 3, 4)))
    hasIndex -> Ready(table.path, table.truth, before)
  }.toMap

  private val jobs: Vector[Job] = Vector(
    Job("create", hasIndex = false, (access, path) => indexer(access, path).create()),
    Job("update", hasIndex = true, (access, path) => indexer(access, path).update()),
    Job("create over an index", hasIndex = true, (access, path) => indexer(access, path).create())
  )

  private def indexer(access: TableAccess, path: String): Indexer =
    RecordFaultSuite.indexerOf(access, path, record)

  /** Another indexer publishes a version, and removes the files of those before. */
  private def overtake(path: String): Unit = {
    val access = RecordFaultSuite.access(LocalStorage)
    RecordFaultSuite.indexerOf(access, path, record, RecordFaultSuite.quick).create(): Unit
  }

  FaultyStore.All.foreach { store =>
    test(s"${store.name}: what a store is said to have published is there, whatever call has a fault") {
      val bytes = "published".getBytes("US-ASCII")
      val faults = for (call <- 1 to 12; fault <- StoreFault.All) yield (call, fault)
      val cameUp = faults.count { fault =>
        val path = Fixtures.newFolder("published").resolve("file").toString
        var isFirst = false
        val hasFault = StoreFaults.during(Some(fault))(tolerated {
          isFirst = store.access.storage.publish(store.on(path), bytes)
        })
        if (isFirst) {
          assert(LocalStorage.status(path).isDefined, fault)
          assert(LocalStorage.readAll(path) === bytes, fault)
        }
        // Nobody else publishes here.
        if (hasFault && fault._2 == StoreFault.Renamed) assert(isFirst, fault)
        hasFault
      }
      assert(cameUp > 5)
    }

    test(s"${store.name}: what a store is said to have written is there, whole, whatever call has a fault") {
      val bytes = "written".getBytes("US-ASCII")
      val ways = Seq[(Storage, String) => Unit](
        (s, path) => s.write(path)(_.write(bytes)),
        (s, path) => s.writeOnce(path)(_.write(bytes)),
        (s, path) => s.writeBehind(path)(_.write(bytes))()
      )
      val faults = for (way <- ways; call <- 1 to 12; fault <- StoreFault.All) yield (way, (call, fault))
      val cameUp = faults.count { case (way, fault) =>
        val path = Fixtures.newFolder("written").resolve("file").toString
        var isDone = false
        val hasFault = StoreFaults.during(Some(fault))(tolerated {
          way(store.access.storage, store.on(path))
          isDone = true
        })
        if (isDone) assert(LocalStorage.status(path).isDefined && LocalStorage.readAll(path) === bytes, fault)
        hasFault
      }
      assert(cameUp > 15)
    }

    jobs.foreach { job =>
      test(s"${store.name}: whatever call of ${job.name} has a fault, answers are right and the next run ends well") {
        val ready = tables(job.hasIndex)
        everyFault(StoreFaults.count(job.work(store.access, store.on(RecordFaultSuite.copy(ready.path))))) { fault =>
          val path = RecordFaultSuite.copy(ready.path)
          val cameUp =
            StoreFaults.during(Some(fault), () => overtake(path))(tolerated(job.work(store.access, store.on(path))))
          if (cameUp) {
            assert(answer(RecordFaultSuite.access(LocalStorage), path, ready) === ready.truth)
            indexer(RecordFaultSuite.access(LocalStorage), path).create()
            assert(answer(RecordFaultSuite.access(LocalStorage), path, ready, isStrict = true) === ready.truth)
          }
          cameUp
        }
      }
    }

    Seq("with" -> true, "without" -> false).foreach { case (how, hasIndex) =>
      test(s"${store.name}: whatever call of a lookup $how an index has a fault, it is right or an error") {
        val ready = tables(hasIndex)
        everyFault(StoreFaults.count(answer(store.access, store.on(ready.path), ready))) { fault =>
          val path = if (fault._2 == StoreFault.Delayed) RecordFaultSuite.copy(ready.path) else ready.path
          StoreFaults.during(Some(fault), () => overtake(path)) {
            tolerated {
              val found = answer(store.access, store.on(path), ready)
              if (fault._2 != StoreFault.Stale || found != ready.before) assert(found === ready.truth)
            }
          }
        }
      }
    }
  }

  private def answer(
      access: TableAccess,
      path: String,
      ready: Ready,
      isStrict: Boolean = false
  ): Set[RecordLocation] = {
    val options = IndexOptions(strict = isStrict)
    val keys = PackedKeys.of(((ready.truth ++ ready.before).map(_.key) + "absent").toVector)
    val opened = RecordLookup.open(TableContext.load(access, path), options, None, new LocalEngine(access))
    try opened.locate(keys).records(keys).toSet
    finally opened.close()
  }
}

private object FaultyStoreSuite {
  final case class Job(name: String, hasIndex: Boolean, work: (TableAccess, String) => Any)
}
