package hudiidx.spark.rows

import org.apache.hadoop.conf.Configuration
import org.apache.parquet.hadoop.ParquetReader
import org.apache.parquet.hadoop.api.ReadSupport
import org.apache.parquet.io.InputFile
import org.apache.parquet.schema.MessageType
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.execution.datasources.parquet.{ParquetReadSupport, ParquetToSparkSchemaConverter}
import org.apache.spark.sql.execution.vectorized.WritableColumnVector
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.types.StructType
import org.apache.spark.sql.vectorized.ColumnVector

/** All of this package that depends on the inner parts of Spark. */
object RowShims {

  /** Where the elements of an array or map begin in their own vector, and how many there are. */
  def offsetAt(vector: ColumnVector, row: Int): Int = vector.asInstanceOf[WritableColumnVector].getArrayOffset(row)
  def lengthAt(vector: ColumnVector, row: Int): Int = vector.asInstanceOf[WritableColumnVector].getArrayLength(row)

  /** The columns of a Parquet file as Spark types. */
  def columnsOf(schema: MessageType): StructType =
    new ParquetToSparkSchemaConverter(parquetSettings(caseSensitive = true)).convert(schema)

  /** Rows of any Parquet file in file order; each is valid until the next is read. Dates and times are those written.
    *
    * @param columns of the file's own types
    */
  def parquetRows(file: InputFile, columns: StructType, caseSensitive: Boolean): ParquetReader[InternalRow] = {
    val settings = parquetSettings(caseSensitive)
    settings.set(ParquetReadSupport.SPARK_ROW_REQUESTED_SCHEMA, columns.json)
    val builder = new ParquetReader.Builder[InternalRow](file) {
      override protected def getReadSupport: ReadSupport[InternalRow] = new ParquetReadSupport
    }
    builder.withConf(settings).build()
  }

  private def parquetSettings(caseSensitive: Boolean): Configuration = {
    val settings = new Configuration(false)
    settings.setBoolean(SQLConf.CASE_SENSITIVE.key, caseSensitive)
    settings.setBoolean(SQLConf.NESTED_SCHEMA_PRUNING_ENABLED.key, true)
    settings.setBoolean(SQLConf.PARQUET_BINARY_AS_STRING.key, false)
    settings.setBoolean(SQLConf.PARQUET_INT96_AS_TIMESTAMP.key, true)
    settings.setBoolean(SQLConf.PARQUET_INFER_TIMESTAMP_NTZ_ENABLED.key, true)
    settings.setBoolean(SQLConf.LEGACY_PARQUET_NANOS_AS_LONG.key, false)
    settings
  }
}
