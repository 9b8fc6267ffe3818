package hudiidx.log

import hudiidx.storage.Storage

/** Judges what in a slice's log is not as a writer leaves it whose write completed: remains of a failed one, or damage. Sent
  * to tasks.
  */
trait LogDamage extends Serializable {

  /** @param file full path of a log file, to be read once through */
  def judgeOf(storage: Storage, file: String): LogJudge
}

/** Judges what one reading of a log file meets. Each method raises DamagedTable for damage. */
trait LogJudge {

  /** Bytes that are no block: cut off, or lengths that contradict each other.
    *
    * @param intactEnd end of the block that stands there by its own lengths, though something else than a block follows; -1
    *                  if there is none
    * @return true if that block counts, false if nothing was ever written there
    */
  def corrupt(block: LogBlock, intactEnd: Long): Boolean

  /** A file with fewer bytes than were written to it. */
  def shorter(sizeBytes: Long, writtenBytes: Long): Unit

  /** A block that can be read. Its header may say what no writer would. */
  def read(block: LogBlock): Unit

  /** A block of an instant that did not complete. */
  def uncommitted(block: LogBlock): Unit
}

object LogDamage {

  /** What cannot be read was never written: stock Hudi's view. */
  object Unnoticed extends LogDamage with LogJudge {
    override def judgeOf(storage: Storage, file: String): LogJudge = this
    override def corrupt(block: LogBlock, intactEnd: Long): Boolean = false
    override def shorter(sizeBytes: Long, writtenBytes: Long): Unit = ()
    override def read(block: LogBlock): Unit = ()
    override def uncommitted(block: LogBlock): Unit = ()
  }
}
