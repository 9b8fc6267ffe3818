package hudiidx.column

import hudiidx.InvalidOption

import scala.collection.mutable

/** An index over one column, or over several together: what is to be made. As a text `kind(column,column,option=value)`, such as
  * `range(fare)`, `bloom(rider,fpp=0.001)`, `quadkey(lon,lat,level=12)`.
  *
  *  @param columns [[ColumnPath]]s; of kind `range` each is an index of its own, and [[IndexSpec.All]] stands for all
  *  @param options of the kind
  */
final case class IndexSpec(kind: String, columns: Vector[String], options: Map[String, String] = Map.empty) {
  def text: String = s"$kind(${(columns ++ options.toVector.sorted.map { case (k, v) => s"$k=$v" }).mkString(",")})"

  def isAll: Boolean = columns.contains(IndexSpec.All)

  /** What it indexes of these columns: of ranges, which are an index each, those; any other as a whole. */
  def only(columns: String => Boolean): Option[IndexSpec] =
    if (kind == IndexKind.Range) Some(copy(columns = this.columns.filter(columns))).filter(_.columns.nonEmpty)
    else Some(this).filter(_.columns.exists(columns))

  /** InvalidOption for an option that a kind of ours does not have. What a version names without use stays without use. */
  private def requireKnownOptions(): IndexSpec = {
    for (known <- IndexSpec.Options.get(kind); name <- options.keys.toVector.sorted.find(!known.contains(_))) {
      val taken = known.fold("takes none")(o => s"takes $o")
      throw new InvalidOption(s"unknown option '$name' for index kind '$kind', which $taken: $text")
    }
    this
  }

  /** InvalidOption for columns or options that a kind of ours does not take. Those of other jars judge them by their types. */
  private def requireOfItsKind(): Unit =
    Seq(BloomKind, ValuesKind)
      .find(_.name == kind)
      .foreach(_.creator(columns.map(IndexedColumn(_, ColumnType.Text, kind)), options))
}

object IndexSpec {

  /** All columns of the table, those included that it will have later. */
  val All = "*"

  /** Property of an index version: all of them, semicolons between. */
  val Property = "column.specs"

  /** Those of them that are yet to be made for the files that were there before they were asked for. */
  val PendingProperty = "column.pending"

  /** What each kind of ours takes. */
  private val Options = Map(
    IndexKind.Range -> None,
    BloomKind.name -> Some(BloomKind.FalsePositives),
    ValuesKind.name -> Some(ValuesKind.Most)
  )
  private val Form = """(?s)([a-z][a-z0-9_]*)\s*\((.*)\)""".r

  /** InvalidOption if it is malformed. */
  def parse(text: String): IndexSpec = text.trim match {
    case Form(kind, inside) =>
      val (options, columns) = ColumnPath.outside(inside, ',').map(_.trim).filter(_.nonEmpty).partition(isOption)
      if (columns.isEmpty) throw new InvalidOption(s"'$text' names no column; write $kind(column)")
      IndexSpec(kind, columns.map(ColumnExpression.asked).distinct, options.map(optionOf).toMap)
    case _ =>
      throw new InvalidOption(
        s"'$text' is not a column index; write kind(column,column,option=value), as bloom(rider)"
      )
  }

  /** Several with semicolons between them, as somebody asks for them. */
  def parseAll(text: String): Vector[IndexSpec] = items(text).map(parse(_).requireKnownOptions())

  /** Those of a version, which anybody may have written who may write into the index folder: what is none counts for nothing, and
    * what is named twice is one.
    */
  def stored(text: String): Vector[IndexSpec] = merged(Vector.empty, items(text).flatMap(storedOne(_).toOption))

  /** The others among them, and why. */
  def refused(text: String): Vector[(String, String)] =
    items(text).flatMap(item => storedOne(item).left.toOption.map(why => item -> why))

  private def storedOne(item: String): Either[String, IndexSpec] =
    try {
      val spec = parse(item)
      spec.requireOfItsKind()
      Right(spec)
    } catch { case e: InvalidOption => Left(e.getMessage) }

  /** The same as somebody asks for them: what is of no kind is an expression of columns, as `year(ts)`, of kind `otherwise`. */
  def asked(text: String, otherwise: String): Vector[IndexSpec] = items(text).map { item =>
    item match {
      case Form(kind, _) if kind == otherwise || kind == IndexKind.Range || IndexKind.find(kind).isDefined =>
        parse(item).requireKnownOptions()
      case _ => IndexSpec(otherwise, Vector(ColumnExpression.asked(item)))
    }
  }

  /** What stands where an index in full has its kind. */
  def kindOf(text: String): Option[String] = text.trim match {
    case Form(kind, _) => Some(kind)
    case _             => None
  }

  private def items(text: String): Vector[String] = ColumnPath.outside(text, ';').map(_.trim).filter(_.nonEmpty)

  /** `all` and `more`; of one kind over the same columns the later one counts. Ranges are one index spec together. */
  def merged(all: Vector[IndexSpec], more: Vector[IndexSpec]): Vector[IndexSpec] = {
    val (ranges, others) = (all ++ more).partition(_.kind == IndexKind.Range)
    val columns = ranges.flatMap(_.columns).distinct
    val range =
      if (columns.isEmpty) None
      // Hudi's own columns are not among all of the table's, nor are expressions.
      else if (columns.contains(All)) Some(IndexSpec(IndexKind.Range, All +: columns.filter(isAllowedWithAll)))
      else Some(IndexSpec(IndexKind.Range, columns))
    range.toVector ++ latest(others)
  }

  /** In the order in which they were named last. */
  private def latest(specs: Vector[IndexSpec]): Vector[IndexSpec] = {
    val kept = mutable.LinkedHashMap.empty[(String, Vector[String]), IndexSpec]
    for (s <- specs) {
      val index = (s.kind, s.columns)
      kept -= index
      kept += index -> s
    }
    kept.values.toVector
  }

  private def isAllowedWithAll(path: String): Boolean = path.startsWith("_hoodie_") || ColumnExpression.isOne(path)

  private def isOption(argument: String): Boolean = ColumnPath.split(argument, '=').size > 1 && isNamed(argument)

  /** A name stands before the sign: an expression may hold one too. */
  private def isNamed(argument: String): Boolean =
    argument.matches("(?s)[A-Za-z_][\\w.]*\\s*=[^=].*|[A-Za-z_][\\w.]*\\s*=")

  private def optionOf(argument: String): (String, String) = {
    val at = argument.indexOf('=')
    argument.substring(0, at).trim -> argument.substring(at + 1).trim
  }
}
