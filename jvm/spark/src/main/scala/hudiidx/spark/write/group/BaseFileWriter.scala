package hudiidx.spark.write.group

import java.io.OutputStream
import java.nio.charset.StandardCharsets.UTF_8

import hudiidx.column.HudiBloomBuilder
import hudiidx.parquet.{BaseFileSchema, StreamOutputFile}
import hudiidx.spark.rows.ParquetEncoder
import hudiidx.spark.write.options.BaseFileOptions
import hudiidx.table.{HudiType, TableSchema}
import org.apache.avro.Schema
import org.apache.hadoop.conf.Configuration
import org.apache.parquet.hadoop.ParquetWriter
import org.apache.parquet.hadoop.api.WriteSupport
import org.apache.parquet.hadoop.metadata.CompressionCodecName
import org.apache.parquet.io.OutputFile
import org.apache.parquet.io.api.RecordConsumer
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.types.{StringType, StructField, StructType}

/** Writes one base file as stock Hudi does: rows as `BaseFileSchema` has them, and in the footer what readers and writers of Hudi
  * look for: the Avro schema, the bloom filter and the least and greatest of the record keys. Format notes §9.1.
  *
  * @param schema   Avro JSON of the rows, meta columns included
  * @param struct   columns of the rows, by name those of the schema
  * @param fileName what the rows name as their file
  */
final class BaseFileWriter(
    out: OutputStream,
    schema: Schema,
    struct: StructType,
    fileName: String,
    options: BaseFileOptions,
    where: String
) extends AutoCloseable {
  private val support = new HudiWriteSupport(schema, struct, fileName, where)
  private val file = new StreamOutputFile(out)
  private val writer: ParquetWriter[InternalRow] = new BaseFileWriter.Builder(file, support)
    .withConf(new Configuration(false))
    .withCompressionCodec(CompressionCodecName.fromConf(options.codec))
    .withRowGroupSize(options.groupBytes)
    .withDictionaryEncoding(true)
    .build()
  private var count = 0L

  def rows: Long = count

  /** Bytes of the file so far; what the row group at work has is not among them. */
  def written: Long = file.written

  /** The same with what the row group at work has in memory. */
  def sizeBytes: Long = writer.getDataSize

  def write(row: InternalRow): Unit = {
    writer.write(row)
    count += 1
  }

  /** Writes the footer; the stream stays open. */
  override def close(): Unit = writer.close()
}

object BaseFileWriter {

  /** The columns of a base file: Hudi's own in front of the table's. */
  def columns(data: StructType): StructType =
    StructType(TableSchema.MetaColumns.map(StructField(_, StringType)) ++ data.fields)

  final private class Builder(file: OutputFile, support: WriteSupport[InternalRow])
      extends ParquetWriter.Builder[InternalRow, Builder](file) {
    override def self(): Builder = this
    override def getWriteSupport(conf: Configuration): WriteSupport[InternalRow] = support
  }
}

final private class HudiWriteSupport(schema: Schema, struct: StructType, fileName: String, where: String)
    extends WriteSupport[InternalRow] {
  private val encode = ParquetEncoder.record(schema, struct, HudiWriteSupport.FileName, fileName, where)
  private val keyAt = struct.fieldIndex(HudiWriteSupport.Key)
  private val bloom = new HudiBloomBuilder
  private var least, greatest: Array[Byte] = _
  private var consumer: RecordConsumer = _

  override def init(conf: Configuration): WriteSupport.WriteContext = {
    val known = new java.util.HashMap[String, String]
    known.put("parquet.avro.schema", schema.toString)
    new WriteSupport.WriteContext(BaseFileSchema.of(schema, where), known)
  }

  /** As parquet-avro names itself, in `writer.model.name`. */
  override def getName: String = "avro"

  override def prepareForWrite(to: RecordConsumer): Unit = consumer = to

  override def write(row: InternalRow): Unit = {
    consumer.startMessage()
    encode(row, consumer)
    consumer.endMessage()
    val key = row.getUTF8String(keyAt).getBytes
    bloom.add(key)
    if (least == null || compare(key, least) < 0) least = key
    if (greatest == null || compare(key, greatest) > 0) greatest = key
  }

  /** As Java compares texts, by whose order stock Hudi asks: characters beyond U+FFFF come before those from U+E000 on. */
  private def compare(a: Array[Byte], b: Array[Byte]): Int = {
    val at = java.util.Arrays.mismatch(a, b)
    if (at < 0 || at == a.length || at == b.length) a.length - b.length
    else {
      val (x, y) = (a(at) & 0xff, b(at) & 0xff)
      if (math.min(x, y) >= 0xee && (x >= 0xf0) != (y >= 0xf0)) y - x else x - y
    }
  }

  override def finalizeWrite(): WriteSupport.FinalizedWriteContext = {
    val footer = new java.util.HashMap[String, String]
    footer.put(HudiBloomBuilder.FilterKey, bloom.text)
    footer.put(HudiBloomBuilder.TypeKey, HudiBloomBuilder.TypeCode)
    val vectors = HudiType.vectorColumns(schema, where)
    if (vectors.nonEmpty) footer.put(HudiType.VectorColumnsKey, vectors)
    if (least != null) {
      footer.put("hoodie_min_record_key", new String(least, UTF_8))
      footer.put("hoodie_max_record_key", new String(greatest, UTF_8))
    }
    new WriteSupport.FinalizedWriteContext(footer)
  }
}

private object HudiWriteSupport {
  val Key: String = TableSchema.MetaColumns(2)
  val FileName: String = TableSchema.MetaColumns(4)
}
