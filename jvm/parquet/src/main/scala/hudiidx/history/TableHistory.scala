package hudiidx.history

import hudiidx.storage.Storage
import hudiidx.table.TableConfig
import hudiidx.timeline.{ArchivedTimeline, TimelineHistory}

/** The archived timeline of a table, in the form of its layout. Nothing is read before it is asked for. */
object TableHistory {
  def of(storage: Storage, tablePath: String, config: TableConfig): TimelineHistory =
    if (config.timelineLayout == 1) new ArchivedTimeline(storage, config.archiveDir(tablePath))
    else new HistoryTimeline(storage, config.historyDir(tablePath), config.archiveNamesAreBounds)
}
