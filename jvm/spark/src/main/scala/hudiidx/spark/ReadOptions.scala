package hudiidx.spark

import java.util.Locale

import hudiidx.InvalidOption

/** One setting. `default` None: unset. `check` answers what is wrong with a value. */
final case class ReadOption(name: String, doc: String, default: Option[String], check: String => Option[String])

/** Settings of one read, resolved and checked.
  *
  *  @param asOf instant time of the query; None: the latest
  *  @param view one of [[ReadOptions.Views]]: the table's rows, or a listing of it
  */
final case class ReadOptions(
    asOf: Option[String],
    view: String,
    indexPath: Option[String],
    indexEnabled: Boolean,
    strict: Boolean
)

object ReadOptions {

  val RowsView = "rows"
  val PartitionsView = "partitions"
  val TimelineView = "timeline"

  /** Names that the `view` option takes. */
  val Views: Vector[String] = Vector(RowsView, PartitionsView, TimelineView) ++ ViewCall.All.map(_.name)

  private val anything: String => Option[String] = _ => None
  private val boolean: String => Option[String] = v =>
    if (Set("true", "false")(v.toLowerCase(Locale.ROOT))) None else Some("must be true or false")

  val AsOfInstant: ReadOption = ReadOption(
    "as.of.instant",
    "Time travel: the table as of this instant; yyyyMMddHHmmss[SSS], 'yyyy-MM-dd HH:mm:ss[.SSS]' or yyyy-MM-dd.",
    None,
    anything
  )
  val ViewName: ReadOption = ReadOption(
    "view",
    s"What to read: ${Views.mkString(", ")}.",
    Some(RowsView),
    v => if (Views.contains(v.toLowerCase(Locale.ROOT))) None else Some(s"must be one of ${Views.mkString(", ")}")
  )
  val IndexPath: ReadOption = ReadOption(
    "hudiidx.index.path",
    "Folder of the index, for a table whose own folder is read-only; unset: <table>/.hoodie/hudiidx.",
    None,
    v => if (v.trim.isEmpty) Some("must not be empty") else None
  )
  val IndexEnabled: ReadOption =
    ReadOption("hudiidx.index.enabled", "False: do not use the index, list the table.", Some("true"), boolean)
  val Strict: ReadOption = ReadOption(
    "hudiidx.strict",
    "True: an index that is missing, damaged or foreign is an error; false: the table is listed, with a warning.",
    Some("false"),
    boolean
  )

  /** All settings that a reader takes. Those that begin with `hudiidx.` may stand in the Spark session's configuration,
    *  under the same name; the reader's own option wins.
    */
  val All: Vector[ReadOption] = Vector(AsOfInstant, ViewName, IndexPath, IndexEnabled, Strict)

  val Prefix = "hudiidx."

  /** @param options the reader's own, keys in any case
    *  @param session the session's configuration, where its keys begin with `hudiidx.`
    */
  def of(options: Map[String, String], session: Map[String, String]): ReadOptions = {
    val lower = options.map { case (k, v) => k.toLowerCase(Locale.ROOT) -> v }
    (lower.keys ++ session.keys).foreach(refuseUnknown)
    def value(o: ReadOption): Option[String] = {
      val found = lower.get(o.name).orElse(if (o.name.startsWith(Prefix)) session.get(o.name) else None)
      found.foreach(v => o.check(v).foreach(wrong => throw new InvalidOption(s"${o.name}: '$v' $wrong")))
      found.orElse(o.default)
    }
    ReadOptions(
      asOf = value(AsOfInstant).map(QueryInstant.parse(AsOfInstant.name, _)),
      view = value(ViewName).getOrElse(RowsView).toLowerCase(Locale.ROOT),
      indexPath = value(IndexPath),
      indexEnabled = value(IndexEnabled).exists(_.equalsIgnoreCase("true")),
      strict = value(Strict).exists(_.equalsIgnoreCase("true"))
    )
  }

  private def refuseUnknown(key: String): Unit =
    if (key.toLowerCase(Locale.ROOT).startsWith(Prefix) && !All.exists(_.name == key.toLowerCase(Locale.ROOT)))
      throw new InvalidOption(
        s"$key: no such option; known are ${All.map(_.name).filter(_.startsWith(Prefix)).sorted.mkString(", ")}"
      )
}
