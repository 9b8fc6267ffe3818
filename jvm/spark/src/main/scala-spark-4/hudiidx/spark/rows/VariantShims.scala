package hudiidx.spark.rows

import org.apache.spark.sql.catalyst.expressions.SpecializedGetters
import org.apache.spark.sql.execution.vectorized.WritableColumnVector
import org.apache.spark.sql.types.{DataType, VariantType}

/** Variants, which Spark has from 4.0 on. A vector of them has the bytes of the value and of the metadata as children. */
private[spark] object VariantShims {
  val dataType: Option[DataType] = Some(VariantType)

  def isVariant(t: DataType): Boolean = t.isInstanceOf[VariantType]

  /** Appends one that is not null. */
  def append(from: SpecializedGetters, at: Int, into: WritableColumnVector): Unit = {
    val own = from.getVariant(at)
    into.appendStruct(false)
    append(own.getValue, into.getChild(0))
    append(own.getMetadata, into.getChild(1))
  }

  private def append(bytes: Array[Byte], into: WritableColumnVector): Unit =
    into.appendByteArray(bytes, 0, bytes.length): Unit

  def value(from: SpecializedGetters, at: Int): Array[Byte] = from.getVariant(at).getValue

  def metadata(from: SpecializedGetters, at: Int): Array[Byte] = from.getVariant(at).getMetadata
}
