package hudiidx.spark.options

/** Commits of a query of changes.
  *
  * @param begin requested time after which they count
  * @param end   the last one; None: up to now
  * @param commits requested times of those that are asked for, whatever the range; None: those of the range
  */
final case class ChangeOptions(begin: String, end: Option[String], commits: Option[Set[String]] = None)
