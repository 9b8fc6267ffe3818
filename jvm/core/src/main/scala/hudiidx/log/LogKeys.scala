package hudiidx.log

import hudiidx.{DamagedTable, UnsupportedTable}
import hudiidx.bytes.{ByteCursor, ByteSlice}
import hudiidx.storage.{CloseableIterator, RandomReader, Storage}
import java.nio.charset.StandardCharsets.UTF_8
import java.nio.file.{Path, Paths}
import scala.collection.mutable

/** Readers of the data blocks that are files of another format. */
final case class BlockReaders(hfile: Option[DataBlockRows], parquet: Option[DataBlockRows])

object BlockReaders {
  val AvroOnly: BlockReaders = BlockReaders(None, None)
}

/** @param budgetBytes memory for keys; what passes it goes to temporary files. One block's delete list, one window of a data
  *                    block and the formats' own readers come on top
  */
final case class LogKeysOptions(
    budgetBytes: Long = LogKeysOptions.DefaultBudgetBytes,
    tempDir: Path = Paths.get(System.getProperty("java.io.tmpdir"))
)

object LogKeysOptions {
  val DefaultBudgetBytes: Long = 64L << 20
}

/** The keys that a file slice's log touches, and whether the slice has a row of each. Format notes §7. */
object LogKeys {

  /** Every key of the blocks once, ascending by unsigned UTF-8 bytes, with its state after all of them. Reads the blocks
    * before it returns; close the iterator, which gives temporary files back.
    *
    * DamagedTable if a file is gone or a block cannot be decoded, UnsupportedTable for blocks that are not read,
    * IndexNotWritable if temporary files cannot be written.
    *
    * @param blocks from `SliceLog.countedBlocks`, all of the slice
    */
  def of(
      storage: Storage,
      blocks: Vector[CountedBlock],
      rules: LogRules,
      readers: BlockReaders,
      options: LogKeysOptions
  ): CloseableIterator[LoggedKey] = read(storage, blocks, rules, readers, options, _ => true, all = true)

  /** As `of`, but only the keys in blocks of the given instants, or in a log compaction of one of them. Their states are
    * those after all blocks.
    */
  def touchedBy(
      instants: Set[String],
      storage: Storage,
      blocks: Vector[CountedBlock],
      rules: LogRules,
      readers: BlockReaders,
      options: LogKeysOptions
  ): CloseableIterator[LoggedKey] = {
    def touches(b: LogBlock) = b.instantTime.exists(instants) || b.compactedInstants.exists(instants)
    read(storage, blocks, rules, readers, options, touches, all = false)
  }

  private def read(
      storage: Storage,
      blocks: Vector[CountedBlock],
      rules: LogRules,
      readers: BlockReaders,
      options: LogKeysOptions,
      touches: LogBlock => Boolean,
      all: Boolean
  ): CloseableIterator[LoggedKey] = {
    val sorter = new EntrySorter(options.budgetBytes, options.tempDir)
    try {
      val collector = new KeyCollector(rules, readers, sorter)
      if (all || blocks.exists(b => touches(b.block)))
        byFile(blocks).foreach { case (file, ofFile) =>
          SliceLog.reading(storage, file)(reader => ofFile.foreach(b => collector.take(reader, b, touches(b))))
        }
      new KeyStates(sorter, rules, collector.commitTimes)
    } catch {
      case e: Throwable =>
        sorter.close()
        throw e
    }
  }

  /** Neighbours of one file together, so that it is opened once. */
  private def byFile(blocks: Vector[CountedBlock]): Vector[(String, Vector[LogBlock])] =
    blocks.foldLeft(Vector.empty[(String, Vector[LogBlock])]) { (found, b) =>
      found.lastOption match {
        case Some((file, same)) if file == b.file => found.init :+ (file -> (same :+ b.block))
        case _                                    => found :+ (b.file -> Vector(b.block))
      }
    }
}

/** Puts the versions of keys in blocks into a sorter. */
private final class KeyCollector(rules: LogRules, readers: BlockReaders, sorter: EntrySorter) {
  val commitTimes = new CommitTimes
  private val columns = new LogColumns(rules)
  private val plans = mutable.HashMap.empty[String, AvroFieldPlan]
  private val codec = new KeyVersionCodec
  private val keyBuilder = rules.keyForm.map(new RecordKeyBuilder(_)).orNull
  private val markerText = new RecordKeyBuilder(RecordKeyForm(Vector("marker"), named = false, timestamps = false))
  private val marker = rules.deleteMarker.fold(Array.emptyByteArray)(_.value.getBytes(UTF_8))
  private val key, value, text = new ByteSlice

  def take(reader: RandomReader, block: LogBlock, touched: Boolean): Unit = {
    def use(cellKey: ByteSlice, row: RowFields): Unit = addRow(cellKey, row, touched, reader, block)
    block.kind match {
      case LogBlockKind.AvroData    => avro(reader, block, touched)
      case LogBlockKind.Delete      => deletes(reader, block, touched)
      case LogBlockKind.HFileData   => rows(readers.hfile, reader, block)(use)
      case LogBlockKind.ParquetData => rows(readers.parquet, reader, block)(use)
      case _                        => ()
    }
  }

  private def rows(format: Option[DataBlockRows], reader: RandomReader, block: LogBlock)(
      use: (ByteSlice, RowFields) => Unit
  ): Unit = {
    val found = format.getOrElse(
      throw new UnsupportedTable(
        s"${reader.path}: no reader for a log block of type ${block.kind} at offset ${block.offset}; compact the table " +
          "with Hudi"
      )
    )
    found.foreach(LogFile.contentReader(reader, block), block, columns.names)(use)
  }

  private def avro(reader: RandomReader, block: LogBlock, touched: Boolean): Unit = {
    val where = s"${reader.path}: log block at offset ${block.offset}"
    val json = block.schema.getOrElse(throw new DamagedTable(s"$where has no schema; restore the file"))
    val plan = plans.getOrElseUpdate(json, AvroFieldPlan.compile(json, columns.names, where))
    val row = plan.newRow()
    val records = new AvroRecords(reader, block)
    while (records.next()) {
      plan.read(records.cursor, records.length, row)
      addRow(null, row, touched, reader, block)
    }
  }

  private def deletes(reader: RandomReader, block: LogBlock, touched: Boolean): Unit =
    DeleteRecords.foreach(LogFile.content(reader, block), reader.path, block.contentOffset) { deleted =>
      if (deleted.recordKey == null) noKey(reader, block)
      key.set(deleted.recordKey.getBytes(UTF_8))
      val ordering = OrderingValue.ofDeleted(deleted)
      add(KeyVersion(isDelete = true, fromDeleteBlock = true, ordering, CommitTimes.None), touched)
    }

  private def addRow(
      cellKey: ByteSlice,
      row: RowFields,
      touched: Boolean,
      reader: RandomReader,
      block: LogBlock
  ): Unit = {
    if (cellKey != null) key.set(cellKey.bytes, cellKey.from, cellKey.length)
    else if (!readKey(row)) noKey(reader, block)
    val isDelete = rules.mode != MergeMode.Custom && marksDelete(row)
    add(KeyVersion(isDelete, fromDeleteBlock = false, ordering(row), commitTime(row)), touched)
  }

  /** False if the row has no key. */
  private def readKey(row: RowFields): Boolean = if (keyBuilder != null) {
    keyBuilder.start()
    columns.key.foreach(row.addTo(_, keyBuilder))
    key.set(keyBuilder.bytes, 0, keyBuilder.length)
    keyBuilder.isKey
  } else {
    val present = !row.isNull(columns.key(0))
    if (present) row.utf8(columns.key(0), key)
    present
  }

  private def marksDelete(row: RowFields): Boolean =
    row.boolean(columns.isDeleted) || isDeleteOperation(row) ||
      (columns.marker >= 0 && hasMarker(row))

  private def hasMarker(row: RowFields): Boolean = {
    markerText.start()
    row.addTo(columns.marker, markerText)
    text.set(markerText.bytes, 0, markerText.length)
    text.contentEquals(marker)
  }

  private def isDeleteOperation(row: RowFields): Boolean = !row.isNull(columns.operation) && {
    row.utf8(columns.operation, text)
    LogColumns.DeleteOperations.exists(text.contentEquals)
  }

  private def ordering(row: RowFields): OrderingValue = columns.ordering.length match {
    case 0 => OrderingValue.Default
    case 1 => row.ordering(columns.ordering(0))
    case _ => OrderingValue.ofSeveral(columns.ordering.map(row.ordering).toVector)
  }

  private def commitTime(row: RowFields): Int =
    if (row.isNull(columns.commitTime)) CommitTimes.None
    else {
      row.utf8(columns.commitTime, text)
      commitTimes.number(text)
    }

  private def add(version: KeyVersion, touched: Boolean): Unit = {
    codec.encode(version, touched, value)
    sorter.add(key, value)
  }

  private def noKey(reader: RandomReader, block: LogBlock): Nothing =
    throw new DamagedTable(
      s"${reader.path}: a record without a key in the log block at offset ${block.offset}; check hoodie.populate.meta.fields " +
        "and hoodie.table.recordkey.fields, or restore the file"
    )
}

/** Numbers for the commit times of records: a log has few of them. */
private final class CommitTimes {
  private val numbers = mutable.HashMap.empty[String, Int]
  private val times = mutable.ArrayBuffer.empty[String]
  private var last = Array.emptyByteArray
  private var lastNumber = CommitTimes.None

  def number(utf8: ByteSlice): Int = {
    if (lastNumber == CommitTimes.None || !utf8.contentEquals(last)) {
      last = utf8.copy
      lastNumber = numbers.getOrElseUpdate(utf8.text, { times += utf8.text; times.size })
    }
    lastNumber
  }

  def time(number: Int): Option[String] = if (number == CommitTimes.None) None else Some(times(number - 1))
}

private object CommitTimes {
  val None = 0
}

/** Merges the versions of each key that some version touched. */
private final class KeyStates(sorter: EntrySorter, rules: LogRules, commitTimes: CommitTimes)
    extends CloseableIterator[LoggedKey] {
  private val entries = sorter.sorted()
  private var more = entries.next()
  private var found: LoggedKey = _

  override def hasNext: Boolean = {
    while (found == null && more) found = merged()
    if (found == null) close()
    found != null
  }

  override def next(): LoggedKey = {
    if (!hasNext) throw new NoSuchElementException("no more keys")
    val result = found
    found = null
    result
  }

  /** The key that the cursor is on, moving it to the next; null if no version of it touches. */
  private def merged(): LoggedKey = {
    val key = entries.key.copy
    var touched = false
    var last: KeyVersion = null
    do {
      val value = entries.value
      touched ||= KeyVersionCodec.isTouched(value.bytes(value.from))
      val version = KeyVersionCodec.decode(cursor(value))
      last = if (last == null) version else KeyMerge.latest(last, version, rules)
      more = entries.next()
    } while (more && entries.key.contentEquals(key))
    if (!touched) null
    else {
      val state = KeyMerge.state(last, rules)
      val mayBeDeleted = rules.mode == MergeMode.Custom && state != KeyState.Deleted
      LoggedKey(key, state, mayBeDeleted, if (last.isDelete) None else commitTimes.time(last.commitTime))
    }
  }

  private def cursor(value: ByteSlice): ByteCursor =
    new ByteCursor(
      value.bytes,
      value.from,
      value.from + value.length,
      "temporary file",
      0L,
      new IllegalStateException(_)
    )

  override def close(): Unit = {
    more = false
    sorter.close()
  }
}
