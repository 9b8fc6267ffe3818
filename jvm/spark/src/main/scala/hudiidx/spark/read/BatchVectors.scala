package hudiidx.spark.read

import hudiidx.spark.rows.VariantShims
import hudiidx.spark.shims.Shims
import org.apache.spark.sql.execution.vectorized.WritableColumnVector
import org.apache.spark.sql.types._

/** Vectors to which rows are added until they make a batch: `mostRows` of them, or those by which it has `mostBytes`. A row may be
  * as large as its writer likes, and a few bytes of a file may be many rows.
  */
final private class BatchVectors(mostRows: Int, columns: StructType, mostBytes: Long = BatchVectors.UsualBytes)
    extends AutoCloseable {
  val vectors: Array[WritableColumnVector] = Shims.vectors(mostRows, columns)
  private val varying = vectors.flatMap(BatchVectors.varying)
  private val fixedBytes = columns.map(_.dataType.defaultSize.toLong).sum
  private var count = 0

  /** Rows in the vectors. */
  def rows: Int = count

  def clear(): Unit = {
    vectors.foreach(_.reset())
    count = 0
  }

  /** A value was added to each vector. */
  def endRow(): Unit = count += 1

  def isFull: Boolean = count >= mostRows || bytes >= mostBytes

  private def bytes: Long = {
    var sum = fixedBytes * count
    var i = 0
    while (i < varying.length) {
      sum += varying(i).getElementsAppended.toLong * varying(i).dataType.defaultSize
      i += 1
    }
    sum
  }

  override def close(): Unit = vectors.foreach(_.close())
}

private object BatchVectors {
  val UsualBytes: Long = 16L << 20

  /** The vectors below one in which a row has any number of elements. */
  private def varying(vector: WritableColumnVector): Array[WritableColumnVector] = vector.dataType match {
    case _: StringType | _: BinaryType                           => Array(vector.getChild(0))
    case d: DecimalType if d.precision > Decimal.MAX_LONG_DIGITS => Array(vector.getChild(0))
    case _: ArrayType                                            => elements(vector, 0)
    case _: MapType                                              => elements(vector, 0) ++ elements(vector, 1)
    case s: StructType                  => Array.tabulate(s.length)(vector.getChild(_)).flatMap(varying)
    case t if VariantShims.isVariant(t) => Array(0, 1).map(vector.getChild(_)).flatMap(varying)
    case _                              => Array.empty
  }

  private def elements(vector: WritableColumnVector, child: Int): Array[WritableColumnVector] =
    vector.getChild(child) +: varying(vector.getChild(child))
}
