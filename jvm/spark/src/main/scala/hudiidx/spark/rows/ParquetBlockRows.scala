package hudiidx.spark.rows

import hudiidx.bytes.ByteSlice
import hudiidx.parquet.{ParquetFiles, ReaderInputFile}
import hudiidx.log.{LogBlock, LogFile}
import hudiidx.storage.RandomReader
import hudiidx.table.ColumnNames
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.execution.vectorized.WritableColumnVector
import org.apache.spark.sql.types.{DataType, StructField, StructType}

/** Rows of a Parquet block, whose content is a whole Parquet file (format notes §6.4), through Spark's row reader with the
  * file's own types.
  *
  * @param names what the table calls the file's columns, where that is something else
  */
private[rows] final class ParquetBlockRows(
    reader: RandomReader,
    block: LogBlock,
    columns: StructType,
    rules: ColumnRules,
    names: Option[ColumnNames]
) extends BlockRows {
  private val content = LogFile.contentReader(reader, block)
  private val file = new ReaderInputFile(content)
  private val inFile = guarded {
    val footer = ParquetFiles.open(file, content.path)
    try RowShims.columnsOf(footer.getFileMetaData.getSchema)
    finally footer.close()
  }
  private val own = names.fold(inFile)(RenamedColumns.toTable(inFile, _))
  VariantFields.requireWhole(columns, own, content.path)
  private val read = StructType(columns.flatMap { want =>
    found(want).map(have => want.copy(dataType = ColumnAdapter.readType(want.dataType, have.dataType, rules.sameName)))
  })
  private val steps: Array[ParquetValue] = columns.fields.map { want =>
    val at = read.fieldNames.indexOf(want.name)
    if (at < 0) ParquetValue.Absent else ParquetValue.of(at, read(at).dataType, want.dataType, rules.floatsByText)
  }
  private val rows = guarded(
    RowShims.parquetRows(file, names.fold(read)(RenamedColumns.toFile(read, inFile, _)), rules.caseSensitive)
  )
  private var row: InternalRow = _

  private def found(want: StructField): Option[StructField] =
    own.find(_.name == want.name).orElse(own.find(have => rules.sameName(want.name, have.name)))

  override def next(): Boolean = {
    row = guarded(rows.read())
    row != null
  }

  override def append(into: Array[WritableColumnVector]): Unit = {
    var i = 0
    while (i < steps.length) {
      steps(i).append(row, into(i))
      i += 1
    }
  }

  override def key: ByteSlice = null

  override def present(column: Int): Boolean = steps(column) ne ParquetValue.Absent

  override def close(): Unit = rows.close()

  private def guarded[A](body: => A): A = hudiidx.parquet.ParquetBlockRows.guarded(content.path)(body)
}

/** Appends one column of a row. */
private[rows] abstract class ParquetValue {
  def append(row: InternalRow, into: WritableColumnVector): Unit
}

private[rows] object ParquetValue {

  object Absent extends ParquetValue {
    override def append(row: InternalRow, into: WritableColumnVector): Unit = VectorCopy.appendNull(into)
  }

  /** @param at place in the row */
  def of(at: Int, own: DataType, wanted: DataType, floatsByText: Boolean): ParquetValue =
    if (ColumnAdapter.sameShape(own, wanted)) new Same(at, VectorCopy.of(wanted))
    else new Converted(at, VectorCopy.of(own), new ValueConverter(own, wanted, floatsByText))

  private final class Same(at: Int, copy: VectorCopy) extends ParquetValue {
    override def append(row: InternalRow, into: WritableColumnVector): Unit = copy.append(row, at, into)
  }

  private final class Converted(at: Int, copy: VectorCopy, converter: ValueConverter) extends ParquetValue {
    override def append(row: InternalRow, into: WritableColumnVector): Unit = {
      copy.append(row, at, converter.start())
      converter.finish(into)
    }
  }
}
