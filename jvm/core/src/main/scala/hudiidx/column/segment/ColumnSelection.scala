package hudiidx.column.segment

import hudiidx.column.{ColumnChoice, RecordTest}
import hudiidx.table.FileSlice
import java.util.concurrent.atomic.LongAdder

/** What became of one part of a condition.
  *
  *  @param path       the column; empty for parts that are of no column
  *  @param kinds      kinds of index that were asked, in this order; empty if none could help
  *  @param files      files that it ruled out, in partitions that were looked into and in those ruled out as a whole
  *  @param partitions partitions that it ruled out as a whole
  *  @param why        why it left nothing out, if it did not
  */
final case class LeafReport(path: String, kinds: Vector[String], files: Long, partitions: Long, why: Option[String])

/** The partitions and file slices that may have rows which a condition wants. Safe for several threads. */
final class ColumnSelection private[column] (
    index: ColumnIndex,
    condition: ConditionTree,
    leaves: Vector[LeafState],
    partitions: PartitionVerdicts,
    reports: => Vector[LeafReport]
) {

  /** False only if no slice of the partition has a wanted row. */
  def mightMatch(partitionPath: String): Boolean = partitions.mightMatch(partitionPath)

  /** False only if the slice has no wanted row. A column's value in a row that was merged is that of one of the slice's files
    * (so not where a payload class makes up values, which the caller must know): a part of the condition holds of the slice
    * if it holds of any of its files, and parts are combined slice by slice.
    */
  def mightMatch(slice: FileSlice): Boolean = condition.isTrueOfAll && (index.files.of(slice.partitionPath) match {
    case None        => true
    case Some(files) =>
      val ordinals = ordinalsOf(files, slice)
      hasUncovered(ordinals) || (condition.mayHold(leaf => holdsByStats(leaves(leaf), files, ordinals)) &&
        (!asksRecords || byRecords(files, ordinals)))
  })

  /** As `mightMatch(slice)`, by statistics alone: records of other kinds are not asked. */
  def inBounds(slice: FileSlice): Boolean = condition.isTrueOfAll && (index.files.of(slice.partitionPath) match {
    case None        => true
    case Some(files) =>
      val ordinals = ordinalsOf(files, slice)
      hasUncovered(ordinals) || condition.mayHold(leaf => holdsByStats(leaves(leaf), files, ordinals))
  })

  /** Sizes of files of which each slice of the partition that might match has one; None where that cannot be told, or would
    * leave out little. A slice may have one of these and not match.
    *
    *  @return ascending
    */
  def wantedSizes(partitionPath: String): Option[Array[Long]] = for {
    leaf <- neededLeaves
    if partitions.isCovered(partitionPath)
    files <- index.files.of(partitionPath)
    members <- members(leaf, files)
  } yield {
    val found = Array.newBuilder[Long]
    members.foreach { case (leaf, m) => m.table.foreachSize(leaf.bits(m.source), m.from)(found += _) }
    found.result().sorted
  }

  /** Parts of the condition one of which holds of whatever matches. */
  private lazy val neededLeaves: Option[Set[Int]] = condition.needed(l => leaves(l).setBits)

  /** By leaf, column files that have its column and together cover the partition's files. Files that are covered by several
    * column files alike need be looked at in one of them.
    */
  private def members(wanted: Set[Int], files: CoveredFilesOf): Option[Vector[(LeafState, CoveredPartition)]] = {
    val alike = files.members.toVector.filter(_.source < index.segments.size).groupBy(_.fingerprint).values.toVector
    val found = for {
      leaf <- wanted.toVector.map(leaves)
      same <- alike
    } yield same.find(m => leaf.bits(m.source) != null).map(leaf -> _)
    val kept = found.flatten.map { case (leaf, m) => leaf.bits(m.source).countSet(m.from, m.until).toLong }.sum
    val all = alike.map(same => (same.head.until - same.head.from).toLong).sum
    if (found.forall(_.isDefined) && kept * ColumnSelection.WorthPicking <= all) Some(found.flatten) else None
  }

  private val asksRecords = condition.hasTests || leaves.exists(_.tests.nonEmpty)

  /** Of a slice that statistics allow. Records of several columns are of no use where rows may come from several files. */
  private def byRecords(files: CoveredFilesOf, ordinals: Array[Array[Int]]): Boolean = condition.holds(
    leaf => ordinals.exists(leaves(leaf).holds(files, _)),
    test => ordinals.length != 1 || test.mightMatch(files, ordinals(0))
  )

  private def holdsByStats(leaf: LeafState, files: CoveredFilesOf, ordinals: Array[Array[Int]]): Boolean = {
    var i = 0
    while (i < ordinals.length && !leaf.holdsByStats(files, ordinals(i))) i += 1
    i < ordinals.length
  }

  /** For each part of the condition what it did so far: kinds that look at records are asked slice by slice. */
  def report: Vector[LeafReport] = reports

  /** For each file its ordinal in each column file that knows the partition, −1 where it is not covered. */
  private def ordinalsOf(files: CoveredFilesOf, slice: FileSlice): Array[Array[Int]] = {
    val logs = slice.dataLogFiles
    val out = new Array[Array[Int]](slice.baseFile.size + logs.size)
    slice.baseFile.foreach(b => out(0) = ordinalsOf(files, b.fileName, b.sizeBytes))
    var i = slice.baseFile.size
    logs.foreach { l =>
      out(i) = ordinalsOf(files, l.fileName, l.sizeBytes)
      i += 1
    }
    out
  }

  private def ordinalsOf(files: CoveredFilesOf, name: String, sizeBytes: Long): Array[Int] = {
    val digest = NameDigest.of(name)
    val out = new Array[Int](files.members.length)
    var i = 0
    while (i < out.length) {
      val m = files.members(i)
      val place = m.table.find(digest, sizeBytes)
      out(i) = if (place < 0) -1 else m.from + place
      i += 1
    }
    out
  }

  /** Some file is in no column file. */
  private def hasUncovered(ordinals: Array[Array[Int]]): Boolean = {
    var i = 0
    while (i < ordinals.length && isCovered(ordinals(i))) i += 1
    i < ordinals.length
  }

  private def isCovered(ordinals: Array[Int]): Boolean = {
    var i = 0
    while (i < ordinals.length && ordinals(i) < 0) i += 1
    i < ordinals.length
  }
}

private[column] object ColumnSelection {

  /** Where more than one of so many files may match, all are as quickly read. */
  val WorthPicking = 2
}

/** One leaf of a condition against all column files.
  *
  *  @param bits  by segment: files whose statistics allow it; null where the segment has nothing of the column
  *  @param tests on records of the column
  */
private[column] final class LeafState(val bits: Array[FileBits], val tests: Vector[EntryTest]) {

  /** Files that are left; a segment that has nothing of the column leaves all. */
  def setBits: Long = bits.iterator.map(b => if (b == null) Long.MaxValue / 1024 else b.countSet(0, b.size).toLong).sum

  /** @param ordinals of one file, by member */
  def holdsByStats(files: CoveredFilesOf, ordinals: Array[Int]): Boolean = {
    var m = 0
    var holds = true
    while (holds && m < ordinals.length) {
      val source = files.members(m).source
      if (ordinals(m) >= 0 && source < bits.length && bits(source) != null) holds = bits(source).get(ordinals(m))
      m += 1
    }
    holds
  }

  /** Of a file that statistics allow, the records are asked too. */
  def holds(files: CoveredFilesOf, ordinals: Array[Int]): Boolean =
    holdsByStats(files, ordinals) && tests.forall(_.mightMatch(files, ordinals))
}

/** A test on the records of an entry of one file of records.
  *
  *  @param source place of the file among all column files
  */
private[column] final class EntryTest(records: RecordsFile, source: Int, entry: ColumnEntry, val test: RecordTest) {
  val excluded = new LongAdder
  def kind: String = entry.columns.head.kind
  def name: String = ColumnChoice.name(entry.columns)

  def mightMatch(files: CoveredFilesOf, ordinals: Array[Int]): Boolean = {
    var m = 0
    while (m < ordinals.length && files.members(m).source != source) m += 1
    m == ordinals.length || ordinals(m) < 0 || {
      val record = records.record(entry, ordinals(m))
      val might = record == null || test.mightMatch(record)
      if (!might) excluded.increment()
      might
    }
  }
}

/** A condition whose leaves are numbered. */
private[column] sealed trait ConditionTree {

  /** True if nothing but leaves stands against it. */
  lazy val isTrueOfAll: Boolean = mayHold(_ => true)

  /** Leaves of which at least one holds wherever the condition does, of several such sets the one with the fewest files; None
    * if there is none. Empty where the condition never holds.
    *
    *  @param files that a leaf leaves
    */
  def needed(files: Int => Long): Option[Set[Int]]

  /** By answers to all leaves alone. */
  def mayHold(leaf: Int => Boolean): Boolean

  /** By answers to all leaves and tests on several columns. */
  def holds(leaf: Int => Boolean, test: EntryTest => Boolean): Boolean

  /** There are tests on several columns. */
  def hasTests: Boolean
}

private[column] object ConditionTree {
  final case class Fixed(value: Boolean) extends ConditionTree {
    def needed(files: Int => Long): Option[Set[Int]] = if (value) None else Some(Set.empty)
    def mayHold(leaf: Int => Boolean): Boolean = value
    def holds(leaf: Int => Boolean, test: EntryTest => Boolean): Boolean = value
    def hasTests: Boolean = false
  }
  final case class Leaf(number: Int) extends ConditionTree {
    def needed(files: Int => Long): Option[Set[Int]] = Some(Set(number))
    def mayHold(leaf: Int => Boolean): Boolean = leaf(number)
    def holds(leaf: Int => Boolean, test: EntryTest => Boolean): Boolean = leaf(number)
    def hasTests: Boolean = false
  }

  /** @param tests on columns that several of the members speak of */
  final case class And(members: Vector[ConditionTree], tests: Vector[EntryTest]) extends ConditionTree {
    def needed(files: Int => Long): Option[Set[Int]] = {
      val found = members.flatMap(_.needed(files))
      if (found.isEmpty) None else Some(found.minBy(_.toVector.map(files).sum))
    }
    def mayHold(leaf: Int => Boolean): Boolean = members.forall(_.mayHold(leaf))
    def holds(leaf: Int => Boolean, test: EntryTest => Boolean): Boolean =
      members.forall(_.holds(leaf, test)) && tests.forall(test)
    def hasTests: Boolean = tests.nonEmpty || members.exists(_.hasTests)
  }
  final case class Or(members: Vector[ConditionTree]) extends ConditionTree {
    def needed(files: Int => Long): Option[Set[Int]] = {
      val found = members.map(_.needed(files))
      if (found.forall(_.isDefined)) Some(found.flatten.flatten.toSet) else None
    }
    def mayHold(leaf: Int => Boolean): Boolean = members.exists(_.mayHold(leaf))
    def holds(leaf: Int => Boolean, test: EntryTest => Boolean): Boolean = members.exists(_.holds(leaf, test))
    def hasTests: Boolean = members.exists(_.hasTests)
  }
}
