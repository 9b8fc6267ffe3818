package hudiidx.spark.rows

import org.apache.spark.sql.execution.vectorized.{OnHeapColumnVector, WritableColumnVector}
import org.apache.spark.sql.types.DataType

/** Brings single values of a file's type to the table's, by ColumnAdapter's rules. For one thread. */
private[rows] final class ValueConverter(from: DataType, to: DataType, floatsByText: Boolean) {
  private val own = new OnHeapColumnVector(4, from)
  private val seen = ColumnAdapter.adapt(own, from, to, floatsByText)
  private val copy = VectorCopy.of(to)

  /** An empty vector of the file's type, for the one value that `finish` converts. */
  def start(): WritableColumnVector = {
    own.reset()
    own
  }

  def finish(into: WritableColumnVector): Unit = copy.append(seen, 0, into)
}
