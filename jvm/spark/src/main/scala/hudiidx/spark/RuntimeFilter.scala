package hudiidx.spark

import org.apache.spark.sql.connector.expressions.filter.Predicate
import org.apache.spark.sql.connector.expressions.{Literal, NamedReference}

/** Values of partition columns that a join allows, found while it runs.
  *
  *  @param allowed by column, in Spark's inner form
  */
final case class RuntimeFilter(allowed: Vector[(Int, Set[Any])], values: Option[PartitionValues]) {
  def isEmpty: Boolean = allowed.isEmpty

  /** False only if no row of the partition has allowed values. A column whose value the path does not tell keeps it. */
  def mightMatch(partitionPath: String): Boolean = values.forall { v =>
    val possible = v.possible(partitionPath)
    allowed.forall { case (column, set) => possible(column).forall(_.exists(set)) }
  }
}

object RuntimeFilter {
  val None: RuntimeFilter = RuntimeFilter(Vector.empty, scala.None)

  /** Of predicates `column IN (literals)`; others keep everything. */
  def of(predicates: Array[Predicate], table: PinnedTable): RuntimeFilter = {
    val columns = table.schema.partitionColumns.map(_.name)
    val allowed = predicates.toVector.flatMap { p =>
      p.children.toVector match {
        case (column: NamedReference) +: values if p.name == "IN" && column.fieldNames.length == 1 =>
          val at = columns.indexOf(column.fieldNames.head)
          val literals = values.collect { case l: Literal[_] => l.value: Any }
          if (at >= 0 && literals.length == values.length) Vector(at -> literals.filter(_ != null).toSet)
          else Vector.empty
        case _ => Vector.empty
      }
    }
    RuntimeFilter(allowed, Some(table.schema.values))
  }
}
