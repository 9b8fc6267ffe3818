package hudiidx.spark.plan

import hudiidx.column.{ColumnPath, NeverColumns}
import hudiidx.spark.prune.ColumnPaths
import org.apache.spark.sql.catalyst.expressions._

/** A scan's filters as texts, understood of the table alone, whatever it was called in the query. If one of them concerns columns of
  * which nothing is to be kept, the constants of all are left out: Spark puts what one says of a column into the others.
  */
private[spark] object ScanText {

  def of(filters: Seq[Expression], never: NeverColumns): Seq[String] = {
    val isOpen = filters.flatMap(columns).forall(!never.forbids(_))
    filters.map(if (isOpen) plain(_) else bare(_))
  }

  private def bare(filter: Expression): String = columns(filter) match {
    case _ if isSimple(filter) => plain(withoutConstants(filter))
    // What an expression holds beside its children nobody knows: its columns are told, and no more.
    case Seq()  => Literal.TrueLiteral.sql
    case others => others.map(c => s"($c IS NOT NULL)").mkString(" AND ")
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
