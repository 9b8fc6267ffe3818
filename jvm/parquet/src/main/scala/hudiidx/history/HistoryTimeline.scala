package hudiidx.history

import java.io.IOException
import java.nio.charset.StandardCharsets.UTF_8
import java.nio.file.NoSuchFileException

import scala.collection.concurrent.TrieMap

import com.fasterxml.jackson.databind.ObjectMapper
import hudiidx.{DamagedTable, NotAHudiTable, WholeNumber}
import hudiidx.storage.Storage
import hudiidx.timeline.{ArchivedInstant, InstantContent, TimelineHistory}

/** The archived timeline of layout 2: Parquet files named by a manifest in the history folder. Format notes §2.6.
  *  TableChanged if a file went away by compaction of the history since the manifest was read: make a new one.
  *
  *  @param namesAreBounds all instants of a file are between the two of its name; else each file is looked into
  */
final class HistoryTimeline(storage: Storage, historyDir: String, namesAreBounds: Boolean) extends TimelineHistory {
  import HistoryTimeline._

  private lazy val files: Vector[HistoryFile] = {
    val named = HistoryManifest.read(storage, historyDir)
    if (namesAreBounds) named else named.map(_.copy(first = Before, last = After))
  }

  private val keysByFile = TrieMap.empty[String, Vector[HistoryKey]]

  private def keys(file: HistoryFile): Vector[HistoryKey] = keysByFile.getOrElseUpdate(
    file.path, {
      val found = HistoryRows.keys(storage, file.path)
      found.find(k => k.requestedTime < file.first || k.requestedTime > file.last).foreach { k =>
        throw new DamagedTable(
          s"${file.path}: has instant ${k.requestedTime.take(40)}, which its name leaves out; restore the file from a backup"
        )
      }
      found
    }
  )

  /** Asked for each instant that files have in their names. */
  private val timesByFile = TrieMap.empty[String, Map[String, Option[String]]]

  /** Completion times by requested time, of the first row of each. */
  private def times(file: HistoryFile): Map[String, Option[String]] = timesByFile.getOrElseUpdate(
    file.path,
    keys(file).reverseIterator.map(k => k.requestedTime -> k.completionTime).toMap
  )

  override def completionTime(instantTime: String): Option[String] = {
    val found =
      files.iterator.filter(f => f.first <= instantTime && instantTime <= f.last).map(times(_).get(instantTime))
    found.collectFirst { case Some(time) => time }.flatten
  }

  override def instantsFrom(instantTime: String): Iterator[ArchivedInstant] = {
    val wanted = for {
      file <- files if file.last >= instantTime
      key <- keys(file) if key.requestedTime >= instantTime
    } yield (file.path, key)
    val cursors = scala.collection.mutable.HashMap.empty[String, HistoryRows.Cursor]
    val left = scala.collection.mutable.HashMap.empty[String, Int]
    wanted.foreach { case (path, _) => left(path) = left.getOrElse(path, 0) + 1 }
    wanted.sortBy { case (_, key) => (key.requestedTime, key.action) }.iterator.map { case (path, key) =>
      val cursor = cursors.getOrElseUpdate(path, new HistoryRows.Cursor(storage, path))
      val content = cursor.contentOf(key)
      left(path) -= 1
      if (left(path) == 0) cursor.close()
      val source = s"$path (archived ${key.requestedTime}.${key.action})"
      ArchivedInstant(key.requestedTime, key.completionTime, key.action, InstantContent.of(source, content))
    }
  }
}

private[hudiidx] object HistoryTimeline {

  /** All instants, which are digits, are between these. */
  private val Before = ""
  private val After = ":"

  /** @param first smallest requested time in the file, `last` the greatest */
  final case class HistoryFile(path: String, first: String, last: String)

  /** @param row number of the instant's row in its file */
  final case class HistoryKey(requestedTime: String, completionTime: Option[String], action: String, row: Long)
}

private[hudiidx] object HistoryManifest {
  private val FileName = """^(\d+)_(\d+)_\d+\.parquet$""".r
  private val ManifestName = """^manifest_(\d{1,18})$""".r
  private val mapper = new ObjectMapper

  /** The files that count, in the manifest's order. Without a manifest there are none. */
  def read(storage: Storage, dir: String): Vector[HistoryTimeline.HistoryFile] = {
    val current = versionFile(storage, dir).map(n => s"$dir/manifest_$n")
    current.flatMap(load(storage, _)).orElse(newest(storage, dir).flatMap(load(storage, _))) match {
      case None                   => Vector.empty
      case Some((manifest, json)) => decode(dir, manifest, json)
    }
  }

  private def versionFile(storage: Storage, dir: String): Option[Long] =
    readIfThere(storage, s"$dir/_version_").flatMap(b => WholeNumber.of(new String(b, UTF_8).trim, Long.MaxValue))

  /** The version file may lag or be cut while it is replaced. */
  private def newest(storage: Storage, dir: String): Option[String] = {
    val numbers = storage.list(dir).map(_.name).collect { case ManifestName(n) => n.toLong }
    if (numbers.isEmpty) None else Some(s"$dir/manifest_${numbers.max}")
  }

  private def load(storage: Storage, manifest: String): Option[(String, Array[Byte])] =
    readIfThere(storage, manifest).map(manifest -> _)

  private def readIfThere(storage: Storage, file: String): Option[Array[Byte]] =
    try Some(NotAHudiTable.reading(file)(storage.readAll(file)))
    catch { case _: NoSuchFileException => None }

  private def decode(dir: String, manifest: String, json: Array[Byte]): Vector[HistoryTimeline.HistoryFile] = {
    val root =
      try mapper.readTree(json)
      catch {
        case e: IOException => throw damaged(manifest, s"it is not JSON (${e.getMessage.takeWhile(_ != '\n')})", e)
      }
    val files = if (root == null) null else root.get("files")
    if (files == null || !files.isArray) throw damaged(manifest, "it has no list of files", null)
    val named = (0 until files.size).toVector.map { i =>
      files.get(i).path("fileName").asText match {
        case name @ FileName(first, last) => HistoryTimeline.HistoryFile(s"$dir/$name", first, last)
        case other => throw damaged(manifest, s"'${other.take(200)}' is not a name of a history file", null)
      }
    }
    named.distinct
  }

  private def damaged(manifest: String, reason: String, cause: Throwable): DamagedTable =
    new DamagedTable(s"$manifest: $reason; restore the file from a backup", cause)
}
