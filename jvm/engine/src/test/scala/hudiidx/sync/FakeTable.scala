package hudiidx.sync

import com.fasterxml.jackson.databind.ObjectMapper
import com.fasterxml.jackson.databind.node.ObjectNode
import hudiidx.storage.LocalStorage
import hudiidx.timeline.{ArchivedInstant, InstantContent, TimelineReader}
import java.nio.file.{Files, Path, StandardCopyOption}
import java.time.ZoneOffset
import java.util.UUID
import scala.collection.mutable

/** A table whose timeline and files are written action by action as stock Hudi writes them, with files that hold zeros.
  *  Instant files are JSON, which readers take on every version. Log files of version 6 bear their slice's base instant and
  *  those of version 9 their own.
  */
final class FakeTable(val dir: Path, val version: Int) {
  private val json = new ObjectMapper()
  private val layout = if (version == 6) 1 else 2
  private val hoodie = dir.resolve(".hoodie")
  private val timeline = if (layout == 1) hoodie else hoodie.resolve("timeline")
  private var clock = 20260101000000000L

  /** What the table holds, the test's own truth: partition -> file name -> size. */
  val files: mutable.Map[String, mutable.Map[String, Int]] = mutable.Map.empty

  /** Completed writes that can still be rolled back, newest last: (instant, action, files written). */
  private val writes = mutable.ArrayBuffer.empty[(String, String, Vector[(String, String)])]
  private val pendingWrites = mutable.ArrayBuffer.empty[(String, Vector[(String, String, Int)])]
  private val replacedBy = mutable.Map.empty[String, Vector[(String, String)]]

  Files.createDirectories(timeline)
  Files.writeString(
    hoodie.resolve("hoodie.properties"),
    s"""hoodie.table.name=fake
       |hoodie.table.type=MERGE_ON_READ
       |hoodie.table.version=$version
       |hoodie.timeline.layout.version=$layout
       |hoodie.table.partition.fields=p
       |""".stripMargin
  )

  def path: String = dir.toString

  def tick(): String = {
    clock += 1000
    clock.toString
  }

  /** A deltacommit that writes new file groups, new versions of groups, or log files to them; completed or left inflight. */
  def write(plan: Seq[FakeWrite], complete: Boolean): String = writeAt(tick(), plan, complete)

  /** The same by a writer that has taken its time before, as those of Hudi before 1.1 may. */
  def writeAt(instant: String, plan: Seq[FakeWrite], complete: Boolean): String = {
    begin(instant, "deltacommit")
    val written = plan.flatMap(w => writeFile(instant, w)).toVector.distinct
    if (complete) finish(instant, written) else pendingWrites += instant -> written
    instant
  }

  /** Completes the oldest pending write, if there is one. */
  def completePending(): Unit = if (pendingWrites.nonEmpty) {
    val (instant, written) = pendingWrites.remove(0)
    finish(instant, written)
  }

  /** insert_overwrite: new groups replace those picked, and some that were replaced already, as that of a client does which
    * read the table before another one's.
    */
  def replace(partition: String, pick: Int): Unit = liveGroups(partition) match {
    case Vector() => ()
    case groups   =>
      val instant = tick()
      begin(instant, "replacecommit")
      val again = replacedBy.values.flatten.collect { case (`partition`, g) => g }.toVector.distinct.sorted
      val gone = (groups ++ again).zipWithIndex.collect { case (g, i) if (i + pick) % 2 == 0 => g }
      val written = writeFile(instant, FakeWrite(partition, -1, isLog = false, 100)).toVector
      val body = commitJson(written)
      val replaced = body.putObject("partitionToReplaceFileIds").putArray(partition)
      gone.foreach(g => replaced.add(g))
      complete(instant, "replacecommit", body)
      publish(written)
      writes += ((instant, "replacecommit", written.map(w => w._1 -> w._2)))
      replacedBy(instant) = gone.map(partition -> _)
  }

  /** Removes base files that newer ones of their group have superseded, and whole replaced groups. Stock keeps all that came
    * after the first pending write, so here nothing is cleaned while there is one.
    */
  def clean(): Unit = if (pendingWrites.isEmpty) {
    clean(superseded)
    writes.clear() // stock keeps what may be rolled back from being cleaned
  }

  /** The same of replaced groups alone, as stock's cleaning by versions, which asks for no pending write. */
  def cleanReplaced(): Unit =
    clean((p, names) => names.filter(n => isReplaced(p, n.stripPrefix(".").takeWhile(_ != '_'))))

  private def clean(old: (String, Vector[String]) => Vector[String]): Unit = {
    val instant = tick()
    begin(instant, "clean")
    val body = json.createObjectNode()
    val partitions = body.putObject("partitionMetadata")
    files.foreach { case (p, names) =>
      val removed = old(p, names.keys.toVector)
      if (removed.nonEmpty) {
        val cleaned = partitions.putObject(p)
        val patterns = cleaned.putArray("deletePathPatterns")
        cleaned.put("isPartitionDeleted", false)
        removed.foreach { n =>
          patterns.add(n)
          names -= n
          Files.delete(dir.resolve(p).resolve(n))
        }
      }
    }
    complete(instant, "clean", body)
  }

  /** Rolls back the newest completed write, or a pending one. On version 6 logs stay, and a command block's file is added. */
  def rollback(ofPending: Boolean): Unit =
    if (ofPending && pendingWrites.nonEmpty) {
      val (instant, written) = pendingWrites.remove(pendingWrites.size - 1)
      rollBack(instant, "deltacommit", written.map(w => w._1 -> w._2), tick())
    } else if (!ofPending && writes.nonEmpty && pendingWrites.forall(_._1 < writes.last._1)) {
      // Stock refuses to roll back a write while a later one is pending.
      val (instant, action, written) = writes.remove(writes.size - 1)
      rollBack(instant, action, written, tick())
    }

  private def rollBack(instant: String, action: String, written: Vector[(String, String)], at: String): Unit = {
    begin(at, "rollback")
    val body = rollbackJson(instant, written, at)
    takeOff(instant, action)
    complete(at, "rollback", body)
  }

  /** Restores to before the last `count` completed writes: they leave the timeline without rollback instants. Stock rolls
    * back what is pending first.
    *
    * @param removedBefore partitions whose files a run removed that failed, and of which this one says nothing
    */
  def restore(count: Int, removedBefore: Set[String] = Set.empty): Unit = {
    while (writes.nonEmpty && pendingWrites.nonEmpty) rollback(ofPending = true)
    val undone = writes.takeRight(count)
    if (undone.nonEmpty) {
      val at = tick()
      begin(at, "restore")
      val body = json.createObjectNode()
      val removed = body.putArray("instantsToRollback")
      val rollbacks = undone.reverse.zipWithIndex.map { case ((instant, action, written), i) =>
        removed.add(instant)
        val rollback = rollbackJson(instant, written, at).put("startRollbackTime", f"$at$i%02d")
        val named = rollback.get("partitionMetadata").asInstanceOf[ObjectNode]
        removedBefore.foreach(p => named.remove(p))
        takeOff(instant, action)
        instant -> rollback
      }
      // The order of a map of stock's has nothing to do with that of its rollbacks.
      val told = body.putObject("hoodieRestoreMetadata")
      rollbacks.sortBy { case (instant, _) => instant.hashCode * 31 % 7 }.foreach { case (instant, rollback) =>
        told.putArray(instant).add(rollback)
      }
      complete(at, "restore", body)
      writes.remove(writes.size - undone.size, undone.size)
    }
  }

  /** What it replaced is there again. */
  private def takeOff(instant: String, action: String): Unit = {
    instantFiles(instant, action).foreach(f => Files.delete(f))
    replacedBy.remove(instant): Unit
  }

  private def isReplaced(partition: String, fileId: String): Boolean =
    replacedBy.values.exists(_.contains(partition -> fileId))

  private def rollbackJson(instant: String, written: Vector[(String, String)], at: String): ObjectNode = {
    val body = json.createObjectNode()
    body.putArray("commitsRollback").add(instant)
    val partitions = body.putObject("partitionMetadata")
    written.groupBy(_._1).foreach { case (p, names) =>
      val node = partitions.putObject(p)
      val deleted = node.putArray("successDeleteFiles")
      val (kept, own) = names.map(_._2).partition(n => version == 6 && n.startsWith("."))
      // Version 6 also deletes the log files of slices that the rolled-back instant began.
      val onOwnSlices =
        files.getOrElse(p, Nil).map(_._1).filter(n => n.startsWith(".") && n.contains(s"_$instant.log."))
      (own ++ onOwnSlices).distinct.foreach { n =>
        deleted.add(s"file:/elsewhere/$p/$n")
        files.get(p).foreach(_ -= n)
        Files.deleteIfExists(dir.resolve(p).resolve(n))
      }
      val failed = node.putObject("logFilesFromFailedCommit")
      val commands = node.putObject("rollbackLogFiles")
      kept.foreach { n =>
        failed.put(n, 1)
        fileMap(p)(n) = Files.size(dir.resolve(p).resolve(n)).toInt
        val command = commandName(p, n)
        val block = FakeFiles.logBlock(at, 105)
        Files.write(dir.resolve(p).resolve(command), block)
        fileMap(p)(command) = block.length
        commands.put(command, block.length)
      }
    }
    body
  }

  private def commandName(p: String, logName: String): String = {
    val stem = logName.substring(0, logName.indexOf(".log."))
    val next = 1 + dir.resolve(p).toFile.list().filter(_.startsWith(stem + ".log.")).map(FakeFiles.logVersion).max
    s"$stem.log.${next}_1-0-1"
  }

  private def writeFile(instant: String, w: FakeWrite): Option[(String, String, Int)] = {
    val groups = liveGroups(w.partition)
    val folder = Files.createDirectories(dir.resolve(w.partition))
    val meta = folder.resolve(".hoodie_partition_metadata")
    if (!Files.exists(meta)) Files.writeString(meta, s"commitTime=$instant\npartitionDepth=1\n")
    val id = if (w.group < 0 || groups.isEmpty) UUID.randomUUID().toString + "-0" else groups(w.group % groups.size)
    val name =
      if (!w.isLog || w.group < 0 || groups.isEmpty) s"${id}_0-1-2_$instant.parquet"
      else if (version != 6) s".${id}_$instant.log.1_0-1-2"
      else {
        val base = newestBase(w.partition, id)
        val stem = s".${id}_$base"
        val used = folder.toFile.list().filter(_.startsWith(stem + ".log.")).map(FakeFiles.logVersion)
        s"$stem.log.${used.foldLeft(0)(_ max _) + 1}_0-1-2"
      }
    val file = folder.resolve(name)
    if (Files.exists(file)) None
    else {
      Files.write(file, if (name.startsWith(".")) FakeFiles.logBlock(instant, w.size) else new Array[Byte](w.size))
      Some((w.partition, name, Files.size(file).toInt))
    }
  }

  private def newestBase(p: String, id: String): String =
    files
      .getOrElse(p, Nil)
      .map(_._1)
      .filter(n => n.startsWith(id) && n.endsWith(".parquet"))
      .map(FakeFiles.instantOf)
      .max

  /** Groups with a committed base file that no replacement hit. */
  private def liveGroups(p: String): Vector[String] =
    files
      .getOrElse(p, Nil)
      .map(_._1)
      .filter(_.endsWith(".parquet"))
      .map(_.takeWhile(_ != '_'))
      .toVector
      .distinct
      .sorted
      .filterNot(g => isReplaced(p, g))

  private def superseded(p: String, names: Vector[String]): Vector[String] = {
    val bases = names.filter(_.endsWith(".parquet"))
    val newest = bases.groupBy(_.takeWhile(_ != '_')).map { case (id, ns) => id -> ns.map(FakeFiles.instantOf).max }
    names.filter { n =>
      val id = n.stripPrefix(".").takeWhile(_ != '_')
      isReplaced(p, id) || (n.endsWith(".parquet") && FakeFiles.instantOf(n) < newest(id) && !hasLogs(names, id))
    }
  }

  private def hasLogs(names: Vector[String], id: String): Boolean = names.exists(_.startsWith("." + id))

  private def finish(instant: String, written: Vector[(String, String, Int)]): Unit = {
    complete(instant, "deltacommit", commitJson(written))
    publish(written)
    writes += ((instant, "deltacommit", written.map(w => w._1 -> w._2)))
  }

  private def publish(written: Vector[(String, String, Int)]): Unit =
    written.foreach { case (p, n, size) => fileMap(p)(n) = size }

  private def fileMap(p: String): mutable.Map[String, Int] = files.getOrElseUpdate(p, mutable.Map.empty)

  private def commitJson(written: Vector[(String, String, Int)]): ObjectNode = {
    val body = json.createObjectNode()
    val partitions = body.putObject("partitionToWriteStats")
    written.groupBy(_._1).foreach { case (p, ws) =>
      val stats = partitions.putArray(p)
      ws.foreach { case (_, name, size) =>
        stats
          .addObject()
          .put("fileId", name.stripPrefix(".").takeWhile(_ != '_'))
          .put("path", s"$p/$name")
          .put("fileSizeInBytes", size)
          .put("numInserts", 1)
      }
    }
    body
  }

  private def begin(instant: String, action: String): Unit = {
    Files.createFile(timeline.resolve(s"$instant.$action.requested"))
    Files.createFile(timeline.resolve(s"$instant.$action.inflight"))
    ()
  }

  def complete(instant: String, action: String, body: ObjectNode): Unit = {
    val name = if (layout == 1) s"$instant.$action" else s"${instant}_${tick()}.$action"
    // Whole at once, as stock Hudi does it: a reader may be looking.
    val written = Files.writeString(hoodie.resolve(s"$name.tmp"), json.writeValueAsString(body))
    Files.move(written, timeline.resolve(name), StandardCopyOption.ATOMIC_MOVE): Unit
  }

  /** Instants that are no more on the active timeline, the oldest first. */
  val archived: mutable.ArrayBuffer[ArchivedInstant] = mutable.ArrayBuffer.empty

  def savepoint(instant: String): Unit = {
    begin(instant, "savepoint")
    complete(instant, "savepoint", json.createObjectNode())
  }

  /** Archives the oldest completed writes but so many, and those of savepoints, as stock Hudi may be told to. */
  def archive(left: Int): Unit = {
    val all = TimelineReader.read(LocalStorage, timeline.toString, layout, ZoneOffset.UTC, "timeline")
    val kept = all.instants.filter(_.action == "savepoint").map(_.requestedTime).toSet
    all.completedWrites.filterNot(i => kept(i.requestedTime)).dropRight(left).foreach { i =>
      val content = InstantContent.of(i.fileName, LocalStorage.readAll(s"$timeline/${i.fileName}"))
      archived += ArchivedInstant(i.requestedTime, i.completionTime, i.action, content)
      // What it replaced is there again for stock Hudi, where it is there.
      takeOff(i.requestedTime, i.action)
    }
  }

  def deleteSavepoint(instant: String): Unit = instantFiles(instant, "savepoint").foreach(f => Files.delete(f))

  private def instantFiles(instant: String, action: String): Vector[Path] =
    timeline.toFile
      .list()
      .toVector
      .filter(n =>
        n.startsWith(instant) && n.contains("." + action) && !n.contains("rollback") && !n.contains("restore")
      )
      .map(timeline.resolve)
}
