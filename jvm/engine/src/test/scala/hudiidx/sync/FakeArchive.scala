package hudiidx.sync

import hudiidx.storage.{LocalStorage, Storage}
import hudiidx.table.TableConfig
import hudiidx.timeline.{ArchivedInstant, TimelineHistory}

private[sync] object FakeArchive {

  /** Reads tables of the local disk whose archive has these instants whenever it is opened. */
  def access(archived: => Vector[ArchivedInstant]): TableAccess = {
    val of = IndexerSuite.accessOf(LocalStorage)
    val opener = new HistoryOpener {
      override def open(storage: Storage, tablePath: String, config: TableConfig): TimelineHistory = history(archived)
    }
    new TableAccess(LocalStorage, opener, of.bases, of.cache)
  }

  private def history(archived: Vector[ArchivedInstant]): TimelineHistory = new TimelineHistory {
    private val known = archived.sortBy(_.requestedTime)
    override def completionTime(instantTime: String): Option[String] =
      known.find(_.requestedTime == instantTime).flatMap(_.completionTime)
    override def instantsFrom(instantTime: String): Iterator[ArchivedInstant] =
      known.iterator.filter(_.requestedTime >= instantTime)
  }
}
