package hudiidx.rows

/** Rows by their columns, which belong to whoever got them.
  *
  * @param columns each with a value for each row
  */
private[hudiidx] final class RowBatch(val rows: Int, val columns: Array[ColumnValues])

/** Batches of rows, one behind the other. */
private[hudiidx] trait Batches extends AutoCloseable {

  /** The next rows, at least one; null behind the last. */
  def next(): RowBatch

  /** Share of the rows that were read, roughly. */
  def progress: Float
}

/** A batch ends with `rows` rows, or with the row by which it has `bytes`. */
private[hudiidx] final case class BatchLimits(rows: Int, bytes: Long) {
  require(rows > 0, s"batches of $rows rows")
}

private[hudiidx] object BatchLimits {

  /** Columns of so many rows stay in a processor's cache from their making to their use. */
  val Usual: BatchLimits = BatchLimits(rows = 1024, bytes = 4L << 20)
}

/** Gathers rows of a batch. */
private[hudiidx] final class BatchBuilder(of: ValueType.Struct, capacity: Int) {
  private var count = 0
  val columns: Array[ColumnValues] = of.fields.map(f => ColumnValues.of(f.valueType, capacity)).toArray

  private val varying = columns.filterNot(_.isInstanceOf[PrimitiveValues])

  def rows: Int = count

  /** Memory of the values, roughly. */
  def bytes: Long = {
    var sum = 8L * count * (columns.length - varying.length)
    var i = 0
    while (i < varying.length) {
      sum += varying(i).bytes
      i += 1
    }
    sum
  }

  def add(row: Array[Any]): Unit = {
    var i = 0
    while (i < columns.length) {
      columns(i).add(row(i))
      i += 1
    }
    endRow()
  }

  def addAll(from: RowBatch, first: Int, rows: Int): Unit = {
    var i = 0
    while (i < columns.length) {
      columns(i).addAll(from.columns(i), first, rows)
      i += 1
    }
    count += rows
  }

  /** A value was added to each column. */
  def endRow(): Unit = count += 1

  def result: RowBatch = new RowBatch(count, columns)
}
