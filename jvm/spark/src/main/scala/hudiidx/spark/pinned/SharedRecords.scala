package hudiidx.spark.pinned

import java.io.IOException

import hudiidx.DamagedIndex
import hudiidx.engine.record.{GroupMappings, IndexedKeys, RecordIndexSnapshot, SliceKeyScan}
import hudiidx.record.{Locations, PackedKeys}
import hudiidx.sync.{IndexOptions, LocalEngine, TableAccess, TableSnapshot}
import hudiidx.table.query.TimeTravel

/** The record keys of a table at one moment, on the driver and in tasks alike. What is sent says how keys are found; each
  * process opens the files of that index version once, when the first task asks.
  *
  *  @param onDriver     the snapshot that the moment was decided by; null in other processes
  *  @param keysOnDriver its index, where it has one; null in other processes
  */
final class SharedRecords private (
    val table: SharedTable,
    options: IndexOptions,
    val moment: RecordIndexSnapshot,
    @transient private val onDriver: TableSnapshot,
    @transient private val keysOnDriver: Option[IndexedKeys]
) extends Serializable {

  @transient private lazy val snapshot: TableSnapshot =
    if (onDriver != null) onDriver
    else TableSnapshot.of(table.context, options, moment.version)

  /** None without a usable record index. */
  @transient lazy val index: Option[IndexedKeys] =
    if (keysOnDriver != null) keysOnDriver
    else if (moment.version.isEmpty) None
    else IndexedKeys.open(moment, snapshot)

  @transient private lazy val reported = new Array[Long](LookupCounts.Names.size)

  def access: TableAccess = table.context.access

  /** Locations in the index and in the slices that it does not know. Where a file of the index fails the keys are looked up in
    * all files, here and now, or in strict mode it is DamagedIndex.
    */
  def locate(keys: PackedKeys, unindexed: Option[Locations] => Locations): Locations = {
    val indexed =
      try Right(index.map(_.locate(keys)))
      catch {
        case e: DamagedIndex => Left(e.getMessage)
        case e: IOException  => Left(e.toString)
      }
    indexed match {
      case Right(found) => unindexed(found)
      case Left(why)    => SliceKeyScan.locate(new LocalEngine(access), withoutIndex(why), keys, None)
    }
  }

  /** Keys of one hash group with each of their locations, whatever file of the index fails. */
  def mappings(group: Int): GroupMappings = new GroupMappings(moment, index.get, group, access, withoutIndex)

  /** These if the files of the index are there, as far as a listing and the dictionary tell; else without the index, which is
    * a warning, or in strict mode DamagedIndex.
    */
  def checked(): SharedRecords =
    try {
      index.foreach(_.requireFiles())
      this
    } catch {
      case e: DamagedIndex => new SharedRecords(table, options, withoutIndex(e.getMessage), onDriver, None)
      case e: IOException  => new SharedRecords(table, options, withoutIndex(e.toString), onDriver, None)
    }

  private def withoutIndex(why: String): RecordIndexSnapshot =
    RecordIndexSnapshot.withoutIndex(moment, snapshot, options.strict, why)

  /** What lookups in this process did since the last call, whoever made them. */
  def countsSince(): LookupCounts = index.fold(LookupCounts.None) { i =>
    reported.synchronized {
      val now = LookupCounts.of(i)
      val more = LookupCounts(now.values.zip(reported).map { case (a, b) => a - b })
      now.values.copyToArray(reported)
      more
    }
  }
}

object SharedRecords {

  /** IndexNotFound, StaleIndex or DamagedIndex in strict mode where the index cannot be used; InvalidOption for
    * an instant that cannot be read.
    */
  def of(table: SharedTable, options: IndexOptions, asOf: Option[String]): SharedRecords = {
    asOf.foreach(TimeTravel.check(table.config, table.timeline, table.contents, _))
    val snapshot = table.snapshot
    val (moment, keys) = RecordIndexSnapshot.open(snapshot, options, asOf)
    new SharedRecords(table, options, moment, snapshot, keys)
  }
}

/** Work of an opened record index, in the order of `LookupCounts.Names`. */
final case class LookupCounts(values: Vector[Long])

object LookupCounts {

  /** Name and description of each metric. */
  val Names: Vector[(String, String)] = Vector(
    "groupsOpened" -> "hash groups opened",
    "filesOpened" -> "index files opened",
    "pagesDecoded" -> "index pages decoded",
    "bytesRead" -> "index bytes read",
    "notLive" -> "mappings filtered by liveness"
  )

  val None: LookupCounts = LookupCounts(Names.map(_ => 0L))

  def of(index: IndexedKeys): LookupCounts =
    LookupCounts(index.work.values)
}
