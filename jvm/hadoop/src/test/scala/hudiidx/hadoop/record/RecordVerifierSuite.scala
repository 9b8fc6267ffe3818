package hudiidx.hadoop.record

import hudiidx.hadoop.TimelineCut
import hudiidx.hfile.BlockCache
import hudiidx.record._
import hudiidx.storage.{FullStorage, LocalStorage}
import hudiidx.store.{Current, IndexFile, IndexStore, IndexVersion}
import hudiidx.sync._
import hudiidx.table.FileGroup
import hudiidx.{DamagedTable, Fixtures, IndexNotFound, IndexNotWritable}
import java.nio.file.{Files, Paths, StandardCopyOption}
import org.scalatest.funsuite.AnyFunSuite

/** The record index against the table's keys: nothing is found on tables in order, and every planted fault is. */
class RecordVerifierSuite extends AnyFunSuite {
  import RecordPartSuite._

  private def verify(table: String, options: RecordVerifyOptions = RecordVerifyOptions()): RecordVerifyResult = {
    val a = access
    val found = new RecordVerifier(new LocalEngine(a), options).verify(TableContext.load(a, table), IndexOptions())
    val below = options.scratch.getOrElse(s"$table/.hoodie/hudiidx")
    assert(LocalStorage.list(below).map(_.name).filter(_.startsWith("record-verify-")) === Vector.empty)
    found
  }

  private def assertNothing(found: RecordVerifyResult, hint: String): Unit =
    assert(found.ok && found.samples.isEmpty, s"$hint: ${found.counts} ${found.samples.take(3)}"): Unit

  /** Every shape of table, of one version each. */
  private val sampled =
    Fixtures.good.groupBy(_.drop(3)).toVector.sortBy(_._1).zipWithIndex.map { case ((_, names), i) =>
      names(i % names.size)
    }

  for (name <- Fixtures.sampled(this, sampled, oneOf = 2))
    test(s"$name: nothing is found: fresh, behind, updated step by step") {
      val table = Fixtures.copy(name)
      create(table)
      val fresh = verify(table)
      assertNothing(fresh, "fresh")
      assert(fresh.keys === allKeys(table, None).size.toLong)
      val cut = new TimelineCut(table)
      val from = cut.size / 2
      cut.showFirst(from)
      if (isTable(table) && hasFiles(table)) {
        create(table)
        (from + 1 to cut.size).foreach { n =>
          cut.showFirst(n)
          if (isTable(table) && hasFiles(table)) {
            if (n % 3 == 0) assertNothing(verify(table), s"behind at step $n")
            indexer(table).update()
            if (n % 2 == 0 || n == cut.size) assertNothing(verify(table), s"updated at step $n")
          }
        }
      }
    }

  /** Tables that have Hudi's own record index. */
  private val withStock =
    Fixtures.good.filter(n => Fixtures.json(n).path("metadata_table").path("record_index").path("found").size > 0)

  for (name <- withStock)
    test(s"$name: Hudi's own record index has the same mappings") {
      val table = Fixtures.copy(name)
      create(table)
      val stock = verify(table).stock.get
      val keys = allKeys(table, None)
      val lost = lostByHudi(name, keys)
      assert(stock.skipped.isEmpty)
      assert(stock.equal === keys.size.toLong - lost.size)
      val named = if (lost.isEmpty) Map.empty else Map(StockDifference.LogRecord -> lost.size.toLong)
      assert((stock.onlyInHudi ++ stock.onlyInIndex).filter(_._2 > 0) === named)
      assert(stock.samples.map(_.key).toSet === lost)
    }

  /** Keys that Hudi's own record index does not find, where it was asked for all: deleted, log-compacted, and written again. */
  private def lostByHudi(name: String, keys: Vector[String]): Set[String] = {
    val told = Fixtures.json(name).path("metadata_table").path("record_index")
    if (told.path("asked").asInt <= keys.size) Set.empty else keys.filterNot(told.path("found").has(_)).toSet
  }

  test("Hudi's partitioned record index has the same mappings, a key's in several partitions too") {
    val name = "v9-cow-partitioned-rli"
    val table = Fixtures.copy(name)
    indexer(table, RecordOptions(mode = Some("partitioned"))).create()
    val stock = verify(table).stock.get
    var mappings = 0L
    Fixtures
      .json(name)
      .path("metadata_table")
      .path("record_index")
      .path("found_by_partition")
      .forEach(p => mappings += p.size)
    assert(mappings > allKeys(table, None).size)
    assert((stock.skipped, stock.equal, stock.samples) === (("", mappings, Vector.empty)))
  }

  test("differences from Hudi's own record index are named with what they come from") {
    val table = Fixtures.copy("v9-moved-mor")
    create(table)
    val keys = allKeys(table, None)
    val (ordinal, location) = ordinalOf(table, keys.head)
    val elsewhere = (ordinal + 1) % current(table).long(RecordProperty.NextOrdinal).toInt
    plant(table, keys.head, elsewhere, 0)
    plant(table, keys(1), ordinalOf(table, keys(1))._1, EntryFlag.Remove)
    plant(table, "planted key", ordinal, 0)
    val stock = verify(table).stock.get
    assert(stock.equal === keys.size.toLong - 1)
    assert(stock.onlyInHudi === Map(StockDifference.KeyNotThere -> 1L, StockDifference.GroupGone -> 0L))
    assert(stock.onlyInIndex(StockDifference.DuplicateKey) === 1L)
    assert(stock.onlyInIndex.values.sum === 2L)
    assert(stock.samples.exists(s => s.key == "planted key" && s.fileId == location.fileId))
    assert(stock.samples.forall(_.cause.nonEmpty))
  }

  test(
    "Hudi's own record index is not compared where an index is behind or has a window, or where it is behind itself"
  ) {
    val table = Fixtures.copy("v9-moved-cow")
    val cut = new TimelineCut(table)
    cut.showFirst(cut.size - 1)
    create(table)
    cut.showFirst(cut.size)
    assert(verify(table).stock.get.skipped.contains("update it first"))
    indexer(table, RecordOptions(mode = Some("global"), windowDays = Some(3))).create()
    assert(verify(table).stock.get.skipped.contains("window"))
    val behind = Fixtures.copy("v9-moved-cow")
    create(behind)
    val timeline = s"$behind/.hoodie/metadata/.hoodie/timeline"
    val last = LocalStorage.list(timeline).map(_.name).filter(_.endsWith(".deltacommit")).max
    LocalStorage.delete(s"$timeline/$last")
    assert(verify(behind).stock.get.skipped.contains("metadata table is behind"))
    val without = Fixtures.copy("v9-no-mdt-cow")
    create(without)
    assert(verify(without).stock.isEmpty)
  }

  /** Publishes the current version with other record files. */
  private def republish(table: String)(change: Vector[IndexFile] => Vector[IndexFile]): Unit = {
    val store = new IndexStore(LocalStorage, s"$table/.hoodie/hudiidx")
    store.current() match {
      case Current.Found(version, _) =>
        assert(store.publish(version.copy(number = version.number + 1, files = change(version.files))))
      case other => fail(s"$other")
    }
  }

  private def current(table: String): IndexVersion =
    new IndexStore(LocalStorage, s"$table/.hoodie/hudiidx").current() match {
      case Current.Found(version, _) => version
      case other                     => fail(s"$other")
    }

  /** Adds a delta with one entry to its hash group. */
  private def plant(table: String, key: String, ordinal: Int, flags: Int): Unit = {
    val store = new IndexStore(LocalStorage, s"$table/.hoodie/hudiidx")
    val index = RecordIndex.open(current(table), store, new BlockCache(1 << 20))
    val run = Fixtures.newFolder("run").resolve("planted").toString
    val builder = new RunBuilder(index.groups.map(_.range), 1 << 20, r => LocalStorage.write(run)(r.write(_)))
    val bytes = key.getBytes("UTF-8")
    builder.add(bytes, 0, bytes.length, ordinal, 0, flags)
    builder.flushRest()
    val group = index.groupsOf(PackedKeys.of(Seq(key)))(0)
    val writer = new GroupWriter(store, "planted")
    val delta = writer.deltaOfRuns(index.groups(group).range, group, Vector(() => LocalStorage.open(run)), index)
    index.close()
    republish(table)(_ :+ delta.get.file)
  }

  /** A table with deltas in its index. */
  private def updated(name: String): String = {
    val table = Fixtures.copy(name)
    val cut = new TimelineCut(table)
    cut.showFirst(cut.size - 2)
    create(table)
    cut.showFirst(cut.size)
    indexer(table).update()
    assertNothing(verify(table), name)
    table
  }

  private def ordinalOf(table: String, key: String): (Int, RecordLocation) = {
    val location = lookup(table, Vector(key), None, indexed).head
    val index = RecordIndex.open(
      current(table),
      new IndexStore(LocalStorage, s"$table/.hoodie/hudiidx"),
      new BlockCache(1 << 20)
    )
    try index.dictionary.find(FileGroup(location.partitionPath, location.fileId)).get -> location
    finally index.close()
  }

  test("a mapping that is planted, removed or doubted in the index is found and named") {
    val table = Fixtures.copy("v9-cow-part")
    create(table)
    val keys = allKeys(table, None)
    val (ordinal, location) = ordinalOf(table, keys.head)
    plant(table, "planted key", ordinal, 0)
    val extra = verify(table)
    assert(extra.counts.filter(_._2 > 0) === Map(MappingKind.Extra -> 1L))
    assert(
      extra.samples.map(s => (s.kind, s.key, s.partitionPath, s.fileId)) ===
        Vector((MappingKind.Extra, "planted key", location.partitionPath, location.fileId))
    )
    plant(table, "planted key", ordinal, EntryFlag.Remove)
    plant(table, keys.head, ordinal, EntryFlag.Remove)
    val missing = verify(table)
    assert(missing.counts.filter(_._2 > 0) === Map(MappingKind.Missing -> 1L))
    assert(
      missing.samples.map(s => (s.key, s.partitionPath, s.fileId)) ===
        Vector((keys.head, location.partitionPath, location.fileId))
    )
    assert(missing.samples.head.cause.contains("lost a delta"))
    plant(table, keys.head, ordinal, EntryFlag.Doubt)
    assert(verify(table).counts.filter(_._2 > 0) === Map(MappingKind.DoubtDiffers -> 1L))
    val elsewhere = (ordinal + 1) % current(table).long(RecordProperty.NextOrdinal).toInt
    plant(table, keys.head, ordinal, EntryFlag.Remove)
    plant(table, keys.head, elsewhere, 0)
    val moved = verify(table)
    assert(moved.counts.filter(_._2 > 0) === Map(MappingKind.Missing -> 1L, MappingKind.Extra -> 1L))
    assert(moved.samples.find(_.kind == MappingKind.Missing).get.detail.contains("only in"))
  }

  test("a delta, or a segment of the dictionary, that is gone from the version is found") {
    val withoutDelta = Fixtures.copy("v9-moved-cow")
    create(withoutDelta)
    val keys = allKeys(withoutDelta, None).take(3)
    val places = keys.map(ordinalOf(withoutDelta, _)._1)
    keys.zip(places).foreach { case (key, ordinal) => plant(withoutDelta, key, ordinal, EntryFlag.Remove) }
    keys.zip(places).foreach { case (key, ordinal) => plant(withoutDelta, key, ordinal, 0) }
    assertNothing(verify(withoutDelta), "removed and added again")
    republish(withoutDelta)(files => files.filterNot(_ == files.filter(_.kind == RecordKind.Delta).last))
    val found = verify(withoutDelta)
    assert(found.counts.filter(_._2 > 0) === Map(MappingKind.Missing -> 1L))
    assert(found.samples.map(_.key) === Vector(keys.last))
    val withoutSegment = updated("v9-cow-replace")
    republish(withoutSegment) { files =>
      val last = files.filter(_.kind == RecordKind.Groups).maxBy(f => RecordFileName.firstOrdinal(f.name).get)
      files.filterNot(_ == last)
    }
    assert(verify(withoutSegment).counts(MappingKind.IndexUnusable) === 1L)
  }

  test("file groups that the index does not know are found, and the lost instant named") {
    val table = Fixtures.copy("v9-cow-replace")
    val cut = new TimelineCut(table)
    cut.showFirst(cut.size - 2)
    create(table)
    val older = current(table)
    cut.showFirst(cut.size)
    create(table)
    val newer = current(table)
    val store = new IndexStore(LocalStorage, s"$table/.hoodie/hudiidx")
    val record = older.files.filter(f => RecordKind.All(f.kind))
    val mixed = newer.copy(
      number = newer.number + 1,
      files = newer.files.filterNot(f => RecordKind.All(f.kind)) ++ record,
      properties = newer.properties ++ older.properties.filter(_._1.startsWith(RecordProperty.Prefix))
    )
    assert(store.publish(mixed))
    val found = verify(table)
    assert(found.counts(MappingKind.Missing) > 0)
    assert(found.samples.exists(_.cause.contains("lost an instant")), found.samples)
  }

  test("a base file replaced by one with other keys is found in all its keys") {
    val table = Fixtures.copy("v9-cow-part")
    create(table)
    val locations = lookup(table, allKeys(table, None), None, indexed)
    val groups = locations.groupBy(l => FileGroup(l.partitionPath, l.fileId))
    val (one, other) = groups.keys.toVector.sortBy(_.partitionPath) match {
      case first +: rest => (first, rest.last)
      case _             => fail("no groups")
    }
    Files.copy(base(table, other), base(table, one), StandardCopyOption.REPLACE_EXISTING)
    val found = verify(table)
    assert(found.counts(MappingKind.Extra) === groups(one).size.toLong)
    assert(found.counts(MappingKind.Missing) === groups(other).size.toLong)
    assert(found.samples.map(s => FileGroup(s.partitionPath, s.fileId)).toSet === Set(one))
    assert(found.samples.forall(_.cause.contains("replaced")))
    Files.delete(base(table, one))
    intercept[DamagedTable](verify(table))
  }

  test("a log file that lost its blocks is damage of the table, not a difference") {
    val table = Fixtures.copy("v9-mor-log-only")
    create(table)
    val log = LocalStorage
      .list(table)
      .filter(_.isDirectory)
      .flatMap(d => LocalStorage.list(d.path))
      .find(_.name.contains(".log."))
    Files.write(Paths.get(log.get.path), Array.emptyByteArray)
    assert(intercept[DamagedTable](verify(table)).getMessage.contains(log.get.name))
  }

  private def base(table: String, group: FileGroup): java.nio.file.Path = {
    val snapshot = TableSnapshot.open(access, table, scanned)
    try {
      val file = snapshot.view.latestBaseFiles(group.partitionPath).find(_.fileId == group.fileId).get
      Paths.get(table, group.partitionPath, file.fileName)
    } finally snapshot.close()
  }

  test("a damaged file of the index is a difference, not an error") {
    val table = Fixtures.copy("v6-mor-part")
    create(table)
    val file = Paths.get(s"$table/.hoodie/hudiidx", current(table).files.find(_.kind == RecordKind.Base).get.name)
    val bytes = Files.readAllBytes(file)
    bytes(bytes.length / 2) = (bytes(bytes.length / 2) ^ 1).toByte
    Files.write(file, bytes)
    val found = verify(table)
    assert(found.counts(MappingKind.IndexUnusable) === 1L)
    assert(found.samples.head.detail.contains(file.getFileName.toString))
  }

  test("keys outside the window need no mapping; wrong ones inside it are found") {
    val table = Fixtures.copy("v9-cow-part")
    indexer(table, RecordOptions(mode = Some("global"), windowDays = Some(1))).create()
    assertNothing(verify(table), "one day")
    val (ordinal, _) = ordinalOf(table, allKeys(table, None).head)
    plant(table, "planted key", ordinal, 0)
    assert(verify(table).counts(MappingKind.Extra) === 1L)
  }

  test("runs go into a folder of one's own where one is named; a folder that takes none is refused with what to do") {
    val table = Fixtures.copy("v9-cow-part")
    create(table)
    val scratch = Fixtures.newFolder("scratch").toString
    assertNothing(verify(table, RecordVerifyOptions(scratch = Some(scratch))), "scratch")
    val blocked = s"$scratch/file"
    LocalStorage.write(blocked)(_.write(1))
    val refused = intercept[IndexNotWritable] {
      new RecordVerifier(new LocalEngine(access), RecordVerifyOptions(scratch = Some(blocked)))
        .verify(TableContext.load(access, table), IndexOptions())
    }
    assert(refused.getMessage.contains("scratch="))
    new Indexer(access, table, IndexOptions()).dropPart(new RecordPart(new LocalEngine(access), RecordOptions()))
    intercept[IndexNotFound](verify(table))
  }

  test("a comparison for which the disk has no room is refused, and leaves nothing") {
    val table = Fixtures.copy("v9-cow-part")
    create(table)
    val full = RecordFaultSuite.access(new FullStorage(LocalStorage, 0))
    val refused = intercept[IndexNotWritable] {
      new RecordVerifier(new LocalEngine(full)).verify(TableContext.load(full, table), IndexOptions())
    }
    assert(refused.getMessage.contains("No space left on device"))
    assert(LocalStorage.list(s"$table/.hoodie/hudiidx").filter(_.name.startsWith("record-verify-")) === Vector.empty)
  }
}
