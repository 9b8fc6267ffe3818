package hudiidx.engine.record

import hudiidx.record.PackedKeys
import hudiidx.store.IndexStore
import hudiidx.sync._

/** Looks keys up in one table again and again. What was opened stays open, see [[KeptOpen]]. Calls of several threads follow
  * one another.
  */
final class RecordLookups(access: TableAccess, tablePath: String, options: IndexOptions, engine: => TaskEngine)
    extends AutoCloseable {
  private val path = tablePath.stripSuffix("/")
  private lazy val tasks: TaskEngine = engine
  private val kept = new KeptOpen(access.storage, path, new IndexStore(access.storage, options.indexDir(path)))(asOf =>
    RecordLookup.open(access, path, options, asOf, tasks)
  )

  /** As [[RecordLookup]]. `partition`: locations there alone; `asOf`: requested time of an instant, None for the latest. */
  def locate(keys: PackedKeys, partition: Option[String], asOf: Option[String]): LookupAnswer = synchronized {
    val found = kept.current(asOf).answer(keys)
    partition.fold(found)(p => found.copy(locations = found.locations.in(p)))
  }

  override def close(): Unit = synchronized(kept.close())
}
