package hudiidx.engine.record

import hudiidx.TableChanged
import hudiidx.record.{PackedKeys, RecordKind}
import hudiidx.storage.FarCalls
import hudiidx.store.{IndexFile, IndexStore}
import hudiidx.sync._

/** Looks keys up in one table again and again. What was opened stays open, see [[CachedHandle]]. Calls of several threads follow
  * one another.
  */
final class RecordLookups(access: TableAccess, tablePath: String, options: IndexOptions, engine: => TaskEngine)
    extends AutoCloseable {
  private val path = tablePath.stripSuffix("/")
  private lazy val tasks: TaskEngine = engine
  private val store = new IndexStore(access.storage, options.indexDir(path))
  private val kept = new CachedHandle(access.storage, path, store)(opened)

  private def opened(asOf: Option[String], look: TableLook): RecordLookup = {
    val found = TableSnapshot.found(store, options, RecordLookups.needs, Some(look.versions))
    val context =
      try TableContext.of(access, path, look.config, look.timeline)
      catch { case _: TableChanged => TableContext.load(access, path) } // an upgrade that may have ended since
    RecordLookup.open(context, options, asOf, tasks, found)
  }

  /** As [[RecordLookup]]. `partition`: locations there alone; `asOf`: requested time of an instant, None for the latest. */
  def locate(keys: PackedKeys, partition: Option[String], asOf: Option[String]): LookupAnswer = synchronized {
    val (all, calls) = FarCalls.of(kept.current(asOf).answer(keys))
    val found = all.copy(use = all.use.copy(calls = calls))
    partition.fold(found)(p => found.copy(locations = found.locations.in(p)))
  }

  override def close(): Unit = synchronized(kept.close())
}

private object RecordLookups {

  /** Files that each lookup opens. Those with keys depend on what is asked. */
  def needs(file: IndexFile): Boolean = OpenIndex.needs(file) || file.kind == RecordKind.Groups
}
