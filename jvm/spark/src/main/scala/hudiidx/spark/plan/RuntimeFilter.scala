package hudiidx.spark.plan

import hudiidx.spark.pinned.{ColumnFilter, PartitionValues, PinnedTable}
import hudiidx.spark.read.{KeyGroups, RecordKeyFilter}
import hudiidx.table.FileSlice
import org.apache.spark.sql.connector.expressions.filter.Predicate
import org.apache.spark.sql.connector.expressions.{Literal, NamedReference}

/** What a join allows, found while it runs: values of partition columns, file groups of record keys, files that may hold
  * values of indexed columns.
  *
  *  @param allowed values by partition column, in Spark's inner form
  *  @param keys None: any file group
  */
final case class RuntimeFilter(
    allowed: Vector[(Int, Set[Any])],
    keys: Option[KeyGroups],
    values: Option[PartitionValues],
    columns: Vector[ColumnFilter]
) {
  def isEmpty: Boolean = allowed.isEmpty && keys.isEmpty && columns.isEmpty

  /** False only if no row of the partition has allowed values. A column whose value the path does not decide keeps it. */
  def mightMatch(partitionPath: String): Boolean = values.forall { v =>
    lazy val known = v.of(partitionPath)
    allowed.forall { case (column, set) => known(column).forall(set) }
  }

  def mightMatch(slice: FileSlice): Boolean =
    keys.forall(_.contains(slice.partitionPath, slice.fileId)) && columns.forall(_.mightMatch(slice))
}

object RuntimeFilter {
  val None: RuntimeFilter = RuntimeFilter(Vector.empty, scala.None, scala.None, Vector.empty)

  /** Of predicates `column IN (literals)`; others keep everything.
    *
    *  @param keyColumns by whose values record keys are looked up
    */
  def of(predicates: Array[Predicate], table: PinnedTable, keyColumns: Vector[String]): RuntimeFilter = {
    val columns = table.schema.partitionColumns.map(_.name)
    val sets = predicates.toVector.flatMap(valuesOf)
    val allowed = sets.collect {
      case (column, values) if columns.contains(column) => columns.indexOf(column) -> values
    }
    val keys = sets.collectFirst {
      case (column, values) if keyColumns.contains(column) => groups(column, values, table)
    }
    val stored = sets.flatMap {
      case (column, values) if !columns.contains(column) && table.schema.struct.fieldNames.contains(column) =>
        ColumnFilter.ofValues(table, column, values.toSeq).toOption
      case _ => scala.None
    }
    RuntimeFilter(allowed, keys.flatten, Some(table.schema.values), stored)
  }

  private def valuesOf(p: Predicate): Option[(String, Set[Any])] = p.children.toVector match {
    case (column: NamedReference) +: values if p.name == "IN" && column.fieldNames.length == 1 =>
      val literals = values.collect { case l: Literal[_] => l.value: Any }
      // A null is equal to nothing.
      if (literals.length == values.length) Some(column.fieldNames.head -> literals.filter(_ != null).toSet)
      else scala.None
    case _ => scala.None
  }

  private def groups(column: String, values: Set[Any], table: PinnedTable): Option[KeyGroups] =
    if (values.size > KeyJoinRule.MostKeys) scala.None
    else
      RecordKeyFilter
        .keysOf(column, values.toSeq, table.config, table.schema.struct)
        .flatMap(keys => RecordKeyFilter.groups(keys, table).toOption)
}
