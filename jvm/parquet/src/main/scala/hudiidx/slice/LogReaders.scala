package hudiidx.slice

import hudiidx.parquet.ParquetBlockRows
import hudiidx.log.BlockReaders
import hudiidx.merge.HFileBlockRows

/** Readers of every kind of log block. */
object LogReaders {
  val all: BlockReaders = BlockReaders(hfile = Some(HFileBlockRows), parquet = Some(ParquetBlockRows))
}
