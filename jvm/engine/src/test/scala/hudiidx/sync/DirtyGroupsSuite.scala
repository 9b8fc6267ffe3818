package hudiidx.sync

import hudiidx.CpuClock
import hudiidx.table.{BaseFile, FileGroup, FileSlice, LogFile, TableConfig}
import hudiidx.timeline.{CommitMetadata, RestoreMetadata, RollbackMetadata, RolledBackPartition, WriteStat}
import org.scalatest.funsuite.AnyFunSuite

/** What must be read of a file group, by what write stats say. */
class DirtyGroupsSuite extends AnyFunSuite {
  private val group = FileGroup("p", "f")
  private val base = "p/f_1-0-1_%s.parquet"
  private val log = "p/.f_%s.log.1_1-0-1"
  private val slice = FileSlice("p", "f", "03", Some(baseOn("03")), Vector.empty)
  private val logged = slice.copy(logFiles = Vector(LogFile(".f_04.log.1_1-0-1", 9, 1)))

  private def baseOn(instant: String) = BaseFile("p", "f", instant, s"f_1-0-1_$instant.parquet", 9)

  private def stat(path: String, previous: Option[String], inserts: Long = 0, deletes: Long = 0) =
    WriteStat("f", "p", Some(path), previous, None, 9, 5, inserts, 5, deletes)

  private def commit(stats: WriteStat*) = CommitMetadata(stats.toVector, Map.empty, Map.empty, Some("UPSERT"))

  private def dirty(writes: (String, CommitMetadata)*): DirtyGroups = {
    val builder = new DirtyGroupsBuilder(Set("01", "02"), Set("02"))
    writes.foreach { case (instant, metadata) => builder.write(instant, metadata) }
    builder.result
  }

  private def work(
      found: DirtyGroups,
      visible: Option[FileSlice] = Some(slice),
      commitTimes: Boolean = true,
      mergesAlike: Boolean = true
  ): GroupWork =
    found.touches.get(group).fold[GroupWork](GroupWork.Unchanged) { touch =>
      GroupWork.of(touch, visible, i => if (i == "01") Some(baseOn("01")) else None, commitTimes, mergesAlike)
    }

  test("a write with neither inserts nor deletes leaves a group clean") {
    assert(dirty("03" -> commit(stat(base.format("03"), Some("02")))) === DirtyGroups(Map.empty, revives = false))
  }

  test("a commit that names very many log files of a group, each twice, takes time by their number") {
    val names = (1 to 20000).map(n => s"p/.f_03.log.${n}_1-0-1")
    val stats = (names ++ names).map(stat(_, None))
    var found = DirtyGroups(Map.empty, revives = false)
    assert(CpuClock.millis { found = dirty("03" -> commit(stats: _*)) } < 5000)
    assert(found.touches(group).logFiles === names.map(_.stripPrefix("p/")))
  }

  test("where commit times count, updated rows are read, and of a compaction those that bear its instant") {
    def dated(writes: (String, CommitMetadata)*): DirtyGroups = {
      val builder = new DirtyGroupsBuilder(Set("01", "02"), Set("02"), dated = true)
      writes.foreach { case (instant, metadata) => builder.write(instant, metadata) }
      builder.result
    }
    val update = "03" -> commit(stat(base.format("03"), Some("02")))
    val rows = TouchedRows.OfInstants(Set("03"))
    assert(work(dated(update)) === GroupWork.Touched(slice, rows, Vector.empty, Set("03")))
    val deletes = "03" -> commit(stat(base.format("03"), Some("01"), deletes = 1))
    assert(work(dated(deletes)) === GroupWork.Diff(baseOn("01"), slice, rows))
    val compaction = "03" -> commit(stat(base.format("03"), None)).copy(operationType = Some("COMPACT"))
    assert(work(dated(compaction)) === GroupWork.Touched(slice, rows, Vector.empty, Set.empty))
    assert(work(dated(compaction), mergesAlike = false) === GroupWork.All(slice))
    assert(dated(compaction).touches(group).mayChangeKeys(mergesAlike = true))
  }

  test("a compaction that merges as readers do leaves a group clean for them") {
    val touch =
      dirty("03" -> commit(stat(base.format("03"), None)).copy(operationType = Some("COMPACT"))).touches(group)
    assert(!touch.mayChangeKeys(mergesAlike = true) && touch.mayChangeKeys(mergesAlike = false))
    val logged = dirty("04" -> commit(stat(log.format("04"), Some("04")))).touches(group)
    assert(logged.mayChangeKeys(mergesAlike = true))
  }

  test("inserts into a file that was there: rows of any write since, updates of inserted rows too") {
    val found = dirty(
      "03" -> commit(stat(base.format("03"), Some("02"), inserts = 1)),
      "04" -> commit(stat(base.format("04"), Some("03")))
    )
    val rows = TouchedRows.OfInstants(Set("03", "04"))
    assert(work(found) === GroupWork.Touched(slice, rows, Vector.empty, Set("03", "04")))
    assert(
      work(found, commitTimes = false) === GroupWork.Touched(slice, TouchedRows.Every, Vector.empty, Set("03", "04"))
    )
  }

  test("deletes: the difference to the base file before them, or all keys where that is gone or had logs") {
    val rows = TouchedRows.OfInstants(Set("02", "03"))
    val found = dirty(
      "02" -> commit(stat(base.format("02"), Some("01"), inserts = 2)),
      "03" -> commit(stat(base.format("03"), Some("02"), deletes = 1))
    )
    assert(work(found) === GroupWork.Diff(baseOn("01"), slice, rows))
    assert(work(dirty("03" -> commit(stat(base.format("03"), Some("02"), deletes = 1)))) === GroupWork.All(slice))
    assert(work(found, Some(logged)) === GroupWork.All(logged))
  }

  test("deletes alone add no rows") {
    val found = dirty("03" -> commit(stat(base.format("03"), Some("01"), deletes = 1)))
    assert(work(found) === GroupWork.Diff(baseOn("01"), slice, TouchedRows.None))
  }

  test("a new group has all its keys, whatever follows; one without a visible slice needs nothing") {
    val found = dirty(
      "03" -> commit(stat(base.format("03"), None, inserts = 5)),
      "04" -> commit(stat(base.format("04"), Some("03"), deletes = 1))
    )
    assert(work(found) === GroupWork.All(slice))
    assert(work(found, None) === GroupWork.Unchanged)
  }

  test("log blocks: the keys that they touch; a log file whose stats have no inserts too, for it may bring keys back") {
    val found = dirty("04" -> commit(stat(log.format("04"), Some("04"))))
    assert(
      work(found, Some(logged)) === GroupWork.Touched(logged, TouchedRows.None, Vector(".f_04.log.1_1-0-1"), Set("04"))
    )
  }

  test("a deltacommit may rewrite a base file and write logs") {
    val found = dirty(
      "03" -> commit(stat(base.format("03"), Some("02"), inserts = 1)),
      "04" -> commit(stat(log.format("04"), Some("04"), deletes = 2))
    )
    val names = Vector(".f_04.log.1_1-0-1")
    assert(
      work(found, Some(logged)) === GroupWork.Touched(
        logged,
        TouchedRows.OfInstants(Set("03", "04")),
        names,
        Set("03", "04")
      )
    )
  }

  test("a compaction keeps keys, unless a payload merges in ways of its own; its stats count no inserts") {
    val compaction =
      commit(stat(base.format("03"), None, inserts = 7, deletes = 3)).copy(operationType = Some("COMPACT"))
    assert(work(dirty("03" -> compaction)) === GroupWork.Unchanged)
    assert(work(dirty("03" -> compaction), mergesAlike = false) === GroupWork.All(slice))
    val both = dirty("02" -> commit(stat(log.format("02"), Some("02"))), "03" -> compaction)
    assert(work(both) === GroupWork.Touched(slice, TouchedRows.None, Vector(".f_02.log.1_1-0-1"), Set("02")))
  }

  test(
    "a compaction of a table of version 6 with an ordering field may be by another release's rules, so keys are read anew"
  ) {
    def alike(version: String, properties: (String, String)*) = {
      val all =
        Map("hoodie.table.version" -> version, "hoodie.table.name" -> "t", "hoodie.table.type" -> "MERGE_ON_READ")
      GroupWork.mergesAlike(TableConfig.of("t/hoodie.properties", all ++ properties))
    }
    val ordered = "hoodie.table.precombine.field" -> "ts"
    for (payload <- Seq("DefaultHoodieRecordPayload", "OverwriteWithLatestAvroPayload")) {
      val named = "hoodie.compaction.payload.class" -> s"org.apache.hudi.common.model.$payload"
      assert(!alike("6", ordered, named))
      assert(alike("6", named))
    }
    assert(alike("6"))
    assert(alike("9", "hoodie.table.ordering.fields" -> "ts", "hoodie.record.merge.mode" -> "EVENT_TIME_ORDERING"))
  }

  test("change-data files and stats without a path are no data") {
    val cdc = stat(log.format("03") + ".cdc", Some("02"), inserts = 1)
    assert(dirty("03" -> commit(cdc, cdc.copy(path = None))).touches === Map.empty)
  }

  test("clustering and overwriting: the new groups are read, the replaced ones are not named") {
    val replace =
      commit(stat("q/g_1-0-1_03.parquet", None, inserts = 5).copy(partitionPath = "q"))
        .copy(replacedFileIds = Map("p" -> Vector("f")))
    assert(dirty("03" -> replace).touches.keySet === Set(FileGroup("q", "g")))
  }

  test("a rollback of what the index took in makes its groups be read anew; of anything else nothing") {
    val files =
      RolledBackPartition(Vector("f_1-0-1_02.parquet"), Map(".g_01.log.2_1-0-1" -> 9L), Map(".h_01.log.1_1-0-1" -> 1L))
    def rolledBack(instant: String) = {
      val builder = new DirtyGroupsBuilder(Set("01", "02"), Set("02"))
      builder.rollback(RollbackMetadata(Vector(instant), Map("p" -> files)))
      builder.result
    }
    val known = rolledBack("02")
    assert(known.touches.keySet === Set("f", "g", "h").map(FileGroup("p", _)))
    assert(work(known) === GroupWork.All(slice) && known.revives)
    assert(!rolledBack("01").revives)
    assert(rolledBack("03") === DirtyGroups(Map.empty, revives = false))
  }

  test("a restore to before what the index took in makes all groups be read anew that it undid anything in") {
    def undone(instant: String, name: String) =
      RollbackMetadata(Vector(instant), Map("p" -> RolledBackPartition(Vector(name), Map.empty, Map.empty)))
    def restored(removed: String) = {
      val builder = new DirtyGroupsBuilder(Set("01", "02"), Set("02"))
      // A compaction that the index never took in, of a log that no rollback names.
      val rollbacks = Vector(undone("04", "f_1-0-1_04.parquet"), undone(removed, s"g_1-0-1_$removed.parquet"))
      builder.restore(RestoreMetadata(Vector("04", removed), rollbacks))
      builder.result
    }
    assert(work(restored("01")) === GroupWork.All(slice))
    assert(restored("01").touches.keySet === Set("f", "g").map(FileGroup("p", _)))
    assert(!restored("01").revives && restored("02").revives)
    assert(restored("03") === DirtyGroups(Map.empty, revives = false))
  }
}
