package hudiidx.table.listing

import hudiidx.table.{FileEntry, FileName, FileSource}
import hudiidx.{AvroSchemas, DamagedTable}
import hudiidx.bytes.ByteCursor
import hudiidx.hfile.HFileReader
import hudiidx.log.AvroSkips
import hudiidx.storage.Storage
import java.nio.ByteBuffer
import java.nio.charset.StandardCharsets.UTF_8
import java.util.{LinkedHashMap => JMap}
import org.apache.avro.Schema
import org.apache.avro.generic.{GenericDatumReader, GenericRecord}
import org.apache.avro.io.DecoderFactory

/** Partitions and files as Hudi's own metadata table has them: its `files` partition, seen with the instants that are valid
  * now. Format notes §10. One partition is held at a time. Safe for several threads.
  *
  * Sizes are the metadata table's. On version 6 a rollback records the failed write's log files with size 1, so the size of
  * a log file must never cut its reading there. Entries have neither completion time nor replacement.
  *
  * Errors: DamagedTable from all calls; UnsupportedTable for a committed file of a form that is not read.
  *
  * @param inStep true if the metadata table has seen every completed instant that changed files; if it has not, its answers
  *               lack files and must not be used
  *  @param names  which of the names are files of the table; None: all that are known
  */
final class MetadataTableListing private[table] (
    layers: Vector[MetadataLayer],
    val inStep: Boolean,
    names: Option[MetadataNames] = None
) extends FileSource
    with AutoCloseable {

  override def partitions: Vector[String] = {
    val found = Vector.newBuilder[String]
    merged(MetadataTableListing.AllPartitions).forEach { (name, _) =>
      found += (if (name == MetadataTableListing.NoPartition) "" else name)
    }
    found.result().sorted
  }

  override def files(partitionPath: String): Array[FileEntry] = {
    val found = Array.newBuilder[FileEntry]
    merged(if (partitionPath.isEmpty) MetadataTableListing.NoPartition else partitionPath).forEach { (name, size) =>
      val entry = names.fold(FileName.parse(partitionPath, name, size))(_.entry(partitionPath, name, size))
      entry.foreach(found += _)
    }
    found.result()
  }

  override def close(): Unit = layers.foreach(_.close())

  /** Names and sizes of one record, over all layers from the oldest on. */
  private def merged(key: String): JMap[String, java.lang.Long] = {
    val live = new JMap[String, java.lang.Long]()
    val bytes = key.getBytes(UTF_8)
    layers.foreach { layer =>
      layer.entries(bytes) { (name, size, deleted) =>
        // A file that grew has both sizes; a deletion ends it until it is added again.
        if (deleted) live.remove(name)
        else live.merge(name, size, (a, b) => math.max(a, b))
      }
    }
    live
  }
}

object MetadataTableListing {
  val AllPartitions = "__all_partitions__"

  /** Stands for the empty partition path. */
  val NoPartition = "."
}

/** One HFile of the metadata table's `files` partition: a base file, or a block of a log file. */
private[table] final class MetadataLayer(
    hfile: HFileReader,
    val writerSchema: String,
    path: String,
    closing: AutoCloseable
) extends AutoCloseable {
  private val schema = MetadataLayer.schemaOf(writerSchema, path)
  private val datum = new AvroDatum(schema)

  /** Gives name, size and deletion mark of each entry under the key; nothing if the key is not here. */
  def entries(key: Array[Byte])(use: (String, Long, Boolean) => Unit): Unit = {
    val value = hfile.get(key)
    // An empty value is a deleted record; the `files` partition has none, but its absence is the same.
    if (value != null && value.hasRemaining) each(decode(value, key), use)
  }

  private def each(record: GenericRecord, use: (String, Long, Boolean) => Unit): Unit =
    record.get("filesystemMetadata") match {
      case files: java.util.Map[_, _] =>
        files.forEach { (name, info) =>
          info match {
            case i: GenericRecord =>
              (i.get("size"), i.get("isDeleted")) match {
                case (size: java.lang.Long, deleted: java.lang.Boolean) => use(inside(name.toString), size, deleted)
                case _                                                  => damaged("file entry without size", null)
              }
            case _ => damaged("file entry that is no record", null)
          }
        }
      case null => ()
      case _    => damaged("files that are no map", null)
    }

  private def inside(name: String): String =
    if (Storage.leaves(name)) damaged(s"path '$name' that leaves the table", null) else name

  private def decode(value: ByteBuffer, key: Array[Byte]): GenericRecord =
    try {
      datum.requireFits(value, path)
      val decoder =
        DecoderFactory.get.binaryDecoder(value.array, value.arrayOffset + value.position(), value.remaining, null)
      new GenericDatumReader[GenericRecord](schema).read(null, decoder)
    } catch {
      case e @ (_: java.io.IOException | _: RuntimeException) =>
        damaged(s"record '${new String(key, UTF_8)}' that cannot be decoded", e)
    }

  private def damaged(what: String, cause: Throwable): Nothing =
    throw new DamagedTable(s"$path: the metadata table has a $what; rebuild it with Hudi, or list without it", cause)

  override def close(): Unit = closing.close()
}

/** Looks through data of a schema before Avro's own reader does, which takes the memory that a length asks for before it looks
  * whether there are so many bytes.
  */
private[table] final class AvroDatum(schema: Schema) {
  private val skip = new AvroSkips(looksInside = true).of(schema)

  /** DamagedTable if the datum reaches beyond the value. */
  def requireFits(value: ByteBuffer, path: String): Unit = {
    val from = value.arrayOffset + value.position()
    skip.run(new ByteCursor(value.array, from, from + value.remaining, path, 0L, new DamagedTable(_)))
  }
}

private[table] object MetadataLayer {

  /** The schema of a file's records. DamagedTable if it is none, or bytes do not bound its data. */
  def schemaOf(writerSchema: String, path: String): Schema = {
    val schema =
      try AvroSchemas.parse(writerSchema)
      catch {
        case e: org.apache.avro.SchemaParseException =>
          throw new DamagedTable(s"$path: the schema of its records cannot be parsed (${e.getMessage})", e)
      }
    AvroSchemas.unbounded(schema).foreach(what => throw new DamagedTable(s"$path: $what"))
    schema
  }
}
