package hudiidx.hadoop.record

import hudiidx.record.{RecordIndex, RecordKind, RecordProperty}
import hudiidx.store.{IndexFile, IndexVersion}
import hudiidx.sync._

/** The record index as a part of the index: made by tasks that read key columns, kept in step by deltas. Design §3.3. */
final class RecordPart(engine: TaskEngine, options: RecordOptions) extends IndexPart {

  override def owns(file: IndexFile): Boolean = RecordKind.All(file.kind)

  override def owns(property: String): Boolean = property.startsWith(RecordProperty.Prefix)

  override def isIn(version: IndexVersion): Boolean = RecordIndex.isIn(version)

  override def build(state: IndexState, before: Option[IndexVersion]): PartFiles =
    RecordSettings.of(options, before) match {
      case Some(settings) => new RecordBuild(engine, state, settings).run()
      case None           => PartFiles.None
    }

  override def update(state: IndexState, before: IndexVersion, unseen: Vector[UnseenInstant]): PartFiles =
    new RecordUpdate(engine, state, before, unseen).run()
}

/** What a record index is made with, after options and what was there before. */
final case class RecordSettings(mode: String, windowDays: Option[Int], fileGroups: Option[Int])

object RecordSettings {

  /** None if there is to be no record index. */
  def of(options: RecordOptions, before: Option[IndexVersion]): Option[RecordSettings] = {
    val old = before.filter(RecordIndex.isIn).map(of)
    options.mode.orElse(old.map(_.mode)).map { mode =>
      RecordSettings(mode, options.windowDays.orElse(old.flatMap(_.windowDays)), options.fileGroups)
    }
  }

  def of(version: IndexVersion): RecordSettings =
    RecordSettings(
      version.properties(RecordProperty.Mode),
      version.properties.get(RecordProperty.WindowDays).map(_.toInt),
      None
    )
}
