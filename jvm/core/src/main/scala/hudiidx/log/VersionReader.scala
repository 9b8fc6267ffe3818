package hudiidx.log

import hudiidx.{DamagedTable, UnsupportedTable}
import hudiidx.bytes.ByteSlice
import hudiidx.storage.RandomReader
import java.nio.charset.StandardCharsets.UTF_8
import scala.collection.mutable

/** Readers of the data blocks that are files of another format. */
final case class BlockReaders(hfile: Option[DataBlockRows], parquet: Option[DataBlockRows])

object BlockReaders {
  val AvroOnly: BlockReaders = BlockReaders(None, None)
}

/** Reads the versions of keys in data and delete blocks, in the order in which they stand there. */
private[hudiidx] abstract class VersionReader(rules: LogRules, readers: BlockReaders) {
  protected val columns: LogColumns = new LogColumns(rules)
  private val plans = mutable.HashMap.empty[String, AvroFieldPlan]
  private val keyBuilder = rules.keyForm.map(new RecordKeyBuilder(_)).orNull
  private val markerText = new RecordKeyBuilder(RecordKeyForm(Vector("marker"), named = false, timestamps = false))
  private val marker = rules.deleteMarker.fold(Array.emptyByteArray)(_.value.getBytes(UTF_8))
  private val key, text = new ByteSlice

  private var walk: AvroRecordWalk = _

  /** The record of an Avro block that is taken; null while anything else is. */
  protected def record: AvroRecordWalk = walk

  /** Takes a version; the key's bytes are good during the call alone. */
  protected def take(key: ByteSlice, version: KeyVersion): Unit

  /** What is to be kept with the version of a record, see `KeyVersion.note`. Asked once for each record. */
  protected def note(row: RowFields): Int

  def read(reader: RandomReader, block: LogBlock): Unit = read(reader, block, None)

  /** @param records as in [[BlockPart]] */
  def read(reader: RandomReader, block: LogBlock, records: Option[Array[Int]]): Unit = {
    def use(cellKey: ByteSlice, row: RowFields): Unit = addRow(cellKey, row, reader, block)
    block.kind match {
      case LogBlockKind.AvroData    => avro(reader, block, records)
      case LogBlockKind.Delete      => deletes(reader, block)
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

  private def avro(reader: RandomReader, block: LogBlock, wanted: Option[Array[Int]]): Unit = {
    val where = s"${reader.path}: log block at offset ${block.offset}"
    val json = block.schema.getOrElse(throw new DamagedTable(s"$where has no schema; restore the file"))
    val plan = plans.getOrElseUpdate(json, AvroFieldPlan.compile(json, columns.names, where))
    val row = plan.newRow()
    val records = wanted.fold[AvroRecordWalk](new AvroRecords(reader, block))(new AvroRecordsAt(reader, block, _))
    walk = records
    while (records.next()) {
      plan.read(records.cursor, records.length, row)
      addRow(null, row, reader, block)
    }
    walk = null
  }

  private def deletes(reader: RandomReader, block: LogBlock): Unit =
    DeleteRecords.foreach(LogFile.content(reader, block), reader.path, block.contentOffset) { deleted =>
      if (deleted.recordKey == null) noKey(reader, block)
      key.set(deleted.recordKey.getBytes(UTF_8))
      val ordering = OrderingValue.ofDeleted(deleted)
      take(key, KeyVersion(isDelete = true, fromDeleteBlock = true, ordering, KeyVersion.NoNote))
    }

  private def addRow(cellKey: ByteSlice, row: RowFields, reader: RandomReader, block: LogBlock): Unit = {
    if (cellKey != null) key.set(cellKey.bytes, cellKey.from, cellKey.length)
    else if (!readKey(row)) noKey(reader, block)
    val isDelete = rules.mode != MergeMode.Custom && marksDelete(row)
    take(key, KeyVersion(isDelete, fromDeleteBlock = false, ordering(row), note(row)))
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

  private def noKey(reader: RandomReader, block: LogBlock): Nothing =
    throw new DamagedTable(
      s"${reader.path}: a record without a key in the log block at offset ${block.offset}; check hoodie.populate.meta.fields " +
        "and hoodie.table.recordkey.fields, or restore the file"
    )
}
