package hudiidx.hadoop

import hudiidx.hfile.BlockCache
import hudiidx.storage.{LocalStorage, Storage}
import hudiidx.sync.{HistoryOpener, TableAccess}
import hudiidx.table.TableConfig
import hudiidx.timeline.TimelineHistory
import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.Path

/** Access to tables through Hadoop's FileSystem, with one block cache for the process. */
object Tables {

  /** Blocks of immutable files under names that no other content ever has: safe to share between tables and sessions. */
  val sharedCache: BlockCache = new BlockCache()

  private val histories: HistoryOpener = new HistoryOpener {
    override def open(storage: Storage, tablePath: String, config: TableConfig): TimelineHistory =
      TableHistory.of(storage, tablePath, config)
  }

  /** The path with its store's name and no slash at the end, as it is told to others. */
  def qualified(path: String, conf: Configuration): String = conf match {
    case _: CommandSettings => qualifiedAlone(path)
    case _                  => byHadoop(path, conf)
  }

  def access(conf: Configuration): TableAccess = conf match {
    case _: CommandSettings => alone()
    case _                  => new TableAccess(new HadoopStorage(conf), histories, sharedCache)
  }

  /** Access in a JVM that runs one command: for a table on the local disk it loads none of Hadoop's file systems, which
    *  would take a third of a lookup's time.
    */
  def alone(): TableAccess = {
    val configured = isConfigured
    new TableAccess(new HadoopStorage(new Configuration, !configured && isPlainlyLocal(_)), histories, sharedCache)
  }

  /** `qualified` in such a JVM. */
  def qualifiedAlone(path: String): String =
    if (!isConfigured && isPlainlyLocal(path)) "file:" + LocalStorage.absolute(path)
    else byHadoop(path, new Configuration)

  private def byHadoop(path: String, conf: Configuration): String = {
    val raw = new Path(path)
    raw.getFileSystem(conf).makeQualified(raw).toString.stripSuffix("/")
  }

  private def isPlainlyLocal(path: String): Boolean = {
    val scheme = path.takeWhile(c => c != ':' && c != '/')
    path.nonEmpty && (!path.startsWith(s"$scheme:") || scheme == "file")
  }

  /** Whether something may say that paths without a scheme are not the local disk's. */
  private def isConfigured: Boolean =
    Option(Thread.currentThread.getContextClassLoader).exists(_.getResource("core-site.xml") != null)

  /** Over another storage (one that counts calls, say), with a cache of its own. */
  def access(storage: Storage, cache: BlockCache): TableAccess = new TableAccess(storage, histories, cache)
}

/** Hadoop's settings in a JVM that runs one command: what its class path says, read when a store needs it. */
final class CommandSettings extends Configuration
