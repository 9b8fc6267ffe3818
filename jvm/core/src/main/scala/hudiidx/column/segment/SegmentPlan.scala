package hudiidx.column.segment

/** When column files are merged: a log-structured merge tree over whole files, each kind by itself; pure. */
object SegmentPlan {

  /** Most files of one kind in an index version. Statistics and records together are at most 18 files, however many columns
    * they hold.
    */
  val MostFiles = 9

  /** Files to merge into one: all from this place on. None if they are in order. A file that is not twice as large as all newer
    * ones together is merged with them, so sizes fall by a factor of three from file to file, and a file's statistics are
    * written again a logarithm of times; where that leaves more than [[MostFiles]], the newest are merged whatever their size.
    *
    *  @param bytes sizes of all files of the kind, oldest first, the one that an update just wrote included
    */
  def mergeFrom(bytes: Vector[Long]): Option[Int] = {
    var newer = 0L
    var from = bytes.size
    bytes.indices.reverse.foreach { i =>
      if (bytes(i) < 2 * newer) from = i
      newer += bytes(i)
    }
    val place = math.min(from, if (bytes.size > MostFiles) MostFiles - 1 else bytes.size)
    if (place < bytes.size - 1) Some(place) else None
  }
}
