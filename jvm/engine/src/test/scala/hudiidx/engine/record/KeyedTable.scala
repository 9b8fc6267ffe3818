package hudiidx.engine.record

import com.fasterxml.jackson.databind.ObjectMapper
import com.fasterxml.jackson.databind.node.ObjectNode
import hudiidx.Fixtures
import hudiidx.parquet.CommitDay
import hudiidx.parquet.{ParquetLayout, ParquetTables}
import hudiidx.log.{LogBlocks, LogHeaderKey}
import hudiidx.record.RecordLocation
import java.nio.file.{Files, Path}
import java.time.LocalDate
import java.time.format.DateTimeFormatter
import java.util.UUID
import org.apache.avro.{Schema, SchemaBuilder}
import org.apache.avro.generic.{GenericData, GenericRecord}
import org.apache.parquet.column.ParquetProperties.WriterVersion
import org.apache.parquet.example.data.Group
import org.apache.parquet.hadoop.metadata.CompressionCodecName
import scala.util.Random

/** What a write does to one file group.
  *
  *  @param group   place among the live groups of the partition; -1, or any number where there is none, makes a new one
  *  @param log     the changes go to a log file, if the group is there
  *  @param deletes so many of its keys, the first ones
  *  @param updates so many of the others, the last ones
  */
final case class KeyWrite(
    partition: String,
    group: Int,
    log: Boolean,
    inserts: Vector[String],
    deletes: Int,
    updates: Int = 0
)

/** A merge-on-read table of version 9 with real base and log files, written action by action as stock Hudi writes it, and what
  * keys it holds. Instants are JSON, which readers take.
  *
  * @param more so many columns of whole numbers in base files, `c0` and on
  * @param ids  of file groups: those of one seed are the same each time
  */
final class KeyedTable(val dir: Path = Fixtures.newFolder("keyed"), more: Int = 0, ids: Random = new Random) {
  import KeyedTable._

  private val json = new ObjectMapper
  private val timeline = Files.createDirectories(dir.resolve(".hoodie/timeline"))
  private var clock = 20260101000000000L
  private var newest = ""
  private var groups = Map.empty[(String, String), KeyGroup]

  /** Completed writes that a rollback can undo: requested time, action, files written, the groups before. */
  private var undo = Vector.empty[(String, String, Vector[Written], Map[(String, String), KeyGroup])]
  Files.writeString(dir.resolve(".hoodie/hoodie.properties"), Properties)

  def path: String = dir.toString

  /** Every key's locations. */
  def truth: Set[RecordLocation] = groups.iterator.flatMap { case ((partition, id), g) =>
    g.keys.map(RecordLocation(_, partition, id, g.base))
  }.toSet

  /** Of the records committed in so many days before the newest instant. */
  def truthOf(days: Int): Set[RecordLocation] = {
    val first = CommitDay.of(newest) - days
    groups.iterator.flatMap { case ((partition, id), g) =>
      g.rows.filter(r => CommitDay.of(r._2) >= first).map(r => RecordLocation(r._1, partition, id, g.base))
    }.toSet
  }

  /** Lets days pass. */
  def sleep(days: Int): Unit = if (days > 0) {
    val day = LocalDate.ofEpochDay(CommitDay.of(clock.toString).toLong + days)
    clock = day.format(DateTimeFormatter.BASIC_ISO_DATE).toLong * 1000000000L
  }

  /** The table as it is in a copy of its folder. */
  def copiedTo(path: String): KeyedTable = {
    val copied = new KeyedTable(java.nio.file.Paths.get(path))
    copied.clock = clock
    copied.newest = newest
    copied.groups = groups
    copied
  }

  /** All keys, those of replaced groups not among them. */
  def keys: Vector[String] = groups.values.flatMap(_.keys).toVector.distinct.sorted

  def groupCount: Int = groups.size

  def write(plan: Seq[KeyWrite]): Unit = {
    val before = groups
    val instant = begin("deltacommit")
    val targets = plan.map(w => (w.partition, pick(w)) -> w)
    val written = targets.toVector.flatMap { case ((_, id), w) =>
      // A group is written once.
      if (id.isDefined && targets.find(_._1 == (w.partition -> id)).exists(_._2 ne w)) None
      else writeGroup(instant, w, id)
    }
    complete(instant, "deltacommit", body(written, "UPSERT"))
    undo :+= ((instant, "deltacommit", written, before))
  }

  private def newGroup(): String = s"${new UUID(ids.nextLong(), ids.nextLong())}-0"

  private def live(partition: String): Vector[String] = groups.keys.filter(_._1 == partition).map(_._2).toVector.sorted

  private def pick(w: KeyWrite): Option[String] = {
    val there = live(w.partition)
    if (w.group < 0 || there.isEmpty) None else Some(there(w.group % there.size))
  }

  private def writeGroup(instant: String, w: KeyWrite, target: Option[String]): Option[Written] = target match {
    case None if w.inserts.isEmpty => None
    case None                      =>
      Some(writeBase(instant, w.partition, newGroup(), None, Change(w.inserts.distinct)))
    case Some(id) =>
      val old = groups(w.partition -> id)
      val deleted = old.keys.take(w.deletes).toSet
      val inserted = w.inserts.distinct.filterNot(old.keys.contains)
      val change = Change(inserted, deleted, old.keys.drop(w.deletes).takeRight(w.updates).toSet)
      if (w.log || old.hasLogs) Some(writeLog(instant, w.partition, id, old, change))
      else Some(writeBase(instant, w.partition, id, Some(old), change))
  }

  private def writeBase(
      instant: String,
      partition: String,
      id: String,
      old: Option[KeyGroup],
      change: Change
  ): Written = {
    val rows = change.of(old.fold(Vector.empty[(String, String)])(_.rows), instant)
    val name = s"${id}_0-1-2_$instant.parquet"
    val file = folder(partition).resolve(name)
    ParquetTables.writeTo(file.toString, schemaOf(more), Layout, rows.map { case (key, time) => rowOf(key, time) _ })
    groups += (partition, id) -> KeyGroup(instant, rows, hasLogs = false)
    Written(partition, id, name, old.map(_.base), change, Files.size(file))
  }

  private def rowOf(key: String, time: String)(row: Group): Unit = {
    row.add("_hoodie_commit_time", time)
    row.add("_hoodie_record_key", key)
    (0 until more).foreach(c => row.add(s"c$c", key.hashCode / 1000 + c))
  }

  private def writeLog(
      instant: String,
      partition: String,
      id: String,
      old: KeyGroup,
      change: Change
  ): Written = {
    val header = Seq(LogHeaderKey.InstantTime -> instant)
    val records = (change.inserts ++ change.updates).map { key =>
      val r = new GenericData.Record(AvroSchema)
      r.put("_hoodie_commit_time", instant)
      r.put("_hoodie_record_key", key)
      r: GenericRecord
    }
    val blocks = (if (records.isEmpty) Vector.empty else Vector(LogBlocks.avro(header, AvroSchema, records))) ++
      (if (change.deletes.isEmpty) Vector.empty
       else Vector(LogBlocks.deletes(header, change.deletes.toVector.map(_ -> None))))
    val name = s".${id}_$instant.log.1_0-1-2"
    val file = folder(partition).resolve(name)
    Files.write(file, blocks.fold(Array.emptyByteArray)(_ ++ _))
    groups += (partition, id) -> KeyGroup(old.base, change.of(old.rows, instant), hasLogs = true)
    Written(partition, id, name, Some(old.base), change, Files.size(file))
  }

  /** Writes base files for groups with logs. */
  def compact(): Unit = {
    val due = groups.filter(_._2.hasLogs).toVector.sortBy(_._1)
    if (due.nonEmpty) {
      val instant = begin("compaction")
      val written = due.map { case ((p, id), g) => writeBase(instant, p, id, Some(g), Change()) }
      complete(instant, "commit", body(written, "COMPACT"))
      undo = Vector.empty
    }
  }

  /** insert_overwrite of a partition: one new group takes the place of all. */
  def replace(partition: String, keys: Vector[String]): Unit = {
    val before = groups
    val gone = live(partition)
    if (gone.nonEmpty && keys.nonEmpty) {
      val instant = begin("replacecommit")
      gone.foreach(id => groups -= partition -> id)
      val id = newGroup()
      val written = Vector(writeBase(instant, partition, id, None, Change(keys.distinct)))
      val content = body(written, "INSERT_OVERWRITE")
      val replaced = content.putObject("partitionToReplaceFileIds").putArray(partition)
      gone.foreach(replaced.add(_))
      complete(instant, "replacecommit", content)
      undo :+= ((instant, "replacecommit", written, before))
    }
  }

  /** Undoes the newest write, if it can be. */
  def rollback(): Unit = undo.lastOption.foreach { case (instant, action, written, before) =>
    undo = undo.init
    val at = begin("rollback")
    val content = json.createObjectNode()
    content.putArray("commitsRollback").add(instant)
    val partitions = content.putObject("partitionMetadata")
    written.groupBy(_.partition).foreach { case (p, files) =>
      val deleted = partitions.putObject(p).putArray("successDeleteFiles")
      files.foreach { f =>
        deleted.add(f.name)
        Files.delete(folder(p).resolve(f.name))
      }
    }
    timeline.toFile.listFiles
      .filter(f => f.getName.startsWith(instant) && f.getName.contains(action))
      .foreach(_.delete())
    complete(at, "rollback", content)
    groups = before
  }

  private def folder(partition: String): Path = {
    val made = Files.createDirectories(dir.resolve(partition))
    val meta = made.resolve(".hoodie_partition_metadata")
    if (!Files.exists(meta)) Files.writeString(meta, "commitTime=20260101000000000\npartitionDepth=1\n")
    made
  }

  private def tick(): String = {
    clock += 1000
    clock.toString
  }

  private def begin(action: String): String = {
    val instant = tick()
    Files.createFile(timeline.resolve(s"$instant.$action.requested"))
    Files.createFile(timeline.resolve(s"$instant.$action.inflight"))
    instant
  }

  private def complete(instant: String, action: String, content: ObjectNode): Unit = {
    newest = instant
    Files.writeString(timeline.resolve(s"${instant}_${tick()}.$action"), json.writeValueAsString(content)): Unit
  }

  private def body(written: Vector[Written], operation: String): ObjectNode = {
    val root = json.createObjectNode().put("operationType", operation)
    // Stock Hudi writes the columns that are not its own.
    if (more > 0) root.putObject("extraMetadata").put("schema", columnsOf(more).toString): Unit
    val partitions = root.putObject("partitionToWriteStats")
    written.groupBy(_.partition).foreach { case (p, files) =>
      val stats = partitions.putArray(p)
      files.foreach { w =>
        stats
          .addObject()
          .put("fileId", w.id)
          .put("path", s"$p/${w.name}")
          .put("prevCommit", w.previous.getOrElse("null"))
          .put("fileSizeInBytes", w.size)
          .put("numInserts", w.change.inserts.size)
          .put("numUpdateWrites", w.change.updates.size)
          .put("numDeletes", w.change.deletes.size)
      }
    }
    root
  }
}

/** What becomes of a group's rows. */
private[record] final case class Change(
    inserts: Vector[String] = Vector.empty,
    deletes: Set[String] = Set.empty,
    updates: Set[String] = Set.empty
) {
  def of(rows: Vector[(String, String)], instant: String): Vector[(String, String)] =
    rows.filterNot(r => deletes(r._1)).map(r => if (updates(r._1)) r._1 -> instant else r) ++ inserts.map(_ -> instant)
}

private[record] final case class KeyGroup(base: String, rows: Vector[(String, String)], hasLogs: Boolean) {
  def keys: Vector[String] = rows.map(_._1)
}

private[record] final case class Written(
    partition: String,
    id: String,
    name: String,
    previous: Option[String],
    change: Change,
    size: Long
)

object KeyedTable {
  private val Properties =
    """hoodie.table.name=keyed
      |hoodie.table.type=MERGE_ON_READ
      |hoodie.table.version=9
      |hoodie.timeline.layout.version=2
      |hoodie.table.timeline.timezone=UTC
      |hoodie.table.partition.fields=p
      |hoodie.table.recordkey.fields=id
      |hoodie.record.merge.mode=COMMIT_TIME_ORDERING
      |""".stripMargin

  /** Of a base file of such records, and so many columns more. */
  private[record] def schemaOf(more: Int): String = (0 until more)
    .map(c => s"required int32 c$c; ")
    .mkString(
      "message m { required binary _hoodie_commit_time (UTF8); required binary _hoodie_record_key (UTF8); ",
      "",
      "}"
    )

  private def columnsOf(more: Int): Schema =
    (0 until more).foldLeft(SchemaBuilder.record("r").fields())((f, c) => f.requiredInt(s"c$c")).endRecord()

  /** Of a record with nothing but what Hudi adds. */
  private[record] val AvroSchema =
    SchemaBuilder
      .record("r")
      .fields()
      .requiredString("_hoodie_commit_time")
      .requiredString("_hoodie_record_key")
      .endRecord()
  private val Layout =
    ParquetLayout(CompressionCodecName.UNCOMPRESSED, WriterVersion.PARQUET_1_0, dictionary = true, 1 << 16, 1 << 20)

  /** A table that is there, to be written on from the day after; it does not know what keys are in it. */
  def reopened(path: String): KeyedTable = {
    val table = new KeyedTable(java.nio.file.Paths.get(path))
    table.sleep(1)
    table
  }

  def uuid(n: Int): String = new UUID(n * 0x9e3779b97f4a7c15L, n * 0xc2b2ae3d27d4eb4fL).toString
}
