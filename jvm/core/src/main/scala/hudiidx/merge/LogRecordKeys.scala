package hudiidx.merge

import hudiidx.bytes.ByteSlice
import hudiidx.log.{BlockReaders, CountedBlock, KeyVersion, LogRules, SliceLog}
import hudiidx.storage.Storage

/** The keys of a log's records. */
object LogRecordKeys {

  /** Walks the records of all blocks; a key's bytes are good during the call alone. Errors as [[SliceMerge]].
    *
    * @param blocks from `SliceLog.countedBlocks`, all of the slice
    * @param use    takes a record's number, as in [[MergedRows]], and its key
    */
  def foreach(storage: Storage, blocks: Vector[CountedBlock], rules: LogRules, readers: BlockReaders)(
      use: (Int, ByteSlice) => Unit
  ): Unit = {
    val keys = new RecordNumbers(rules.copy(orderingFields = Vector.empty), readers) {
      override protected def add(key: ByteSlice, version: KeyVersion): Unit =
        if (version.note != KeyVersion.NoNote) use(version.note - 1, key)
    }
    SliceLog.foreach(storage, blocks)((reader, counted) => keys.read(reader, counted.block))
  }
}
