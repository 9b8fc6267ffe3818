package hudiidx.spark.pinned

import hudiidx.spark.rows.ColumnAdapter
import hudiidx.table.{PartitionRule, PartitionTexts}
import org.apache.spark.sql.catalyst.expressions.{Cast, Literal}
import org.apache.spark.sql.types._
import org.apache.spark.unsafe.types.UTF8String

/** The values that rows have in the partition columns, as far as paths decide them. Format notes §8.4.
  *
  *  @param columns the table's partition columns in the order of the path, with their types
  */
final class PartitionValues(rule: PartitionRule, columns: Vector[StructField], zone: String) {
  private val texts = new PartitionTexts(rule.config, columns.map(_.name))

  /** For each column the value of all rows of the partition, in Spark's inner form and null for null; None: rows have what files
    * hold.
    */
  def of(partitionPath: String): Vector[Option[Any]] = {
    val parts = texts.of(partitionPath)
    columns.zipWithIndex.map { case (c, i) => valueOf(c, parts.map(_(i))) }
  }

  /** The same, by the columns' names. */
  def named(partitionPath: String): Map[String, Any] =
    columns.map(_.name).zip(of(partitionPath)).collect { case (name, Some(value)) => name -> value }.toMap

  /** Some partition may decide the column's value: then nothing that files tell of it counts. */
  def mayDecide(column: String): Boolean = columns.exists(_.name == column) && rule.isOfPath(column)

  private def valueOf(column: StructField, text: Option[String]): Option[Any] =
    rule.valueOf(column.name, text, ColumnAdapter.plainOf(column.dataType))(cast(_, column.dataType)).map {
      case text: String                 => UTF8String.fromString(text)
      case number: java.math.BigDecimal => Decimal(number)
      case other                        => other
    }

  private def cast(text: String, to: DataType): Any =
    Cast(Literal(text), to, Some(zone), ansiEnabled = false).eval(null)
}
