package hudiidx.logindex

import hudiidx.hfile.BlockCache
import hudiidx.storage.RandomReader
import hudiidx.store.{IndexStore, IndexVersion}
import hudiidx.table.FileGroup

/** What of the logs of a table an index version keeps: the log index files that it names, open. */
final class LogIndex private (files: Vector[LogIndexFile]) extends AutoCloseable {

  /** The tails of a file group; DamagedIndex if they cannot be found. */
  def kept(group: FileGroup): KeptCells = new KeptCells(files.flatMap(f => f.cell(group).map(f.reader.path -> _)))

  override def close(): Unit = files.foreach(_.reader.close())
}

object LogIndex {

  /** Kind of its files in an index version, and the end of their names. */
  val Kind = "log_index"

  val PropertyPrefix = "logs."

  /** `true`: updates keep the tails of new log blocks. */
  val Property = "logs.index"

  def isIn(version: IndexVersion): Boolean = version.properties.contains(Property)

  def fileName(instant: String): String = s"$instant.${IndexStore.newToken()}.$Kind"

  /** DamagedIndex if a file is gone, has another size than the version says, or cannot be decoded. */
  def open(store: IndexStore, version: IndexVersion, cache: BlockCache): LogIndex = {
    var opened = Vector.empty[RandomReader]
    try
      new LogIndex(version.files.filter(_.kind == Kind).map { f =>
        val reader = store.openWhole(f)
        opened :+= reader
        LogIndexFile.open(reader, cache)
      })
    catch {
      case e: Throwable =>
        opened.foreach(_.close())
        throw e
    }
  }
}

/** Log files of a file group that readers may still ask for, by name without folder; asked in the order of keys. */
trait LiveLogs {
  def of(group: FileGroup): Set[String]
}

/** Merges log index files: tails are copied as they are, of the filters of a file group one is made. */
object LogIndexMerge {

  /** Blocks whose tails are kept; DamagedIndex if a file cannot be read.
    *
    * @param files oldest first
    */
  def write(files: Vector[LogIndexFile], live: LiveLogs, out: LogIndexFileWriter): Int = {
    val sources = files.map(f => new Source(f, f.groups().buffered))
    var blocks = 0
    while (sources.exists(_.groups.hasNext)) {
      val next = sources.filter(_.groups.hasNext).map(_.groups.head._1).minBy(LogIndexFile.keyOf)(KeyOrder)
      val names = live.of(next)
      out.group(next) { slice =>
        var taken = Set.empty[BlockPlace]
        sources.filter(s => s.groups.hasNext && s.groups.head._1 == next).foreach { s =>
          val (_, kept) = s.groups.next()
          val wanted = kept.places.filter(p => names(p.file) && !taken(p)).toSet
          taken ++= wanted
          if (wanted.nonEmpty) copy(s.file, kept, wanted, slice)
        }
        blocks += taken.size
      }
    }
    blocks
  }

  /** Bytes of tails and filters of log files that are live, and of all. */
  def liveBytes(file: LogIndexFile, live: LiveLogs): (Long, Long) = {
    var living, all = 0L
    file.groups().foreach { case (group, kept) =>
      val names = live.of(group)
      kept.places.indices.foreach { i =>
        val bytes = kept.ends(i) - kept.starts(i)
        all += bytes
        if (names(kept.places(i).file)) living += bytes
      }
    }
    (living, all)
  }

  private final class Source(
      val file: LogIndexFile,
      val groups: scala.collection.BufferedIterator[(FileGroup, KeptSlice)]
  )

  private val KeyOrder: Ordering[Array[Byte]] = Ordering.comparatorToOrdering(java.util.Arrays.compareUnsigned(_, _))

  private def copy(file: LogIndexFile, kept: KeptSlice, wanted: Set[BlockPlace], to: KeptSliceWriter): Unit = {
    kept.places.indices.filter(i => wanted(kept.places(i))).foreach { i =>
      val length = Math.toIntExact(kept.ends(i) - kept.starts(i))
      to.addTail(
        kept.places(i),
        TailReader.guard(kept.path, kept.starts(i))(TailReader.bytes(file.reader, kept.starts(i), length))
      )
    }
    kept.filters.foreach { f =>
      val all = TailReader.entries(file.reader, FilterRef("", f.offset, f.shape))
      val left = all.of(wanted)
      if (left.members.nonEmpty) to.addHashes(left, f.shape.min, f.shape.max)
    }
  }
}
