package hudiidx.spark

import hudiidx.table.{PartitionPathForm, PartitionTexts, TableConfig}
import org.apache.spark.sql.catalyst.expressions.{Cast, Literal}
import org.apache.spark.sql.types._
import org.apache.spark.unsafe.types.UTF8String

/** What partition paths say about the partition columns. Format notes §8.4.
  *
  *  @param columns the table's partition columns in the order of the path, with their types
  */
final class PartitionValues(config: TableConfig, columns: Vector[StructField], zone: String) {
  private val texts = new PartitionTexts(config, columns.map(_.name))

  /** For each column the values that a row of the partition may have there, or None if the path does not tell. Several
    *  where an old table's folder for nulls may be a value's too.
    */
  def possible(partitionPath: String): Vector[Option[Vector[Any]]] = texts.of(partitionPath) match {
    case None        => columns.map(_ => None)
    case Some(parts) =>
      columns.zip(parts).map { case (c, text) => if (texts.isPlain(c.name)) possibleOf(text, c) else None }
  }

  /** The columns that are null in every row of the partition. */
  def nulls(partitionPath: String): Vector[String] = texts.nulls(partitionPath)

  /** The values of columns that are not stored in the data files: one each, null where the path has no value. */
  def rebuilt(partitionPath: String): Vector[Any] = texts.of(partitionPath) match {
    case None        => columns.map(_ => null)
    case Some(parts) =>
      columns.zip(parts).map { case (c, text) =>
        if (text == PartitionPathForm.NoValue) null else cast(text, c.dataType)
      }
  }

  private def possibleOf(text: String, column: StructField): Option[Vector[Any]] =
    if (text == PartitionPathForm.NoValue) Some(Vector(null))
    else if (column.dataType == StringType && (text.isEmpty || text == PartitionValues.OldDefaultPartition))
      Some(Vector(null, UTF8String.EMPTY_UTF8, UTF8String.fromString(text)))
    else if (!PartitionValues.isCertain(text, column.dataType)) None
    else Option(cast(text, column.dataType)).map(v => Vector(v))

  private def cast(text: String, to: DataType): Any =
    if (to == StringType) UTF8String.fromString(text)
    else Cast(Literal(text), to, Some(zone), ansiEnabled = false).eval(null)
}

object PartitionValues {
  private val OldDefaultPartition = "default"

  /** Types whose path text has one reading. Dates may be written as day numbers, and timestamps in several ways, so only
    *  the plain form of a date counts.
    */
  private def isCertain(text: String, dataType: DataType): Boolean = dataType match {
    case StringType | BooleanType                      => true
    case ByteType | ShortType | IntegerType | LongType => isInteger(text)
    case DateType                                      => text.matches("\\d{4}-\\d{2}-\\d{2}")
    case _                                             => false
  }

  private def isInteger(text: String): Boolean = text.matches("-?\\d{1,19}")
}
