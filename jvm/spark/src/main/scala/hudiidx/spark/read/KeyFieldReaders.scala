package hudiidx.spark.read

import scala.collection.mutable

import hudiidx.slice.{KeyedRows, StoredKeyRows}
import org.apache.parquet.hadoop.metadata.ParquetMetadata
import org.apache.spark.sql.connector.read.PartitionReader
import org.apache.spark.sql.execution.datasources.PartitionedFile
import org.apache.spark.sql.types.{StringType, StructType}
import org.apache.spark.sql.vectorized.ColumnarBatch

/** Reads the columns of files that have them in the table's own types. Record keys that are the values of one field stand in
  * files twice, and of most files take the most room: where a footer tells that both columns are the same, one is read.
  *
  * @param keyField whose values are the record keys, if there is such a field
  */
final private[spark] class KeyFieldReaders(readers: ParquetReaders, keyField: Option[String]) extends Serializable {
  private val keyAt = placeOf(RecordKeyFilter.KeyColumn)
  private val fieldAt = keyField.fold(-1)(placeOf)

  private def placeOf(column: String): Int =
    readers.data.indexWhere(f => f.name == column && f.dataType == StringType)

  /** Parquet takes a column that it is not to read for nulls where a filter names it: with filters all are read.
    *
    * @param footer of the same piece
    */
  def batches(file: PartitionedFile, footer: ParquetMetadata): PartitionReader[ColumnarBatch] =
    if (readers.hasFilters) readers.batches(file, footer) else once(footer)(_.batches(file, footer))

  /** The rows with these numbers, ascending, without a look at the filters.
    *
    * @param footer of the whole file
    */
  def rowsAt(file: PartitionedFile, footer: ParquetMetadata, numbers: Array[Int]): PartitionReader[ColumnarBatch] =
    once(footer)(_.rowsAt(file, footer, numbers))

  private def once(footer: ParquetMetadata)(
      read: ParquetReaders => PartitionReader[ColumnarBatch]
  ): PartitionReader[ColumnarBatch] =
    if (keyAt < 0 || fieldAt < 0 || !holdsKeys(footer)) read(readers)
    else new RepeatedColumn(read(without(Seq(fieldAt))), if (keyAt < fieldAt) keyAt else keyAt - 1, fieldAt)

  private def holdsKeys(footer: ParquetMetadata): Boolean = keyField.exists(StoredKeyRows.areKeys(footer, _))

  /** Rows whose keys are known. */
  def rowsOf(file: PartitionedFile, footer: ParquetMetadata, found: KeyedRows): PartitionReader[ColumnarBatch] = {
    val places = Seq(keyAt, fieldAt).filter(p => p >= 0 && (p == keyAt || holdsKeys(footer))).sorted
    if (places.isEmpty) readers.rowsAt(file, footer, found.numbers)
    else new KeyedBatches(without(places).rowsAt(file, footer, found.numbers), places, found.keys)
  }

  @transient private lazy val made = mutable.HashMap.empty[Seq[Int], ParquetReaders]

  private def without(places: Seq[Int]): ParquetReaders = synchronized {
    made.getOrElseUpdate(
      places,
      readers.withColumns(StructType(readers.data.zipWithIndex.collect { case (f, i) if !places.contains(i) => f }))
    )
  }
}
