package hudiidx.engine

import hudiidx.history.TableHistory
import hudiidx.fs.{CommandSettings, HadoopStorage}
import hudiidx.parquet.ParquetColumns
import hudiidx.{InvalidOption, NotAHudiTable, Secrets}
import hudiidx.hfile.BlockCache
import hudiidx.storage.{LocalStorage, Storage}
import hudiidx.sync.{HistoryOpener, TableAccess}
import hudiidx.table.TableConfig
import hudiidx.timeline.TimelineHistory
import java.io.IOException
import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.Path

/** Access to tables through Hadoop's FileSystem, with one block cache for the process. */
object Tables {

  /** Blocks by the files they are of, which are not known by their names alone: safe to share between tables and sessions. */
  val sharedCache: BlockCache = new BlockCache()

  private val histories: HistoryOpener = new HistoryOpener {
    override def open(storage: Storage, tablePath: String, config: TableConfig): TimelineHistory =
      TableHistory.of(storage, tablePath, config)
  }

  /** The path with its store's name and no slash at the end, as it is told to others. InvalidOption for what is none,
    * NotAHudiTable where its store has no client or cannot be reached.
    */
  def qualified(path: String, conf: Configuration): String = {
    val full =
      try
        conf match {
          case command: CommandSettings if command.isLocal(path) => "file:" + LocalStorage.absolute(path)
          case _                                                 =>
            Secrets.refuse(path)
            val raw = new Path(path)
            HadoopStorage.clientOf(raw, conf).makeQualified(raw).toString
        }
      catch {
        case e: IllegalArgumentException => throw noFolder(path, e.getMessage, e)
        case e: IOException              => throw new NotAHudiTable(s"$path: cannot be read (${e.getMessage})", e)
      }
    val folder = full.stripSuffix("/")
    // The root of the local disk, say: what is left names no folder.
    if (path.isEmpty || path.indexOf(0) >= 0 || folder.endsWith(":")) throw noFolder(path, "it names no folder")
    folder
  }

  private def noFolder(path: String, why: String, cause: Throwable = null) =
    new InvalidOption(s"'$path' is not a valid table path ($why); pass the table's base path", cause)

  def access(conf: Configuration): TableAccess = access(new HadoopStorage(conf), sharedCache)

  /** Over another storage (one that counts calls, say), with a cache of its own. */
  def access(storage: Storage, cache: BlockCache): TableAccess =
    new TableAccess(storage, histories, ParquetColumns, cache)
}
