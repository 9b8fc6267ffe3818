package hudiidx.column

import java.util.Locale
import java.util.regex.Pattern

import hudiidx.InvalidOption
import hudiidx.store.IndexVersion
import hudiidx.table.TableConfig

/** Columns of which an index is to hold no value, in whatever form: those that sessions named, kept in the index from then on.
  * A struct stands for all its fields. Names are the same in whatever case, as Spark takes them.
  *
  *  @param paths [[ColumnPath]]s
  */
final case class NeverColumns(paths: Vector[String]) {
  def isEmpty: Boolean = paths.isEmpty

  /** For errors and logs. */
  def text: String = paths.mkString(", ")

  def ++(more: NeverColumns): NeverColumns = NeverColumns((paths ++ more.paths).distinct)

  /** All that `other` forbids is forbidden here. */
  def covers(other: NeverColumns): Boolean = other.paths.forall(named)

  /** As a version has them. */
  def properties: Map[String, String] =
    if (isEmpty) Map.empty else Map(NeverColumns.Property -> paths.mkString("\n"))

  private lazy val named: Set[String] = paths.toSet

  private lazy val parts: Vector[Vector[String]] = paths.map(NeverColumns.partsOf)

  /** SQL that names one of these, or a struct around it, by a word of its text. An expression that merely has the word is taken
    * for one: it is not indexed then, and no more.
    */
  private lazy val words: Vector[Pattern] = parts
    .flatMap(p => Vector(p.head, p.last))
    .distinct
    .map(w => Pattern.compile(s"(?<![\\w])${Pattern.quote(w)}(?![\\w])"))

  /** With Hudi's own columns that hold values of these: the record key and the partition path. */
  def of(table: TableConfig): NeverColumns = {
    def derived(fields: Vector[String], meta: String) = if (fields.exists(forbids)) Vector(meta) else Vector.empty
    NeverColumns(
      (paths ++ derived(table.recordKeyFields, NeverColumns.Key) ++
        derived(table.partitionFields, NeverColumns.Partition)).distinct
    )
  }

  /** InvalidOption if a field of the partitions is forbidden: a manifest lists their folders, whose names are its values. */
  def requireNoPartition(table: TableConfig): Unit = table.partitionFields.find(forbids).foreach { field =>
    throw new InvalidOption(
      s"${NeverColumns.OptionName} names $field, a column of the table's partitions: its values are names of folders, which every " +
        "index lists; leave it out, or use the table without an index"
    )
  }

  def forbidsKeys: Boolean = forbids(NeverColumns.Key)

  /** The forbidden fields of the record key; Hudi's column of keys where that is named itself. */
  def keysOf(table: TableConfig): Vector[String] = {
    val fields = table.recordKeyFields.filter(forbids)
    if (fields.nonEmpty) fields else Vector(NeverColumns.Key).filter(forbids)
  }

  /** Of a column's path: it is one of these, lies in one, or is a struct around one. Of an expression: it is of such a column. */
  def forbids(path: String): Boolean = !isEmpty && (ColumnExpression.of(path) match {
    case Some(expression) =>
      val texts = Seq(expression.sql, expression.text).map(_.toLowerCase(Locale.ROOT))
      words.exists(word => texts.exists(word.matcher(_).find()))
    case None =>
      val asked = NeverColumns.partsOf(path)
      parts.exists(p => p.startsWith(asked) || asked.startsWith(p))
  })

  /** Without those of forbidden columns; of ranges, which are an index each, the others stay. */
  def allowed(specs: Vector[IndexSpec]): Vector[IndexSpec] =
    if (isEmpty) specs
    else
      specs.flatMap {
        case s if s.kind == IndexKind.Range =>
          Some(s.copy(columns = s.columns.filterNot(forbids))).filter(_.columns.nonEmpty)
        case s => Some(s).filterNot(_.columns.exists(forbids))
      }

  /** InvalidOption if somebody asks for an index of a forbidden column. */
  def requireAllowed(asked: Vector[IndexSpec]): Unit = asked.flatMap(_.columns).find(forbids).foreach { path =>
    throw new InvalidOption(
      s"${ColumnExpression.shown(path)}: an index of it would hold values of a column of which none are to be held " +
        s"(${NeverColumns.OptionName}: $text); leave it out, or drop the index and make one without that rule"
    )
  }
}

object NeverColumns {
  val OptionName = "hudiidx.columns.never"

  /** Property of an index version: the paths, a line each. */
  val Property = "columns.never"

  val Key = "_hoodie_record_key"
  val Partition = "_hoodie_partition_path"

  /** Hudi's own columns whose values are names of folders and files. */
  private val Listed = Set(Vector(Partition), Vector("_hoodie_file_name"))

  val None: NeverColumns = NeverColumns(Vector.empty)

  /** Of the option's text. InvalidOption for what is no list of columns. */
  def parse(text: String): NeverColumns = {
    val paths = ColumnPath.list(text)
    paths.find(p => p == IndexSpec.All || ColumnExpression.isOne(ColumnExpression.asked(p))).foreach { p =>
      throw new InvalidOption(s"option $OptionName has '$p'; it takes names of columns, with commas between them")
    }
    paths.find(p => Listed.contains(partsOf(p))).foreach { p =>
      throw new InvalidOption(
        s"$OptionName names $p, a column of Hudi's whose values every index lists as the table's files; leave it out, or use the table " +
          "without an index"
      )
    }
    NeverColumns(paths.distinct)
  }

  def of(version: IndexVersion): NeverColumns = of(version.properties)

  def of(properties: Map[String, String]): NeverColumns =
    NeverColumns(properties.get(Property).toVector.flatMap(_.split("\n")).filter(_.nonEmpty))

  private def partsOf(path: String): Vector[String] = ColumnPath.parts(path).map(_.toLowerCase(Locale.ROOT))
}
