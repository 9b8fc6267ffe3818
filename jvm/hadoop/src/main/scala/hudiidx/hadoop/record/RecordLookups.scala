package hudiidx.hadoop.record

import hudiidx.record.PackedKeys
import hudiidx.storage.{FileInfo, Storage}
import hudiidx.store.IndexStore
import hudiidx.sync._
import hudiidx.table.TableConfig

/** Looks keys up in one table again and again. What was opened stays open while table and index stand as they did: each
  * call looks at the timeline's folder, the index's versions and the table's properties, and opens anew if one has changed.
  * Calls of several threads follow one another.
  */
final class RecordLookups(access: TableAccess, tablePath: String, options: IndexOptions, engine: => TaskEngine)
    extends AutoCloseable {
  private val path = tablePath.stripSuffix("/")
  private val store = new IndexStore(access.storage, options.indexDir(path))
  private lazy val tasks: TaskEngine = engine
  private var seen: Option[TableMarks] = None
  private val opened = new java.util.LinkedHashMap[Option[String], RecordLookup](4, 0.75f, true)

  /** As [[RecordLookup]]. `partition`: locations there alone; `asOf`: requested time of an instant, None for the latest. */
  def locate(keys: PackedKeys, partition: Option[String], asOf: Option[String]): LookupAnswer = synchronized {
    val found = current(asOf).answer(keys)
    partition.fold(found)(p => found.copy(locations = found.locations.in(p)))
  }

  private def current(asOf: Option[String]): RecordLookup = {
    // Taken before the table is opened: what changes meanwhile shows at the next call.
    val marks = TableMarks.of(access.storage, path, seen.map(_.timelineDir), store)
    if (!seen.contains(marks)) close()
    seen = Some(marks)
    var lookup = opened.get(asOf)
    if (lookup == null) {
      lookup = RecordLookup.open(TableContext.load(access, path), options, asOf, tasks)
      opened.put(asOf, lookup)
      if (opened.size > RecordLookups.MostOpened) {
        val oldest = opened.values.iterator
        oldest.next().close()
        oldest.remove()
      }
    }
    lookup
  }

  override def close(): Unit = synchronized {
    opened.values.forEach(_.close())
    opened.clear()
    seen = None
  }
}

object RecordLookups {

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
    val properties = storage.status(Storage.join(path, ".hoodie/hoodie.properties"))
    val dir = timelineDir.getOrElse(TableConfig.read(storage, path).timelineDir(path))
    TableMarks(dir, properties, storage.list(dir).filterNot(_.isDirectory), store.versionNumbers())
  }
}
