package hudiidx.spark.pinned

import hudiidx.DecimalText
import hudiidx.table.{PartitionPathForm, PartitionRule, PartitionTexts}
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
  def of(partitionPath: String): Vector[Option[Any]] = texts.of(partitionPath) match {
    case None        => columns.map(c => if (rule.isPathAlone(c.name)) Some(null) else None)
    case Some(parts) => columns.zip(parts).map { case (c, text) => valueOf(c, text) }
  }

  /** The same, by the columns' names. */
  def named(partitionPath: String): Map[String, Any] =
    columns.map(_.name).zip(of(partitionPath)).collect { case (name, Some(value)) => name -> value }.toMap

  /** Some partition may decide the column's value: then nothing that files tell of it counts. */
  def mayDecide(column: String): Boolean = columns.exists(_.name == column) && rule.isOfPath(column)

  private def valueOf(column: StructField, text: String): Option[Any] =
    if (!rule.isOfPath(column.name)) None
    else if (text == PartitionPathForm.NoValue) Some(null)
    else if (rule.isPathAlone(column.name)) Some(cast(text, column.dataType))
    else if (!rule.isCertain(text, PartitionValues.kindOf(column.dataType))) None
    else Option(cast(text, column.dataType))

  private def cast(text: String, to: DataType): Any =
    to match {
      case StringType     => UTF8String.fromString(text)
      case d: DecimalType => DecimalText.rounded(text.trim, d.precision, d.scale).map(Decimal(_)).orNull
      case _              => Cast(Literal(text), to, Some(zone), ansiEnabled = false).eval(null)
    }
}

object PartitionValues {
  private def kindOf(dataType: DataType): PartitionRule.Kind = dataType match {
    case StringType                                    => PartitionRule.Text
    case BooleanType                                   => PartitionRule.Bool
    case ByteType | ShortType | IntegerType | LongType => PartitionRule.Whole
    case FloatType | DoubleType                        => PartitionRule.Floating
    case _: DecimalType                                => PartitionRule.Exact
    case DateType                                      => PartitionRule.Date
    case _                                             => PartitionRule.Other
  }
}
