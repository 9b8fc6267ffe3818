package hudiidx.slice

import java.util.{Arrays, BitSet}

import hudiidx.merge.{MergeRules, PartialMergePlan}
import hudiidx.table.TableSchema

/** The log records that the mixed rows of a slice take columns from, some rows' at a time: a pass over the log for each such
  * window. Rows are asked for in ascending order. For one thread.
  *
  * @param window  records held at a time; one mixed row's more than that are held together
  * @param columns how many there are
  * @param hold    takes the current record of a walk; told of a window's number of records before its first
  */
final class PartialMergeRecords[B <: BlockWalk](
    slice: MergedSlice,
    blocks: BlockOpener[B],
    window: Int,
    columns: Int,
    hold: RecordHolder[B]
) {
  private val mixedRows = slice.rows.mixedRows
  private var records = Array.emptyIntArray // numbers of the records held, ascending
  private var present = Array.empty[Array[Boolean]] // for each of them, which columns its block has
  private var until = 0 // first mixed row whose records are not held

  /** Places of a mixed row's parts, its oldest first, in the order held; negative for the base row. */
  def places(mixedRow: Int): Array[Int] = {
    if (mixedRow >= until) load(mixedRow)
    Array.tabulate(mixedRows.partCount(mixedRow))(i => place(mixedRows.part(mixedRow, i)))
  }

  /** Which of a mixed row's parts was written last. */
  def newest(mixedRow: Int): Int = {
    var found = 0
    (1 until mixedRows.partCount(mixedRow)).foreach { i =>
      if (mixedRows.part(mixedRow, i) > mixedRows.part(mixedRow, found)) found = i
    }
    found
  }

  /** Whether the block of the record at a place has a column. */
  def has(place: Int, column: Int): Boolean = present(place)(column)

  private def place(part: Int): Int = if (part == PartialMergePlan.Base) -1 else Arrays.binarySearch(records, part)

  /** Reads the records of as many mixed rows as the window takes, from this one on. */
  private def load(from: Int): Unit = {
    val wanted = new BitSet
    var count = 0
    until = from
    while (until < mixedRows.size && (until == from || count < window)) {
      var i = 0
      while (i < mixedRows.partCount(until)) {
        if (mixedRows.part(until, i) != PartialMergePlan.Base) wanted.set(mixedRows.part(until, i))
        i += 1
      }
      count += i
      until += 1
    }
    read(wanted)
  }

  private def read(wanted: BitSet): Unit = {
    records = wanted.stream.toArray
    present = new Array[Array[Boolean]](records.length)
    hold.begin(records.length)
    val walk = new KeptRecords(slice, wanted, blocks)
    try {
      var i = 0
      while (walk.next()) {
        hold.add(walk.rows)
        present(i) = walk.present(columns)
        i += 1
      }
    } finally walk.close()
  }
}

/** Which version of a mixed row each column's value comes from: the newest whose value does not give way. For one thread.
  *
  * @param names of the columns
  */
abstract class ColumnSources(records: PartialMergeRecords[_], names: Seq[String], rules: MergeRules) {
  private val ofNewest = names.map(n => rules.newestMeta && TableSchema.MetaColumns.contains(n)).toArray
  private var places = Array.emptyIntArray
  private var newest = 0

  /** Does the base row's value give way? */
  protected def yieldsBase(column: Int): Boolean

  /** Does the value of the record held at a place? */
  protected def yieldsHeld(column: Int, place: Int): Boolean

  /** Rows are asked for in ascending order. */
  def startRow(mixedRow: Int): Unit = {
    places = records.places(mixedRow)
    newest = records.newest(mixedRow)
  }

  /** The place of the record whose value a column of the row has; negative for the base row. */
  def of(column: Int): Int = {
    var i = if (ofNewest(column)) newest else places.length - 1
    while (i > 0 && !ofNewest(column) && yields(places(i), column)) i -= 1
    places(i)
  }

  private def yields(place: Int, column: Int): Boolean =
    if (place < 0) yieldsBase(column) else !records.has(place, column) || yieldsHeld(column, place)
}

/** Holds the rows of a window. */
trait RecordHolder[B <: BlockWalk] {

  /** Forgets what is held, for so many others. */
  def begin(records: Int): Unit

  /** Holds the row that a walk stands at, behind those held. */
  def add(walk: B): Unit
}
