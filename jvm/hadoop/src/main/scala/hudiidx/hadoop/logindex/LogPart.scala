package hudiidx.hadoop.logindex

import hudiidx.{InvalidOption, Log}
import hudiidx.column.NeverColumns
import hudiidx.logindex.LogIndex
import hudiidx.store.{IndexFile, IndexVersion}
import hudiidx.sync._

/** The index of log blocks whose writers left none, as a part of the index: made by tasks that read the latest slices' logs
  * once; an update reads the blocks that came since. Design §3.5.
  *
  *  @param asked      true: the index is to have the part; false: not; None: as it has it
  *  @param shareBytes bytes of logs that a task reads at least
  */
final class LogPart(engine: TaskEngine, asked: Option[Boolean], shareBytes: Long = LogPart.ShareBytes)
    extends IndexPart {

  override def owns(file: IndexFile): Boolean = file.kind == LogIndex.Kind

  override def owns(property: String): Boolean = property.startsWith(LogIndex.PropertyPrefix)

  override def isIn(version: IndexVersion): Boolean = LogIndex.isIn(version)

  override def build(state: IndexState, before: Option[IndexVersion]): PartFiles =
    if (!asked.getOrElse(before.exists(isIn))) PartFiles.None
    else if (state.never.forbidsKeys) forbidden(state)
    else new LogIndexing(engine, state, shareBytes).whole()

  /** One that is asked for is refused, one that an index had is dropped. */
  private def forbidden(state: IndexState): PartFiles = {
    val why =
      s"an index of log blocks would hold hashes of record keys, which have values of ${state.never.text}, of which none " +
        s"are to be held (${NeverColumns.OptionName})"
    if (asked.isDefined) throw new InvalidOption(s"${state.table.tablePath}: $why; leave the index of logs out")
    LogPart.log.warn("{}: it is dropped: {}", state.store.dir: Any, why: Any)
    PartFiles.None
  }

  override def holds(version: IndexVersion, never: NeverColumns): Boolean = never.forbidsKeys

  /** DamagedIndex if a file of the part is gone or cut, or one that is needed cannot be read. */
  override def update(state: IndexState, before: IndexVersion, unseen: Vector[UnseenInstant]): PartFiles =
    new LogIndexing(engine, state, shareBytes).updated(before, unseen)
}

object LogPart {
  private val log = Log.of(classOf[LogPart])
  private val ShareBytes = 64L << 20
}
