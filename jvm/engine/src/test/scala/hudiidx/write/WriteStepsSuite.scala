package hudiidx.write

import hudiidx.write.format.{
  CompletedWrite,
  EarlierFilters,
  LogFileWriter,
  PartitionMetafile,
  ReplacedGroups,
  WrittenFile
}
import hudiidx.{Fixtures, TableFormat, TableFormats}
import hudiidx.log._
import hudiidx.storage._
import hudiidx.sync.{IndexOptions, IndexerSuite, TableContext, TableSnapshot}
import hudiidx.table.{FileKind, FileName, KeyGenerator}
import org.apache.avro.generic.GenericData
import org.apache.avro.{Schema, SchemaBuilder}
import org.scalatest.funsuite.AnyFunSuite

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
    "rolled back" -> (_.abandon())
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
      PartitionMetafile.ensure(storage, table, open.table.config, "p", open.instant)
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
      PartitionMetafile.ensure(storage, table, open.table.config, "p", open.instant)
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
      PartitionMetafile.ensure(storage, table, open.table.config, "p", open.instant)
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
