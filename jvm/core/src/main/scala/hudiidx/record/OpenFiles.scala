package hudiidx.record

import hudiidx.hfile.BlockCache
import hudiidx.storage.{FileStamp, RandomReader}
import hudiidx.store.{IndexFile, IndexStore}
import java.nio.ByteBuffer
import java.util.concurrent.atomic.LongAdder

/** What lookups and scans of a record index did: numbers only grow, and may be read while others count. */
final class RecordCounters {
  private[record] val keyCount, hitCount, groupCount, fileCount, pageCount, byteCount = new LongAdder

  /** Keys looked up, those asked twice counted twice. */
  def keys: Long = keyCount.sum

  /** Keys with a mapping, and those without. */
  def hits: Long = hitCount.sum
  def misses: Long = keys - hits

  /** Hash groups that lookups and scans went into. */
  def groupsOpened: Long = groupCount.sum

  /** Files opened; those still open from before are not counted again. */
  def filesOpened: Long = fileCount.sum

  /** Pages that lookups searched. */
  def pagesRead: Long = pageCount.sum

  /** Bytes read from storage; what the block cache held is not among them. */
  def bytesRead: Long = byteCount.sum
}

/** Open base and delta files, the least recently used being closed when there are too many. A file in use stays open, so
  * there may be more for a while. Safe for several threads.
  */
private[record] final class OpenFiles(store: IndexStore, cache: BlockCache, most: Int, counters: RecordCounters)
    extends AutoCloseable {
  private val files = new java.util.LinkedHashMap[String, OpenFile](16, 0.75f, true)

  /** Opens the file unless it is open; `release` must follow. */
  def acquire(file: IndexFile): RecordFileReader = synchronized {
    var open = files.get(file.name)
    if (open == null) {
      open = openNew(file)
      files.put(file.name, open)
    }
    open.users += 1
    trim(most)
    open.reader
  }

  def release(file: IndexFile): Unit = synchronized {
    val open = files.get(file.name)
    if (open != null) open.users -= 1
    trim(most)
  }

  private def openNew(file: IndexFile): OpenFile = {
    val raw = new CountedReader(store.openWhole(file), counters)
    try {
      val reader = RecordFile.open(raw, cache)
      counters.fileCount.increment()
      new OpenFile(raw, reader)
    } catch {
      case e: Throwable =>
        raw.close()
        throw e
    }
  }

  private def trim(keep: Int): Unit = if (files.size > keep) {
    val oldest = files.values.iterator
    while (files.size > keep && oldest.hasNext) {
      val file = oldest.next()
      if (file.users == 0) {
        file.raw.close()
        oldest.remove()
      }
    }
  }

  /** Closes every file, in use or not. */
  override def close(): Unit = synchronized {
    files.values.forEach(_.raw.close())
    files.clear()
  }
}

private[record] final class OpenFile(val raw: RandomReader, val reader: RecordFileReader) {
  var users = 0
}

private[record] final class CountedReader(under: RandomReader, counters: RecordCounters) extends RandomReader {
  def path: String = under.path
  def sizeBytes: Long = under.sizeBytes
  def stamp: FileStamp = under.stamp
  def read(offset: Long, length: Int): ByteBuffer = {
    counters.byteCount.add(length.toLong)
    under.read(offset, length)
  }
  override def readInto(offset: Long, length: Int, target: Array[Byte]): Unit = {
    counters.byteCount.add(length.toLong)
    under.readInto(offset, length, target)
  }
  def close(): Unit = under.close()
}
