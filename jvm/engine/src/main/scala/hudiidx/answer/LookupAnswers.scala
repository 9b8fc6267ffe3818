package hudiidx.answer

import hudiidx.engine.record.LookupAnswer
import hudiidx.record.{PackedKeys, RecordLocation}

/** Where record keys are: each key that was asked stands in one of the two lists, in the order asked.
  *
  * @param windowDays of an index that has the keys of some days alone
  */
final case class LocationsAnswer(
    locations: Vector[RecordLocation],
    missing: Vector[String],
    windowDays: Option[Int],
    indexVersion: Long,
    fallback: String,
    work: LookupWork
)

/** What a lookup took. */
final case class LookupWork(
    keys: Long,
    hits: Long,
    misses: Long,
    groupsOpened: Long,
    filesOpened: Long,
    pagesDecoded: Long,
    bytesRead: Long,
    filtered: Long,
    slicesRead: Long,
    slicesKept: Long,
    storeCalls: Long,
    storeCallsInARow: Long,
    storeThrottled: Long
)

object LocationsAnswer {
  def of(keys: PackedKeys, answer: LookupAnswer): LocationsAnswer = {
    val found = answer.locations
    LocationsAnswer(
      found.records(keys),
      (0 until keys.count).filter(found.count(_) == 0).map(keys.key).distinct.toVector,
      answer.windowDays,
      answer.use.indexVersion.getOrElse(0L),
      answer.use.fallback.fold("")(_.code),
      work(answer)
    )
  }

  private def work(answer: LookupAnswer): LookupWork = {
    val index = answer.use.work
    LookupWork(
      answer.locations.keys.toLong,
      answer.hits.toLong,
      answer.misses.toLong,
      index.groupsOpened,
      index.filesOpened,
      index.pagesDecoded,
      index.bytesRead,
      index.notLive,
      answer.use.slicesRead.toLong,
      answer.use.slicesKept.toLong,
      answer.use.calls.all.toLong,
      answer.use.calls.inARow.toLong,
      answer.use.calls.throttled
    )
  }
}
