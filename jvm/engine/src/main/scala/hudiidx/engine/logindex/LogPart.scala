package hudiidx.engine.logindex

import hudiidx.Log
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
    extends KeysPart {

  override def owns(file: IndexFile): Boolean = file.kind == LogIndex.Kind

  override def owns(property: String): Boolean = property.startsWith(LogIndex.PropertyPrefix)

  override def isIn(version: IndexVersion): Boolean = LogIndex.isIn(version)

  override def build(state: IndexState, before: Option[IndexVersion]): PartFiles =
    if (!asked.getOrElse(before.exists(isIn))) PartFiles.None
    else if (state.never.forbidsKeys) forbidden(state)
    else new LogIndexing(engine, state, shareBytes).whole()

  private def forbidden(state: IndexState): PartFiles = forbidden(
    state,
    "an index of log blocks would hold hashes of record keys",
    "the index of logs",
    asked.isDefined,
    LogPart.log
  )

  /** DamagedIndex if a file of the part is gone or cut, or one that is needed cannot be read. */
  override def update(state: IndexState, before: IndexVersion, unseen: Vector[UnseenInstant]): PartFiles =
    new LogIndexing(engine, state, shareBytes).updated(before, unseen)
}

object LogPart {
  private val log = Log.of(classOf[LogPart])
  private val ShareBytes = 64L << 20
}
