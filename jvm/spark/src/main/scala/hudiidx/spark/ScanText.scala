package hudiidx.spark

import hudiidx.column.{ColumnPath, NeverColumns}
import hudiidx.spark.prune.ColumnPaths
import org.apache.spark.sql.catalyst.expressions._

/** A scan's filter as text, understood of the table alone, whatever it was called in the query. Of a filter on columns of which nothing
  * is to be kept the constants are left out.
  */
private[spark] object ScanText {

  def of(filter: Expression, never: NeverColumns): String = {
    val barred = columns(filter).filter(never.forbids)
    if (barred.isEmpty) plain(filter)
    else if (isSimple(filter)) plain(withoutConstants(filter))
    // What an expression holds beside its children nobody knows: its columns are told, and no more.
    else columns(filter).map(c => s"($c IS NOT NULL)").mkString(" AND ")
  }

  private def plain(filter: Expression): String =
    filter.transform { case a: AttributeReference => a.withQualifier(Seq.empty) }.sql

  /** A field of a struct is one column, its struct is none then. */
  private def columns(e: Expression): Seq[String] = ColumnPaths.parts(e) match {
    case Some(parts) => Seq(ColumnPath.of(parts))
    case None        => e.children.flatMap(columns).distinct
  }

  /** All that it holds are children. */
  private def isSimple(filter: Expression): Boolean = !filter.exists {
    case _: AttributeReference | _: Literal | _: BinaryComparison | _: And | _: Or | _: Not | _: IsNull | _: IsNotNull |
        _: In | _: InSet | _: StartsWith | _: EndsWith | _: Contains | _: Cast | _: GetStructField =>
      false
    case _ => true
  }

  private def withoutConstants(filter: Expression): Expression = filter.transform {
    case l: Literal                                              => Literal.create(null, l.dataType)
    case InSet(child, _)                                         => In(child, Seq(Literal.create(null, child.dataType)))
    case In(child, list) if list.forall(_.isInstanceOf[Literal]) => In(child, Seq(Literal.create(null, child.dataType)))
  }
}
