package hudiidx.hive

import hudiidx.column.ColumnCondition
import hudiidx.rows.ValueType
import hudiidx.table.TableConfig

/** What a query says of the rows that it wants. It looks at the rows itself: those of others need not be left out. */
private[hive] trait RowPredicate {

  /** Record keys of which every wanted row has one; None: it may have any. */
  def keys(config: TableConfig, columns: ValueType.Struct): Option[Set[String]]

  /** What holds of the columns of every wanted row.
    *
    * @param isKnown of a column, by its name: rows have the value that files hold
    */
  def condition(columns: ValueType.Struct, isKnown: String => Boolean): ColumnCondition
}

private[hive] object RowPredicate {

  /** All rows are wanted. */
  object Everything extends RowPredicate {
    override def keys(config: TableConfig, columns: ValueType.Struct): Option[Set[String]] = None
    override def condition(columns: ValueType.Struct, isKnown: String => Boolean): ColumnCondition =
      ColumnCondition.Anything("the query has no predicate")
  }
}
