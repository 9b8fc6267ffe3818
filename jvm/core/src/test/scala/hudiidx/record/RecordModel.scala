package hudiidx.record

import hudiidx.hfile.{BlockCache, Codec}
import hudiidx.record.page.{EntryFlag, KeyCode}
import hudiidx.storage.{LocalStorage, Storage}
import hudiidx.store._
import hudiidx.table.FileGroup
import java.nio.charset.StandardCharsets.UTF_8
import java.nio.file.{Files, Path}

/** A record index in a folder of its own, beside a plain map of what it should hold: key -> ordinal -> (stamp, doubt). */
final class RecordModel(val shape: RecordShape, plan: RecordPlan, groupCount: Int) {
  val dir: Path = Files.createTempDirectory("record")
  val storage: Storage = LocalStorage
  val store = new IndexStore(storage, dir.toString)
  val writer = new HashGroupWriter(store, "20260101000000000", shape)
  var truth = Map.empty[String, Map[Int, (Int, Boolean)]]
  var groups: Vector[HashGroup] = HashRange.tile(groupCount).map(HashGroup(_, None, Vector.empty))
  var segments = Vector.empty[IndexFile]
  var fileGroups = Vector.empty[FileGroup]
  private var versions = 0L

  type Change = (String, Int, Int, Int) // key, ordinal, stamp, flags

  /** Writes the run files of some changes; a small budget makes several. */
  def runs(changes: Seq[Change], budgetBytes: Long): Vector[Path] = {
    var written = Vector.empty[Path]
    val builder = new RunBuilder(
      groups.map(_.range),
      budgetBytes,
      { run =>
        val path = dir.resolve(RecordFileName.run(s"t${written.size}", IndexStore.newToken()))
        storage.write(path.toString)(run.write(_, Seq(s"input ${written.size}"), written.map(_.getFileName.toString)))
        written :+= path
      }
    )
    changes.foreach { case (key, ordinal, stamp, flags) =>
      val bytes = PackedKeys.utf8(key)
      builder.add(bytes, 0, bytes.length, ordinal, stamp, flags)
    }
    builder.flushRest()
    written
  }

  def create(changes: Seq[Change], budgetBytes: Long): Unit = {
    val paths = runs(changes, budgetBytes)
    groups = groups.zipWithIndex.map { case (g, i) =>
      g.copy(base = Some(writer.baseOfRuns(g.range, i, paths.map(p => () => storage.open(p.toString))).file))
    }
    changes.foreach(apply)
    checkCounts()
  }

  /** Adds deltas and follows the plan. */
  def update(changes: Seq[Change], isLive: Int => Boolean = _ => true): Unit = {
    val paths = runs(changes, 1 << 20)
    groups = groups.zipWithIndex.map { case (g, i) =>
      val sections = new RunSections(paths.map(p => () => storage.open(p.toString)), i, g.range)
      try g.copy(deltas = g.deltas :+ writer.delta(g.range, sections.merged()).file)
      finally sections.close()
    }
    changes.foreach(apply)
    groups = groups.flatMap(step(_, isLive))
    mergeNeighbours(isLive)
  }

  private def step(g: HashGroup, isLive: Int => Boolean): Vector[HashGroup] =
    plan.step(g.base.fold(0L)(_.sizeBytes), g.deltas.map(_.sizeBytes), g.range) match {
      case GroupStep.Keep    => Vector(g)
      case GroupStep.NewBase =>
        Vector(HashGroup(g.range, Some(writer.newBase(Seq(g), (o, _) => isLive(o)).file), Vector.empty))
      case GroupStep.MergeDeltas(from) =>
        Vector(g.copy(deltas = g.deltas.take(from) :+ writer.mergeDeltas(g, from).file))
      case GroupStep.Split =>
        val (lower, upper) = writer.split(g, (o, _) => isLive(o))
        Vector(lower, upper).map(w => HashGroup(w.range, Some(w.file), Vector.empty))
    }

  private def mergeNeighbours(isLive: Int => Boolean): Unit = {
    val at = groups.indices.drop(1).find(i => plan.merges(groups(i - 1).sizeBytes, groups(i).sizeBytes))
    at.foreach { i =>
      val merged = writer.newBase(Seq(groups(i - 1), groups(i)), (o, _) => isLive(o))
      groups = groups.patch(i - 1, Vector(HashGroup(merged.range, Some(merged.file), Vector.empty)), 2)
    }
  }

  private def apply(change: Change): Unit = {
    val (key, ordinal, stamp, flags) = change
    val before = truth.getOrElse(key, Map.empty[Int, (Int, Boolean)])
    truth += key -> (if ((flags & EntryFlag.Remove) != 0) before - ordinal
                     else before + (ordinal -> ((stamp, (flags & EntryFlag.Doubt) != 0))))
  }

  def addGroups(more: Vector[FileGroup]): Unit = {
    segments :+= writer.dictionary(fileGroups.size, more)
    fileGroups ++= more
  }

  def version(): IndexVersion = {
    versions += 1
    IndexVersion(
      versions,
      TableIdentity("t", "COPY_ON_WRITE"),
      Coverage("", Vector.empty, Vector.empty),
      groups.flatMap(_.files) ++ segments,
      Map(RecordProperty.Mode -> "global"),
      0L,
      "test"
    )
  }

  def open(cache: BlockCache = new BlockCache, files: Int = 3): RecordIndex =
    RecordIndex.open(version(), store, cache, files)

  /** Every answer against the map: lookups of `asked` and of all keys, in any order, and the scans. Without a cache lookups of
    * many keys read files ahead.
    */
  def check(asked: Seq[String]): Unit =
    Seq(new BlockCache, new BlockCache(0)).foreach(cache => checkWith(open(cache), asked))

  private def checkWith(index: RecordIndex, asked: Seq[String]): Unit = {
    try {
      val keys = (asked ++ truth.keys ++ asked).toVector
      val found = index.lookup(keys)
      keys.indices.foreach { i =>
        val got = (found.starts(i) until found.starts(i + 1)).map(at =>
          found.ordinals(at) -> ((found.stamps(at), (found.flags(at) & EntryFlag.Doubt) != 0))
        )
        val due = truth.getOrElse(keys(i), Map.empty).toVector.sortBy(_._1)
        assert(got == due, s"key ${keys(i).take(60)}")
      }
      val scanned = groups.indices.flatMap(scan(index, _))
      assert(scanned.groupBy(_._1).map { case (k, v) => k -> v.map(_._2).toSet } == truth.collect {
        case (k, v) if v.nonEmpty => k -> v.keySet
      })
      assert(scanned.size == scanned.distinct.size)
    } finally index.close()
  }

  /** Key and ordinal of each entry; fails if a group is out of order or holds what is not its own. */
  private def scan(index: RecordIndex, group: Int): Vector[(String, Int)] = {
    val cursor = index.scan(group)
    try {
      val out = Vector.newBuilder[(String, Int)]
      var before = Array.emptyByteArray
      while (cursor.next()) {
        val key = cursor.keyBytes
        val code = KeyCode.encode(key)
        assert(groups(group).range.contains(KeyCode.hash(key, 0, key.length)))
        assert(KeyCode.compare(before, code) <= 0)
        before = code
        out += new String(key, UTF_8) -> cursor.ordinal
      }
      out.result()
    } finally cursor.close()
  }

  private def checkCounts(): Unit = {
    val entries = groups.map { g =>
      val in = store.openWhole(g.base.get)
      try RecordFile.open(in, new BlockCache(0)).stats.entries
      finally in.close()
    }
    assert(entries.sum == truth.values.map(_.size).sum)
  }

  def delete(): Unit = storage.delete(dir.toString): Unit
}

object RecordModel {

  /** Pages of a few entries and blocks of a few pages, so that borders of all kinds are met. */
  val Tiny: RecordShape = RecordShape(3, 256, Codec.None)
}
