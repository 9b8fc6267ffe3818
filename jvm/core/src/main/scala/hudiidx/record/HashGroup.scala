package hudiidx.record

import hudiidx.DamagedIndex
import hudiidx.store.{IndexFile, IndexVersion}

/** Kinds of the record index's files in an index version. */
object RecordKind {
  val Base = "record_base"
  val Delta = "record_delta"
  val Groups = "record_groups"
  val All: Set[String] = Set(Base, Delta, Groups)

  /** No version names one. */
  val Run = "record_run"
}

/** Properties of an index version that speak of the record index. */
object RecordProperty {
  val Prefix = "record."

  /** `global` or `partitioned`; a version without it has no record index. */
  val Mode = "record.mode"
  val WindowDays = "record.window.days"
  val Groups = "record.groups"
  val Mappings = "record.mappings"

  /** Hash groups that were asked for, which merges leave; absent: as many as the size wants. */
  val FileGroups = "record.file.groups"

  /** Size in bytes that hash groups are made with; absent: [[RecordPlan.TargetBytes]]. */
  val GroupBytes = "record.group.bytes"

  /** `true`: the files have, or had, deleted keys of which a base file holds another row; absent: none was seen. */
  val Repeated = "record.repeated"

  /** The ordinal that the next new file group takes. */
  val NextOrdinal = "record.groups.next.ordinal"
}

/** Names of the record index's files. docs/format.md, "Index folder". */
object RecordFileName {

  def base(range: HashRange, instant: String, token: String): String = s"${range.name}.$instant.$token.record_base"

  def delta(range: HashRange, instant: String, token: String): String = s"${range.name}.$instant.$token.record_delta"

  def groups(firstOrdinal: Int, instant: String, token: String): String = s"$firstOrdinal.$instant.$token.record_groups"

  def run(task: String, token: String): String = s"$task.$token.record_run"

  /** The hash range that a base or delta file's name begins with. */
  def range(name: String): Option[HashRange] = HashRange.ofName(name.takeWhile(_ != '.'))

  /** The first ordinal of a dictionary segment. */
  def firstOrdinal(name: String): Option[Int] = {
    val digits = name.takeWhile(_ != '.')
    if (digits.matches("0|[1-9][0-9]{0,9}") && digits.toLong <= Int.MaxValue) Some(digits.toInt) else None
  }
}

/** The files of one hash group: at most one base and its deltas, oldest first. */
final case class HashGroup(range: HashRange, base: Option[IndexFile], deltas: Vector[IndexFile]) {
  def files: Vector[IndexFile] = base.toVector ++ deltas
  def deltaBytes: Long = deltas.map(_.sizeBytes).sum
  def sizeBytes: Long = base.fold(0L)(_.sizeBytes) + deltaBytes
}

object HashGroup {

  /** Groups of an index version, ascending. Deltas of a group stand in the version's order. DamagedIndex if names cannot be
    * read or ranges do not tile the hash space; empty if the version has no record index.
    */
  def of(version: IndexVersion): Vector[HashGroup] = {
    def damaged(what: String): Nothing = throw new DamagedIndex(
      s"index version ${version.number}: $what; `hudiidx create` makes a new index"
    )
    val files = version.files.filter(f => f.kind == RecordKind.Base || f.kind == RecordKind.Delta)
    val ranged = files.map { f =>
      RecordFileName.range(f.name).getOrElse(damaged(s"the name ${f.name} has no hash range")) -> f
    }
    val groups = ranged.groupBy(_._1).toVector.sortBy(_._1.from).map { case (range, members) =>
      val (bases, deltas) = members.map(_._2).partition(_.kind == RecordKind.Base)
      if (bases.size > 1) damaged(s"hash range ${range.name} has ${bases.size} base files")
      HashGroup(range, bases.headOption, deltas)
    }
    if (groups.nonEmpty && !HashRange.tiles(groups.map(_.range)))
      damaged(s"hash ranges ${groups.take(8).map(_.range.name).mkString(", ")} do not tile the hash space")
    groups
  }
}
