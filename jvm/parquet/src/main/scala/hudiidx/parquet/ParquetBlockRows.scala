package hudiidx.parquet

import java.io.IOException

import hudiidx.bytes.ByteSlice
import hudiidx.log.{DataBlockRows, LogBlock, OrderingValue, RecordKeyBuilder, RowFields}
import hudiidx.storage.RandomReader
import hudiidx.{Causes, DamagedTable, HudiIdxException}
import org.apache.parquet.io.InputFile

/** Rows of Parquet log blocks (format notes §6.4), and of any Parquet file: reads the wanted columns alone. DamagedTable
  * if the content cannot be read as Parquet.
  */
object ParquetBlockRows extends DataBlockRows {

  override def foreach(content: RandomReader, block: LogBlock, columns: Vector[String])(
      use: (ByteSlice, RowFields) => Unit
  ): Unit = rows(new ReaderInputFile(content), content.path, columns)(use(null, _))

  def rows(file: InputFile, path: String, columns: Vector[String])(use: RowFields => Unit): Unit = {
    val reader = guarded(path)(ParquetFiles.open(file, path))
    try {
      val projection = guarded(path)(FieldColumns.projection(reader.getFileMetaData.getSchema, columns))
      reader.setRequestedSchema(projection)
      var group = guarded(path)(reader.readNextRowGroup())
      while (group != null) {
        val fields = new FieldColumns(group, projection, reader.getFileMetaData.getCreatedBy)
        val row = new ColumnRow(guarded(path)(columns.map(fields.of).toArray), path)
        var left = group.getRowCount
        while (left > 0) {
          row.next()
          use(row)
          left -= 1
        }
        group = guarded(path)(reader.readNextRowGroup())
      }
    } finally reader.close()
  }

  private[hudiidx] def guarded[A](path: String)(body: => A): A =
    try body
    catch {
      case e: HudiIdxException                        => throw e
      case e: OutOfMemoryError                        => throw Causes.reading(path, e)
      case e: StackOverflowError                      => throw Causes.tooDeep(path, e)
      case e @ (_: IOException | _: RuntimeException) =>
        throw new DamagedTable(s"$path: cannot be read as Parquet (${e.getMessage}); restore the file from a backup", e)
    }
}

/** The current row of columns in step; null stands for a column that the file lacks. */
private final class ColumnRow(columns: Array[FieldColumn], path: String) extends RowFields {
  import ParquetBlockRows.guarded

  def next(): Unit = guarded(path)(columns.foreach(c => if (c != null) c.next()))

  override def isNull(field: Int): Boolean = columns(field) == null || columns(field).isNull

  override def utf8(field: Int, into: ByteSlice): Unit = guarded(path)(columns(field).utf8(into))

  override def addTo(field: Int, key: RecordKeyBuilder): Unit =
    if (columns(field) == null) key.nullValue() else guarded(path)(columns(field).put(key))

  override def boolean(field: Int): Boolean = columns(field) != null && guarded(path)(columns(field).boolean)

  override def ordering(field: Int): OrderingValue =
    if (columns(field) == null) OrderingValue.Default else guarded(path)(columns(field).ordering)
}
