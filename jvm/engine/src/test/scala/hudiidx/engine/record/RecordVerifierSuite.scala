package hudiidx.engine.record

import hudiidx.engine.TimelineCut
import hudiidx.record._
import hudiidx.record.page.EntryFlag
import hudiidx.storage.{FullStorage, LocalStorage}
import hudiidx.store.IndexStore
import hudiidx.sync._
import hudiidx.sync.build.Indexer
import hudiidx.table.FileGroup
import hudiidx.{DamagedTable, Fixtures, IndexNotFound, IndexNotWritable}
import java.nio.file.{Files, Paths, StandardCopyOption}

/** The record index against the table's keys: nothing is found on tables in order, and every planted fault is. */
class RecordVerifierSuite extends VerifiedRecords {
  import RecordPartSuite._

  private def assertNothing(found: RecordVerifyResult, hint: String): Unit =
    assert(found.ok && found.samples.isEmpty, s"$hint: ${found.counts} ${found.samples.take(3)}"): Unit

  /** Every shape of table, of one version each. */
  private val sampled =
    Fixtures.good.groupBy(_.dropWhile(_ != '-')).toVector.sortBy(_._1).zipWithIndex.map { case ((_, names), i) =>
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
