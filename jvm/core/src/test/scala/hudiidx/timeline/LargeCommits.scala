package hudiidx.timeline

import java.io.ByteArrayOutputStream
import java.util

import org.apache.avro.file.{DataFileStream, DataFileWriter}
import org.apache.avro.generic.{GenericData, GenericDatumReader, GenericDatumWriter, GenericRecord}

/** Commits with many write stats, in stock's Avro form. */
object LargeCommits {

  /** A commit like `sample` whose one partition has `stats` write stats, copies of the sample's first. */
  def toAvro(sample: Array[Byte], stats: Int): Array[Byte] = {
    val in = new DataFileStream[GenericRecord](
      new java.io.ByteArrayInputStream(sample),
      new GenericDatumReader[GenericRecord]()
    )
    val record = in.next()
    val partitions = record.get("partitionToWriteStats").asInstanceOf[util.Map[CharSequence, util.List[GenericRecord]]]
    val first = partitions.values().iterator().next().get(0)
    val many = new util.ArrayList[GenericRecord](stats)
    (0 until stats).foreach { i =>
      val copy = new GenericData.Record(first.asInstanceOf[GenericData.Record], false)
      copy.put("fileId", f"5e564dfd-2ece-4ce9-ae7e-$i%012d-0")
      many.add(copy)
    }
    partitions.clear()
    partitions.put("lima", many)
    val out = new ByteArrayOutputStream
    val writer = new DataFileWriter[GenericRecord](new GenericDatumWriter[GenericRecord](in.getSchema))
    writer.create(in.getSchema, out).append(record)
    writer.close()
    out.toByteArray
  }
}
