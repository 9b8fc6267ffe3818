package hudiidx.engine.record

import hudiidx.Fixtures
import hudiidx.hfile.BlockCache
import hudiidx.record._
import hudiidx.storage.LocalStorage
import hudiidx.store.{Current, IndexFile, IndexStore, IndexVersion}
import hudiidx.sync.{IndexOptions, LocalEngine, TableContext}
import hudiidx.table.FileGroup
import org.scalatest.funsuite.AnyFunSuite

/** What suites of comparisons share: a record index compared, and faults planted in it. */
abstract class VerifiedRecords extends AnyFunSuite {
  import RecordPartSuite._

  protected def verify(table: String, options: RecordVerifyOptions = RecordVerifyOptions()): RecordVerifyResult = {
    val a = access
    val found = new RecordVerifier(new LocalEngine(a), options).verify(TableContext.load(a, table), IndexOptions())
    val below = options.scratch.getOrElse(s"$table/.hoodie/hudiidx")
    assert(LocalStorage.list(below).map(_.name).filter(_.startsWith("record-verify-")) === Vector.empty)
    found
  }

  /** Publishes the current version with other record files. */
  protected def republish(table: String)(change: Vector[IndexFile] => Vector[IndexFile]): Unit = {
    val store = new IndexStore(LocalStorage, s"$table/.hoodie/hudiidx")
    store.current() match {
      case Current.Found(version, _) =>
        assert(store.publish(version.copy(number = version.number + 1, files = change(version.files))))
      case other => fail(s"$other")
    }
  }

  protected def current(table: String): IndexVersion =
    new IndexStore(LocalStorage, s"$table/.hoodie/hudiidx").current() match {
      case Current.Found(version, _) => version
      case other                     => fail(s"$other")
    }

  /** Adds a delta with one entry to its hash group. */
  protected def plant(table: String, key: String, ordinal: Int, flags: Int): Unit = {
    val store = new IndexStore(LocalStorage, s"$table/.hoodie/hudiidx")
    val index = RecordIndex.open(current(table), store, new BlockCache(1 << 20))
    val run = Fixtures.newFolder("run").resolve("planted").toString
    val builder = new RunBuilder(index.groups.map(_.range), 1 << 20, r => LocalStorage.write(run)(r.write(_)))
    val bytes = key.getBytes("UTF-8")
    builder.add(bytes, 0, bytes.length, ordinal, 0, flags)
    builder.flushRest()
    val group = index.groupsOf(PackedKeys.of(Seq(key)))(0)
    val writer = new HashGroupWriter(store, "planted")
    val delta = writer.deltaOfRuns(index.groups(group).range, group, Vector(() => LocalStorage.open(run)), index)
    index.close()
    republish(table)(_ :+ delta.get.file)
  }

  protected def ordinalOf(table: String, key: String): (Int, RecordLocation) = {
    val location = lookup(table, Vector(key), None, indexed).head
    val index = RecordIndex.open(
      current(table),
      new IndexStore(LocalStorage, s"$table/.hoodie/hudiidx"),
      new BlockCache(1 << 20)
    )
    try index.dictionary.find(FileGroup(location.partitionPath, location.fileId)).get -> location
    finally index.close()
  }
}
