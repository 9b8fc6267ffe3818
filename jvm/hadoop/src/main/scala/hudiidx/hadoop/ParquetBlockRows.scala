package hudiidx.hadoop

import java.io.IOException

import hudiidx.DamagedTable
import hudiidx.HudiIdxException
import hudiidx.bytes.ByteSlice
import hudiidx.log.{DataBlockRows, LogBlock, RowFields}
import hudiidx.storage.RandomReader
import org.apache.hadoop.conf.Configuration
import org.apache.parquet.example.data.Group
import org.apache.parquet.hadoop.api.ReadSupport
import org.apache.parquet.hadoop.example.GroupReadSupport
import org.apache.parquet.hadoop.{ParquetFileReader, ParquetReader}
import org.apache.parquet.io.InputFile
import org.apache.parquet.schema.MessageType

/** Rows of Parquet log blocks (format notes §6.4), and of any Parquet file: reads the wanted columns alone. DamagedTable
  * if the content cannot be read as Parquet.
  */
object ParquetBlockRows extends DataBlockRows {

  override def foreach(content: RandomReader, block: LogBlock, columns: Vector[String])(
      use: (ByteSlice, RowFields) => Unit
  ): Unit = rows(new ReaderInputFile(content), content.path, columns)(use(null, _))

  def rows(file: InputFile, path: String, columns: Vector[String])(use: RowFields => Unit): Unit = {
    val reader = guarded(path) {
      val footer = ParquetFileReader.open(file)
      val schema =
        try footer.getFileMetaData.getSchema
        finally footer.close()
      new Builder(file, ParquetRow.projection(schema, columns)).build()
    }
    try {
      val row = new ParquetRow(columns)
      var group = guarded(path)(reader.read())
      while (group != null) {
        row.set(group)
        use(row)
        group = guarded(path)(reader.read())
      }
    } finally reader.close()
  }

  private final class Builder(file: InputFile, schema: MessageType) extends ParquetReader.Builder[Group](file) {
    withConf(reading(schema))
    override def getReadSupport: ReadSupport[Group] = new GroupReadSupport
  }

  private def reading(schema: MessageType): Configuration = {
    val conf = new Configuration(false)
    conf.set(ReadSupport.PARQUET_READ_SCHEMA, schema.toString)
    conf
  }

  private def guarded[A](path: String)(body: => A): A =
    try body
    catch {
      case e: HudiIdxException                        => throw e
      case e @ (_: IOException | _: RuntimeException) =>
        throw new DamagedTable(s"$path: cannot be read as Parquet (${e.getMessage}); restore the file from a backup", e)
    }
}
