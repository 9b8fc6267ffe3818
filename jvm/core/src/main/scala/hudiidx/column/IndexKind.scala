package hudiidx.column

import java.nio.ByteBuffer
import java.util.ServiceLoader
import scala.collection.JavaConverters._

/** A kind of index that makes of the rows of a file one record, by which the file can be ruled out: RFC-27's "multiple types
  * of index". Bloom filters and value sets are such kinds; others come from the class path, named in
  * `META-INF/services/hudiidx.column.IndexKind`. Implementations must be safe for several threads.
  */
trait IndexKind {

  /** Small letters, digits and underscores; names it in options and index files, so it must never come to mean other records. */
  def name: String

  /** Collects the values of one file.
    *
    *  @param columns that are indexed together; InvalidOption if this kind cannot
    *  @param options of the user for this kind
    */
  def creator(columns: Vector[IndexedColumn], options: Map[String, String]): IndexCreator

  /** What rules out files for a query that wants rows in which each of these columns is as its condition says.
    *
    *  @param wanted by place in `columns`; None: nothing is said of that column
    *  @return None if records can tell nothing of it
    */
  def test(columns: Vector[IndexedColumn], wanted: Vector[Option[LeafTest]]): Option[RecordTest]
}

/** The values of one row, in the order of the columns of an index. */
trait ColumnValues {
  def isNull(column: Int): Boolean

  /** As [[ColumnType]] says for types of order Longs. */
  def long(column: Int): Long

  /** As [[ColumnType]] says for types of order Texts. Not to be changed, and good until the next row. */
  def text(column: Int): Array[Byte]
}

/** Makes the record of one file. Not safe for several threads. */
trait IndexCreator {
  def add(row: ColumnValues): Unit

  /** The record; empty if nothing that helps can be said of the file. */
  def finish(): Array[Byte]
}

/** Safe for several threads. */
trait RecordTest {

  /** False only if no row of the record's file is wanted. A record that cannot be understood must give true.
    *
    *  @param record from position to limit; not to be changed
    */
  def mightMatch(record: ByteBuffer): Boolean
}

object IndexKind {

  /** Bounds and counts: kept in segments, not in records. */
  val Range = "range"

  private val own: Vector[IndexKind] = Vector(BloomKind, ValuesKind)

  /** None for a kind that is not on the class path: its records are of no use, and do no harm. */
  def find(name: String): Option[IndexKind] =
    own.find(_.name == name).orElse(added(Thread.currentThread.getContextClassLoader).find(_.name == name))

  /** Kinds of the class path. A jar that a session added is seen by its threads' class loader alone. */
  private def added(loader: ClassLoader): Iterator[IndexKind] =
    ServiceLoader
      .load(classOf[IndexKind], if (loader == null) classOf[IndexKind].getClassLoader else loader)
      .iterator
      .asScala
}
