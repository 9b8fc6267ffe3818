package hudiidx.column

/** What a condition wants of one column, for files that have it in one type.
  *
  *  @param nulls  rows without a value are wanted
  *  @param values the values that are wanted; None: bounds of this type tell nothing of them
  *  @param noValue no value of any type is wanted
  */
final case class LeafTest(nulls: Boolean, values: Option[ValueSet], noValue: Boolean = false) {

  /** False if no row with these statistics can be wanted. Bounds that are not known rule nothing out, though no value of
    * this type be wanted: the file may have the column in another one, of which values are wanted.
    */
  def mightMatch(stats: ColumnStats): Boolean =
    (nulls && stats.nulls != 0) || (stats.bounds match {
      case Bounds.NoValues => false
      case Bounds.Unknown  => !noValue
      case range           => values.forall(LeafTest.meets(_, range))
    })
}

object LeafTest {
  def of(leaf: ColumnCondition.In, columnType: ColumnType): LeafTest =
    LeafTest(leaf.nulls, leaf.ofType(columnType).filter(LeafTest.isOf(columnType)), leaf.noValue)

  private def isOf(columnType: ColumnType)(set: ValueSet): Boolean = (set, columnType.order) match {
    case (_: ValueSet.Longs, ValueOrder.Longs) | (_: ValueSet.Texts, ValueOrder.Texts) => true
    case _                                                                             => false
  }

  private def meets(set: ValueSet, range: Bounds): Boolean = (set, range) match {
    case (s: ValueSet.Longs, Bounds.LongRange(min, max, _)) => s.meets(min, max)
    case (s: ValueSet.Texts, Bounds.TextRange(min, max, _)) => s.meets(min, max)
    case _                                                  => true
  }
}
