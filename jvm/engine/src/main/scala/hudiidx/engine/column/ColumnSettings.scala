package hudiidx.engine.column

import hudiidx.{InvalidOption, Log}
import hudiidx.column._
import hudiidx.column.expression.{ExpressionLimits, ExpressionTree}
import hudiidx.store.IndexVersion
import hudiidx.sync.{ColumnOptions, TableContext}

/** Which columns are indexed, and how.
  *
  *  @param pending of `specs`: files that were there before these were asked for are not covered yet
  */
final case class ColumnSettings(specs: Vector[IndexSpec], pending: Vector[IndexSpec] = Vector.empty) {

  /** As a version has them. */
  def properties: Map[String, String] = choice.properties ++
    Map(IndexSpec.Property -> ColumnSettings.text(specs)).filter(_ => specs.nonEmpty) ++
    Map(IndexSpec.PendingProperty -> ColumnSettings.text(pending)).filter(_ => pending.nonEmpty)

  /** What readers may use. */
  def choice: ColumnChoice = ColumnChoice(specs.groupBy(_.kind).map { case (kind, all) =>
    kind -> all.flatMap(s => if (kind == IndexKind.Range) s.columns else Vector(s.columns.mkString(", ")))
  })

  /** Without the indexes over `columns`, of one kind or of all. */
  def without(dropped: Vector[IndexSpec], all: Vector[String]): ColumnSettings =
    ColumnSettings(ColumnSettings.without(specs, dropped, all), ColumnSettings.without(pending, dropped, all))

  /** Without the indexes that one of these columns or expressions is in. */
  def withoutPaths(gone: Set[String]): ColumnSettings = {
    def left(specs: Vector[IndexSpec]): Vector[IndexSpec] = specs.flatMap { s =>
      if (s.kind == IndexKind.Range) Some(s.copy(columns = s.columns.filterNot(gone))).filter(_.columns.nonEmpty)
      else if (s.columns.exists(gone)) None
      else Some(s)
    }
    if (gone.isEmpty) this else ColumnSettings(left(specs), left(pending))
  }
}

object ColumnSettings {

  /** Stands for every kind where an index is dropped. */
  val AnyKind = "any"

  def of(version: IndexVersion): ColumnSettings = of(version.properties)

  /** Those that `properties` tells of. */
  def of(properties: Map[String, String]): ColumnSettings = ColumnSettings(
    properties.get(IndexSpec.Property).toVector.flatMap(IndexSpec.stored),
    properties.get(IndexSpec.PendingProperty).toVector.flatMap(IndexSpec.stored)
  )

  def isIn(version: IndexVersion): Boolean = version.properties.contains(IndexSpec.Property)

  /** What options ask for; what they do not name stays as a version before has it. */
  def of(options: ColumnOptions, before: Option[IndexVersion]): ColumnSettings = {
    val old = before.map(of(_).specs).getOrElse(Vector.empty)
    def kept(kind: String, given: Option[Vector[IndexSpec]]): Vector[IndexSpec] =
      given.getOrElse(old.filter(_.kind == kind))
    val named = Set(IndexKind.Range, BloomKind.name, ValuesKind.name)
    val others = options.others.fold(old.filterNot(s => named(s.kind)))(IndexSpec.parseAll)
    val all = kept(IndexKind.Range, options.range.map(t => specs(IndexKind.Range, t, Map.empty, together = true))) ++
      kept(
        BloomKind.name,
        options.bloom.map(specs(BloomKind.name, _, option(BloomKind.FalsePositives, options.fpp)))
      ) ++
      kept(
        ValuesKind.name,
        options.values.map(specs(ValuesKind.name, _, option(ValuesKind.Most, options.most)))
      ) ++ others
    ColumnSettings(IndexSpec.merged(Vector.empty, all))
  }

  private def option(name: String, value: Option[String]): Map[String, String] = value.map(name -> _).toMap

  private def specs(
      kind: String,
      list: String,
      options: Map[String, String],
      together: Boolean = false
  ): Vector[IndexSpec] = {
    val columns = ColumnPath.asked(list).distinct
    if (columns.isEmpty) Vector.empty
    else if (together) Vector(IndexSpec(kind, columns, options))
    else columns.map(c => IndexSpec(kind, Vector(c), options))
  }

  /** Paths of all of a table's columns, as its schema has them. */
  def columnsOf(table: TableContext): Vector[String] =
    TableColumns.of(table).all.map(_._1).filterNot(FileColumns.isMeta)

  /** InvalidOption for a column that the table does not have, or that the kind cannot index; where the table's schema is not
    * known everything passes. Expressions were judged when they were resolved.
    */
  private[column] def check(specs: Vector[IndexSpec], table: TableColumns): Unit = {
    val expressions = specs.flatMap(SpecExpressions.of).distinct
    if (expressions.size > ExpressionLimits.MostExpressions)
      throw new InvalidOption(
        s"${expressions.size} expressions are more than the ${ExpressionLimits.MostExpressions} that a table may have indexes on"
      )
    val parts = expressions.flatMap(ColumnExpression.of).map(ColumnExpression.parts).sum
    if (parts > ExpressionLimits.MostParts)
      throw new InvalidOption(
        s"the expressions have $parts parts together, more than the ${ExpressionLimits.MostParts} that a table's indexes may have; " +
          "index fewer or shorter ones"
      )
    specs.foreach(checked(_, table))
    for {
      path <- expressions
      tree <- ColumnExpression.of(path).flatMap(_.tree).flatMap(_.toOption)
      parts <- ExpressionTree.columns(tree)
      name <- table.hudiType(parts)
    } throw new InvalidOption(
      s"${ColumnExpression.shown(path)}: column ${ColumnPath.of(parts)} is a $name, of which no expression is indexed; leave it out"
    )
  }

  private def checked(spec: IndexSpec, table: TableColumns): Unit = {
    val kind = if (spec.kind == IndexKind.Range) None else Some(kindOf(spec))
    val (expressions, columns) = spec.columns.filterNot(_ == IndexSpec.All).partition(ColumnExpression.isOne)
    if (expressions.nonEmpty && kind.isDefined && (spec.columns.size > 1 || !FileRecords.OfValues(spec.kind)))
      throw new InvalidOption(
        s"${shown(spec)}: an expression is indexed alone, by kind ${IndexKind.Range}, ${BloomKind.name} or ${ValuesKind.name}"
      )
    if (spec.isAll && kind.isDefined)
      throw new InvalidOption(
        s"${spec.text}: ${IndexSpec.All} stands for all columns of ranges alone; name the columns"
      )
    val types = if (table.avroJson.isEmpty) Vector.empty else columns.map(c => c -> checked(c, spec, table))
    if (expressions.isEmpty && types.size == columns.size)
      kind.foreach(_.creator(types.map { case (c, t) => IndexedColumn(c, t, spec.kind) }, spec.options))
  }

  private def kindOf(spec: IndexSpec): IndexKind = IndexKind
    .find(spec.kind)
    .getOrElse(
      throw new InvalidOption(
        s"${spec.text}: unknown index kind '${spec.kind}'; expected one of: ${IndexKind.Range}, ${BloomKind.name}, " +
          s"${ValuesKind.name}, or a hudiidx.column.IndexKind that a jar names in META-INF/services"
      )
    )

  private def checked(path: String, spec: IndexSpec, table: TableColumns): ColumnType =
    table.all.find(_._1 == path) match {
      case Some((_, Some(columnType))) =>
        for (name <- table.hudiType(path) if spec.kind != IndexKind.Range)
          throw new InvalidOption(
            s"${spec.text}: column $path is of a $name, of whose values no index is made: no filter speaks of them; leave it out, or " +
              s"index it by kind ${IndexKind.Range}, which keeps how many are null"
          )
        columnType
      case Some((_, None)) =>
        throw new InvalidOption(s"${spec.text}: the values of column $path have no order that an index could use")
      case None if TableColumns.meta.contains(path) => ColumnType.Text
      case None                                     =>
        val below = table.all.map(_._1).filter(_.startsWith(path + "."))
        val known = if (below.nonEmpty) below else table.all.map(_._1).filterNot(FileColumns.isMeta)
        val what = if (below.nonEmpty) "is a struct, name its fields" else "is not in the table's schema; it has"
        throw new InvalidOption(s"${spec.text}: column $path $what: ${known.take(MostNamed).mkString(", ")}")
    }

  /** Of what a version has as pending: that which can be made of this table, one by one. The others are warned of. */
  def makeable(
      version: IndexVersion,
      context: TableContext,
      expressions: Option[ExpressionEngine]
  ): Vector[IndexSpec] = {
    lazy val table = TableColumns.of(context)
    lazy val judge = new SpecExpressions(expressions, table)
    val stored = of(version)
    val pending = if (hasExpressions(stored)) judge.renewed(stored).pending else stored.pending
    def isMakeable(spec: IndexSpec): Boolean =
      try {
        check(judge.resolved(Vector(spec), Some(version)), table)
        true
      } catch {
        case e: InvalidOption =>
          log.warn(s"an index that is noted cannot be made: ${e.getMessage}")
          false
      }
    pending.flatMap { s =>
      if (s.kind != IndexKind.Range) Some(s).filter(isMakeable)
      else
        Some(s.copy(columns = s.columns.filter(c => isMakeable(s.copy(columns = Vector(c))))))
          .filter(_.columns.nonEmpty)
    }
  }

  private def hasExpressions(of: ColumnSettings): Boolean =
    (of.specs ++ of.pending).flatMap(SpecExpressions.of).nonEmpty

  /** What there may be to make of a version: what is noted, and expressions, which an earlier build may have made. */
  def mayBeMakeable(version: IndexVersion): Boolean = {
    val stored = of(version)
    stored.pending.nonEmpty || hasExpressions(stored)
  }

  private val log = Log.of(classOf[ColumnSettings])

  /** For people. */
  private[column] def shown(spec: IndexSpec): String =
    spec.copy(columns = spec.columns.map(ColumnExpression.shown)).text

  private val MostNamed = 40

  private def text(specs: Vector[IndexSpec]): String = specs.map(_.text).mkString(";")

  private def without(
      specs: Vector[IndexSpec],
      dropped: Vector[IndexSpec],
      all: Vector[String]
  ): Vector[IndexSpec] = specs.flatMap { spec =>
    val hits = dropped.filter(d => d.kind == AnyKind || d.kind == spec.kind)
    if (spec.kind == IndexKind.Range) {
      val gone = hits.flatMap(_.columns).toSet
      // A list of all columns that leaves one out is a list of the others.
      val named =
        if (spec.isAll && gone.exists(c => all.contains(c))) all ++ spec.columns.filterNot(_ == IndexSpec.All)
        else spec.columns
      val left = if (gone(IndexSpec.All)) Vector.empty else named.distinct.filterNot(gone)
      if (left.isEmpty) None else Some(spec.copy(columns = left))
    } else if (hits.exists(d => d.columns == spec.columns)) None
    else Some(spec)
  }
}
