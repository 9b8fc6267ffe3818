package hudiidx.benchmarks

import hudiidx.slice.{KeyedRows, StoredKeyRows}
import hudiidx.record.PackedKeys
import java.nio.file.Path
import org.apache.hadoop.conf.Configuration
import org.apache.parquet.example.data.simple.SimpleGroup
import org.apache.parquet.hadoop.ParquetFileReader
import org.apache.parquet.hadoop.example.ExampleParquetWriter
import org.apache.parquet.hadoop.metadata.CompressionCodecName
import org.apache.parquet.hadoop.util.HadoopInputFile
import org.apache.parquet.schema.MessageTypeParser

/** A base file of the rows of a log, as one that a compaction made of it would be: the rival of a lookup in the log. */
private[benchmarks] object LogBenchBase {
  private val conf = {
    val made = new Configuration()
    made.set("fs.file.impl", "org.apache.hadoop.fs.RawLocalFileSystem") // no .crc files beside the data
    made
  }

  private val schema = MessageTypeParser.parseMessageType(
    BenchLog.Columns.map(c => s"optional binary $c (STRING);").mkString("message r {\n", "\n", "\n}")
  )

  def write(log: BenchLog, dir: Path): String = {
    val path = dir.resolve("base.parquet").toString
    val writer = ExampleParquetWriter
      .builder(new org.apache.hadoop.fs.Path(path))
      .withConf(conf)
      .withType(schema)
      .withCompressionCodec(CompressionCodecName.SNAPPY)
      .build()
    def add(values: Vector[String]): Unit = {
      val group = new SimpleGroup(schema)
      values.indices.foreach(i => group.add(i, values(i)))
      writer.write(group)
    }
    try Iterator.range(0, log.blocks).flatMap(log.rows).foreach(add)
    finally writer.close()
    path
  }

  /** Opens the file and finds the rows of the keys, without reading these. */
  def rowsOf(path: String, keys: PackedKeys): KeyedRows = {
    val file = ParquetFileReader.open(HadoopInputFile.fromPath(new org.apache.hadoop.fs.Path(path), conf))
    try StoredKeyRows.find(file, keys)
    finally file.close()
  }
}
