package hudiidx.table.listing

import hudiidx.DamagedTable
import hudiidx.hfile.{BlockCache, CellOrder, HFileReader}
import hudiidx.log.{DeleteRecords, LogBlock, LogBlockKind, LogFile => BlockReader}
import hudiidx.storage.{RandomReader, Storage}
import java.nio.ByteBuffer
import java.nio.charset.StandardCharsets.UTF_8
import java.util.UUID
import org.apache.avro.Schema
import org.apache.avro.generic.{GenericDatumReader, GenericRecord}
import org.apache.avro.io.DecoderFactory

/** Where Hudi's own record index has a key.
  *
  *  @param instantMillis the instant that put the record there: the epoch milliseconds that its time stands for in the
  *                       table's timeline zone
  */
final case class StockLocation(partitionPath: String, fileId: String, instantMillis: Long)

/** A block that counts, of the log file of this name. */
final case class StockLogBlock(fileName: String, block: LogBlock)

/** What counts of one file group of Hudi's record index: a base HFile, and log blocks from the oldest on. */
final case class StockFileGroup(fileId: String, baseFile: Option[String], blocks: Vector[StockLogBlock])

/** Hudi's own record index, the partition `record_index` of its metadata table, as it counts at one moment. It holds no open
  * files and may be sent to tasks. Format notes §10.2 to §10.6.
  *
  *  @param folder the partition's path
  *  @param groups its file groups; a key is in one of them
  *  @param inStep true if it has seen every completed instant; if it has not, or that cannot be told, it says nothing sure
  */
final case class StockRecordIndex(folder: String, groups: Vector[StockFileGroup], inStep: Boolean) {

  /** Gives each key (its UTF-8 bytes) of a file group with its location, ascending by unsigned bytes. Holds the keys of the
    * group's delete blocks and one block of each HFile. DamagedTable if a file is gone or cannot be decoded.
    */
  def foreach(storage: Storage, group: StockFileGroup)(use: (Array[Byte], StockLocation) => Unit): Unit = {
    val files = new OpenedFiles(storage, folder)
    try {
      val base = group.baseFile.toVector.map(name => StockLayer.ofHFile(files(name), None))
      val logged = group.blocks.flatMap(b => StockLayer.ofBlock(files(b.fileName), b.block))
      new StockMerge((base ++ logged).toArray).foreach(use)
    } finally files.close()
  }
}

/** Files of a folder, each opened once. */
private final class OpenedFiles(storage: Storage, folder: String) extends AutoCloseable {
  private var opened = Map.empty[String, RandomReader]

  def apply(name: String): RandomReader = opened.getOrElse(
    name, {
      val path = Storage.join(folder, name)
      val reader = MetadataTable.opened(storage, path, instead = "")
      opened += name -> reader
      reader
    }
  )

  override def close(): Unit = opened.valuesIterator.foreach(_.close())
}

/** Keys of layers from the oldest to the newest, each as the newest layer that names it has it. */
private[table] final class StockMerge(layers: Array[StockLayer]) {
  // Of layers that are on the same key the newest comes first.
  private val heap =
    new java.util.PriorityQueue[Integer](math.max(1, layers.length), (a: Integer, b: Integer) => order(a, b))
  layers.indices.foreach(advance(_))

  def foreach(use: (Array[Byte], StockLocation) => Unit): Unit =
    while (!heap.isEmpty) {
      val newest = layers(heap.peek())
      val key = newest.key
      val location = newest.location()
      while (!heap.isEmpty && java.util.Arrays.equals(layers(heap.peek()).key, key)) advance(heap.poll())
      location.foreach(use(key, _))
    }

  private def advance(layer: Int): Unit = if (layers(layer).next()) heap.add(layer): Unit

  private def order(a: Int, b: Int): Int = {
    val byKey = java.util.Arrays.compareUnsigned(layers(a).key, layers(b).key)
    if (byKey != 0) byKey else Integer.compare(b, a)
  }
}

/** One file or block of Hudi's record index, in the order of its keys. */
private[table] abstract class StockLayer {
  def next(): Boolean

  /** Of the entry that `next` went to; the array is not used again. */
  def key: Array[Byte]

  /** None for a deleted key. */
  def location(): Option[StockLocation]
}

private object StockLayer {

  def ofBlock(file: RandomReader, block: LogBlock): Option[StockLayer] = block.kind match {
    case LogBlockKind.HFileData => Some(ofHFile(BlockReader.contentReader(file, block), block.schema))
    case LogBlockKind.Delete    =>
      val deleted = DeleteRecords.decode(BlockReader.content(file, block), file.path, block.contentOffset)
      Some(new DeletedKeys(deleted.map(_.recordKey).filter(_ != null).map(_.getBytes(UTF_8)).toArray))
    case LogBlockKind.Command => None
    case other                =>
      throw new DamagedTable(s"${file.path}: $other block at offset ${block.offset} in Hudi's record index")
  }

  /** @param writerSchema of the records' values; None: the HFile's own */
  def ofHFile(content: RandomReader, writerSchema: Option[String]): StockLayer = {
    val hfile = HFileReader.open(content, new BlockCache(0L), new DamagedTable(_))
    val json = writerSchema.orElse(hfile.fileInfo.get("schema").map(new String(_, UTF_8))).getOrElse {
      throw new DamagedTable(s"${content.path}: HFile of Hudi's record index has no schema; rebuild the metadata table")
    }
    new HFileKeys(hfile, new StockLocations(json, content.path))
  }

  /** Hudi looks keys up by their order and the index: what is not in it is lost to it. */
  private final class HFileKeys(hfile: HFileReader, locations: StockLocations) extends StockLayer {
    private val (cells, order) = (hfile.scan(), new CellOrder(hfile))
    private var key0: Array[Byte] = _

    def next(): Boolean = {
      val more = cells.next()
      if (more) key0 = order.take(cells)
      more
    }
    def key: Array[Byte] = key0
    def location(): Option[StockLocation] = locations.decode(cells.valueBuffer, key0)
  }

  private final class DeletedKeys(keys: Array[Array[Byte]]) extends StockLayer {
    java.util.Arrays.sort(keys, (a: Array[Byte], b: Array[Byte]) => java.util.Arrays.compareUnsigned(a, b))
    private var at = -1

    def next(): Boolean = {
      at += 1
      at < keys.length
    }
    def key: Array[Byte] = keys(at)
    def location(): Option[StockLocation] = None
  }
}

/** Decodes values of Hudi's record index: HoodieMetadataRecord with `recordIndexMetadata`. */
private final class StockLocations(writerSchema: String, path: String) {
  private val schema = MetadataLayer.schemaOf(writerSchema, path)
  private val reader = new GenericDatumReader[GenericRecord](schema)
  private val datum = new AvroDatum(schema)
  private val field = Option(schema)
    .filter(_.getType == Schema.Type.RECORD)
    .flatMap(s => Option(s.getField(StockLocations.Field)))
    .getOrElse(
      throw new DamagedTable(s"$path: its records have no ${StockLocations.Field}; rebuild Hudi's record index")
    )

  /** None for a record that is deleted. */
  def decode(value: ByteBuffer, key: Array[Byte]): Option[StockLocation] =
    if (!value.hasRemaining) None
    else
      try {
        datum.requireFits(value, path)
        val bytes =
          DecoderFactory.get.binaryDecoder(value.array, value.arrayOffset + value.position(), value.remaining, null)
        val record = reader.read(null, bytes)
        if (!bytes.isEnd) damaged(key, "it has bytes left over", null)
        record.get(field.pos) match {
          case found: GenericRecord => Some(location(found, key))
          case null                 => None
          case other                => damaged(key, s"it is $other", null)
        }
      } catch {
        case e: DamagedTable                                    => throw e
        case e @ (_: java.io.IOException | _: RuntimeException) => damaged(key, "its bytes do not fit their schema", e)
      }

  private def damaged(key: Array[Byte], why: String, cause: Throwable): Nothing = throw new DamagedTable(
    s"$path: the location of '${new String(key, UTF_8)}' in Hudi's record index cannot be decoded, $why; rebuild the index with Hudi",
    cause
  )

  private def location(record: GenericRecord, key: Array[Byte]): StockLocation = {
    // Older schemas lack some fields.
    def value(name: String): Any = if (record.getSchema.getField(name) == null) null else record.get(name)
    def long(name: String): Long = value(name) match {
      case n: java.lang.Number => n.longValue
      case other               => damaged(key, s"its $name is $other", null)
    }
    def text(name: String): String = value(name) match {
      case t: CharSequence if t.length <= StockLocations.MostLetters => t.toString
      case t: CharSequence => damaged(key, s"its $name has ${t.length} letters", null)
      case other           => damaged(key, s"its $name is $other", null)
    }
    val encoding = value("fileIdEncoding") match {
      case n: java.lang.Integer => n.intValue
      case _                    => 0
    }
    val fileId =
      if (encoding == StockLocations.InFileId) text("fileId")
      else {
        val uuid = new UUID(long("fileIdHighBits"), long("fileIdLowBits")).toString
        val index = long("fileIndex")
        if (index < 0) uuid else s"$uuid-$index"
      }
    StockLocation(text("partitionName"), fileId, long("instantTime"))
  }
}

private object StockLocations {
  val Field = "recordIndexMetadata"
  val InFileId = 1

  /** No store has longer paths. */
  val MostLetters = 4096
}
