package hudiidx.store

import hudiidx.DamagedIndex

/** Outcome of looking for the current version. */
sealed trait Current
object Current {

  /** @param passedOver why versions with higher numbers were not taken */
  final case class Found(version: IndexVersion, passedOver: Vector[String]) extends Current
  case object Absent extends Current

  /** There are versions, and none can be read.
    *
    *  @param isLater the newest is whole, and of a format that only a later hudiidx knows
    *  @param earlier the newest that is whole and of an earlier format: its settings hold, its files are not read
    */
  final case class Unreadable(reasons: Vector[String], isLater: Boolean, earlier: Option[IndexVersion]) extends Current
}

/** What the next version is made of.
  *
  *  @param next   its number, above every one that was seen: it is taken by whoever publishes meanwhile
  *  @param unread a version that is there and that the store did not give. Others may read it, and then what is older may be on
  *                its way out: no file of `current` is to be named again
  */
final case class BaseVersion(current: Current, next: Long, unread: Option[DamagedIndex]) {

  /** DamagedIndex if a version was not read. */
  def requireRead(): Current = {
    unread.foreach(e =>
      throw new DamagedIndex(
        s"${e.getMessage}; run it again, or if it stays so `hudiidx create`, which makes a new index",
        e
      )
    )
    current
  }
}

/** What is found of versions from the highest number down.
  *
  *  @param numbers  of all files of versions, ascending
  *  @param failures why versions were skipped
  *  @param unread   the first of them for an error of the store, not for what is in it
  */
final private[store] case class LookupResult(
    numbers: Vector[Long],
    version: Option[IndexVersion],
    failures: Vector[DamagedIndex],
    unread: Option[DamagedIndex]
) {

  /** @param earlier as of [[Current.Unreadable]] */
  def current(earlier: Vector[Long] => Option[IndexVersion]): Current = version match {
    case Some(v)                  => Current.Found(v, failures.map(_.getMessage))
    case None if failures.isEmpty => Current.Absent
    case None => Current.Unreadable(failures.map(_.getMessage), failures.head.isLater, earlier(numbers))
  }
}
