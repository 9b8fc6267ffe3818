package hudiidx.record

import hudiidx.IndexNotFound
import hudiidx.hfile.BlockCache
import hudiidx.record.page.{EntriesOf, EntryCursor, KeyCode}
import hudiidx.storage.RandomReader
import hudiidx.store.{IndexStore, IndexVersion}

/** Mappings found: those of key `i` are at `starts(i)` until `starts(i + 1)` of the other arrays, by ordinal.
  *
  *  @param ordinals file groups in the index's dictionary; whether a reader sees them is for [[LocationLookup]] to say
  *  @param flags    of [[EntryFlag]], never a remove
  *  @param stamps   epoch day of the commit time, 0 without a window
  */
final class KeyMappings(
    val starts: Array[Int],
    val ordinals: Array[Int],
    val flags: Array[Int],
    val stamps: Array[Int]
) {
  def keys: Int = starts.length - 1
  def count(key: Int): Int = starts(key + 1) - starts(key)
}

/** The record index of one index version: RFC-8 on files of our own (docs/format.md, "Record index"). Files are opened when
  * they are needed. A file that is gone, cut or damaged is DamagedIndex. Safe for several threads.
  *
  *  @param mostOpenFiles base and delta files that stay open between calls
  */
final class RecordIndex private (
    val version: IndexVersion,
    store: IndexStore,
    cache: BlockCache,
    val groups: Vector[HashGroup],
    mostOpenFiles: Int
) extends AutoCloseable {
  val counters = new RecordCounters
  private val files = new OpenFiles(store, cache, mostOpenFiles, counters)
  private var segments = Vector.empty[RandomReader]

  /** `global` or `partitioned`. */
  def mode: String = version.properties(RecordProperty.Mode)

  /** Days that the window reaches back; None if all records are indexed. */
  def windowDays: Option[Int] = RecordIndex.windowDays(version)

  /** The file groups that ordinals stand for. */
  lazy val dictionary: FileGroupDictionary = {
    val opened = version.files.filter(_.kind == RecordKind.Groups).map { f =>
      val reader = new CountedReader(store.openWhole(f), counters)
      synchronized(segments :+= reader)
      GroupSegment.open(reader, cache)
    }
    new FileGroupDictionary(opened.sortBy(s => (s.first, s.count)))
  }

  /** The mappings of keys, wherever they are. Keys may repeat and come in any order; each page of a file is opened at most
    * once.
    */
  def lookup(keys: PackedKeys): KeyMappings = {
    val search = new KeySearch(keys, groups.map(_.range))
    search.foreachGroup { (g, count, asked) =>
      counters.groupCount.increment()
      val group = groups(g)
      var acquired = 0
      try {
        val finders = group.files.map { f =>
          val reader = files.acquire(f)
          acquired += 1
          reader.finder(count)
        }.toArray
        search.find(asked, finders)
        finders.foreach(f => counters.pageCount.add(f.pages))
      } finally group.files.take(acquired).foreach(files.release)
    }
    val found = search.result()
    counters.keyCount.add(keys.count.toLong)
    counters.hitCount.add(search.hits.toLong)
    found
  }

  def lookup(keys: Seq[String]): KeyMappings = lookup(PackedKeys.of(keys))

  /** Group of each key, for those who ask group by group. */
  def groupsOf(keys: PackedKeys): Array[Int] = {
    val router = new HashRouter(groups.map(_.range))
    Array.tabulate(keys.count)(i => router.groupOf(KeyCode.hash(keys.bytes, keys.from(i), keys.length(i))))
  }

  /** All mappings of a hash group in the order of key codes, then ordinals. Must be closed. */
  def scan(group: Int): EntryCursor = {
    counters.groupCount.increment()
    new AcquiredEntries(files, groups(group))
  }

  /** DamagedIndex if one of its files is gone or cut short, by one listing of the folder. */
  def requireFiles(): Unit = RecordIndex.requireFiles(version, store)

  override def close(): Unit = synchronized {
    files.close()
    segments.foreach(_.close())
  }
}

object RecordIndex {
  val MostOpenFiles = 256

  /** True if the version has a record index. */
  def isIn(version: IndexVersion): Boolean = version.properties.contains(RecordProperty.Mode)

  /** Days that the window of its record index reaches back; None if there is no window, or no record index. */
  def windowDays(version: IndexVersion): Option[Int] = version.number(RecordProperty.WindowDays).map(_.toInt)

  /** DamagedIndex if a file of a version's record index is gone or cut short, by one listing of the folder. */
  def requireFiles(version: IndexVersion, store: IndexStore): Unit =
    store.requireFiles(version.files.filter(f => RecordKind.All(f.kind)))

  /** IndexNotFound if the version has no record index, DamagedIndex if its files do not fit together. */
  def open(
      version: IndexVersion,
      store: IndexStore,
      cache: BlockCache,
      mostOpenFiles: Int = MostOpenFiles
  ): RecordIndex = {
    if (!isIn(version))
      throw new IndexNotFound(
        s"${store.dir}: index version ${version.number} has no record index; `hudiidx add-index TABLE record` makes one"
      )
    val groups = HashGroup.of(version)
    if (groups.isEmpty) throw RecordFile.damaged(store.dir, s"index version ${version.number} names no record files")
    new RecordIndex(version, store, cache, groups, mostOpenFiles)
  }
}

/** Mappings of a group whose files are held open until `close`. */
private[record] final class AcquiredEntries(files: OpenFiles, group: HashGroup) extends EntriesOf {
  private var acquired = 0
  protected val all: EntryCursor =
    try {
      val cursors = group.files.map { f =>
        val reader = files.acquire(f)
        acquired += 1
        reader.scan()
      }
      val (base, deltas) = cursors.splitAt(group.base.size)
      HashGroupMerge.mappings(Vector(GroupEntries(base.headOption, deltas)))
    } catch {
      case e: Throwable =>
        close()
        throw e
    }

  def next(): Boolean = all.next()

  override def close(): Unit = {
    group.files.take(acquired).foreach(files.release)
    acquired = 0
  }
}
