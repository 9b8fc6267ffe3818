package hudiidx.logindex

import hudiidx.bytes.ByteSlice
import hudiidx.log._
import hudiidx.record.page.KeyCode
import hudiidx.record.PackedKeys
import hudiidx.storage.{RandomReader, Storage}
import hudiidx.{DamagedIndex, DamagedTable}
import java.io.EOFException
import java.nio.charset.StandardCharsets.UTF_8

/** A block of a log file as it lies there, whether readers count it or not.
  *
  * @param number   in the file, from 0
  * @param records  entries by its index, else the record count of an Avro block; None where neither tells
  * @param min, max lowest and highest key by its index, in the order of key codes; of long keys the first 31 bytes
  * @param indexed  `tail`: by its writer, in the block; `sidecar`: in the index folder; `none`
  */
final case class LogBlockFacts(
    number: Int,
    block: LogBlock,
    records: Option[Long],
    min: Option[String],
    max: Option[String],
    indexed: String
)

object LogBlockFacts {
  val Tail = "tail"
  val Sidecar = "sidecar"
  val None = "none"

  /** Name of a kind of block. */
  def kindOf(block: LogBlock): String = block.kind match {
    case LogBlockKind.Command if block.isRollback => "rollback"
    case LogBlockKind.Command                     => "command"
    case LogBlockKind.Delete                      => "delete"
    case LogBlockKind.Corrupt                     => "corrupt"
    case LogBlockKind.AvroData                    => "avro_data"
    case LogBlockKind.HFileData                   => "hfile_data"
    case LogBlockKind.ParquetData                 => "parquet_data"
    case LogBlockKind.CdcData                     => "change_data"
  }

  /** Of all blocks of a file. Reads headers and summaries. DamagedTable if it is gone or cannot be understood. */
  def of(storage: Storage, path: String, kept: KeptTails): Vector[LogBlockFacts] = {
    val reader = SliceLog.open(storage, path)
    try LogFile.blocks(reader).zipWithIndex.map { case (block, i) => of(storage, reader, block, i, kept) }.toVector
    finally reader.close()
  }

  /** True if the file's last Avro data block has an index of its own. DamagedTable if the file is gone. */
  def hasTail(storage: Storage, path: String): Boolean = {
    val reader = SliceLog.open(storage, path)
    try {
      val blocks = LogFile.blocks(reader).filter(_.kind == LogBlockKind.AvroData).toVector
      blocks.lastOption.exists { b =>
        whole(TailReader.ofBlock(reader, b, BlockPlace.of(CountedBlock(path, b)))).flatten.isDefined
      }
    } finally reader.close()
  }

  private def of(
      storage: Storage,
      reader: RandomReader,
      block: LogBlock,
      number: Int,
      kept: KeptTails
  ): LogBlockFacts = {
    val place = BlockPlace.of(CountedBlock(reader.path, block))
    val own =
      if (block.kind != LogBlockKind.AvroData) scala.None else whole(TailReader.ofBlock(reader, block, place)).flatten
    own
      .map(t => told(number, block, t.summary, Tail))
      .orElse(inFolder(storage, kept, place).map(told(number, block, _, Sidecar)))
      .getOrElse(LogBlockFacts(number, block, countOf(reader, block), scala.None, scala.None, None))
  }

  private def inFolder(storage: Storage, kept: KeptTails, place: BlockPlace): Option[TailSummary] = whole {
    kept.of(place).flatMap { at =>
      val files = new OpenLogs(storage)
      try TailReader.read(files(at.path), at.from, at.until).map(_.summary).filter(_.instant == place.instant)
      finally files.close()
    }
  }.flatten

  private def told(number: Int, block: LogBlock, summary: TailSummary, indexed: String): LogBlockFacts = {
    def bound(code: Array[Byte]): Option[String] =
      if (summary.keys == 0) scala.None else Some(new String(KeyCode.decode(code), UTF_8))
    LogBlockFacts(number, block, Some(summary.keys.toLong), bound(summary.min), bound(summary.max), indexed)
  }

  private def whole[A](read: => A): Option[A] =
    try Some(read)
    catch { case _: DamagedIndex => scala.None }

  private def countOf(reader: RandomReader, block: LogBlock): Option[Long] =
    if (block.kind != LogBlockKind.AvroData || block.contentLength < 8) scala.None
    else
      try Some(reader.read(block.contentOffset + 4, 4).getInt.toLong)
      catch {
        case e: EOFException => throw new DamagedTable(s"${reader.path}: log file got shorter; read it again", e)
      }
}

/** A version of a key in a log file.
  *
  * @param number of its block in the file, from 0
  * @param record offset of its record in the content of an Avro block; -1 elsewhere
  */
final case class LogHit(key: String, number: Int, block: LogBlock, record: Long, isDelete: Boolean)

/** Finds keys in one log file. */
object LogHits {

  /** The versions of the keys in all data and delete blocks, in their order, whether readers count these or not; and how they
    * were found. DamagedTable, UnsupportedTable as a read of the log.
    */
  def of(
      storage: Storage,
      path: String,
      keys: PackedKeys,
      rules: LogRules,
      readers: BlockReaders,
      kept: KeptTails
  ): (Vector[LogHit], LookupCounts) = {
    val blocks = blocksOf(storage, path)
    val data = blocks.map(CountedBlock(path, _)).filter(b => holdsKeys(b.block.kind))
    val found = new LogLookup(storage, data, kept).find(keys)
    val hits = new HitReader(keys, rules, readers)
    val parts = found.parts.iterator
    val numbers = blocks.iterator.map(_.offset).zipWithIndex.toMap
    SliceLog.foreach(storage, found.parts.map(_.counted)) { (reader, counted) =>
      hits.start(numbers(counted.block.offset), counted.block)
      hits.read(reader, counted.block, parts.next().records)
    }
    (hits.result, found.counts)
  }

  private def blocksOf(storage: Storage, path: String): Vector[LogBlock] = {
    val reader = SliceLog.open(storage, path)
    try LogFile.blocks(reader).toVector
    finally reader.close()
  }

  private def holdsKeys(kind: LogBlockKind): Boolean = kind match {
    case LogBlockKind.AvroData | LogBlockKind.HFileData | LogBlockKind.ParquetData | LogBlockKind.Delete => true
    case _                                                                                               => false
  }
}

private final class HitReader(keys: PackedKeys, rules: LogRules, readers: BlockReaders)
    extends VersionReader(rules.copy(orderingFields = Vector.empty), readers) {
  private val wanted = (0 until keys.count).map(keys.key).toSet
  private val hits = Vector.newBuilder[LogHit]
  private var number = 0
  private var block: LogBlock = _

  def start(number: Int, block: LogBlock): Unit = {
    this.number = number
    this.block = block
  }

  def result: Vector[LogHit] = hits.result()

  override protected def note(row: RowFields): Int = KeyVersion.NoNote

  override protected def take(key: ByteSlice, version: KeyVersion): Unit = {
    val text = new String(key.bytes, key.from, key.length, UTF_8)
    if (wanted(text))
      hits += LogHit(text, number, block, if (record == null) -1L else record.recordOffset - 4, version.isDelete)
  }
}
