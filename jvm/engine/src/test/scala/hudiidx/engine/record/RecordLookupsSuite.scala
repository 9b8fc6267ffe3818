package hudiidx.engine.record

import java.nio.file.{Files, Path, Paths}

import hudiidx.engine.{Tables, TimelineCut}
import hudiidx.hfile.BlockCache
import hudiidx.record.{PackedKeys, RecordLocation}
import hudiidx.storage.{CountingStorage, FarStorage, LocalStorage, Storage}
import hudiidx.sync._
import hudiidx.{Fixtures, IndexNotFound, NotAHudiTable}
import org.scalatest.funsuite.AnyFunSuite

/** Lookups that stay open between calls. */
class RecordLookupsSuite extends AnyFunSuite {
  import RecordPartSuite._

  private def locations(lookups: RecordLookups, keys: Vector[String], asOf: Option[String]): Set[RecordLocation] = {
    val packed = PackedKeys.of(keys)
    lookups.locate(packed, None, asOf).locations.records(packed).toSet
  }

  private def accessOf(isFar: Boolean): TableAccess =
    if (isFar) Tables.access(new FarStorage(LocalStorage), new BlockCache(4 << 20)) else access

  private def where(isFar: Boolean): String = if (isFar) ", on a store that is far" else ""

  test("what is kept open is opened anew when a commit completes or the index changes, and only then") {
    val table = Fixtures.copy("v9-mor-part")
    val cut = new TimelineCut(table)
    cut.showFirst(cut.size - 2)
    create(table)
    val storage = new CountingStorage(LocalStorage)
    val lookups =
      new RecordLookups(Tables.access(storage, new BlockCache(4 << 20)), table, indexed, new LocalEngine(access))
    def check(): Unit = {
      val keys = allKeys(table, None) :+ "absent"
      val wanted = lookup(table, keys, None, scanned)
      assert(locations(lookups, keys, None) === wanted)
      val before = storage.counts
      assert(locations(lookups, keys, None) === wanted)
      val after = storage.counts
      assert(after.list - before.list === 2 && after.status - before.status === 1)
      assert(after.open === before.open && after.readAll === before.readAll, "a warm lookup opens nothing")
    }
    check()
    cut.showFirst(cut.size - 1)
    check()
    cut.showFirst(cut.size)
    check()
    val behind = lookups.locate(PackedKeys.of(Vector("k")), None, None).use
    assert(behind.slicesRead === 0 && behind.slicesKept > 0)
    indexer(table).update()
    check()
    val fresh = lookups.locate(PackedKeys.of(Vector("k")), None, None).use
    assert(fresh.slicesRead + fresh.slicesKept === 0)
    lookups.close()
    check()
    lookups.close()
  }

  test("one handle over tables that follow one another under a path answers for the one that is there") {
    val place = Paths.get(Fixtures.newFolder("place").toString, "t").toString
    val lookups = new RecordLookups(access, place, IndexOptions(), new LocalEngine(access))
    // The timeline is in one folder on version 6, in another from 8 on.
    val names = Vector("v6-mor-part", "v9-mor-part", "v6-cow-part", "v8-cow-part", "v6-mor-part")
    var before = Vector.empty[String]
    for (name <- names; isIndexed <- Seq(false, true)) {
      LocalStorage.delete(place)
      Files.move(Paths.get(Fixtures.copy(name)), Paths.get(place))
      if (isIndexed) create(place)
      val keys = allKeys(place, None)
      val asked = (keys ++ before).distinct
      for (_ <- 1 to 2) assert(locations(lookups, asked, None) === lookup(place, asked, None, scanned), name)
      assert(keys.nonEmpty)
      before = keys
    }
    LocalStorage.delete(place)
    intercept[NotAHudiTable](locations(lookups, before, None))
    lookups.close()
  }

  Seq(false, true).foreach { isFar =>
    test(
      "one handle follows a table that moves its timeline, as stock Hudi's upgrade and downgrade do" + where(isFar)
    ) {
      val access = accessOf(isFar)
      val table = Fixtures.copy("v9-mor-part")
      val cut = new TimelineCut(table)
      cut.showFirst(cut.size - 2)
      create(table)
      val lookups = new RecordLookups(access, table, indexed, new LocalEngine(access))
      def check(): Unit = {
        val keys = allKeys(table, None)
        assert(locations(lookups, keys, None) === lookup(table, keys, None, scanned))
      }
      check()
      val folder = Paths.get(table, ".hoodie")
      val moved = Files.createDirectory(folder.resolve("moved"))
      def instants: Vector[Path] =
        LocalStorage.list(folder.resolve("timeline").toString).filterNot(_.isDirectory).map(f => Paths.get(f.path))
      instants.foreach(f => Files.copy(f, moved.resolve(f.getFileName)))
      val properties = folder.resolve("hoodie.properties")
      Files.writeString(properties, Files.readString(properties) + "hoodie.timeline.path=moved\n")
      check()
      // What stays behind changes no more.
      val before = instants
      cut.showAll()
      instants.filterNot(before.contains).foreach(f => Files.move(f, moved.resolve(f.getFileName)))
      check()
      lookups.close()
    }
  }

  Seq(false, true).foreach { isFar =>
    test(
      "an index that was dropped and made anew by another process is a new one, whatever its versions are called" + where(
        isFar
      )
    ) {
      val access = accessOf(isFar)
      val table = Fixtures.copy("v9-mor-part")
      create(table)
      val lookups = new RecordLookups(access, table, indexed, new LocalEngine(access))
      val keys = allKeys(table, None)
      val one = PackedKeys.of(keys)
      assert(lookups.locate(one, None, None).windowDays === None)
      LocalStorage.delete(Storage.join(table, ".hoodie/hudiidx"))
      indexer(table, RecordOptions(mode = Some("global"), fileGroups = Some(3), windowDays = Some(5000))).create()
      assert(lookups.locate(one, None, None).windowDays === Some(5000))
      assert(locations(lookups, keys, None) === lookup(table, keys, None, scanned))
      LocalStorage.delete(Storage.join(table, ".hoodie/hudiidx"))
      intercept[IndexNotFound](locations(lookups, keys, None))
      lookups.close()
    }
  }

  test("keys of slices that the index does not know are read once and kept, unless there are too many") {
    val table = Fixtures.copy("v9-mor-part")
    val storage = new CountingStorage(LocalStorage)
    val snapshot = TableSnapshot.open(Tables.access(storage, new BlockCache(1 << 20)), table, scanned)
    try {
      val (moment, _) = RecordIndexSnapshot.open(snapshot, scanned, None)
      val kept = new KeptSliceKeys(moment, snapshot.table.access)
      assert(!kept.areHeld && kept.table.isDefined && kept.areHeld)
      val keys = PackedKeys.of(allKeys(table, None) :+ "absent")
      val found = kept.table.get.locate(keys, None, moment.sliceGroups)
      assert(found.records(keys).toSet === lookup(table, allKeys(table, None), None, scanned))
      val few = new KeptSliceKeys(moment, snapshot.table.access, mostBytes = 2000)
      assert(few.table.isEmpty && !few.areHeld)
      val before = storage.counts
      assert(few.table.isEmpty && kept.table.isDefined && storage.counts === before, "tried once")
    } finally snapshot.close()
  }

  test("keys of large files are kept where footers say that they are few; large logs are not read for that") {
    def kept(name: String, mostBytes: Long): (Boolean, Long) = {
      val storage = new CountingStorage(LocalStorage)
      val table = Fixtures.copy(name)
      val snapshot = TableSnapshot.open(Tables.access(storage, new BlockCache(1 << 20)), table, scanned)
      try {
        val (moment, _) = RecordIndexSnapshot.open(snapshot, scanned, None)
        val before = storage.counts.open
        val keys = new KeptSliceKeys(moment, snapshot.table.access, mostBytes, localBytes = 0)
        val asked = allKeys(table, None)
        keys.table.foreach { t =>
          val found = t.locate(PackedKeys.of(asked), None, moment.sliceGroups).records(PackedKeys.of(asked)).toSet
          assert(found === lookup(table, asked, None, scanned))
        }
        (keys.areHeld, storage.counts.open - before)
      } finally snapshot.close()
    }
    val (isKept, opened) = kept("v9-moved-cow", 1 << 20)
    val (areMany, openedForFooters) = kept("v9-moved-cow", 1)
    assert(isKept && !areMany && openedForFooters * 2 < opened, "the first footer is enough")
    assert(kept("v9-mor-part", 1 << 20) === ((false, 0L)))
  }

  test("several instants stay open, and none answers for another") {
    val table = Fixtures.copy("v9-moved-cow")
    create(table)
    val keys = allKeys(table, None)
    val lookups = new RecordLookups(access, table, indexed, new LocalEngine(access))
    val asked = None +: instants("v9-moved-cow").map(Some(_))
    assert(asked.size > 2)
    for (_ <- 1 to 2; asOf <- asked)
      assert(locations(lookups, keys, asOf) === lookup(table, keys, asOf, scanned), s"as of $asOf")
    lookups.close()
  }

  private def instants(name: String): Vector[String] = {
    val travels = Fixtures.json(name).path("time_travel")
    (0 until travels.size).map(travels.get(_)).filter(_.has("count")).map(_.path("as_of").asText()).toVector
  }
}
