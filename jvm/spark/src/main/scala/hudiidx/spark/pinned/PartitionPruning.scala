package hudiidx.spark.pinned

import hudiidx.spark.prune.WithoutSharing
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{
  And,
  AttributeReference,
  BoundReference,
  Expression,
  InterpretedPredicate
}
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.types.StructField

/** Which partitions may hold rows that satisfy the filters. A filter takes part if it is deterministic and speaks of
  * partition columns alone; it is evaluated as Spark would, on the values that the path decides.
  */
final class PartitionPruning(filters: Seq[Expression], columns: Vector[StructField], values: PartitionValues) {
  private val ordinals: Map[String, Int] = columns.map(_.name).zipWithIndex.toMap

  private val tests: Vector[(Set[Int], InterpretedPredicate)] =
    filters.toVector.flatMap(PartitionPruning.conjuncts).filter(usable).map { filter =>
      (
        filter.references.map(a => ordinals(a.name)).toSet,
        WithoutSharing(SQLConf.get)(InterpretedPredicate(bind(filter)))
      )
    }

  def isUseful: Boolean = tests.nonEmpty

  /** Why no partition is left out; None if some may be. */
  def whyNot(all: Seq[Expression]): Option[String] =
    if (isUseful) None
    else if (columns.isEmpty) Some("the table has no partitions")
    else if (all.isEmpty) Some("the query has no filter")
    else Some(s"no filter is on partition columns alone (${columns.map(_.name).mkString(", ")})")

  /** False only if no row of the partition can satisfy all filters: a test is false or null for the values that all its rows
    * have. A column whose value the path does not decide keeps the partition.
    */
  def mightMatch(partitionPath: String): Boolean = {
    val known = values.of(partitionPath)
    lazy val row = InternalRow.fromSeq(known.map(_.orNull))
    tests.forall { case (used, test) => used.exists(i => known(i).isEmpty) || test.eval(row) }
  }

  /** Is the filter the same for all rows of a partition, so that `mightMatch` decides it? `known` are the columns whose
    * values paths decide.
    */
  def decides(filter: Expression, known: Set[String]): Boolean =
    usable(filter) && filter.references.forall(a => known(a.name))

  private def usable(filter: Expression): Boolean =
    filter.deterministic && filter.references.nonEmpty && filter.references.forall(a => ordinals.contains(a.name))

  private def bind(filter: Expression): Expression = filter.transform { case a: AttributeReference =>
    val at = ordinals(a.name)
    BoundReference(at, columns(at).dataType, nullable = true)
  }
}

object PartitionPruning {
  def of(filters: Seq[Expression], table: PinnedTable): PartitionPruning =
    new PartitionPruning(filters, table.schema.partitionColumns, table.schema.values)

  /** The parts of a filter that must all hold. */
  def conjuncts(filter: Expression): Vector[Expression] = filter match {
    case And(left, right) => conjuncts(left) ++ conjuncts(right)
    case other            => Vector(other)
  }
}
