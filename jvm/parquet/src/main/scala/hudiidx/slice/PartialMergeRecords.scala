package hudiidx.slice

import java.util.{Arrays, BitSet}

import hudiidx.merge.PartialMergePlan

/** The log records that the recipes of a slice take columns from, some recipes' at a time: a pass over the log for each such
  * window. Rows are asked for in ascending order. For one thread.
  *
  * @param window  records held at a time; one recipe's more than that are held together
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
  private val recipes = slice.rows.recipes
  private var records = Array.emptyIntArray // numbers of the records held, ascending
  private var present = Array.empty[Array[Boolean]] // for each of them, which columns its block has
  private var until = 0 // first recipe whose records are not held

  /** Places of a recipe's parts, its oldest first, in the order held; negative for the base row. */
  def places(recipe: Int): Array[Int] = {
    if (recipe >= until) load(recipe)
    Array.tabulate(recipes.partCount(recipe))(i => place(recipes.part(recipe, i)))
  }

  /** Which of the recipe's parts was written last. */
  def newest(recipe: Int): Int = {
    var found = 0
    (1 until recipes.partCount(recipe)).foreach { i =>
      if (recipes.part(recipe, i) > recipes.part(recipe, found)) found = i
    }
    found
  }

  /** Whether the block of the record at a place has a column. */
  def has(place: Int, column: Int): Boolean = present(place)(column)

  private def place(part: Int): Int = if (part == PartialMergePlan.Base) -1 else Arrays.binarySearch(records, part)

  /** Reads the records of as many recipes as the window takes, from this one on. */
  private def load(from: Int): Unit = {
    val wanted = new BitSet
    var count = 0
    until = from
    while (until < recipes.size && (until == from || count < window)) {
      var i = 0
      while (i < recipes.partCount(until)) {
        if (recipes.part(until, i) != PartialMergePlan.Base) wanted.set(recipes.part(until, i))
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

/** Holds the rows of a window. */
trait RecordHolder[B <: BlockWalk] {

  /** Forgets what is held, for so many others. */
  def begin(records: Int): Unit

  /** Holds the row that a walk stands at, behind those held. */
  def add(walk: B): Unit
}
