package hudiidx.timeline

import com.fasterxml.jackson.databind.JsonNode
import hudiidx.storage.{LocalStorage, ReadsStorage}
import hudiidx.table.TableConfig
import hudiidx.{DamagedTable, Fixtures}
import org.scalatest.funsuite.AnyFunSuite

private final case class Opened(dir: String, timeline: ActiveTimeline, contents: InstantContents)

class InstantContentsSuite extends AnyFunSuite {

  private def open(path: String): Opened = {
    val config = TableConfig.read(LocalStorage, path)
    val dir = config.timelineDir(path)
    Opened(
      dir,
      TimelineReader.read(LocalStorage, dir, config.timelineLayout, config.timelineZone, config.timelineFolder),
      new InstantContents(LocalStorage, dir)
    )
  }

  private def openFixture(name: String): Opened = open(Fixtures.table(name))

  private def only(opened: Opened, action: String): Instant = {
    val found = opened.timeline.instants.filter(_.action == action)
    assert(found.size === 1)
    found.head
  }

  private def fieldsOf(node: JsonNode): Map[String, JsonNode] = {
    var all = Map.empty[String, JsonNode]
    if (node != null) {
      val it = node.properties().iterator()
      while (it.hasNext) {
        val field = it.next()
        all += field.getKey -> field.getValue
      }
    }
    all
  }

  private def elements(node: JsonNode): Vector[JsonNode] = (0 until node.size).map(node.get(_)).toVector

  test("commit metadata of every fixture table equals stock Hudi's") {
    var compared = 0
    for (
      name <- Fixtures.good; opened = openFixture(name); (key, stock) <- fieldsOf(Fixtures.json(name).get("commits"))
    ) {
      val Array(time, action) = key.split('_')
      val instant = opened.timeline.completed.find(i => i.requestedTime == time && i.action == action).get
      val ours = opened.contents.commit(instant)
      val clue = s"$name $key"
      assert(ours.operationType === Option(stock.get("operation")).filterNot(_.isNull).map(_.asText), clue)
      val expected = for ((partition, stats) <- fieldsOf(stock.get("stats")).toSet; s <- elements(stats)) yield {
        val prev = s.get(2).asText
        (partition, s.get(0).asText, s.get(1).asText, if (prev == "null") None else Some(prev)) ->
          (3 to 6).map(s.get(_).asLong)
      }
      val found = ours.writeStats.map { s =>
        (s.partitionPath, s.fileId, s.path.get, s.prevCommit) ->
          Seq(s.numWrites, s.numInserts, s.numUpdateWrites, s.numDeletes)
      }
      assert(found.toSet === expected, clue)
      assert(found.size === expected.size, clue)
      val replaced = fieldsOf(stock.get("replaced")).map { case (p, ids) => p -> elements(ids).map(_.asText).toSet }
      assert(ours.replacedFileIds.map { case (p, ids) => p -> ids.toSet } === replaced, clue)
      assert(opened.contents.commitWithoutStats(instant) === ours.copy(writeStats = Vector.empty), clue)
      val sample = ours.writeStats.filter(s => s.numInserts > 0 || s.numUpdateWrites > 0).take(4)
      assert(opened.contents.commitWithSample(instant) === ours.copy(writeStats = sample), clue)
      compared += 1
    }
    assert(compared > 300)
  }

  test("contents that are kept are those of the files, each read and decoded once as far as they are to be kept") {
    var kept = 0
    for (name <- Fixtures.good; opened = openFixture(name); commits = opened.timeline.completedWrites) {
      val storage = new ReadsStorage(LocalStorage)
      val sizes = commits.map(i => i -> LocalStorage.status(s"${opened.dir}/${i.fileName}").fold(0L)(_.sizeBytes)).toMap
      val room = sizes.values.sum / 2
      val some = new InstantContents(storage, opened.dir).keeping(room)
      (1 to 3).foreach { _ =>
        commits.foreach { i =>
          assert(some.commitWithSample(i) === opened.contents.commitWithSample(i))
          assert(some.commitWithoutStats(i) === opened.contents.commitWithoutStats(i))
          assert(some.commit(i) === opened.contents.commit(i))
        }
      }
      val (once, often) = commits.partition(i => storage.reads(i.fileName) == 1)
      assert(often.forall(i => storage.reads(i.fileName) == 9) && once.map(sizes).sum <= room, name)
      assert(once.forall(i => some.commit(i) eq some.commit(i)), name)
      kept += once.size
    }
    assert(kept > 100)
  }

  test("sizes in write stats equal those of files that are still there") {
    var compared = 0
    for (name <- Seq("v6-mor-part", "v9-mor-part", "v8-cow-part"); opened = openFixture(name)) {
      for (instant <- opened.timeline.completedWrites; stat <- opened.contents.commit(instant).writeStats) {
        LocalStorage.status(s"${Fixtures.table(name)}/${stat.path.get}").foreach { file =>
          assert(file.sizeBytes === stat.fileSizeBytes, stat)
          compared += 1
        }
      }
    }
    assert(compared > 20)
  }

  test("change-data files of a write are named with their sizes") {
    for (name <- Seq("v6-cdc-cow", "v9-cdc-cow"); opened = openFixture(name)) {
      val found = for {
        instant <- opened.timeline.completedWrites
        stat <- opened.contents.commit(instant).writeStats
        (file, size) <- stat.cdcFiles
      } yield {
        assert(file.endsWith(".cdc"))
        assert(
          LocalStorage.status(s"${Fixtures.table(name)}/${stat.partitionPath}/$file").map(_.sizeBytes) === Some(size)
        )
      }
      assert(found.nonEmpty, name)
    }
  }

  test("timelines of metadata tables decode too") {
    var commits = 0
    for (name <- Fixtures.good; path = s"${Fixtures.table(name)}/.hoodie/metadata") {
      if (LocalStorage.status(s"$path/.hoodie/hoodie.properties").isDefined) {
        val opened = open(path)
        opened.timeline.completedWrites.foreach { i =>
          opened.contents.commit(i)
          commits += 1
        }
      }
    }
    assert(commits > 300)
  }

  test("inflight files of every fixture table decode, and name no files") {
    var profiles = 0
    for (name <- Fixtures.names.filterNot(_.endsWith("bad-no-properties")); opened = openFixture(name)) {
      val writes = Set(Action.Commit, Action.DeltaCommit, Action.ReplaceCommit)
      for (file <- LocalStorage.list(opened.dir); i <- InstantName.parse(file.name, opened.timeline.layout)) {
        if (i.state == InstantState.Inflight && writes(i.action)) {
          val stats = opened.contents.commit(i).writeStats
          assert(stats.forall(_.path.isEmpty), file.path)
          profiles += stats.size
        }
      }
    }
    assert(profiles > 100)
  }

  test("every completed action of every fixture table decodes") {
    for (name <- Fixtures.good; opened = openFixture(name); i <- opened.timeline.completed) i.action match {
      case Action.Clean     => opened.contents.clean(i).partitions
      case Action.Rollback  => assert(opened.contents.rollback(i).commitsRolledBack.nonEmpty)
      case Action.Restore   => assert(opened.contents.restore(i).removedInstants.nonEmpty)
      case Action.Savepoint => assert(opened.contents.savepoint(i).values.exists(_.nonEmpty))
      case _                => ()
    }
  }

  test("a clean names files without folders, and they are gone") {
    for (name <- Seq("v6-archived-cow", "v9-archived-cow"); opened = openFixture(name)) {
      val cleans = opened.timeline.completed.filter(_.action == Action.Clean).map(opened.contents.clean)
      val named = cleans.flatMap(_.partitions.toVector).flatMap { case (p, c) => c.deletedFileNames.map(p -> _) }
      assert(named.size > 5)
      named.foreach { case (partition, file) =>
        assert(!file.contains("/"))
        assert(LocalStorage.status(s"${Fixtures.table(name)}/$partition/$file").isEmpty)
      }
      assert(cleans.forall(_.earliestCommitToRetain.forall(_.length == 17)))
    }
  }

  test("a rollback lists what it deleted, and on version 6 the log files with its command blocks") {
    val v9 = openFixture("v9-mor-rollback")
    val rollbacks9 = v9.timeline.completed.filter(_.action == Action.Rollback).map(v9.contents.rollback)
    assert(rollbacks9.size === 2)
    assert(rollbacks9.exists(_.partitions.values.exists(_.deletedFileNames.exists(_.contains(".log.")))))
    val v6 = openFixture("v6-mor-rollback")
    val rollbacks6 = v6.timeline.completed.filter(_.action == Action.Rollback).map(v6.contents.rollback)
    val logs = rollbacks6.flatMap(_.partitions.toVector).flatMap { case (p, r) => r.logFiles.keys.map(f => s"$p/$f") }
    assert(logs.nonEmpty)
    logs.foreach(f => assert(LocalStorage.status(s"${Fixtures.table("v6-mor-rollback")}/$f").isDefined, f))
  }

  test("a restore names the instants it removed, none of which is on the timeline") {
    for (name <- Seq("v6", "v8", "v9").map(_ + "-savepoint-restore"); opened = openFixture(name)) {
      val removed = opened.contents.restore(only(opened, Action.Restore)).removedInstants
      assert(removed.nonEmpty && removed === removed.distinct)
      assert(removed.forall(t => !opened.timeline.instants.exists(_.requestedTime == t)), name)
      val saved = opened.contents.savepoint(only(opened, Action.Savepoint))
      assert(saved.values.forall(_.forall(!_.contains("/"))))
    }
  }

  test("plans of pending compactions name the file groups and base instants") {
    for (name <- Seq("v6-mor-part", "v8-mor-part", "v9-mor-part"); opened = openFixture(name)) {
      val pending = opened.timeline.pending(Action.Compaction)
      assert(pending.size === 1)
      val plan = opened.contents.compactionPlan(pending.head)
      assert(plan.nonEmpty)
      plan.foreach { g =>
        val files = LocalStorage.list(s"${Fixtures.table(name)}/${g.partitionPath}").map(_.name)
        assert(files.exists(f => f.startsWith(g.fileId + "_") && f.endsWith(s"_${g.baseInstantTime.get}.parquet")))
      }
    }
  }

  test("a pending clustering is told from other pending replacements, in both layouts") {
    val v6 = openFixture("v6-cow-replace")
    val clustering6 = v6.timeline.pending(Action.ReplaceCommit)
    val v9 = openFixture("v9-cow-replace")
    val clustering9 = v9.timeline.pending(Action.Clustering)
    for ((opened, pending, name) <- Seq((v6, clustering6, "v6-cow-replace"), (v9, clustering9, "v9-cow-replace"))) {
      assert(pending.size === 1)
      val plan = opened.contents.clusteringPlan(pending.head).get
      assert(plan.nonEmpty)
      plan.foreach { g =>
        val files = LocalStorage.list(s"${Fixtures.table(name)}/${g.partitionPath}").map(_.name)
        assert(files.exists(f => f.startsWith(g.fileId + "_") && f.endsWith(s"_${g.baseInstantTime.get}.parquet")))
      }
      // The requested files of completed replacements stay; of these only one was a clustering.
      val done = opened.timeline.completed.filter(_.action == Action.ReplaceCommit).map { i =>
        val action =
          if (LocalStorage.status(s"${opened.dir}/${i.requestedTime}.clustering.requested").isDefined)
            Action.Clustering
          else Action.ReplaceCommit
        val operation = opened.contents.commit(i).operationType
        operation -> opened.contents.clusteringPlan(i.copy(action = action)).isDefined
      }
      assert(done.size >= 3)
      done.foreach { case (operation, isClustering) => assert(isClustering === operation.contains("CLUSTER")) }
    }
  }

  test("a damaged commit file gives DamagedTable that names the file, and the others decode") {
    for (name <- Fixtures.damaged("commit-file")) {
      val damaged = Fixtures.json(name).get("damage").get("file").asText
      val opened = openFixture(name)
      var failures = 0
      opened.timeline.completedWrites.foreach { i =>
        if (damaged.endsWith("/" + i.fileName)) {
          val error = intercept[DamagedTable](opened.contents.commit(i))
          assert(error.getMessage.startsWith(s"${Fixtures.table(name)}/$damaged: "))
          failures += 1
        } else opened.contents.commit(i)
      }
      assert(failures === 1)
    }
  }
}
