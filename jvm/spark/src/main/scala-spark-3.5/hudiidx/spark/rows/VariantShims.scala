package hudiidx.spark.rows

import org.apache.spark.sql.catalyst.expressions.SpecializedGetters
import org.apache.spark.sql.execution.vectorized.WritableColumnVector
import org.apache.spark.sql.types.DataType

/** Variants, which Spark has from 4.0 on: before, they are the structs of bytes that files have. */
private[spark] object VariantShims {
  val dataType: Option[DataType] = None

  def isVariant(t: DataType): Boolean = false

  /** Appends one that is not null. */
  def append(from: SpecializedGetters, at: Int, into: WritableColumnVector): Unit = none

  def value(from: SpecializedGetters, at: Int): Array[Byte] = none

  def metadata(from: SpecializedGetters, at: Int): Array[Byte] = none

  private def none: Nothing = throw new UnsupportedOperationException("this release of Spark has no variants")
}
