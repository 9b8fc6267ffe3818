package hudiidx.engine.record

import java.util.BitSet

import hudiidx.record.{FileGroupDictionary, PairedKeys}
import hudiidx.table.FileGroup

/** A mapping that two sides have otherwise.
  *
  *  @param group where the ordinal says nothing
  */
private[record] final case class TallySample(kind: String, key: String, ordinal: Int, group: Option[FileGroup])

/** Mappings counted by kind, with some of each kind. */
private[record] final case class Tally(keys: Long, counts: Map[String, Long], samples: Vector[TallySample]) {

  /** Both together, with at most so many samples of a kind. */
  def plus(other: Tally, mostSamples: Int): Tally = {
    val all = (counts.keySet ++ other.counts.keySet).map(k => k -> (count(k) + other.count(k))).toMap
    val kept = (samples ++ other.samples).groupBy(_.kind).toVector.sortBy(_._1).flatMap(_._2.take(mostSamples))
    Tally(keys + other.keys, all, kept)
  }

  def count(kind: String): Long = counts.getOrElse(kind, 0L)
}

private[record] object Tally {
  val Empty: Tally = Tally(0, Map.empty, Vector.empty)
}

private[record] final class TallyBuilder(mostSamples: Int) {
  private val counts = scala.collection.mutable.HashMap.empty[String, Long]
  private val samples = Vector.newBuilder[TallySample]
  var keys = 0L

  def result: Tally = Tally(keys, counts.toMap, samples.result())

  def count(kind: String): Unit = counts(kind) = counts.getOrElse(kind, 0L) + 1

  def add(kind: String, key: => String, ordinal: Int, group: Option[FileGroup] = None): Unit = {
    count(kind)
    if (counts(kind) <= mostSamples) samples += TallySample(kind, key, ordinal, group)
  }
}

/** What a comparison of mappings goes by; sent to its tasks.
  *
  *  @param compared   ordinals of visible file groups whose keys the index must know
  *  @param withLogs   those of them whose slice has log files
  *  @param dictionary size of the index's dictionary: `strangers` have the ordinals from there on
  *  @param strangers  visible file groups that the index does not know
  *  @param firstDay   records committed before it may be missing from the index
  */
private[record] final case class CompareScope(
    compared: BitSet,
    withLogs: BitSet,
    dictionary: Int,
    strangers: Vector[FileGroup],
    firstDay: Option[Int],
    mostSamples: Int
) {

  def group(ordinal: Int, names: FileGroupDictionary): FileGroup =
    if (ordinal < dictionary) names(ordinal) else strangers(ordinal - dictionary)

  def isStranger(ordinal: Int): Boolean = ordinal >= dictionary

  /** The ordinal under which a group is compared; -1 if it is not. */
  def ordinal(group: FileGroup, names: FileGroupDictionary): Int = {
    val known = names
      .find(group)
      .getOrElse(strangers.indexOf(group) match {
        case -1 => -1
        case at => dictionary + at
      })
    if (known >= 0 && compared.get(known)) known else -1
  }

  def mustBeIndexed(day: Int): Boolean = firstDay.forall(first => day == 0 || day >= first)
}

/** Kinds of difference between a record index and the table's keys. */
object MappingKind {

  /** A live record has no mapping: a lookup misses it. */
  val Missing = "MAPPING_MISSING"

  /** A mapping to a file group that is there, in which no live record has the key: a lookup finds what is gone. */
  val Extra = "MAPPING_EXTRA"

  /** "May be deleted" on one side only. */
  val DoubtDiffers = "DOUBT_DIFFERS"

  /** A file of the record index is damaged or gone. */
  val IndexUnusable = "INDEX_UNUSABLE"

  val All: Vector[String] = Vector(Missing, Extra, DoubtDiffers, IndexUnusable)
}

private[record] object MappingComparison {
  val Equal = "EQUAL"

  /** @param pair first the table's keys, second the index's mappings of the compared file groups */
  def ofTable(pair: PairedKeys, scope: CompareScope): Tally = {
    def mustBeFound(day: Int) = scope.mustBeIndexed(day)
    val tally = new TallyBuilder(scope.mostSamples)
    while (pair.next()) {
      val (table, index) = (pair.inFirst, pair.inSecond)
      if (table.count + index.count > 0) tally.keys += 1
      var n = 0
      while (n < table.count) {
        val at = index.find(table.ordinal(n))
        // A lookup leaves a mapping out whose day is before the window.
        if (at >= 0 && (mustBeFound(index.stamp(at)) || !mustBeFound(table.stamp(n)))) {
          if (table.flags(n) == index.flags(at)) tally.count(Equal)
          else tally.add(MappingKind.DoubtDiffers, pair.key, table.ordinal(n))
        } else if (mustBeFound(table.stamp(n))) tally.add(MappingKind.Missing, pair.key, table.ordinal(n))
        n += 1
      }
      n = 0
      while (n < index.count) {
        if (table.find(index.ordinal(n)) < 0) tally.add(MappingKind.Extra, pair.key, index.ordinal(n))
        n += 1
      }
    }
    tally.result
  }

  /** @param pair first the mappings of Hudi's own record index, second ours */
  def ofStock(pair: PairedKeys, scope: CompareScope): Tally = {
    val tally = new TallyBuilder(scope.mostSamples)
    while (pair.next()) {
      val (stock, ours) = (pair.inFirst, pair.inSecond)
      if (stock.count + ours.count > 0) tally.keys += 1
      var equal = 0
      var n = 0
      while (n < stock.count) {
        if (ours.find(stock.ordinal(n)) >= 0) {
          equal += 1
          tally.count(Equal)
        } else tally.add(StockDifference.KeyNotThere, pair.key, stock.ordinal(n))
        n += 1
      }
      n = 0
      while (n < ours.count) {
        val ordinal = ours.ordinal(n)
        if (stock.find(ordinal) < 0) {
          val kind =
            if (equal > 0) StockDifference.DuplicateKey
            else if (stock.count > 0) StockDifference.OtherLocation
            else if (scope.withLogs.get(ordinal)) StockDifference.LogRecord
            else StockDifference.NotIndexed
          tally.add(kind, pair.key, ordinal)
        }
        n += 1
      }
    }
    tally.result
  }
}

/** Why Hudi's own record index and ours differ in a mapping. */
object StockDifference {

  /** Hudi's: the file group is replaced or otherwise not visible. */
  val GroupGone = "GROUP_GONE"

  /** Hudi's: no live record of the file group has the key, as our index has it. */
  val KeyNotThere = "KEY_NOT_THERE"

  /** Ours: Hudi keeps one location of a key that several records have. */
  val DuplicateKey = "DUPLICATE_KEY"

  /** Ours: Hudi has the key elsewhere. */
  val OtherLocation = "OTHER_LOCATION"

  /** Ours: Hudi lacks the key, and the file slice has log files: not all of its writers index what they insert into logs. */
  val LogRecord = "LOG_RECORD"

  /** Ours: Hudi lacks the key of a file slice without log files. */
  val NotIndexed = "NOT_INDEXED"

  val OnlyInHudi: Vector[String] = Vector(GroupGone, KeyNotThere)
  val OnlyInIndex: Vector[String] = Vector(DuplicateKey, OtherLocation, LogRecord, NotIndexed)
}
