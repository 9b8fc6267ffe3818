package hudiidx.engine.record

import hudiidx.storage.{FileInfo, FileStamp, Storage}
import hudiidx.store.IndexStore
import hudiidx.table.{KnownProperties, TableConfig}
import scala.util.Try

/** What was opened of one table stays open while table and index stand as they did: each call looks at the timeline's folder,
  * the index's versions and the table's properties, and opens anew if one has changed. For one thread at a time.
  *
  *  @param open opens the table, which was looked at a moment ago, as of an instant's requested time; None: as of the latest
  */
final class CachedHandle[A <: AutoCloseable](storage: Storage, path: String, store: IndexStore)(
    open: (Option[String], TableLook) => A
) extends AutoCloseable {
  private var seen: Option[TableLook] = None
  private val opened = new java.util.LinkedHashMap[Option[String], A](4, 0.75f, true)

  def current(asOf: Option[String]): A = {
    // Taken before the table is opened: what changes meanwhile shows at the next call.
    val look = TableLook.at(storage, path, seen, store)
    if (!seen.exists(_.isSame(look))) close()
    seen = Some(look)
    if (!opened.containsKey(asOf)) {
      opened.put(asOf, open(asOf, look))
      if (opened.size > CachedHandle.MostOpened) {
        val oldest = opened.values.iterator
        oldest.next().close()
        oldest.remove()
      }
    }
    opened.get(asOf)
  }

  override def close(): Unit = {
    opened.values.forEach(_.close())
    opened.clear()
    seen = None
  }
}

object CachedHandle {

  /** Instants that are kept open at a time. */
  private val MostOpened = 4
}

/** Table and index as they were a moment ago: which files of them there were.
  *
  *  @param properties of the file that holds them; None where that is not there, or another stands in for it
  *  @param timeline   what is in the timeline's folder
  *  @param versions   files of the index's versions
  */
final class TableLook(
    val config: TableConfig,
    path: String,
    properties: Option[FileStamp],
    val timeline: Vector[FileInfo],
    val versions: Vector[FileInfo]
) {
  val timelineDir: String = config.timelineDir(path)

  // By which files there are, not by their names alone: a table or an index that was dropped and made anew may have all names that
  // the one before had.
  private val marks =
    (timelineDir, properties, timeline.filterNot(_.isDirectory).map(_.stamp), versions.map(_.stamp))

  def isSame(other: TableLook): Boolean = marks == other.marks

  def hasProperties(found: Option[FileStamp]): Boolean = found.isDefined && found == properties
}

object TableLook {

  /** Where the timeline is, the properties say: they are read again once they are another file. An upgrade moves it. */
  def at(storage: Storage, path: String, seen: Option[TableLook], store: IndexStore): TableLook = {
    val before = seen.orElse(lastKnown(storage, path))
    val (guess, versions) = Storage.both(storage, path)(
      before.flatMap(b => again(storage, path, b)),
      store.versionFiles()
    )
    val (config, stamp, timeline) = guess.getOrElse(anew(storage, path))
    new TableLook(config, path, stamp, timeline, versions)
  }

  private type Found = (TableConfig, Option[FileStamp], Vector[FileInfo])

  /** What this process knows of the properties, whoever read them. */
  private def lastKnown(storage: Storage, path: String): Option[TableLook] =
    TableConfig
      .lastKnown(storage, path)
      .map(c => new TableLook(c, path, stampOf(path, c), Vector.empty, Vector.empty))

  /** Of the folder that the properties named before. That counts only if they are still the same. */
  private def again(storage: Storage, path: String, before: TableLook): Option[Found] = {
    val (stamp, timeline) =
      Storage.both(storage, path)(statusOf(storage, path), Try(storage.list(before.timelineDir)).toOption)
    timeline.filter(_ => before.hasProperties(stamp)).map((before.config, stamp, _))
  }

  /** The stamp is never that of a later file than the one that was read. */
  private def anew(storage: Storage, path: String): Found = {
    def afterLook(): (TableConfig, Option[FileStamp]) = {
      val stamp = statusOf(storage, path)
      (TableConfig.read(storage, path), stamp)
    }
    val (config, stamp) =
      if (storage.isFar(path)) {
        val read = TableConfig.read(storage, path)
        stampOf(path, read).fold(afterLook())(known => (read, Some(known)))
      } else afterLook()
    (config, stamp, storage.list(config.timelineDir(path)))
  }

  private def stampOf(path: String, config: TableConfig): Option[FileStamp] =
    KnownProperties.stampOf(TableConfig.propertiesFile(path), config.properties)

  private def statusOf(storage: Storage, path: String): Option[FileStamp] =
    storage.status(TableConfig.propertiesFile(path)).map(_.stamp)
}
