package hudiidx.write

import hudiidx.{Fixtures, TableFormat, TableFormats, WriteConflict, WriteFailed, WriteUnknown}
import hudiidx.log._
import hudiidx.storage._
import hudiidx.sync.{IndexOptions, IndexerSuite, TableContext, TableSnapshot}
import hudiidx.table.{FileKind, FileName, KeyGenerator}
import java.io.IOException
import org.apache.avro.generic.GenericData
import org.apache.avro.{Schema, SchemaBuilder}
import org.scalatest.funsuite.AnyFunSuite
import scala.util.Try

/** Writes that end at any step: readers see the state before or after, and the next writer leaves nothing of it. */
class WriteStepsSuite extends AnyFunSuite {
  import WriteStepsSuite._

  for (version <- TableFormats.written; fault <- Fault.All)
    test(s"version $version: killed ${fault.toString.toLowerCase} every step, a write is whole or not there") {
      val steps = new FaultyStorage(LocalStorage, Int.MaxValue, fault)
      val whole = newTable(version)
      write(LocalStorage, whole, "a")
      write(steps, whole, "b", slow)
      assert(steps.mutatingCalls >= 8)
      (1 to steps.mutatingCalls).foreach { step =>
        val table = newTable(version)
        write(LocalStorage, table, "a")
        dying(step, fault)(write(_, table, "b", slow))
        assert(Set(Set("a"), Set("a", "b"))(keys(table)), s"step $step")
        // What was decided is completed by the next writer, whatever step came of it.
        val before = keys(table) ++ decided(table).map(_ => "b")
        Thread.sleep(3) // the dead writer's heartbeat is past
        write(LocalStorage, table, "c")
        assert(keys(table) === before + "c", s"step $step")
        requireNothingOfWrites(table, s"step $step")
        val left = Fixtures.filesBelow(table)
        val written = left.count(f => FileName.parse("p", f.substring(f.lastIndexOf('/') + 1), 0L).isDefined)
        assert(written === before.size + 1, s"step $step")
      }
    }

  for (version <- TableFormats.written; fault <- Fault.All)
    test(s"version $version: killed ${fault.toString.toLowerCase} every step, an overwrite is whole or not there") {
      val steps = new FaultyStorage(LocalStorage, Int.MaxValue, fault)
      def filled(): String = {
        val table = newTable(version)
        Vector("a", "b").foreach(write(LocalStorage, table, _, slow))
        table
      }
      overwrite(steps, filled(), "c", slow)
      assert(steps.mutatingCalls >= 8)
      (1 to steps.mutatingCalls).foreach { step =>
        val table = filled()
        dying(step, fault)(overwrite(_, table, "c", slow))
        assert(Set(Set("a", "b"), Set("c"))(keys(table)), s"step $step")
        // What was decided is completed by the next writer.
        val before = if (decided(table).isEmpty) keys(table) else Set("c")
        Thread.sleep(3)
        write(LocalStorage, table, "d")
        assert(keys(table) === before + "d", s"step $step")
        requireNothingOfWrites(table, s"step $step")
        val left = Fixtures.filesBelow(table)
        // What is replaced stays, for those who read it.
        val written = left.count(f => FileName.parse("p", f.substring(f.lastIndexOf('/') + 1), 0L).isDefined)
        assert(written === 3 + (if (before == Set("c")) 1 else 0), s"step $step")
      }
    }

  for (version <- TableFormats.written; fault <- Fault.All)
    test(s"version $version: killed ${fault.toString.toLowerCase} every step, a table is the old one or the new one") {
      val steps = new FaultyStorage(LocalStorage, Int.MaxValue, fault)
      def filled(): String = {
        val table = newTable(version)
        Vector("a", "b").foreach(write(LocalStorage, table, _, slow))
        table
      }
      remake(steps, filled(), "c", slow)
      assert(steps.mutatingCalls >= 12)
      (1 to steps.mutatingCalls).foreach { step =>
        val table = filled()
        dying(step, fault)(remake(_, table, "c", slow))
        val before = if (decided(table).isEmpty) keys(table) else Set("c")
        assert(keys(table) === (if (keyFields(table) == Vector("k")) Set("a", "b") else Set("c")), s"step $step")
        Thread.sleep(3)
        write(LocalStorage, table, "d")
        assert(keys(table) === before + "d", s"step $step")
        requireNothingOfWrites(table, s"step $step")
      }
    }

  for (version <- TableFormats.written; (how, job) <- jobs)
    test(s"version $version: wherever in $how the disk fills up, an error of ours says what became of it") {
      def filled(): String = {
        val table = newTable(version)
        write(LocalStorage, table, "a", slow)
        table
      }
      val all = new FillingStorage(LocalStorage, Int.MaxValue)
      val whole = filled()
      job(all, whole)
      val (before, after) = (Set("a"), keys(whole))
      var told = Set.empty[String]
      (0 until all.writes).foreach { room =>
        val table = filled()
        val full = new FillingStorage(LocalStorage, room)
        val said = Try(job(full, table)).failed.toOption
        told ++= said.map(_.getClass.getSimpleName)
        val now = keys(table)
        said.foreach { e =>
          assert(e.getMessage.contains(table) && e.getMessage.contains("No space left on device"), s"room for $room")
          if (e.isInstanceOf[WriteFailed])
            assert(
              e.getMessage.contains(if (how == "a write") " deltacommit " else " replacecommit "),
              s"room for $room"
            )
        }
        val next = said match {
          case None                  => after
          case Some(e: WriteFailed)  => before.ensuring(now == before && e.getMessage.contains("make room there"), e)
          case Some(_: WriteUnknown) => if (decided(table).isEmpty) now else after
          case Some(e)               => fail(s"room for $room: $e", e)
        }
        Thread.sleep(3)
        write(LocalStorage, table, "z")
        assert(keys(table) === next + "z", s"room for $room")
        requireNothingOfWrites(table, s"room for $room")
      }
      assert(told === Set("WriteFailed", "WriteUnknown"))
    }

  for (version <- TableFormats.written)
    test(s"version $version: a writer that may be alive is a conflict, and so is stock's") {
      val table = newTable(version)
      val open = OpenWrite.begin(IndexerSuite.accessOf(LocalStorage), table, slow)
      val alive = intercept[WriteConflict](OpenWrite.begin(IndexerSuite.accessOf(LocalStorage), table, slow))
      assert(alive.getMessage.contains(open.instant) && alive.getMessage.contains("write again"))
      open.abandon()
      val requested = s"${open.table.timeline.dir}/20200101000000000.deltacommit.requested"
      LocalStorage.publish(requested, Array.emptyByteArray)
      val stocks = intercept[WriteConflict](OpenWrite.begin(IndexerSuite.accessOf(LocalStorage), table, quick))
      assert(stocks.getMessage.contains("stock Hudi rolls it back"))
      LocalStorage.delete(requested)
      write(LocalStorage, table, "a")
      assert(keys(table) === Set("a"))
    }

  for (version <- TableFormats.written)
    test(s"version $version: a write whose completion has no answer, or is sent twice, is complete") {
      val answers = Vector[Boolean => Boolean](_ => throw new IOException("no answer"), _ => false)
      answers.foreach { answer =>
        val table = newTable(version)
        write(publishing("""\.deltacommit$""", (_, done) => answer(done())), table, "a", slow)
        assert(keys(table) === Set("a"))
        write(LocalStorage, table, "b", slow)
        assert(keys(table) === Set("a", "b"))
      }
    }

  test(
    "a write that fails in a part of it is taken back at once; one that is decided is completed by the next writer"
  ) {
    val table = newTable(9)
    val open = OpenWrite.begin(IndexerSuite.accessOf(LocalStorage), table, slow)
    intercept[IllegalStateException](open.abortOnFailure(throw new IllegalStateException("for one reason or another")))
    write(LocalStorage, table, "a", slow)
    val refused = publishing("""\.deltacommit$""", (_, _) => throw new IOException("refused"))
    intercept[WriteUnknown](write(refused, table, "b", quick))
    Thread.sleep(3)
    assert(keys(table) === Set("a"))
    write(LocalStorage, table, "c")
    assert(keys(table) === Set("a", "b", "c"))
  }

  for (version <- TableFormats.written)
    test(s"version $version: a write that may be visible is not taken back, though the store tells nothing of it") {
      val table = newTable(version)
      val silent = new PassingStorage(LocalStorage) {
        private def isCompletion(path: String) = path.endsWith(".deltacommit")
        override def readAll(path: String): Array[Byte] =
          if (isCompletion(path)) throw new IOException("no answer") else super.readAll(path)
        override def publish(path: String, content: Array[Byte]): Boolean = {
          val isDone = super.publish(path, content)
          if (isCompletion(path)) throw new IOException("no answer")
          isDone
        }
      }
      intercept[WriteUnknown](write(silent, table, "a"))
      assert(keys(table) === Set("a"))
      Thread.sleep(3)
      write(LocalStorage, table, "b")
      assert(keys(table) === Set("a", "b"))
    }

  for (version <- TableFormats.written)
    test(
      s"version $version: a writer that is taken for dead when its write is decided is told that it is complete, once it is"
    ) {
      val table = newTable(version)
      write(LocalStorage, table, "a")
      val late = publishing(
        """\.deltacommit$""",
        (_, publish) => {
          Thread.sleep(3)
          write(LocalStorage, table, "b")
          publish()
        }
      )
      write(late, table, "c", slow)
      assert(keys(table) === Set("a", "b", "c"))
      Thread.sleep(3)
      write(LocalStorage, table, "d")
      assert(keys(table) === Set("a", "b", "c", "d"))
      assert(Fixtures.filesBelow(table).count(_.contains(".log.")) === 4)
    }

  for (version <- TableFormats.written)
    test(
      s"version $version: a store that does not say whether a complete write was rolled back is an error, and the write stays"
    ) {
      val table = newTable(version)
      var isComplete = false
      val silent = new PassingStorage(LocalStorage) {
        override def publish(path: String, content: Array[Byte]): Boolean = {
          val isDone = super.publish(path, content)
          isComplete = isComplete || path.endsWith(".deltacommit")
          isDone
        }
        override def status(path: String): Option[FileInfo] =
          if (isComplete && path.endsWith(".inflight")) throw new IOException("no answer") else super.status(path)
      }
      val told = intercept[WriteUnknown](write(silent, table, "a"))
      assert(told.getMessage.contains("does not say whether") && told.getMessage.contains("before you write it again"))
      assert(keys(table) === Set("a"))
      Thread.sleep(3)
      write(LocalStorage, table, "b")
      assert(keys(table) === Set("a", "b"))
    }

  for (version <- TableFormats.written)
    test(s"version $version: a write of an earlier build, which kept no records, is taken back when it is silent") {
      val table = newTable(version)
      write(LocalStorage, table, "a")
      val dir = OpenWrite.begin(IndexerSuite.accessOf(LocalStorage), table, slow)
      val timeline = dir.table.timeline.dir
      dir.abandon()
      val earlier = s"$timeline/20200101000000000.deltacommit.requested"
      LocalStorage.publish(earlier, Array.emptyByteArray)
      LocalStorage.publish(s"$table/.hoodie/.heartbeat/20200101000000000", "0123456789abcdef".getBytes)
      assert(intercept[WriteConflict](write(LocalStorage, table, "b", slow)).getMessage.contains("was alive"))
      Thread.sleep(3)
      write(LocalStorage, table, "b")
      assert(keys(table) === Set("a", "b") && LocalStorage.status(earlier).isEmpty)
      assert(LocalStorage.list(s"$table/.hoodie/.heartbeat").isEmpty)
    }

  test("a writer whose instant another one has leaves that one alone") {
    val table = newTable(9)
    var taken = ""
    val late = publishing(
      """\.requested$""",
      (path, publish) => {
        taken = path
        LocalStorage.publish(path, Array.emptyByteArray) && publish()
      }
    )
    intercept[WriteConflict](OpenWrite.begin(IndexerSuite.accessOf(late), table, slow))
    assert(LocalStorage.status(taken).isDefined)
  }

  for (version <- TableFormats.written; (how, end) <- ends)
    test(s"version $version: a file of a task that outlives its write, $how, goes again") {
      val table = newTable(version)
      val open = OpenWrite.begin(IndexerSuite.accessOf(LocalStorage), table, slow)
      open.start()
      open.markers.write(open.writer, "p", FileName.render("kept-0", open.instant, "0-1-1", FileKind.Log, 1))(_ => ())
      intercept[WriteConflict](open.markers.write(open.writer, "p", "late.parquet") { out =>
        out.write(1)
        end(open)
      })
      intercept[WriteConflict](open.markers.write(open.writer, "p", "later.parquet")(_ => ()))
      // A task that is stopped ends in the midst of its file.
      intercept[IllegalStateException](
        open.markers.write(open.writer, "p", "late-and-stopped.parquet")(_ =>
          throw new IllegalStateException("stopped")
        )
      )
      val left = Fixtures.filesBelow(table)
      assert(left.filter(f => f.contains("late") || f.contains("/.temp/") || f.contains("/.heartbeat/")).isEmpty, how)
      assert(LocalStorage.list(s"$table/.hoodie/.temp").isEmpty, how)
      write(LocalStorage, table, "a", slow)
      assert(keys(table) === Set("a"))
    }

  for (version <- TableFormats.written)
    test(s"version $version: who listed an overwrite that was taken back since reads on") {
      val table = newTable(version)
      write(LocalStorage, table, "a", slow)
      val open = OpenWrite.begin(IndexerSuite.accessOf(LocalStorage), table, slow, kind = WriteKind.Replace)
      val listed = TableContext.load(IndexerSuite.accessOf(LocalStorage), table)
      open.abandon()
      val view = TableSnapshot.of(listed, IndexOptions(enabled = false)).view
      assert(view.partitions.flatMap(p => view.latestFileSlices(p)).size === 1)
    }

  for (version <- TableFormats.written)
    test(s"version $version: the next writer takes back a request that came after its writer's records were removed") {
      val table = newTable(version)
      val open = OpenWrite.begin(IndexerSuite.accessOf(LocalStorage), table, slow)
      val (epochs, heartbeats) = (new Epochs(LocalStorage, table), new Heartbeats(LocalStorage, table))
      open.stop()
      epochs.remove(open.instant, Vector(1))
      // Its writer found that out, and the store did not let it remove what it had put.
      assert(epochs.publish(open.instant, 2, Epoch.Over(open.writer)))
      heartbeats.stop(open.instant)
      Thread.sleep(2)
      write(LocalStorage, table, "next", LateWriteSuite.silentAtOnce)
      assert(keys(table) === Set("next"))
      assert(heartbeats.all === Vector.empty)
    }

  test("a write that somebody rolled back does not complete") {
    val table = newTable(9)
    val open = OpenWrite.begin(IndexerSuite.accessOf(LocalStorage), table, slow)
    open.start()
    LocalStorage.delete(s"${open.table.timeline.dir}/${open.instant}.deltacommit.inflight")
    intercept[WriteConflict](open.complete(CompletedWrite("UPSERT", schema.toString, Vector.empty)))
    assert(keys(table) === Set.empty)
  }
}

private[hudiidx] object WriteStepsSuite {
  val slow: HeartbeatOptions = HeartbeatOptions()
  val quick: HeartbeatOptions = HeartbeatOptions(intervalMillis = 1, misses = 1)

  val jobs: Vector[(String, (Storage, String) => Unit)] = Vector(
    "a write" -> (write(_, _, "b", slow)),
    "an overwrite" -> (overwrite(_, _, "b", slow)),
    "a making anew" -> (remake(_, _, "b", slow))
  )

  /** How a write may end. */
  val ends: Vector[(String, OpenWrite => Unit)] = Vector(
    "complete" -> (_.complete(CompletedWrite("UPSERT", schema.toString, Vector.empty))),
    "taken back" -> (_.abandon())
  )

  val schema: Schema = {
    val text = Schema.createUnion(Schema.create(Schema.Type.NULL), Schema.create(Schema.Type.STRING))
    hudiidx.table.TableSchema.MetaColumns
      .foldLeft(SchemaBuilder.record("t_record").fields())((all, n) => all.name(n).`type`(text).withDefault(null))
      .endRecord()
  }

  def newTable(version: Int): String =
    newTable(version, LocalStorage, Fixtures.newFolder("written").resolve("t").toString)

  def newTable(version: Int, storage: Storage, path: String): String = {
    val made = NewTable(
      "t",
      "",
      TableFormats.of(version),
      Vector("k"),
      Vector("p"),
      None,
      KeyGenerator.Simple,
      false,
      false,
      false
    )
    require(made.create(storage, path))
    path
  }

  /** Files whose path has this in it are published as told. */
  def publishing(which: String, how: (String, () => Boolean) => Boolean): Storage = new PassingStorage(LocalStorage) {
    override def publish(path: String, content: Array[Byte]): Boolean =
      if (which.r.findFirstIn(path).isDefined) how(path, () => super.publish(path, content))
      else super.publish(path, content)
  }

  /** Does something until the process dies; what is left undone behind its end is no error. */
  def dying(step: Int, fault: Fault)(work: Storage => Any): Unit = {
    val storage = new FaultyStorage(LocalStorage, step, fault)
    try work(storage): Unit
    catch { case _: Exception => () }
    require(storage.hasFailed)
  }

  /** One record, in a file group of its own. */
  def write(storage: Storage, table: String, key: String, beats: HeartbeatOptions = quick): Unit = {
    val open = OpenWrite.begin(IndexerSuite.accessOf(storage), table, beats)
    val file = open.abortOnFailure {
      open.start()
      PartitionMetafile.ensure(storage, table, "p", open.instant)
      val fileId = s"${java.util.UUID.randomUUID}-0"
      logFile(open, fileId, FileName.render(fileId, open.instant, "0-1-2", FileKind.Log, 1), key)
    }
    open.complete(CompletedWrite("UPSERT", schema.toString, Vector(file)))
  }

  /** One record in the place of all. */
  def overwrite(storage: Storage, table: String, key: String, beats: HeartbeatOptions = quick): Unit = {
    val open = OpenWrite.begin(IndexerSuite.accessOf(storage), table, beats, kind = WriteKind.Replace)
    val view = TableSnapshot.of(open.table, IndexOptions(enabled = false)).view
    val ids = view.partitions.map(p => p -> view.latestFileSlices(p).map(_.fileId)).filter(_._2.nonEmpty).toMap
    val file = open.abortOnFailure {
      open.start()
      PartitionMetafile.ensure(storage, table, "p", open.instant)
      val fileId = s"${java.util.UUID.randomUUID}-0"
      logFile(open, fileId, FileName.render(fileId, open.instant, "0-1-2", FileKind.Log, 1), key)
    }
    val replaced = Some(ReplacedGroups(None, ids))
    open.complete(CompletedWrite("INSERT_OVERWRITE_TABLE", schema.toString, Vector(file), replaced = replaced))
  }

  def keyFields(table: String): Vector[String] =
    hudiidx.table.TableConfig.read(LocalStorage, table).recordKeyFields

  /** Another table in the place of this one, with one record. */
  def remake(storage: Storage, table: String, key: String, beats: HeartbeatOptions = quick): Unit = {
    val open = OpenWrite.begin(IndexerSuite.accessOf(storage), table, beats, kind = WriteKind.Replace)
    val (replaced, file) = open.abortOnFailure {
      val all = RemadeTable.allGroups(storage, table)
      open.start()
      PartitionMetafile.ensure(storage, table, "p", open.instant)
      val fileId = s"${java.util.UUID.randomUUID}-0"
      all -> logFile(open, fileId, FileName.render(fileId, open.instant, "0-1-2", FileKind.Log, 1), key)
    }
    val made =
      NewTable("t", "", TableFormat.V9, Vector("other"), Vector("p"), None, KeyGenerator.Simple, false, false, false)
    open.remake(
      CompletedWrite("INSERT_OVERWRITE_TABLE", schema.toString, Vector(file), replaced = Some(replaced)),
      made
    )
  }

  /** A log file of one record. */
  def logFile(open: OpenWrite, fileId: String, name: String, key: String): WrittenFile = {
    var size = 0L
    open.markers.write(open.writer, "p", name) { out =>
      val log = new LogFileWriter(out, name, "p", open.instant, schema.toString, EarlierFilters.None, 1 << 20)
      val record = new GenericData.Record(schema)
      record.put("_hoodie_record_key", key)
      val datum = LogBlocks.encode(schema, record)
      log.add(key.getBytes, key.length, datum, datum.length)
      log.finish()
      size = log.written
    }
    WrittenFile("p", fileId, name, 1, open.instant, "", Vector.empty, isNewGroup = true, size, 1, 0, 0)
  }

  /** Writes whose records say that they complete, and that may not be complete yet. */
  def decided(table: String): Vector[String] =
    new Heartbeats(LocalStorage, table).all
      .filter { b =>
        b.last > 1 && new Epochs(LocalStorage, table).read(b.instant, b.last).exists(_.isInstanceOf[Epoch.Decided])
      }
      .map(_.instant)

  /** The second of two who come later removes what tells of a write that ended before its request. */
  def requireNothingOfWrites(table: String, clue: String): Unit = {
    Thread.sleep(3)
    OpenWrite.begin(IndexerSuite.accessOf(LocalStorage), table, quick).abandon()
    val left = Fixtures.filesBelow(table).filter(f => f.contains("/.temp/") || f.contains("/.heartbeat/"))
    require(left.isEmpty, s"$clue: $left")
  }

  /** Keys that a reader sees. */
  def keys(table: String, storage: Storage = LocalStorage): Set[String] = {
    val access = IndexerSuite.accessOf(storage)
    val snapshot = TableSnapshot.of(TableContext.load(access, table), IndexOptions(enabled = false))
    val rules = BlockRules(snapshot.config.format, None, snapshot.viewTimeline.isCommitted)
    val found = for {
      partition <- snapshot.view.partitions
      slice <- snapshot.view.latestMergedFileSlices(partition)
      counted <- SliceLog.countedBlocks(storage, slice.logFiles.map(l => s"$table/p/${l.fileName}"), rules)
      key <- keysOf(counted, storage)
    } yield key
    found.toSet
  }

  def keysOf(counted: CountedBlock, storage: Storage): Vector[String] = LogFiles.using(counted.file, storage) {
    reader =>
      val records = new AvroRecords(reader, counted.block)
      val found = Vector.newBuilder[String]
      while (records.next()) {
        val in = records.cursor
        val bytes = in.bytes.slice(in.position, in.position + records.length)
        val decoder = org.apache.avro.io.DecoderFactory.get.binaryDecoder(bytes, null)
        val record = new org.apache.avro.generic.GenericDatumReader[GenericData.Record](schema).read(null, decoder)
        found += record.get("_hoodie_record_key").toString
      }
      found.result()
  }
}
