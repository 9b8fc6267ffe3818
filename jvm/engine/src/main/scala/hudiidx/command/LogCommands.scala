package hudiidx.command

import hudiidx.answer._
import hudiidx.slice.LogReaders
import hudiidx.hfile.BlockCache
import hudiidx.log.{LogFile, LogRules, MergeMode}
import hudiidx.logindex._
import hudiidx.record.PackedKeys
import hudiidx.storage.CountingStorage
import hudiidx.store.{Current, IndexStore}
import hudiidx.sync.{IndexOptions, TableAccess}
import hudiidx.table.{FileGroup, FileKind, FileName, TableConfig, TableMergeRules}
import hudiidx.{DamagedIndex, NotAHudiTable, TableFormat}

/** What a log file holds, and where keys are in it: `log show` and `log find`. The file's table is that whose folder it lies
  * in; without one the file is read as one of a table with stored keys. DamagedTable, UnsupportedTable as a read of the log.
  */
final class LogCommands(access: TableAccess, file: String, options: IndexOptions) {
  private val storage = new CountingStorage(access.storage)
  private val path = file.stripSuffix("/")
  private val table: Option[TableConfig] = root.map(TableConfig.read(access.storage, _))

  private def root: Option[String] = Iterator
    .iterate(parent(path))(_.flatMap(parent))
    .takeWhile(_.isDefined)
    .flatten
    .find(dir => access.storage.status(TableConfig.propertiesFile(dir)).isDefined)

  private def parent(path: String): Option[String] = {
    val at = path.lastIndexOf('/')
    if (at <= 0) None else Some(path.substring(0, at))
  }

  private val size = {
    val found =
      access.storage.status(path).getOrElse(throw new NotAHudiTable(s"$path: there is no such log file; $listed"))
    if (found.isDirectory || !(isNamedAsLog || LogFile.begins(storage, path)))
      throw new NotAHudiTable(
        s"$path: not a log file: neither the name (.FILEID_INSTANT.log.VERSION_TOKEN) nor the header matches; $listed"
      )
    found.sizeBytes
  }

  private def listed = "`hudiidx slices TABLE --json` names those of a table"

  private def isNamedAsLog: Boolean =
    FileName.parse("", path.substring(path.lastIndexOf('/') + 1), 0).exists(_.kind == FileKind.Log)

  /** All blocks, whether readers count them or not. */
  def show(): LogFileAnswer = withKept { kept =>
    LogFileAnswer(
      path,
      size,
      LogBlockFacts.of(storage, path, kept).map { b =>
        LogBlockAnswer(
          b.number,
          b.block.offset,
          LogBlockFacts.kindOf(b.block),
          b.block.instantTime,
          b.block.endOffset - b.block.offset,
          b.records,
          b.min,
          b.max,
          b.indexed
        )
      }
    )
  }

  def find(keys: PackedKeys): LogHitsAnswer = withKept { kept =>
    val (hits, counts) = LogHits.of(storage, path, keys, rules, LogReaders.all, kept)
    val found = hits.map(_.key).toSet
    LogHitsAnswer(
      path,
      hits.map(h => LogHitAnswer.of(h.key, h.number, h.block, Some(h.record).filter(_ >= 0), h.isDelete)),
      (0 until keys.count).map(keys.key).filterNot(found).toVector,
      LogWork(counts.filters, counts.keyLists, counts.wholeBlocks, counts.damaged, storage.counts.bytesRead)
    )
  }

  private def rules: LogRules =
    table.fold(LogRules(TableFormat.Latest, MergeMode.CommitTime, Vector.empty, None, None))(TableMergeRules.of(_))

  /** An index that cannot be read is none: the file is what is asked about. */
  private def withKept[A](use: KeptTails => A): A = {
    val index =
      try opened
      catch { case e: DamagedIndex if !options.strict => None }
    try
      use(index.fold[KeptTails](KeptTails.None) { case (group, i) =>
        try i.kept(group)
        catch { case e: DamagedIndex if !options.strict => KeptTails.None }
      })
    finally index.foreach(_._2.close())
  }

  private def opened: Option[(FileGroup, LogIndex)] = for {
    base <- root
    partition = path.substring(base.length).stripPrefix("/").split('/').dropRight(1).mkString("/")
    entry <- FileName.parse(partition, path.substring(path.lastIndexOf('/') + 1), size)
    store = new IndexStore(storage, options.indexDir(base))
    version <- store.current() match {
      case Current.Found(v, _) if LogIndex.isIn(v) => Some(v)
      case _                                       => None
    }
  } yield FileGroup(partition, entry.fileId) -> LogIndex.open(store, version, new BlockCache(0L))
}
