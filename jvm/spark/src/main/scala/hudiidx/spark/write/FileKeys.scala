package hudiidx.spark.write

import java.nio.charset.StandardCharsets.UTF_8

import scala.collection.BufferedIterator
import scala.collection.JavaConverters._

import hudiidx.parquet.{BaseFileKeys, KeyColumns, KeyRange}
import hudiidx.spark.pinned.SharedTable
import hudiidx.spark.write.group.KeyBudget
import hudiidx.storage.Storage
import hudiidx.table.{BaseFile, FileGroup}
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.unsafe.types.UTF8String

/** @param rows  of the key in the base file
  * @param asked rows of the key that are to change there, of which so many are deleted
  */
final private[write] case class RepeatedKey(key: Array[Byte], file: BaseFile, rows: Int, asked: Int, deleted: Int) {
  def text: String = new String(key, UTF_8)
  def isWholeDelete: Boolean = deleted == asked && asked >= rows
}

/** Of one file group.
  *
  * @param refused a key of which some rows stay, or change
  */
final private[write] case class Repeats(group: FileGroup, refused: Option[RepeatedKey])

private[write] object Repeats {
  def apply(file: BaseFile, keys: Vector[RepeatedKey]): Repeats =
    Repeats(FileGroup(file.partitionPath, file.fileId), keys.find(!_.isWholeDelete))
}

/** Of the rows of one task, sorted by file group and key, the keys that base files have several rows of. */
final private class FileKeys(
    rows: BufferedIterator[InternalRow],
    table: SharedTable,
    files: Map[(String, String), BaseFile]
) {
  private val columns = KeyColumns.of(table.config)

  final private class Asked(val text: UTF8String) {
    val key: Array[Byte] = text.getBytes
    var rows, asked, deleted = 0
  }

  def all: Iterator[RepeatedKey] =
    Iterator.continually(()).takeWhile(_ => rows.hasNext).flatMap(_ => run())

  /** Of the next file group's keys as many as the budget allows. */
  private def run(): Iterator[RepeatedKey] = {
    val (partition, fileId) = (rows.head.getUTF8String(1).clone(), rows.head.getUTF8String(2).clone())
    val asked = new java.util.HashMap[KeyRange, Asked]
    var used = 0L
    var last: Asked = null
    def isOfLast(row: InternalRow): Boolean = last != null && row.getUTF8String(0) == last.text
    def isNext(row: InternalRow): Boolean = row.getUTF8String(1) == partition && row.getUTF8String(2) == fileId &&
      (used < KeyBudget.Bytes || isOfLast(row))
    while (rows.hasNext && isNext(rows.head)) {
      if (!isOfLast(rows.head)) {
        last = new Asked(rows.head.getUTF8String(0).clone())
        val key = last.key
        asked.put(new KeyRange().set(key, 0, key.length), last)
        used += KeyBudget.bytesOf(key)
      }
      last.asked += 1
      if (rows.head.getBoolean(3)) last.deleted += 1
      rows.next()
    }
    files.get((partition.toString, fileId.toString)).fold(Iterator.empty: Iterator[RepeatedKey])(found(_, asked))
  }

  private def found(file: BaseFile, asked: java.util.HashMap[KeyRange, Asked]): Iterator[RepeatedKey] = {
    val path = Storage.join(Storage.join(table.path, file.partitionPath), file.fileName)
    val base = BaseFileKeys.open(table.context.storage, path, columns)
    try {
      val probe = new KeyRange
      val keys = base.read()
      while (keys.next()) {
        val one = asked.get(probe.set(keys.bytes, keys.from, keys.length))
        if (one != null) one.rows += 1
      }
    } finally base.close()
    asked.values.asScala.iterator.filter(_.rows > 1).map(a => RepeatedKey(a.key, file, a.rows, a.asked, a.deleted))
  }
}
