package hudiidx.column.segment

import hudiidx.manifest.PartitionKey
import scala.collection.mutable

/** Which files a merge of column files keeps, and where its inputs have them.
  *
  *  @param inputs  oldest first
  *  @param live    name and size of each file that the table has in a partition
  */
private[column] final class MergedFiles(inputs: Vector[ColumnFileReader], live: String => Iterator[(String, Long)]) {

  /** Rows of each file of an input, by ordinal; -1 where unknown. */
  val inputRows: Vector[Array[Long]] = inputs.map(i => new Array[Long](i.counts.files))
  private val origins = inputs.map(_ => new IntList)

  /** Hands each partition that is left to `use`, in the order of keys, with its files and their rows. All must be taken before
    * `origin` is asked.
    */
  def foreachPartition(use: (String, Array[(NameDigest, Long)], Array[Long]) => Unit): Unit =
    PartitionKey.sorted(inputs.flatMap(_.directory.paths).distinct).foreach { path =>
      val (files, rows) = merged(path)
      if (files.nonEmpty) use(path, files, rows)
    }

  /** Ordinal in an input of the file of a merged ordinal; -1 if the input does not cover it. */
  def origin(input: Int, ordinal: Int): Int = origins(input)(ordinal)

  private def merged(path: String): (Array[(NameDigest, Long)], Array[Long]) = {
    val wanted = mutable.HashSet.empty[(NameDigest, Long)]
    live(path).foreach { case (name, size) => wanted += NameDigest.of(name) -> size }
    val places = mutable.LinkedHashMap.empty[(NameDigest, Long), Int]
    val rows = mutable.ArrayBuffer.empty[Long]
    val first = if (inputs.isEmpty) 0 else origins.head.size
    inputs.indices.foreach { i =>
      val p = inputs(i).directory.find(path)
      if (p >= 0) {
        val table = inputs(i).fileTable(p)
        val from = inputs(i).directory.starts(p)
        val files = table.byPlace
        files.indices.foreach { f =>
          inputRows(i)(from + f) = table.rows(f)
          if (wanted(files(f))) {
            val place = places.getOrElseUpdate(files(f), places.size)
            if (place == rows.size) {
              rows += table.rows(f)
              origins.foreach(_.add(-1))
            } else if (rows(place) < 0) rows(place) = table.rows(f)
            origins(i).set(first + place, from + f)
          }
        }
      }
    }
    (places.keysIterator.toArray, rows.toArray)
  }
}

/** A growing array of ints. */
private[column] final class IntList {
  private var values = new Array[Int](64)
  private var count = 0

  def size: Int = count
  def apply(i: Int): Int = values(i)
  def set(i: Int, value: Int): Unit = values(i) = value

  def add(value: Int): Unit = {
    if (count == values.length) values = java.util.Arrays.copyOf(values, count * 2)
    values(count) = value
    count += 1
  }
}
