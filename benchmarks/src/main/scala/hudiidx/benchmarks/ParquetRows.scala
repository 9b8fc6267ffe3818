package hudiidx.benchmarks

import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.Path
import org.apache.parquet.example.data.simple.SimpleGroup
import org.apache.parquet.hadoop.example.ExampleParquetWriter
import org.apache.parquet.hadoop.metadata.CompressionCodecName
import org.apache.parquet.schema.MessageTypeParser

/** Small real base files, so that a generated table can be read where its last commits wrote. */
object ParquetRows {
  val RowsPerFile = 40

  /** Schema of the table without Hudi's own columns, as commit metadata holds it. */
  val AvroSchema: String =
    """{"type":"record","name":"bench_record","namespace":"hoodie.bench","fields":[""" +
      """{"name":"id","type":"string"},{"name":"day","type":"string"},""" +
      """{"name":"ts","type":"long"},{"name":"fare","type":"double"}]}"""

  private val MetaColumns =
    Vector(
      "_hoodie_commit_time",
      "_hoodie_commit_seqno",
      "_hoodie_record_key",
      "_hoodie_partition_path",
      "_hoodie_file_name"
    )

  private val schema = MessageTypeParser.parseMessageType(
    MetaColumns.map(c => s"optional binary $c (STRING);").mkString("message bench_record {\n", "\n", "\n") +
      "required binary id (STRING); required binary day (STRING); required int64 ts; required double fare;\n}"
  )

  /** Rows count up from `firstRow`, so no two files share a key when their ranges differ. */
  def write(path: String, partitionPath: String, instantTime: String, firstRow: Long): Unit = {
    val conf = new Configuration()
    conf.set("fs.file.impl", "org.apache.hadoop.fs.RawLocalFileSystem") // no .crc files beside the data
    val name = path.substring(path.lastIndexOf('/') + 1)
    val writer = ExampleParquetWriter
      .builder(new Path(path))
      .withConf(conf)
      .withType(schema)
      .withCompressionCodec(CompressionCodecName.SNAPPY)
      .build()
    try {
      (0 until RowsPerFile).foreach { i =>
        val id = f"id-${firstRow + i}%012d"
        val group = new SimpleGroup(schema)
        val meta = Vector(instantTime, s"${instantTime}_0_$i", id, partitionPath, name)
        MetaColumns.indices.foreach(c => group.add(c, meta(c)))
        group.add("id", id)
        group.add("day", partitionPath)
        group.add("ts", firstRow + i)
        group.add("fare", (i * 37 % 1000) / 10.0)
        writer.write(group)
      }
    } finally writer.close()
  }
}
