package hudiidx.write

import hudiidx.log.LogBlocks
import hudiidx.storage._
import hudiidx.sync.{IndexerSuite, TableContext}
import hudiidx.table.{FileName, PropertiesFile, TableConfig}
import hudiidx.table.listing.{MetadataTable, MetadataTableListing}
import hudiidx.write.format.{CommitContent, CompletedWrite, WrittenFile}
import hudiidx.{Fixtures, TableFormat, WriteConflict}
import java.nio.file.{Files, Path, StandardOpenOption}
import org.scalatest.funsuite.AnyFunSuite

/** Tables of stock Hudi with its metadata table, which a write here keeps or takes away, killed at any step or not. */
class MetadataTableWriterSuite extends AnyFunSuite {
  import MetadataTableWriterSuite._
  import WriteStepsSuite.{quick, slow, write}

  for (name <- Tables) {
    test(s"$name: a write adds its files to a metadata table of files, which stays in step") {
      val table = ofFiles(name)
      val before = listed(table)
      (1 to 3).foreach(n => write(LocalStorage, table, s"key-$n"))
      val after = listed(table)
      assert(after - "p" === before)
      assert(after("p") === filesOf(table, "p") && after("p").size === 3)
      val config = TableConfig.read(LocalStorage, table)
      assert(config.metadataPartitions === Vector("files") && config.inflightMetadataPartitions === Vector.empty)
      assert(properties(table) === properties(ofFiles(name)))
    }

    test(s"$name: a metadata table with parts that a write does not keep goes whole, killed at any step or not") {
      val steps = new FaultyStorage(LocalStorage, Int.MaxValue, Fault.After)
      write(steps, Fixtures.copy(name), "a", slow)
      (1 to steps.mutatingCalls + 1).foreach { step =>
        val table = Fixtures.copy(name)
        val config = TableConfig.read(LocalStorage, table)
        if (step <= steps.mutatingCalls) WriteStepsSuite.dying(step, Fault.After)(write(_, table, "a", slow))
        else write(LocalStorage, table, "a")
        val left = TableConfig.read(LocalStorage, table)
        assert(Set(config.metadataPartitions, Vector.empty)(left.metadataPartitions), s"step $step")
        if (left.metadataPartitions.nonEmpty) {
          assert(committed(table).isEmpty, s"step $step")
          assert(partitionFolders(table) === partitionFolders(Fixtures.table(name)), s"step $step")
        }
        Thread.sleep(3) // the dead writer's heartbeat is past
        write(LocalStorage, table, "b")
        val kept = properties(Fixtures.table(name)) -- changed
        assert(properties(table) -- changed === kept, s"step $step")
        val after = TableConfig.read(LocalStorage, table)
        assert(after.metadataPartitions ++ after.inflightMetadataPartitions === Vector.empty, s"step $step")
        if (step > steps.mutatingCalls)
          assert(Fixtures.filesBelow(table).filter(_.endsWith(".backup")) === Vector.empty)
      }
    }

    for (fault <- if (name.startsWith("v9")) Fault.All else Vector(Fault.After))
      test(
        s"$name: killed ${fault.toString.toLowerCase} every step, the metadata table has a write whole or not at all"
      ) {
        val steps = new FaultyStorage(LocalStorage, Int.MaxValue, fault)
        write(steps, ofFiles(name), "a", slow)
        assert(steps.mutatingCalls >= 16)
        val before = listed(Fixtures.table(name))
        (1 to steps.mutatingCalls).foreach { step =>
          val table = ofFiles(name)
          WriteStepsSuite.dying(step, fault)(write(_, table, "a", slow))
          val seen = committed(table)
          assert(listed(table) === before ++ seen, s"step $step")
          // What was decided is completed by the next writer.
          val killed = if (WriteStepsSuite.decided(table).isEmpty) seen else Map("p" -> filesOf(table, "p"))
          Thread.sleep(3) // the dead writer's heartbeat is past
          write(LocalStorage, table, "b")
          val files = filesOf(table, "p")
          assert(files.size === killed.values.map(_.size).sum + 1, s"step $step")
          assert(listed(table) === before + ("p" -> files), s"step $step")
          assert(instants(table).groupBy(_.takeWhile(_ != '.')).values.forall(_.size == 2), s"step $step")
          assert(TableConfig.read(LocalStorage, table).metadataPartitions === Vector("files"), s"step $step")
        }
      }
  }

  test("a metadata table that cannot be read, or was never finished, is taken away") {
    val damaged = Fixtures.copy("v9-mor-part")
    LocalStorage.delete(s"$damaged/.hoodie/metadata/.hoodie")
    write(LocalStorage, damaged, "a")
    val begun = Fixtures.copy("v9-mor-part")
    PropertiesFile.update(LocalStorage, begun)(
      _ + (TableConfig.MetadataPartitions -> "") + (TableConfig.InflightMetadataPartitions -> "files")
    )
    write(LocalStorage, begun, "a")
    Seq(damaged, begun).foreach { table =>
      val config = TableConfig.read(LocalStorage, table)
      assert(config.metadataPartitions ++ config.inflightMetadataPartitions === Vector.empty)
      assert(LocalStorage.status(s"$table/.hoodie/metadata") === None)
    }
  }

  test("an instant that moves no record leaves what maps keys") {
    val table = ofFiles("v9-mor-part", "files,record_index")
    val context = TableContext.load(IndexerSuite.accessOf(LocalStorage), table)
    MetadataTableWriter.commit(context, "20990101000000000", Vector.empty, keepsKeys = true)
    assert(TableConfig.read(LocalStorage, table).metadataPartitions.toSet === Set("files", "record_index"))
    assert(listed(table) === listed(Fixtures.table("v9-mor-part")))
    MetadataTableWriter.commit(context, "20990101000000001", Vector(FileChange("sf", "gone", None)), keepsKeys = false)
    assert(TableConfig.read(LocalStorage, table).metadataPartitions === Vector.empty)
  }

  for (isShared <- Seq(false, true))
    test(
      s"an instant is undone${if (isShared) ", whose log stock Hudi has appended to: nothing of that is lost" else ""}"
    ) {
      val table = ofFiles(Tables.find(_.startsWith("v6")).get)
      val before = listed(table)
      val context = TableContext.load(IndexerSuite.accessOf(LocalStorage), table)
      val logs = () => filesOf(table, ".hoodie/metadata/files").keySet
      val earlier = logs()
      val change = FileChange("sf", "new", Some(1L))
      MetadataTableWriter.commit(context, "20990101000000000", Vector(change), keepsKeys = false)
      val log = Path.of(table, ".hoodie/metadata/files", (logs() -- earlier).head)
      if (isShared) Files.write(log, LogBlocks.rollback("20990101000000001", "1"), StandardOpenOption.APPEND)
      MetadataTableWriter.undo(LocalStorage, table, "20990101000000000")
      val left = TableConfig.read(LocalStorage, table).metadataPartitions
      assert(left === (if (isShared) Vector.empty else Vector("files")))
      if (!isShared) assert(listed(table) === before && !Files.exists(log))
    }

  test("files that are gone are gone") {
    val table = ofFiles("v9-mor-part")
    val context = TableContext.load(IndexerSuite.accessOf(LocalStorage), table)
    val before = listed(table)
    val (partition, name) = (before.keys.min, before(before.keys.min).keys.min)
    MetadataTableWriter.commit(
      context,
      "20990101000000000",
      Vector(FileChange(partition, name, None)),
      keepsKeys = false
    )
    assert(listed(table) === before + (partition -> (before(partition) - name)))
  }

  test("who builds a part of the metadata table is a writer at work") {
    val table = Fixtures.copy("v9-mor-part")
    val timeline = TableConfig.read(LocalStorage, table).timelineDir(table)
    LocalStorage.publish(s"$timeline/20990101000000000.indexing.requested", Array.emptyByteArray)
    val e = intercept[WriteConflict](write(LocalStorage, table, "a", quick))
    assert(e.getMessage.contains("indexing 20990101000000000") && e.getMessage.contains("dropindex"))
  }

  test("properties that another writer is replacing are left alone") {
    val table = Fixtures.copy("v9-mor-part")
    val main = TableConfig.propertiesFile(table)
    val old = properties(table)
    val theirs = PropertiesFile.text(old + ("theirs" -> "1"))
    def beside(file: String): Storage = WriteStepsSuite.publishing(
      file,
      (path, publish) => {
        LocalStorage.publish(path, theirs)
        publish()
      }
    )
    intercept[WriteConflict](PropertiesFile.update(beside("""\.backup$"""), table)(_ + ("ours" -> "1")))
    assert(LocalStorage.status(main).isDefined && properties(table) === old)
    intercept[WriteConflict](PropertiesFile.update(beside("""properties$"""), table)(_ + ("ours" -> "1")))
    assert(properties(table) === old + ("theirs" -> "1"))
    PropertiesFile.update(LocalStorage, table)(_ + ("ours" -> "1"))
    assert(properties(table) === old + ("theirs" -> "1") + ("ours" -> "1"))
  }

  test("an announcement that names files elsewhere is not believed") {
    val table = Fixtures.copy("v9-mor-part")
    val root = MetadataTable.path(table)
    val dir = TableConfig.read(LocalStorage, root).timelineDir(root)
    val instant = "20990101000000000"
    val named = Vector("files" -> "gone", "column_stats" -> "stays").map { case (p, name) =>
      WrittenFile(p, "files-0000-0", name, 1, instant, "", Vector.empty, isNewGroup = false, 1, 0, 1, 0)
    }
    named.foreach(f => LocalStorage.write(s"$root/${f.path}")(_.write(1)))
    LocalStorage.publish(s"$dir/$instant.deltacommit.requested", Array.emptyByteArray)
    val content = CommitContent.of(CompletedWrite("UPSERT_PREPPED", "{}", named), TableFormat.V9, instant)
    LocalStorage.publish(s"$dir/$instant.deltacommit.inflight", content)
    MetadataTableWriter.undo(LocalStorage, table, instant)
    assert(named.map(f => LocalStorage.status(s"$root/${f.path}").isDefined) === Vector(false, true))
    assert(LocalStorage.list(dir).forall(!_.name.startsWith(instant)))
  }

  test("properties are replaced whole; who stops half-way is finished by the next") {
    val table = Fixtures.copy("v9-mor-part")
    val old = properties(table)
    for (fault <- Fault.All; step <- 1 to 4) {
      val copy = Fixtures.copy("v9-mor-part")
      intercept[InjectedFault](
        PropertiesFile.update(new FaultyStorage(LocalStorage, step, fault), copy)(_ + ("a" -> "1"))
      )
      assert(Set(old, old + ("a" -> "1"))(properties(copy)), s"$fault $step")
      PropertiesFile.update(LocalStorage, copy)(_ + ("b" -> "2"))
      assert(properties(copy) - "a" === old + ("b" -> "2"), s"$fault $step")
      assert(LocalStorage.list(s"$copy/.hoodie").map(_.name).filter(_.endsWith(".backup")) === Vector.empty)
    }
  }
}

private object MetadataTableWriterSuite {
  val Tables: Vector[String] = Vector("v6-mor-part", "v9-mor-part")
  val changed: Set[String] = Set(TableConfig.MetadataPartitions, TableConfig.InflightMetadataPartitions)

  /** A copy whose metadata table has these partitions alone. */
  def ofFiles(name: String, partitions: String = MetadataTable.FilesPartition): String = {
    val table = Fixtures.copy(name)
    PropertiesFile.update(LocalStorage, table)(_ + (TableConfig.MetadataPartitions -> partitions))
    table
  }

  def properties(table: String): Map[String, String] = TableConfig.read(LocalStorage, table).properties

  /** What the metadata table says of each partition: sizes by name. */
  def listed(table: String): Map[String, Map[String, Long]] = {
    val context = TableContext.load(IndexerSuite.accessOf(LocalStorage), table)
    val listing: MetadataTableListing =
      MetadataTable.open(LocalStorage, table, context.config, context.timeline, context.contents).get
    try {
      require(listing.inStep)
      listing.partitions.map(p => p -> listing.files(p).map(f => f.fileName -> f.sizeBytes).toMap).toMap
    } finally listing.close()
  }

  def filesOf(table: String, partition: String): Map[String, Long] = LocalStorage
    .list(s"$table/$partition")
    .filter(f => FileName.parse(partition, f.name, 0L).isDefined)
    .map(f => f.name -> f.sizeBytes)
    .toMap

  /** Files of partition `p` that completed instants name; empty without any. */
  def committed(table: String): Map[String, Map[String, Long]] = {
    val context = TableContext.load(IndexerSuite.accessOf(LocalStorage), table)
    context.timeline.completedWrites
      .flatMap(i => context.contents.commit(i).writeStats)
      .filter(_.partitionPath == "p")
      .flatMap(s => s.fileName.map(_ -> s.fileSizeBytes)) match {
      case Vector() => Map.empty
      case files    => Map("p" -> files.toMap)
    }
  }

  def partitionFolders(table: String): Set[String] = LocalStorage
    .list(MetadataTable.path(table))
    .filter(f => f.isDirectory && f.name != ".hoodie")
    .map(_.name)
    .toSet

  /** Pending files of the metadata table's deltacommits. */
  def instants(table: String): Vector[String] = {
    val root = MetadataTable.path(table)
    LocalStorage
      .list(TableConfig.read(LocalStorage, root).timelineDir(root))
      .map(_.name)
      .filter(n => n.endsWith(".deltacommit.requested") || n.endsWith(".deltacommit.inflight"))
  }
}
