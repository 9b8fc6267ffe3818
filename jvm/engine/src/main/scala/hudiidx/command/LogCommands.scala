package hudiidx.command

import com.fasterxml.jackson.core.JsonGenerator
import hudiidx.slice.LogReaders
import hudiidx.hfile.BlockCache
import hudiidx.log.{LogBlock, LogFile, LogRules, MergeMode}
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
        s"$path: is no log file: neither is its name that of one (.FILEID_INSTANT.log.VERSION_TOKEN) nor does it begin as one does; $listed"
      )
    found.sizeBytes
  }

  private def listed = "`hudiidx slices TABLE --json` names those of a table"

  private def isNamedAsLog: Boolean =
    FileName.parse("", path.substring(path.lastIndexOf('/') + 1), 0).exists(_.kind == FileKind.Log)

  /** Writes `{file, size, blocks: [{block, offset, size, kind, instant_time, records, min_key, max_key, indexed}]}`. */
  def show(json: JsonGenerator): Unit = withKept { kept =>
    json.writeStartObject()
    json.writeStringField("file", path)
    json.writeNumberField("size", size)
    json.writeArrayFieldStart("blocks")
    LogBlockFacts.of(storage, path, kept).foreach { b =>
      json.writeStartObject()
      place(b.number, b.block, json)
      json.writeNumberField("size", b.block.endOffset - b.block.offset)
      b.records.fold(json.writeNullField("records"))(json.writeNumberField("records", _))
      text("min_key", b.min, json)
      text("max_key", b.max, json)
      json.writeStringField("indexed", b.indexed)
      json.writeEndObject()
    }
    json.writeEndArray()
    json.writeEndObject()
  }

  /** Writes `{file, hits: [{key, block, offset, kind, instant_time, record_offset, is_delete}], missing: [key], work: {filters,
    * key_lists, whole_blocks, damaged, bytes_read}}`.
    */
  def find(keys: PackedKeys, json: JsonGenerator): Unit = withKept { kept =>
    val (hits, counts) = LogHits.of(storage, path, keys, rules, LogReaders.all, kept)
    val found = hits.map(_.key).toSet
    json.writeStartObject()
    json.writeStringField("file", path)
    json.writeArrayFieldStart("hits")
    hits.foreach { h =>
      json.writeStartObject()
      json.writeStringField("key", h.key)
      place(h.number, h.block, json)
      if (h.record < 0) json.writeNullField("record_offset") else json.writeNumberField("record_offset", h.record)
      json.writeBooleanField("is_delete", h.isDelete)
      json.writeEndObject()
    }
    json.writeEndArray()
    json.writeArrayFieldStart("missing")
    (0 until keys.count).map(keys.key).filterNot(found).foreach(json.writeString)
    json.writeEndArray()
    json.writeObjectFieldStart("work")
    json.writeNumberField("filters", counts.filters)
    json.writeNumberField("key_lists", counts.keyLists)
    json.writeNumberField("whole_blocks", counts.wholeBlocks)
    json.writeNumberField("damaged", counts.damaged)
    json.writeNumberField("bytes_read", storage.counts.bytesRead)
    json.writeEndObject()
    json.writeEndObject()
  }

  private def place(number: Int, block: LogBlock, json: JsonGenerator): Unit = {
    json.writeNumberField("block", number)
    json.writeNumberField("offset", block.offset)
    json.writeStringField("kind", LogBlockFacts.kindOf(block))
    text("instant_time", block.instantTime, json)
  }

  private def text(name: String, value: Option[String], json: JsonGenerator): Unit =
    value.fold(json.writeNullField(name))(json.writeStringField(name, _))

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
