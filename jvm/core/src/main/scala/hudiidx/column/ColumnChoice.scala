package hudiidx.column

import hudiidx.store.IndexVersion

/** Properties of an index version that speak of the column index. */
object ColumnProperty {
  val Prefix = "column."

  /** `true`: every file that the version's manifest lists is covered by a segment, if only to say that nothing is known of
    * it. Without it no partition is ruled out as a whole.
    */
  val Complete = "column.complete"

  /** What begins the name of the property that lists the columns of a kind; the kind follows. */
  val Columns = "column.index."
}

/** Which columns are indexed, by kind: paths (those of an index of several columns joined by a comma and a blank), or `*`
  * for all. What a column file has beyond these is of no use any more.
  */
final case class ColumnChoice(byKind: Map[String, Vector[String]]) {
  def isEmpty: Boolean = byKind.values.forall(_.isEmpty)

  def has(columns: Vector[IndexedColumn]): Boolean =
    byKind.get(columns.head.kind).exists(p => p.contains(ColumnChoice.All) || p.contains(ColumnChoice.name(columns)))

  /** As a version has them. */
  def properties: Map[String, String] = byKind.collect {
    case (kind, paths) if paths.nonEmpty => (ColumnProperty.Columns + kind) -> paths.mkString("\n")
  }
}

object ColumnChoice {
  val All = "*"

  def of(version: IndexVersion): ColumnChoice = ColumnChoice(version.properties.collect {
    case (name, paths) if name.startsWith(ColumnProperty.Columns) =>
      name.stripPrefix(ColumnProperty.Columns) -> paths.split("\n").toVector
  })

  /** How columns that are indexed together are named. */
  def name(columns: Vector[IndexedColumn]): String = columns.map(_.path).mkString(", ")
}
