package hudiidx.engine.record

import hudiidx.{InvalidOption, Log}
import hudiidx.record.{RecordFileStats, RecordIndex, RecordKind, RecordPlan, RecordProperty}
import hudiidx.store.{IndexFile, IndexVersion}
import hudiidx.sync._
import hudiidx.table.TableConfig

/** The record index as a part of the index: made by tasks that read key columns, kept in step by deltas. Design §3.3.
  *
  *  @param orElse mode of a record index that is made where neither options nor a version before name one; None: none is
  */
final class RecordPart(engine: TaskEngine, options: RecordOptions, orElse: Option[String] = None) extends KeysPart {

  override def owns(file: IndexFile): Boolean = RecordKind.All(file.kind)

  override def owns(property: String): Boolean = property.startsWith(RecordProperty.Prefix)

  override def isIn(version: IndexVersion): Boolean = RecordIndex.isIn(version)

  override def build(state: IndexState, before: Option[IndexVersion]): PartFiles =
    RecordSettings.of(options, before, orElse) match {
      case Some(_) if state.never.forbidsKeys => forbidden(state)
      case Some(settings)                     => new RecordBuild(engine, state, settings).run()
      case None                               => PartFiles.None
    }

  private def forbidden(state: IndexState): PartFiles = forbidden(
    state,
    "a record index would hold record keys",
    "the record index",
    options.mode.isDefined || orElse.isDefined,
    RecordPart.log
  )

  override def update(state: IndexState, before: IndexVersion, unseen: Vector[UnseenInstant]): PartFiles =
    new RecordUpdate(engine, state, before, RecordSettings.forUpdate(options, before), unseen).run()
}

private object RecordPart {
  private val log = Log.of(classOf[RecordPart])

  /** What an index says that has taken such mappings in; it stays so until the index is made anew. */
  def repeated(written: Vector[RecordFileStats]): Map[String, String] =
    if (written.exists(_.doubts > 0)) Map(RecordProperty.Repeated -> "true") else Map.empty

  /** Compactions leave the live keys that an index of these properties has of a file group: see [[GroupWork.mergesAlike]]. Of a key that a log deletes, and of
    * which the base file has several rows, readers see those behind the first, and a compaction by stock Hudi leaves none.
    */
  def mergesAlike(properties: Map[String, String], config: TableConfig, dated: Boolean): Boolean =
    GroupWork.mergesAlike(config, dated) && !properties.get(RecordProperty.Repeated).contains("true")
}

/** What a record index is made with, after options and what was there before.
  *
  *  @param fileGroups  hash groups that this creation is to make; None: by size
  *  @param leastGroups hash groups that were asked for now or before: at least so many stay
  *  @param groupBytes  size that hash groups are made with; None: the usual
  */
final case class RecordSettings(
    mode: String,
    windowDays: Option[Int] = None,
    fileGroups: Option[Int] = None,
    leastGroups: Option[Int] = None,
    groupBytes: Option[Long] = None
) {
  def plan: RecordPlan = groupBytes.fold(RecordPlan())(b => RecordPlan(targetBytes = b))

  /** As a version has them. */
  def properties: Map[String, String] = Map(RecordProperty.Mode -> mode) ++
    windowDays.map(d => RecordProperty.WindowDays -> d.toString) ++
    leastGroups.map(n => RecordProperty.FileGroups -> n.toString) ++
    groupBytes.map(b => RecordProperty.GroupBytes -> b.toString)
}

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
    mode.map { m =>
      RecordSettings(
        m,
        options.windowDays.orElse(old.flatMap(_.windowDays)),
        options.fileGroups,
        options.fileGroups.orElse(old.flatMap(_.leastGroups)),
        options.groupBytes.orElse(old.flatMap(_.groupBytes))
      )
    }
  }

  /** What the index holds is settled; how it is divided is not. */
  def forUpdate(options: RecordOptions, before: IndexVersion): RecordSettings = {
    val old = of(before)
    old.copy(
      leastGroups = options.fileGroups.orElse(old.leastGroups),
      groupBytes = options.groupBytes.orElse(old.groupBytes)
    )
  }

  def of(version: IndexVersion): RecordSettings = of(version.properties)

  /** Those that `properties` tells of. IllegalArgumentException for values that these cannot have. */
  def of(properties: Map[String, String]): RecordSettings = {
    IndexVersion.requireKnown(properties)
    def number(name: String) = IndexVersion.number(properties, name)
    RecordSettings(
      properties.getOrElse(
        RecordProperty.Mode,
        throw new IllegalArgumentException(s"${RecordProperty.Mode} is missing")
      ),
      number(RecordProperty.WindowDays).map(_.toInt),
      None,
      number(RecordProperty.FileGroups).map(_.toInt),
      number(RecordProperty.GroupBytes)
    )
  }
}
