package hudiidx.write

import hudiidx.{DamagedTable, UnsupportedTable, WriteConflict}
import hudiidx.log.{LogBlock, LogFile}
import hudiidx.storage.Storage
import java.io.FileNotFoundException
import java.nio.file.NoSuchFileException

/** Log files of before version 8, which are of several writes: where the store can append, as HDFS can, stock Hudi before 1.0 puts its
  * blocks behind those of the newest log file of a slice, also of a write of ours that is pending or dead. Whoever removed such a
  * file would remove what stock Hudi has committed. Format notes §4.5.
  */
private[write] object SharedLogs {

  /** Has the file blocks of another instant than this one? */
  def hasOthers(storage: Storage, path: String, instant: String): Boolean =
    try {
      val reader = storage.open(path)
      def others(blocks: Iterator[LogBlock]) = blocks.exists(_.instantTime.exists(_ != instant))
      try others(LogFile.blocks(reader))
      catch { case _: DamagedTable => others(LogFile.anywhere(reader)) } // a writer that died left what is no block
      finally reader.close()
    } catch {
      case _: NoSuchFileException | _: FileNotFoundException => false
      case _: UnsupportedTable                               => true
    }

  /** Of a write that only stock Hudi can roll back: by a block that says so, behind all others. */
  def conflict(tablePath: String, instant: String, file: String): WriteConflict = new WriteConflict(
    s"$tablePath: stock Hudi has appended to $file, a log file of the failed write $instant, which so stays for stock Hudi to roll back: let " +
      "it do so (its next clean with hoodie.cleaner.policy.failed.writes=LAZY, or hudi-cli: commit rollback), or write as one of several " +
      "(hoodie.write.concurrency.mode)"
  )
}
