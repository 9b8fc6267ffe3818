package hudiidx.sync.build

import hudiidx.sync.TableContext
import hudiidx.{Log, LogOnce}
import java.io.IOException

import scala.util.control.NonFatal

import hudiidx.IndexNotWritable
import hudiidx.storage.{Access, Storage}
import hudiidx.store.IndexStore

/** Who may read and write an index folder: nobody who may not do so with the table. Stores without rights of their own, as S3, have theirs
  * elsewhere.
  */
private[sync] object IndexRights {
  private val told = new LogOnce(Log.of(classOf[Indexer]))

  /** Makes the folder of an index that is to be made; warns of one that is there and more open than the table. IndexNotWritable if it
    * cannot be made.
    */
  def settle(store: IndexStore, table: TableContext): Unit = {
    val storage = store.storage
    try
      storage.access(table.tablePath).foreach { _ =>
        if (storage.access(store.dir).isEmpty) storage.makeFolder(store.dir, table.tablePath, ofData(table))
        else {
          told.forget(store.dir)
          told.warn(store.dir, moreOpen(storage, store.dir, table.tablePath).orElse(moreOpenThanData(store.dir, table)))
        }
      }
    catch {
      case e: IOException =>
        throw new IndexNotWritable(
          s"${store.dir}: the index folder cannot be made with the table's rights ($e); make room or make the folder above it writable, " +
            "or set hudiidx.index.path to a folder elsewhere",
          e
        )
    }
  }

  /** Rights at one of the table's data files, as a folder has them; None where there is none. */
  private def ofData(table: TableContext): Option[Access] =
    try {
      val writes = table.completed.reverseIterator.filter(i => TableContext.Writes(i.action))
      val paths = writes.take(1).flatMap(i => table.contents.commit(i).writeStats.flatMap(_.path))
      val found = paths.take(1).flatMap(p => table.storage.access(Storage.join(table.tablePath, p))).toVector.headOption
      found.map(a => a.copy(mode = Access.ofFolder(a.mode)))
    } catch {
      // What the table's files are is told by who reads them; here the table's folder counts.
      case NonFatal(_) => None
    }

  /** Of an index that is there: warns once if it is more open than the table by now. Two calls of the store where it is not, and lies in
    * the table's folder.
    */
  def look(store: IndexStore, tablePath: String): Unit =
    try {
      val storage = store.storage
      val isWithin = store.dir.startsWith(tablePath + "/")
      val mayBe = for {
        index <- storage.access(store.dir)
        table <- storage.access(tablePath)
      } yield !isWithin || index.isMoreOpenThan(table)
      told.warn(store.dir, if (mayBe.contains(true)) moreOpen(storage, store.dir, tablePath) else None)
    } catch { case _: IOException => () }

  private def moreOpen(storage: Storage, dir: String, tablePath: String): Option[String] =
    for {
      index <- effective(storage, dir)
      table <- effective(storage, tablePath)
      if index.isMoreOpenThan(table)
    } yield said(dir, index, s"the table $tablePath", table)

  private def moreOpenThanData(dir: String, table: TableContext): Option[String] =
    for {
      data <- ofData(table)
      index <- effective(table.storage, dir)
      if index.isMoreOpenThan(data)
    } yield said(dir, index, s"data files of the table ${table.tablePath}", data)

  private def said(dir: String, index: Access, of: String, than: Access): String =
    s"$dir: more users can read or change this index folder (${index.text}, group ${index.group}) than $of " +
      s"(${than.text}, group ${than.group}), and an index holds values of it; give the folder the table's rights"

  /** What is left of the rights at a folder for who has to pass those above it. */
  private def effective(storage: Storage, path: String): Option[Access] =
    try {
      val above = Storage.above(storage.resolved(path)).flatMap(p => storage.access(p))
      storage
        .access(path)
        .map(a => above.foldLeft(a)((left, in) => left.copy(mode = left.mode & passing(in, left.group))))
    } catch { case _: IOException => None }

  /** All rights of those who may pass a folder, none of the others. */
  private def passing(folder: Access, group: String): Int = {
    val mode = folder.mode
    // Of another group nobody knows who is in it: who may pass as anybody may.
    val middle = if (folder.group == group) mode & 0x8 else (mode & 0x1) << 3
    0x1c0 | (if (middle != 0) 0x38 else 0) | (if ((mode & 0x1) != 0) 0x7 else 0)
  }
}
