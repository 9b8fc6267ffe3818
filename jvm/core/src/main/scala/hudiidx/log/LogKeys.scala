package hudiidx.log

import hudiidx.bytes.{ByteCursor, ByteSlice}
import hudiidx.storage.{CloseableIterator, RandomReader, Storage}
import java.nio.ByteBuffer
import java.nio.file.{Path, Paths}
import java.util.{HashSet => JSet}
import scala.collection.mutable

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

  /** As `of`, but only the given keys, of which no version stands outside of the parts. */
  def among(
      keys: Iterable[Array[Byte]],
      storage: Storage,
      parts: Vector[BlockPart],
      rules: LogRules,
      readers: BlockReaders,
      options: LogKeysOptions
  ): CloseableIterator[LoggedKey] = {
    val wanted = new JSet[ByteBuffer]
    keys.foreach(k => wanted.add(ByteBuffer.wrap(k)))
    val sorter = new EntrySorter(options.budgetBytes, options.tempDir)
    collecting(sorter) {
      val collector = new KeyCollector(rules, readers, sorter, wanted)
      val records = parts.iterator.map(_.records) // blocks come in their order
      SliceLog.foreach(storage, parts.map(_.counted)) { (reader, b) =>
        collector.read(reader, b.block, touched = true, records.next())
      }
      new KeyStates(sorter, rules, collector.commitTimes)
    }
  }

  /** As `of`, but only the keys in blocks of the given instants, or in a log compaction that may hold one of them: it lists it, or
    * a later one, which may be a log compaction of it. Their states are those after all blocks.
    */
  def touchedBy(
      instants: Set[String],
      storage: Storage,
      blocks: Vector[CountedBlock],
      rules: LogRules,
      readers: BlockReaders,
      options: LogKeysOptions
  ): CloseableIterator[LoggedKey] = {
    val first = instants.reduceOption((a, b) => if (a <= b) a else b)
    def touches(b: LogBlock) =
      b.instantTime.exists(instants) || first.exists(f => b.compactedInstants.exists(f <= _))
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
    collecting(sorter) {
      val collector = new KeyCollector(rules, readers, sorter, null)
      if (all || blocks.exists(b => touches(b.block)))
        SliceLog.foreach(storage, blocks)((reader, b) => collector.read(reader, b.block, touches(b.block), None))
      new KeyStates(sorter, rules, collector.commitTimes)
    }
  }

  private def collecting(sorter: EntrySorter)(collect: => KeyStates): KeyStates =
    try collect
    catch {
      case e: Throwable =>
        sorter.close()
        throw e
    }
}

/** Puts the versions of keys in blocks into a sorter, with the commit times of records as their notes.
  *
  * @param wanted the keys to take; null: all
  */
private final class KeyCollector(rules: LogRules, readers: BlockReaders, sorter: EntrySorter, wanted: JSet[ByteBuffer])
    extends VersionReader(rules, readers) {
  val commitTimes = new CommitTimes
  private val codec = new KeyVersionCodec
  private val value, text = new ByteSlice
  private var touched = false

  def read(reader: RandomReader, block: LogBlock, touched: Boolean, records: Option[Array[Int]]): Unit = {
    this.touched = touched
    read(reader, block, records)
  }

  private def isWanted(key: ByteSlice): Boolean =
    wanted == null || wanted.contains(ByteBuffer.wrap(key.bytes, key.from, key.length))

  override protected def take(key: ByteSlice, version: KeyVersion): Unit = if (isWanted(key)) {
    codec.encode(version, touched, value)
    sorter.add(key, value)
  }

  override protected def note(row: RowFields): Int =
    if (row.isNull(columns.commitTime)) KeyVersion.NoNote
    else {
      row.utf8(columns.commitTime, text)
      commitTimes.number(text)
    }
}

/** Numbers for the commit times of records: a log has few of them. */
private final class CommitTimes {
  private val numbers = mutable.HashMap.empty[String, Int]
  private val times = mutable.ArrayBuffer.empty[String]
  private var last = Array.emptyByteArray
  private var lastNumber = KeyVersion.NoNote

  def number(utf8: ByteSlice): Int = {
    if (lastNumber == KeyVersion.NoNote || !utf8.contentEquals(last)) {
      last = utf8.copy
      lastNumber = numbers.getOrElseUpdate(utf8.text, { times += utf8.text; times.size })
    }
    lastNumber
  }

  def time(number: Int): Option[String] = if (number == KeyVersion.NoNote) None else Some(times(number - 1))
}

/** States of the keys that some version touched. */
private final class KeyStates(sorter: EntrySorter, rules: LogRules, commitTimes: CommitTimes)
    extends CloseableIterator[LoggedKey] {
  private val keys = new FoldedKeys(sorter.sorted(), rules)
  private var more = true
  private var found: LoggedKey = _

  override def hasNext: Boolean = {
    while (found == null && more) {
      more = keys.next()
      if (more && keys.touched) found = logged(keys.last)
    }
    if (found == null) close()
    found != null
  }

  override def next(): LoggedKey = {
    if (!hasNext) throw new NoSuchElementException("no more keys")
    val result = found
    found = null
    result
  }

  private def logged(last: KeyVersion): LoggedKey = {
    val state = KeyMerge.state(last, rules)
    val mayBeDeleted = rules.mode == MergeMode.Custom && state != KeyState.Deleted
    LoggedKey(keys.key, state, mayBeDeleted, if (last.isDelete) None else commitTimes.time(last.note))
  }

  override def close(): Unit = {
    more = false
    sorter.close()
  }
}

/** Sorted versions, those of one key merged into one. */
private[hudiidx] final class FoldedKeys(entries: EntryCursor, rules: LogRules) {
  private val keys = new SortedVersions(entries)

  /** The winner of the key. */
  var last: KeyVersion = _

  /** A new array for each key. */
  def key: Array[Byte] = keys.key

  /** True if some version of the key was added as touched. */
  def touched: Boolean = keys.touched

  /** Moves to the next key; false behind the last. */
  def next(): Boolean = keys.next() && {
    last = keys.versions(0)
    var i = 1
    while (i < keys.versions.size) {
      last = KeyMerge.latest(last, keys.versions(i), rules)
      i += 1
    }
    true
  }
}

/** Versions in a sorter, key by key. */
private[hudiidx] final class SortedVersions(entries: EntryCursor) {
  private var more = entries.next()

  /** A new array for each key. */
  var key: Array[Byte] = _

  /** In the order in which they were added; good until `next`. */
  val versions: mutable.ArrayBuffer[KeyVersion] = mutable.ArrayBuffer.empty

  /** True if some version of the key was added as touched. */
  var touched = false

  /** Moves to the next key; false behind the last. */
  def next(): Boolean = more && {
    key = entries.key.copy
    touched = false
    versions.clear()
    do {
      val value = entries.value
      touched ||= KeyVersionCodec.isTouched(value.bytes(value.from))
      versions += KeyVersionCodec.decode(cursor(value))
      more = entries.next()
    } while (more && entries.key.contentEquals(key))
    true
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
}
