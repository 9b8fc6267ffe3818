package hudiidx.engine.record

import hudiidx.storage.{FileStamp, Storage}
import hudiidx.store.IndexStore
import hudiidx.table.TableConfig
import scala.util.Try

/** What was opened of one table stays open while table and index stand as they did: each call looks at the timeline's folder,
  * the index's versions and the table's properties, and opens anew if one has changed. For one thread at a time.
  *
  *  @param open opens the table as of an instant's requested time; None: as of the latest
  */
final class KeptOpen[A <: AutoCloseable](storage: Storage, path: String, store: IndexStore)(open: Option[String] => A)
    extends AutoCloseable {
  private var seen: Option[TableMarks] = None
  private val opened = new java.util.LinkedHashMap[Option[String], A](4, 0.75f, true)

  def current(asOf: Option[String]): A = {
    // Taken before the table is opened: what changes meanwhile shows at the next call.
    val marks = TableMarks.of(storage, path, seen, store)
    if (!seen.contains(marks)) close()
    seen = Some(marks)
    if (!opened.containsKey(asOf)) {
      opened.put(asOf, open(asOf))
      if (opened.size > KeptOpen.MostOpened) {
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

object KeptOpen {

  /** Instants that are kept open at a time. */
  private val MostOpened = 4
}

/** By what a change of the table or its index is known: by which files there are, not by their names alone. A table or an index
  * that was dropped and made anew may have all names that the one before had.
  */
private final case class TableMarks(
    timelineDir: String,
    properties: Option[FileStamp],
    instants: Vector[FileStamp],
    versions: Vector[FileStamp]
)

private object TableMarks {

  /** Where the timeline is, the properties say: they are read again once they are another file. An upgrade moves it. */
  def of(storage: Storage, path: String, seen: Option[TableMarks], store: IndexStore): TableMarks = {
    def propertiesNow = storage.status(TableConfig.propertiesFile(path)).map(_.stamp)
    def instants(dir: String) = storage.list(dir).filterNot(_.isDirectory).map(_.stamp)
    // Of the folder that the properties named before it was listed; that counts only if they are still the same.
    val ((properties, listed), versions) = Storage.both(storage, path)(
      Storage.both(storage, path)(propertiesNow, seen.flatMap(s => Try(s -> instants(s.timelineDir)).toOption)),
      store.versionFiles().map(_.stamp)
    )
    listed.filter { case (before, _) => before.properties.isDefined && before.properties == properties } match {
      case Some((before, there)) => TableMarks(before.timelineDir, properties, there, versions)
      case None                  =>
        val dir = TableConfig.read(storage, path).timelineDir(path)
        TableMarks(dir, properties, instants(dir), versions)
    }
  }
}
