package hudiidx.spark.write.group

import hudiidx.table.{FileGroup, FileSlice}
import scala.collection.mutable

/** What a write makes of a file group's rows. */
sealed abstract class GroupFiles extends Product with Serializable

object GroupFiles {
  case object Log extends GroupFiles

  /** The first base file of a new group. */
  case object NewBase extends GroupFiles

  /** A base file of what the newest slice holds, logs merged, and the rows. */
  case object Rewrite extends GroupFiles
}

/** A file group that a write has rows for.
  *
  * @param slice   the newest one, to which they come; None: the group is made by this write
  * @param planned of a group that is planned to be compacted: that slice and what the compaction takes in, as readers merge them
  */
final case class TargetGroup(
    partitionPath: String,
    fileId: String,
    slice: Option[FileSlice],
    files: GroupFiles,
    planned: Option[FileSlice] = None
) {

  /** What readers merge before this write. */
  def read: Option[FileSlice] = planned.orElse(slice)
}

/** Where new records go.
  *
  * @param newGroups  files of the groups that are made for them
  * @param smallGroups files of the groups that they fill
  * @param takes      may this slice take some?
  * @param candidates of a partition that are filled at most, smallest first
  */
final case class InsertRules(
    newGroups: GroupFiles,
    smallGroups: GroupFiles,
    takes: FileSlice => Boolean,
    candidates: Int
)

/** Where the rows of a write go; sent to tasks.
  *
  * @param all     groups by number
  * @param inserts by partition path: numbers of groups that take inserts, and up to which share of all each does
  */
final class WriteGroups(val all: Vector[TargetGroup], inserts: Map[String, InsertShares]) extends Serializable {
  private lazy val byPlace: Map[(String, String), Int] =
    all.zipWithIndex.map { case (g, i) => (g.partitionPath, g.fileId) -> i }.toMap

  def ofLocation(partitionPath: String, fileId: String): Int = byPlace((partitionPath, fileId))

  /** @param hash of the key, so that rows of one key come together */
  def ofInsert(partitionPath: String, hash: Int): Int = inserts(partitionPath).of(hash)

  // The number of a row's group is an argument in plans; they would show all groups.
  override def toString: String = s"${all.size} file groups"
}

/** @param until ascending: of `until.last` hashes the first `until(0)` go to `groups(0)`, and so on */
final case class InsertShares(groups: Vector[Int], until: Vector[Long]) {
  def of(hash: Int): Int = {
    val at = Math.floorMod(hash.toLong * InsertShares.Spread >>> 1, until.last)
    groups(until.indexWhere(at < _))
  }
}

object InsertShares {
  // The hash of Spark's rows is used for their way to tasks as well.
  private val Spread = 0x9e3779b97f4a7c15L
}

/** How large file groups grow. Sizes are bytes of base files; logs count by what is left of them in one.
  *
  * @param smallBytes  groups below it take inserts
  * @param maxBytes    up to which they do
  * @param recordBytes of a record in a base file
  * @param logShare    bytes in a base file of one byte of log
  */
final case class GroupSizes(smallBytes: Long, maxBytes: Long, recordBytes: Double, logShare: Double) {
  def of(slice: FileSlice): Long =
    slice.baseFile.fold(0L)(_.sizeBytes) + (slice.logFiles.map(_.sizeBytes).sum * logShare).toLong

  /** Records that `bytes` of a base file hold, at least one. */
  def records(bytes: Long): Long = math.max(1L, (bytes / recordBytes).toLong)
}

/** Decides which file groups a write goes to. */
object WriteGroups {

  /** @param counts  rows by partition path and the file id of their location; null: inserts
    * @param slices    the newest slices of a partition, those behind pending compactions too
    * @param planned   of a partition, as readers merge them: slices of groups under pending compactions
    * @param rewritten of the groups of locations those that are written anew; the others get logs
    * @param newId     makes file ids
    */
  def plan(
      counts: Vector[(String, String, Long)],
      slices: String => Vector[FileSlice],
      planned: String => Vector[FileSlice],
      rewritten: Set[FileGroup],
      rules: InsertRules,
      sizes: GroupSizes,
      newId: () => String
  ): WriteGroups = {
    val all = mutable.ArrayBuffer.empty[TargetGroup]
    val inserts = counts.groupBy(_._1).toVector.sortBy(_._1).flatMap { case (partition, rows) =>
      val known = slices(partition)
      val byId = known.map(s => s.fileId -> s).toMap
      val plannedById = planned(partition).map(s => s.fileId -> s).toMap
      val touched = rows.flatMap(r => Option(r._2)).distinct.sorted
      val numbers = touched.zipWithIndex.map { case (id, i) => id -> (all.size + i) }.toMap
      all ++= touched.map { id =>
        val files = if (rewritten(FileGroup(partition, id))) GroupFiles.Rewrite else GroupFiles.Log
        TargetGroup(partition, id, byId.get(id), files, plannedById.get(id))
      }
      val toInsert = rows.filter(_._2 == null).map(_._3).sum
      if (toInsert == 0) None
      else {
        val small = known
          .filter(s => sizes.of(s) < sizes.smallBytes && rules.takes(s))
          .sortBy(s => (sizes.of(s), s.fileId))
          .take(rules.candidates)
        val into = shares(partition, small, toInsert, rules, sizes, newId).map { case (group, share) =>
          val number = numbers.getOrElse(group.fileId, all.size)
          if (number == all.size) all += group else if (group.files == GroupFiles.Rewrite) all(number) = group
          (number, share)
        }
        Some(partition -> InsertShares(into.map(_._1), into.map(_._2).scanLeft(0L)(_ + _).tail))
      }
    }
    new WriteGroups(all.toVector, inserts.toMap)
  }

  /** Groups that take so many records, each with how many: small ones first, then new ones. */
  private def shares(
      partition: String,
      small: Vector[FileSlice],
      records: Long,
      rules: InsertRules,
      sizes: GroupSizes,
      newId: () => String
  ): Vector[(TargetGroup, Long)] = {
    val taken = roomFor(small.map(s => sizes.records(sizes.maxBytes - sizes.of(s))), records)
    val left = records - taken.sum
    val perGroup = sizes.records(sizes.maxBytes)
    val more = ((left + perGroup - 1) / perGroup).toInt
    val filled = small.zip(taken).filter(_._2 > 0).map { case (s, n) =>
      TargetGroup(partition, s.fileId, Some(s), rules.smallGroups) -> n
    }
    val added = Vector.fill(more)(TargetGroup(partition, newId(), None, rules.newGroups) -> math.max(1L, left / more))
    filled ++ added
  }

  /** Of so many records, how many go to each room. */
  private def roomFor(rooms: Vector[Long], records: Long): Vector[Long] = {
    var left = records
    rooms.map { room =>
      val taken = math.min(room, left)
      left -= taken
      taken
    }
  }
}
