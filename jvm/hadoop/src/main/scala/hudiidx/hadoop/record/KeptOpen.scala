package hudiidx.hadoop.record

import hudiidx.storage.{FileInfo, Storage}
import hudiidx.store.IndexStore
import hudiidx.table.TableConfig

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
    val marks = TableMarks.of(storage, path, seen.map(_.timelineDir), store)
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

/** By what a change of the table or its index is known. */
private final case class TableMarks(
    timelineDir: String,
    properties: Option[FileInfo],
    instants: Vector[FileInfo],
    versions: Vector[Long]
)

private object TableMarks {

  /** @param timelineDir where it was; another layout comes with other properties */
  def of(storage: Storage, path: String, timelineDir: Option[String], store: IndexStore): TableMarks = {
    val properties = storage.status(TableConfig.propertiesFile(path))
    val dir = timelineDir.getOrElse(TableConfig.read(storage, path).timelineDir(path))
    TableMarks(dir, properties, storage.list(dir).filterNot(_.isDirectory), store.versionNumbers())
  }
}
