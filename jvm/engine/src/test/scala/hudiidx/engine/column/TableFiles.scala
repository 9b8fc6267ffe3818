package hudiidx.engine.column

import hudiidx.engine.Tables
import hudiidx.hfile.BlockCache
import hudiidx.storage.LocalStorage
import hudiidx.store.{Current, IndexStore, IndexVersion}
import hudiidx.sync._
import hudiidx.table.{FileEntry, TableSchema}

/** The files of a table on local disk, with the facts about their columns. */
final class TableFiles(path: String) {
  val access: TableAccess = Tables.access(LocalStorage, new BlockCache(4 << 20))
  val table: TableContext = TableContext.load(access, path)

  val columns: TableColumns = TableColumns.of(table)

  /** Of the index. */
  def version: IndexVersion = new IndexStore(LocalStorage, IndexStore.defaultDir(path)).current() match {
    case Current.Found(found, _) => found
    case other                   => throw new NoSuchElementException(other.toString)
  }

  /** All that are committed. */
  lazy val files: Vector[FileEntry] = {
    val snapshot = TableSnapshot.of(table, IndexOptions(enabled = false))
    try snapshot.source.partitions.flatMap(snapshot.source.files(_))
    finally snapshot.close()
  }

  /** False for a file that was cleaned away. */
  def isThere(file: FileEntry): Boolean = LocalStorage.status(FileColumns.pathOf(path, file)).isDefined

  /** Of all columns, Hudi's own too. */
  def facts(file: FileEntry): FileFacts = {
    val reader = LocalStorage.open(FileColumns.pathOf(path, file))
    try new FileColumns(columns, TableSchema.MetaColumns, all = true).facts(reader, file.kind)
    finally reader.close()
  }
}
