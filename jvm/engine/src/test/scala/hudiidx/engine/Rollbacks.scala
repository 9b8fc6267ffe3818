package hudiidx.engine

import java.io.ByteArrayOutputStream
import java.nio.file.{Files, Paths}
import java.util.{ArrayList => JList, HashMap => JMap}

import hudiidx.storage.{LocalStorage, Storage}
import hudiidx.table.TableConfig
import hudiidx.timeline.{Instant, InstantContents}
import org.apache.avro.Schema
import org.apache.avro.file.DataFileWriter
import org.apache.avro.generic.{GenericData, GenericDatumWriter, GenericRecord}

/** Rolls a completed write back as Hudi 1.x does on table versions 8 and later: its instant and its files go, and a rollback
  * instant tells of them.
  */
object Rollbacks {
  private val schema = new Schema.Parser().parse(
    """{"type":"record","name":"HoodieRollbackMetadata","fields":[
      |  {"name":"commitsRollback","type":{"type":"array","items":"string"}},
      |  {"name":"partitionMetadata","type":{"type":"map","values":{"type":"record","name":"HoodieRollbackPartitionMetadata",
      |    "fields":[{"name":"successDeleteFiles","type":{"type":"array","items":"string"}}]}}}
      |]}""".stripMargin
  )

  def rollBack(table: String, write: Instant): Unit = {
    val dir = TableConfig.read(LocalStorage, table).timelineDir(table)
    val files = new InstantContents(LocalStorage, dir).commit(write).writeStats.groupBy(_.partitionPath).map {
      case (partition, stats) => partition -> stats.flatMap(_.fileName)
    }
    files.foreach { case (partition, names) =>
      names.foreach(n => LocalStorage.delete(Storage.join(Storage.join(table, partition), n)))
    }
    LocalStorage.list(dir).filter(_.name.startsWith(write.requestedTime)).foreach(f => LocalStorage.delete(f.path))
    val time = (write.completionTime.get.toLong + 1).toString
    Files.write(Paths.get(dir, s"${time}_$time.rollback"), content(write.requestedTime, files)): Unit
  }

  private def content(instantTime: String, files: Map[String, Vector[String]]): Array[Byte] = {
    val partitions = new JMap[String, GenericRecord]
    files.foreach { case (partition, names) =>
      val deleted = new GenericData.Record(schema.getField("partitionMetadata").schema.getValueType)
      deleted.put("successDeleteFiles", javaList(names))
      partitions.put(partition, deleted)
    }
    val record = new GenericData.Record(schema)
    record.put("commitsRollback", javaList(Vector(instantTime)))
    record.put("partitionMetadata", partitions)
    val out = new ByteArrayOutputStream
    val writer = new DataFileWriter[GenericRecord](new GenericDatumWriter[GenericRecord](schema)).create(schema, out)
    writer.append(record)
    writer.close()
    out.toByteArray
  }

  private def javaList(items: Vector[String]): JList[String] = {
    val list = new JList[String]
    items.foreach(list.add)
    list
  }
}
