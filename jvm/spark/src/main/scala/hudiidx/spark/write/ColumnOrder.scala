package hudiidx.spark.write

import org.apache.spark.sql.Column
import org.apache.spark.sql.functions.{coalesce, lit, when}
import org.apache.spark.sql.types.{DoubleType, FloatType, StringType, StructType}

/** The order of ordering values as Hudi has it: of zeros, which are equal to Spark, the negative one is less. */
private[write] object ColumnOrder {

  /** What rows are sorted by. */
  def of(value: Column, columns: StructType, field: String): Seq[Column] = value +: signOfZero(value, columns, field)

  /** False where one of them is null. */
  def isAbove(value: Column, other: Column, columns: StructType, field: String): Column = {
    val signs = signOfZero(value, columns, field).zip(signOfZero(other, columns, field))
    coalesce(signs.foldLeft(value > other) { case (above, (a, b)) => above || coalesce(a > b, lit(false)) }, lit(false))
  }

  /** Texts that are ordered as the zeros are; null for other values. */
  private def signOfZero(value: Column, columns: StructType, field: String): Seq[Column] =
    columns.filter(c => c.name == field && (c.dataType == DoubleType || c.dataType == FloatType)).map { _ =>
      when(value === lit(0.0), value.cast(StringType))
    }
}
