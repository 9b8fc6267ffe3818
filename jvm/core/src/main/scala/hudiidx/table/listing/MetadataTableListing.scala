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
    merged(MetadataTableListing.AllPartitions)
      .getOrElse(
        throw new DamagedTable(
          s"${layers.headOption.fold(MetadataTable.Folder)(_.path)}: the metadata table has no list of partitions; rebuild it with " +
            "Hudi, or list without it"
        )
      )
      .forEach((name, _) => found += (if (name == MetadataTableListing.NoPartition) "" else name): Unit)
    found.result().sorted
  }

  override def files(partitionPath: String): Array[FileEntry] =
    recorded(partitionPath).getOrElse(Array.empty[FileEntry])

  /** As `files`; None for a partition that the metadata table has no record of. */
  def recorded(partitionPath: String): Option[Array[FileEntry]] =
    merged(if (partitionPath.isEmpty) MetadataTableListing.NoPartition else partitionPath).map { live =>
      val found = Array.newBuilder[FileEntry]
      live.forEach { (name, size) =>
        val entry = names.fold(FileName.parse(partitionPath, name, size))(_.entry(partitionPath, name, size))
        entry.foreach(found += _)
      }
      found.result()
    }

  /** As [[HFileReader.requireOrdered]], of each file. */
  def requireOrdered(): Unit = layers.foreach(_.requireOrdered())

  override def close(): Unit = layers.foreach(_.close())

  /** Names and sizes of one record, over all layers from the oldest on; None if no layer has it. */
  private def merged(key: String): Option[JMap[String, java.lang.Long]] = {
    val live = new JMap[String, java.lang.Long]()
    val bytes = key.getBytes(UTF_8)
    val having = layers.count { layer =>
      layer.entries(bytes) { (name, size, deleted) =>
        // A file that grew has both sizes; a deletion ends it until it is added again.
        if (deleted) live.remove(name)
        else live.merge(name, size, (a, b) => math.max(a, b))
      }
    }
    if (having == 0) None else Some(live)
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
    val path: String,
    closing: AutoCloseable
) extends AutoCloseable {
  private val schema = MetadataLayer.schemaOf(writerSchema, path)
  private val datum = new AvroDatum(schema)

  /** Gives name, size and deletion mark of each entry under the key; false if the key is not here. */
  def entries(key: Array[Byte])(use: (String, Long, Boolean) => Unit): Boolean = {
    val value = hfile.get(key)
    // An empty value is a deleted record; the `files` partition has none, but its absence is the same.
    val isHere = value != null && value.hasRemaining
    if (isHere) each(decode(value, key), use)
    isHere
  }

  def requireOrdered(): Unit = hfile.requireOrdered()

  private def each(record: GenericRecord, use: (String, Long, Boolean) => Unit): Unit =
    field(record, "filesystemMetadata") match {
      case files: java.util.Map[_, _] =>
        files.forEach { (name, info) =>
          info match {
            case i: GenericRecord =>
              (field(i, "size"), field(i, "isDeleted")) match {
                case (size: java.lang.Long, deleted: java.lang.Boolean) => use(inside(name.toString), size, deleted)
                case _                                                  => damaged("file entry without size", null)
              }
            case _ => damaged("file entry that is not a record", null)
          }
        }
      case null if schema.getField("filesystemMetadata") != null => ()
      case _                                                     => damaged("record whose files are not a map", null)
    }

  /** Null where the file's schema does not have it. */
  private def field(record: GenericRecord, name: String): AnyRef = {
    val found = record.getSchema.getField(name)
    if (found == null) null else record.get(found.pos)
  }

  private def inside(name: String): String =
    if (Storage.leaves(name)) damaged(s"path '$name' that leaves the table", null)
    else if (name != MetadataTableListing.NoPartition && !Storage.isPlain(name))
      damaged(s"path '$name' with empty parts or '.', a second name of another", null)
    else name

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
