package hudiidx.spark.rows

import org.apache.spark.sql.catalyst.expressions.{BoundReference, Cast, GenericInternalRow}
import org.apache.spark.sql.types._
import org.apache.spark.sql.vectorized.{ColumnVector, ColumnarArray, ColumnarMap}
import org.apache.spark.unsafe.types.UTF8String

/** `base`, of type `from`, as Spark casts it to type `to`, with null for what has no value there. So stock Hudi reads a column that was
  * dropped and came again with another type: files from before have the older one. Does not own `base`. For one thread.
  */
private[rows] final class CastVector(to: DataType, base: ColumnVector, from: DataType) extends ColumnVector(to) {
  private val cast = Cast(BoundReference(0, from, nullable = true), to, None, ansiEnabled = false)
  private val row = new GenericInternalRow(1)

  private def valueAt(i: Int): Any =
    if (base.isNullAt(i)) null
    else {
      row.update(0, new ColumnarArray(base, i, 1).get(0, from))
      cast.eval(row)
    }

  override def close(): Unit = ()
  override def hasNull: Boolean = true
  override def numNulls: Int = base.numNulls
  override def isNullAt(i: Int): Boolean = valueAt(i) == null
  override def getBoolean(i: Int): Boolean = valueAt(i).asInstanceOf[Boolean]
  override def getInt(i: Int): Int = valueAt(i).asInstanceOf[Int]
  override def getLong(i: Int): Long = valueAt(i).asInstanceOf[Long]
  override def getFloat(i: Int): Float = valueAt(i).asInstanceOf[Float]
  override def getDouble(i: Int): Double = valueAt(i).asInstanceOf[Double]
  override def getUTF8String(i: Int): UTF8String = valueAt(i).asInstanceOf[UTF8String]
  override def getDecimal(i: Int, precision: Int, scale: Int): Decimal = valueAt(i).asInstanceOf[Decimal]
  override def getByte(i: Int): Byte = none
  override def getShort(i: Int): Short = none
  override def getBinary(i: Int): Array[Byte] = none
  override def getArray(i: Int): ColumnarArray = none
  override def getMap(i: Int): ColumnarMap = none
  override def getChild(ordinal: Int): ColumnVector = none

  private def none = throw new UnsupportedOperationException(s"a column of type ${to.simpleString} has no such value")
}

private[rows] object CastVector {

  /** Pairs of types that only such a column has: numbers, texts, dates and truth values. */
  def has(from: DataType, to: DataType): Boolean =
    isPlain(from) && isPlain(to) && from != to && !ColumnAdapter.sameBits(from, to) && Cast.canCast(from, to)

  private def isPlain(t: DataType): Boolean = t match {
    case BooleanType | IntegerType | LongType | FloatType | DoubleType | StringType | DateType => true
    case _: DecimalType                                                                        => true
    case _                                                                                     => false
  }
}
