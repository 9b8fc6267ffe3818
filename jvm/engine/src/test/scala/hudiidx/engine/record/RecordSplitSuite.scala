package hudiidx.engine.record

import hudiidx.record.{HashGroup, HashRange, PackedKeys, RecordKind}
import hudiidx.record.page.KeyCode
import hudiidx.storage.LocalStorage
import hudiidx.store.IndexVersion
import hudiidx.sync._
import org.scalatest.funsuite.AnyFunSuite

/** Hash groups that outgrow their size or shrink, and the dictionary's segments. */
class RecordSplitSuite extends AnyFunSuite {
  import RecordFaultSuite.{access, groups, indexerOf}
  import RecordPartSuite.{indexed, lookup}

  private val small = RecordOptions(mode = Some("global"), groupBytes = Some(16384L))

  private def insert(table: KeyedTable, partition: String, keys: Seq[String]): Unit =
    table.write(Seq(KeyWrite(partition, -1, log = false, keys.toVector, 0)))

  private def update(table: KeyedTable, options: RecordOptions = RecordOptions()): IndexVersion =
    indexerOf(access(LocalStorage), table.path, options).update().version

  private def check(table: KeyedTable): Unit =
    assert(lookup(table.path, table.keys ++ Vector("absent", ""), None, indexed) === table.truth): Unit

  private def uuids(range: Range): Seq[String] = range.map(KeyedTable.uuid)

  private def isIn(range: HashRange)(key: String): Boolean = {
    val bytes = PackedKeys.utf8(key)
    range.contains(KeyCode.hash(bytes, 0, bytes.length))
  }

  test(
    "a group that outgrows its size is split, in more than two if it must, and all other groups' files are the same files"
  ) {
    val table = new KeyedTable
    insert(table, "a", uuids(1 to 1500))
    val before = indexerOf(access(LocalStorage), table.path, small.copy(fileGroups = Some(4))).create().version
    val range = groups(before)(2).range
    insert(table, "b", uuids(2000 to 30000).filter(isIn(range)))
    val after = update(table)
    val (inside, others) = groups(after).partition(g => g.range.from >= range.from && g.range.to <= range.to)
    assert(others === groups(before).patch(2, Nil, 1))
    assert(inside.size > 2 && inside.forall(g => g.base.isDefined && g.sizeBytes < 2 * 16384))
    assert(HashRange.tiles(groups(after).map(_.range)))
    assert(after.long("record.groups") === groups(after).size && after.long("record.mappings") === table.truth.size)
    check(table)
  }

  test("groups split as updates go on, and lookups are exact after each; shrunken neighbours become one again") {
    val table = new KeyedTable
    insert(table, "a", uuids(1 to 500))
    indexerOf(access(LocalStorage), table.path, small).create()
    val sizes = (1 to 8).map { i =>
      insert(table, "b", uuids(i * 1000 to i * 1000 + 700))
      val version = update(table)
      check(table)
      assert(groups(version).forall(_.sizeBytes < 2 * 16384))
      assert(version.long("record.mappings") === table.truth.size)
      groups(version).size
    }
    assert(sizes.last >= 4 && sizes === sizes.sorted)
    table.replace("b", Vector("1"))
    table.replace("a", Vector("2"))
    // Old groups are dead only when a clean has taken their files; with another target they need not be.
    val merged = update(table, RecordOptions(groupBytes = Some(4L << 20)))
    insert(table, "c", uuids(20000 to 20100))
    val last = update(table)
    check(table)
    assert(groups(last).size === 1 && groups(merged).size <= sizes.last)
    assert(last.properties("record.group.bytes") === (4L << 20).toString)
  }

  test("groups that were asked for are not merged away") {
    val table = new KeyedTable
    insert(table, "a", uuids(1 to 50))
    indexerOf(access(LocalStorage), table.path, RecordOptions(Some("global"), fileGroups = Some(5))).create()
    insert(table, "b", uuids(60 to 90))
    assert(groups(update(table)).size === 5)
    check(table)
  }

  test("segments of the dictionary stay few, and ordinals stay what they were") {
    val table = new KeyedTable
    insert(table, "a", uuids(1 to 10))
    indexerOf(access(LocalStorage), table.path, RecordOptions(Some("global"))).create()
    (1 to 24).foreach { i =>
      insert(table, "b", Vector(s"key $i"))
      val version = update(table)
      val segments = version.files.filter(_.kind == RecordKind.Groups)
      assert(segments.size <= 6 && version.long("record.groups.next.ordinal") === i + 1)
      if (i % 8 == 0) check(table)
    }
  }

  test("the number of groups has an end: then groups grow") {
    val plan = hudiidx.record.RecordPlan(targetBytes = 1000)
    val file = hudiidx.store.IndexFile("f", RecordKind.Base, 9000)
    val all = HashRange.tile(HashRange.MaxGroups - 1).map(HashGroup(_, Some(file), Vector.empty))
    assert(HashGroupUpdate.jobs(plan, all, 1) === Vector.empty)
    val one = all.head +: all.tail.map(_.copy(base = Some(file.copy(sizeBytes = 900))))
    assert(HashGroupUpdate.jobs(plan, one, 1).map(_.mostParts) === Vector(2))
  }
}
