package hudiidx.column

import hudiidx.table.{FileKind, FileSlice}
import java.util.concurrent.atomic.LongAdder

/** What became of one part of a condition.
  *
  *  @param path       the column; empty for parts that are of no column
  *  @param kinds      kinds of index that were asked, in this order; empty if none could help
  *  @param files      files that it ruled out, in partitions that were looked into and in those ruled out as a whole
  *  @param partitions partitions that it ruled out as a whole
  *  @param why        why it could not help, if it could not
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
      ordinals.exists(isUncovered) || {
        val count = ordinals.length
        condition.holds(
          leaf => exists(count)(f => leaves(leaf).holdsByStats(files, ordinals(f))),
          leaf => exists(count)(f => leaves(leaf).holds(files, ordinals(f))),
          test => count != 1 || test.mightMatch(files, ordinals(0))
        )
      }
  })

  /** For each part of the condition what it did so far: kinds that look at records are asked slice by slice. */
  def report: Vector[LeafReport] = reports

  private def exists(count: Int)(holds: Int => Boolean): Boolean = {
    var i = 0
    while (i < count && !holds(i)) i += 1
    i < count
  }

  /** For each file its ordinal in each column file that knows the partition, −1 where it is not covered. */
  private def ordinalsOf(files: CoveredFilesOf, slice: FileSlice): Array[Array[Int]] = {
    // Readers pass over change-data files.
    val logs = slice.logFiles.filterNot(_.fileName.endsWith(FileKind.CdcLog.extension))
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

  private def isUncovered(ordinals: Array[Int]): Boolean = {
    var i = 0
    while (i < ordinals.length && ordinals(i) < 0) i += 1
    i == ordinals.length
  }
}

/** One leaf of a condition against all column files.
  *
  *  @param bits  by segment: files whose statistics allow it; null where the segment has nothing of the column
  *  @param tests on records of the column
  */
private[column] final class LeafState(val bits: Array[FileBits], val tests: Vector[EntryTest]) {

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
  def isTrueOfAll: Boolean = holds(_ => true, _ => true, _ => true)

  /** Cheap answers to all leaves first, those that need records only where these leave it open.
    *
    *  @param group answers a test on several columns
    */
  def holds(cheap: Int => Boolean, leaf: Int => Boolean, group: EntryTest => Boolean): Boolean =
    mayHold(cheap) && decide(leaf, group)

  def mayHold(leaf: Int => Boolean): Boolean
  protected[column] def decide(leaf: Int => Boolean, group: EntryTest => Boolean): Boolean
}

private[column] object ConditionTree {
  final case class Fixed(value: Boolean) extends ConditionTree {
    def mayHold(leaf: Int => Boolean): Boolean = value
    protected[column] def decide(leaf: Int => Boolean, group: EntryTest => Boolean): Boolean = value
  }
  final case class Leaf(number: Int) extends ConditionTree {
    def mayHold(leaf: Int => Boolean): Boolean = leaf(number)
    protected[column] def decide(leaf: Int => Boolean, group: EntryTest => Boolean): Boolean = leaf(number)
  }

  /** @param tests on columns that several of the members speak of */
  final case class And(members: Vector[ConditionTree], tests: Vector[EntryTest]) extends ConditionTree {
    def mayHold(leaf: Int => Boolean): Boolean = members.forall(_.mayHold(leaf))
    protected[column] def decide(leaf: Int => Boolean, group: EntryTest => Boolean): Boolean =
      members.forall(_.decide(leaf, group)) && tests.forall(group)
  }
  final case class Or(members: Vector[ConditionTree]) extends ConditionTree {
    def mayHold(leaf: Int => Boolean): Boolean = members.exists(_.mayHold(leaf))
    protected[column] def decide(leaf: Int => Boolean, group: EntryTest => Boolean): Boolean =
      members.exists(_.decide(leaf, group))
  }
}
