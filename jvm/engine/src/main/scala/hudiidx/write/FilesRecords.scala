package hudiidx.write

import hudiidx.bytes.Bytes
import hudiidx.hfile.{Checksum, Codec, HFileOptions, HFileWriter}
import hudiidx.table.listing.MetadataTableListing
import hudiidx.write.format.BytesPiece
import java.io.ByteArrayOutputStream
import java.nio.charset.StandardCharsets.UTF_8
import java.util
import org.apache.avro.Schema
import org.apache.avro.generic.{GenericData, GenericDatumWriter, GenericRecord}
import org.apache.avro.io.EncoderFactory
import scala.collection.JavaConverters._

/** Records of the metadata table's partition `files`, as content of an HFile data block. Format notes §6.4, §10.4. */
private[write] object FilesRecords {
  private val PartitionList = 1
  private val PartitionFiles = 2

  /** Stock Hudi's HFile readers know gzip alone, and those of HBase load this class. */
  private val options = HFileOptions(
    Codec.Gzip,
    checksum = Checksum.Null,
    comparator = "org.apache.hudi.io.storage.HoodieHBaseKVComparator"
  )

  /** One record of the partitions changed, and one of each one's files.
    *
    * @param schemaJson Avro JSON of the table's records
    */
  def content(schemaJson: String, changes: Vector[FileChange]): Vector[BytesPiece] = {
    val schema = new Schema.Parser().parse(schemaJson)
    val byPartition =
      changes.groupBy(c => if (c.partitionPath.isEmpty) MetadataTableListing.NoPartition else c.partitionPath)
    val list =
      MetadataTableListing.AllPartitions -> record(schema, PartitionList, byPartition.keys.map(_ -> Option(0L)).toMap)
    val files = byPartition.map { case (partition, of) =>
      partition -> record(schema, PartitionFiles, of.map(c => c.fileName -> c.sizeBytes).toMap)
    }
    val bytes =
      hfile(schemaJson, (files + list).map { case (k, r) => k.getBytes(UTF_8) -> encoded(schema, r) }.toVector)
    Vector(BytesPiece(bytes, bytes.length))
  }

  /** @param sizes by name; None: gone */
  private def record(schema: Schema, kind: Int, sizes: Map[String, Option[Long]]): GenericRecord = {
    val members = schema.getField("filesystemMetadata").schema
    val infos = members.getTypes.asScala.find(_.getType == Schema.Type.MAP).get.getValueType
    val map = new util.TreeMap[String, GenericRecord]()
    sizes.foreach { case (name, size) =>
      val info = new GenericData.Record(infos)
      info.put("size", size.getOrElse(0L))
      info.put("isDeleted", size.isEmpty)
      map.put(name, info)
    }
    val made = new GenericData.Record(schema)
    // The key stands in the HFile alone.
    made.put("key", "")
    made.put("type", kind)
    made.put("filesystemMetadata", map)
    made
  }

  private def encoded(schema: Schema, record: GenericRecord): Array[Byte] = {
    val out = new ByteArrayOutputStream
    val encoder = EncoderFactory.get.directBinaryEncoder(out, null)
    new GenericDatumWriter[GenericRecord](schema).write(record, encoder)
    out.toByteArray
  }

  private def hfile(schemaJson: String, records: Vector[(Array[Byte], Array[Byte])]): Array[Byte] = {
    val out = new ByteArrayOutputStream
    val writer = new HFileWriter(out, options)
    writer.putFileInfo("schema", schemaJson.getBytes(UTF_8))
    val sorted = records.sortWith((a, b) => Bytes.compare(a._1, 0, a._1.length, b._1, 0, b._1.length) < 0)
    sorted.foreach { case (key, value) => writer.append(key, value) }
    writer.close()
    out.toByteArray
  }
}
