package hudiidx.hive

import java.io.IOException

import hudiidx.{DamagedIndex, Log}
import hudiidx.engine.record.RecordIndexSnapshot
import hudiidx.record.{PackedKeys, RecordIndex}
import hudiidx.sync.TableSnapshot
import hudiidx.table.FileGroup

/** Which file groups may hold record keys. */
private[hive] object KeyedGroups {
  private val log = Log.of("hudiidx.hive.KeyedGroups")

  /** None where the record index cannot tell: there is none, it has a window, or it cannot be read. DamagedIndex, StaleIndex in
    * strict mode. Groups that it does not know as of the snapshot may hold any key.
    */
  def of(snapshot: TableSnapshot, settings: ReadSettings, keys: Set[String]): Option[Set[FileGroup]] =
    if (!canTell(snapshot, settings)) None
    else
      try {
        val (moment, opened) = RecordIndexSnapshot.open(snapshot, settings.index, settings.asOf)
        val unknown = moment.slices.map(s => FileGroup(s.partitionPath, s.fileId)).toSet
        opened.flatMap { index =>
          try
            if (index.index.windowDays.nonEmpty) None
            else {
              val found = index.locate(PackedKeys.of(keys.toVector.sorted))
              Some(unknown ++ found.places.map(found.groups(_)).map(g => FileGroup(g.partitionPath, g.fileId)))
            }
          finally index.close()
        }
      } catch {
        case e: DamagedIndex if !settings.index.strict => without(snapshot, e)
        case e: IOException if !settings.index.strict  => without(snapshot, e)
      }

  /** By 1.1's rules other keys may be live than those that are indexed; base files without their logs may hold keys that have
    * moved since.
    */
  private def canTell(snapshot: TableSnapshot, settings: ReadSettings): Boolean =
    snapshot.use.version.exists(RecordIndex.isIn) &&
      !(settings.mergesAs11 && snapshot.config.format.mergesAsHudi015) &&
      !(settings.readOptimized && snapshot.config.isMergeOnRead)

  private def without(snapshot: TableSnapshot, e: Exception): Option[Set[FileGroup]] = {
    log.warn("{}: all files are read, the record index fails: {}", Seq[AnyRef](snapshot.tablePath, e.getMessage): _*)
    None
  }
}
