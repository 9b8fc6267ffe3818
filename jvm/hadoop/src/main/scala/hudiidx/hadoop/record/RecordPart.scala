package hudiidx.hadoop.record

import hudiidx.InvalidOption
import hudiidx.record.{RecordIndex, RecordKind, RecordProperty}
import hudiidx.store.{IndexFile, IndexVersion}
import hudiidx.sync._

/** The record index as a part of the index: made by tasks that read key columns, kept in step by deltas. Design §3.3.
  *
  *  @param orElse mode of a record index that is made where neither options nor a version before name one; None: none is
  */
final class RecordPart(engine: TaskEngine, options: RecordOptions, orElse: Option[String] = None) extends IndexPart {

  override def owns(file: IndexFile): Boolean = RecordKind.All(file.kind)

  override def owns(property: String): Boolean = property.startsWith(RecordProperty.Prefix)

  override def isIn(version: IndexVersion): Boolean = RecordIndex.isIn(version)

  override def build(state: IndexState, before: Option[IndexVersion]): PartFiles =
    RecordSettings.of(options, before, orElse) match {
      case Some(settings) => new RecordBuild(engine, state, settings).run()
      case None           => PartFiles.None
    }

  override def update(state: IndexState, before: IndexVersion, unseen: Vector[UnseenInstant]): PartFiles =
    new RecordUpdate(engine, state, before, unseen).run()
}

/** What a record index is made with, after options and what was there before. */
final case class RecordSettings(mode: String, windowDays: Option[Int], fileGroups: Option[Int])

object RecordSettings {

  /** None if there is to be no record index. Options that name a mode say all: without a window then all records are
    * indexed. Options without one change what they name of the record index before. InvalidOption if there is none.
    */
  def of(
      options: RecordOptions,
      before: Option[IndexVersion],
      orElse: Option[String] = None
  ): Option[RecordSettings] = {
    val old = if (options.mode.isDefined) None else before.filter(RecordIndex.isIn).map(of)
    val mode = options.mode.orElse(old.map(_.mode)).orElse(orElse)
    if (mode.isEmpty && (options.windowDays.isDefined || options.fileGroups.isDefined))
      throw new InvalidOption(
        s"${IndexOptions.RecordWindowDays} and ${IndexOptions.RecordFileGroups} are for a record index, and none is asked " +
          s"for; set ${IndexOptions.RecordMode} to ${IndexOptions.RecordModes.toVector.sorted.mkString(" or ")}"
      )
    mode.map(m => RecordSettings(m, options.windowDays.orElse(old.flatMap(_.windowDays)), options.fileGroups))
  }

  def of(version: IndexVersion): RecordSettings =
    RecordSettings(
      version.properties(RecordProperty.Mode),
      version.properties.get(RecordProperty.WindowDays).map(_.toInt),
      None
    )
}
