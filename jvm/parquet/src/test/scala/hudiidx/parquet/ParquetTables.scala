package hudiidx.parquet

import java.io.ByteArrayOutputStream
import java.nio.file.Path

import scala.collection.JavaConverters._

import hudiidx.Fixtures
import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.{Path => HadoopPath}
import org.apache.parquet.column.ParquetProperties.WriterVersion
import org.apache.parquet.example.data.Group
import org.apache.parquet.example.data.simple.SimpleGroup
import org.apache.parquet.hadoop.example.ExampleParquetWriter
import org.apache.parquet.hadoop.metadata.CompressionCodecName
import org.apache.parquet.schema.{MessageType, MessageTypeParser}

/** How a Parquet file of a test is laid out. */
final case class ParquetLayout(
    codec: CompressionCodecName,
    version: WriterVersion,
    dictionary: Boolean,
    pageBytes: Int,
    rowGroupBytes: Long
)

/** Writes small Parquet files by Parquet's own writer. */
object ParquetTables {
  private val NoSettings = new Configuration(false)

  /** Writes rows, each filled in by one call, into a new file; gives its path. */
  def write(schema: String, layout: ParquetLayout, rows: Seq[Group => Unit]): String = {
    val folder: Path = Fixtures.newFolder("parquet")
    val file = folder.resolve("f_1-0-1_20240101000000000.parquet").toString
    writeTo(file, schema, layout, rows)
    file
  }

  /** Into a file of this name.
    *
    *  @param keyValues what else its footer says
    */
  def writeTo(
      file: String,
      schema: String,
      layout: ParquetLayout,
      rows: Seq[Group => Unit],
      keyValues: Map[String, String] = Map.empty
  ): Unit = {
    fill(ExampleParquetWriter.builder(new HadoopPath("file://" + file)), schema, layout, rows, keyValues)
  }

  /** In memory. */
  def bytes(schema: String, layout: ParquetLayout, rows: Seq[Group => Unit]): Array[Byte] = {
    val out = new ByteArrayOutputStream
    fill(ExampleParquetWriter.builder(new StreamOutputFile(out)), schema, layout, rows, Map.empty)
    out.toByteArray
  }

  private def fill(
      file: ExampleParquetWriter.Builder,
      schema: String,
      layout: ParquetLayout,
      rows: Seq[Group => Unit],
      keyValues: Map[String, String]
  ): Unit = {
    val message: MessageType = MessageTypeParser.parseMessageType(schema)
    val writer = file
      .withConf(NoSettings)
      .withType(message)
      .withCompressionCodec(layout.codec)
      .withWriterVersion(layout.version)
      .withDictionaryEncoding(layout.dictionary)
      .withPageSize(layout.pageBytes)
      .withMinRowCountForPageSizeCheck(1)
      .withMaxRowCountForPageSizeCheck(20)
      .withRowGroupSize(layout.rowGroupBytes)
      .withExtraMetaData(keyValues.asJava)
      .build()
    try
      rows.foreach { fill =>
        val row = new SimpleGroup(message)
        fill(row)
        writer.write(row)
      }
    finally writer.close()
  }
}
