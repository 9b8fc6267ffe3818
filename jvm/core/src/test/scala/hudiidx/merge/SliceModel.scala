package hudiidx.merge

import hudiidx.log.LogKeysSuite._
import hudiidx.log._
import java.nio.charset.StandardCharsets.UTF_8
import org.scalacheck.Gen
import scala.collection.mutable

/** Slices as they are drawn: their base rows and log blocks, and what a plain fold over them leaves. */
private object SliceModel {
  final case class BaseRow(key: String, ordering: Option[Long])

  /** Keys come twice now and then. */
  val bases: Gen[Vector[BaseRow]] = Gen.listOf(versions.map(v => BaseRow(v.key, v.ordering))).map(_.toVector.take(12))

  final class CountedBase(rows: Vector[BaseRow], val instant: String = BaseInstant) extends BaseKeyFile {
    var opened, open = 0
    var keysAsked = false
    override def open(keys: Boolean, ordering: Boolean): BaseKeys = {
      keysAsked ||= keys
      opened += 1
      open += 1
      new BaseKeys {
        private var at = -1
        override def next(): Boolean = { at += 1; at < rows.size }
        override def row: Long = at.toLong
        override def bytes: Array[Byte] = ("_" + rows(at).key).getBytes(UTF_8)
        override def from: Int = 1
        override def length: Int = bytes.length - 1
        override def ordering: OrderingValue = rows(at).ordering.fold(OrderingValue.Default)(OrderingValue.ofLong)
        override def close(): Unit = CountedBase.this.open -= 1
      }
    }
  }

  val BaseInstant = "20261120000000001"

  /** A block whose records are known by their rows in the base file. */
  final case class Positioned(instant: String, versions: Vector[(Int, Version)]) {

    def bytes(positions: Option[Vector[Long]]): Array[Byte] = {
      val header = Seq(LogHeaderKey.InstantTime -> instant) ++ positions.toSeq.flatMap { found =>
        Seq(
          LogHeaderKey.RecordPositions -> RecordPositionsSuite.encoded(found),
          LogHeaderKey.BaseFileInstantTime -> BaseInstant
        )
      }
      val all = versions.map(_._2)
      if (all.exists(_.kind == BlockDelete)) LogBlocks.deletes(header, all.map(v => v.key -> v.ordering))
      else LogBlocks.avro(header, schema, all.map(record))
    }
  }

  def positioned(keys: Vector[String]): Gen[Vector[Positioned]] = {
    val block = for {
      isDelete <- Gen.oneOf(false, false, true)
      instant <- instants
      rows <- Gen.someOf(keys.indices)
      drawn <- Gen.listOfN(rows.size, versions)
    } yield Positioned(
      instant,
      rows.toVector.sorted.zip(drawn).map { case (row, v) =>
        val kind = if (isDelete) BlockDelete else if (v.kind == BlockDelete) Row else v.kind
        row -> v.copy(instant = instant, key = keys(row), kind = kind)
      }
    )
    Gen.listOf(block).map(_.toVector.take(6))
  }

  val fortyRows: Vector[BaseRow] =
    Vector.tabulate(40)(i => BaseRow(s"key$i", if (i % 4 == 0) None else Some((i % 5).toLong)))

  /** The forty rows and these blocks merged by keys, and by positions with the base file that was asked. */
  def mergedBothWays(
      blocks: Vector[Positioned],
      rules: MergeRules,
      budget: Long
  ): (MergedRows, MergedRows, CountedBase) = {
    val (keyed, positioned) = (new CountedBase(fortyRows), new CountedBase(fortyRows))
    val byKey =
      mergeFiles(Vector(fileOfPositioned(blocks, withPositions = false)), Some(keyed), rules, MergeOptions())
    val byPosition =
      mergeFiles(Vector(fileOfPositioned(blocks, withPositions = true)), Some(positioned), rules, MergeOptions(budget))
    (byKey, byPosition, positioned)
  }

  def fileOfPositioned(blocks: Vector[Positioned], withPositions: Boolean): Array[Byte] =
    blocks.flatMap(b => b.bytes(if (withPositions) Some(b.versions.map(_._1.toLong)) else None)).toArray

  /** A block whose records have only some of the columns a, b and c, where it is partial. */
  final case class Mixable(instant: String, partial: Boolean, columns: Set[String], versions: Vector[Version]) {
    def isDelete: Boolean = versions.exists(_.kind == BlockDelete)
    def whole: Mixable = copy(partial = false, columns = Columns)
  }

  private val Columns = Set("a", "b", "c")

  val mixable: Gen[Vector[Mixable]] = {
    val block = for {
      isDelete <- Gen.oneOf(false, false, false, true)
      partial <- Gen.oneOf(true, false)
      columns <- Gen.someOf(Columns)
      instant <- instants
      drawn <- Gen.listOf(versions).map(_.toVector.take(5))
    } yield {
      val kinds = drawn.map(v => if (isDelete) BlockDelete else if (v.kind == BlockDelete) Row else v.kind)
      val own = drawn.zip(kinds).map { case (v, kind) => v.copy(instant = instant, kind = kind) }
      Mixable(instant, partial && !isDelete, if (partial) columns.toSet else Columns, own)
    }
    Gen.listOf(block).map(_.toVector.take(8))
  }

  def fileOfMixable(blocks: Vector[Mixable]): Array[Byte] = blocks.flatMap { b =>
    val header =
      Seq(LogHeaderKey.InstantTime -> b.instant) ++ (if (b.partial) Seq(LogHeaderKey.IsPartial -> "true") else Nil)
    if (b.isDelete) LogBlocks.deletes(header, b.versions.map(v => v.key -> v.ordering))
    else LogBlocks.avro(header, schema, b.versions.map(record))
  }.toArray

  /** A column's value names the record that it comes from; of each three records one has the default in column b. */
  private def valuesOf(record: Int, columns: Set[String]): Map[String, String] =
    columns.map(c => c -> (if (c == "b" && record % 3 == 0) "default" else s"record $record")).toMap

  private def valuesOf(base: BaseRow): Map[String, String] = Columns.map(_ -> s"base ${base.key}").toMap

  private def over(high: Map[String, String], low: Map[String, String], mixing: ColumnMerge): Map[String, String] =
    low ++ high.filter { case (c, v) => mixing == ColumnMerge.Never || v != "default" || !low.contains(c) }

  /** Rows as texts of their values. */
  def rowsOf(
      merged: MergedRows,
      base: Vector[BaseRow],
      blocks: Vector[Mixable],
      mixing: ColumnMerge
  ): Vector[String] = {
    val columns = blocks.filterNot(_.isDelete).flatMap(b => b.versions.map(_ => b.columns))
    val whole = base.indices.filterNot(merged.droppedBase.get).map(i => valuesOf(base(i))) ++
      bits(merged.keptLog).toVector.map(r => valuesOf(r, columns(r)))
    val mixedRows = merged.mixedRows
    val mixed = (0 until mixedRows.size).map { i =>
      val parts = (0 until mixedRows.partCount(i)).map(mixedRows.part(i, _)).map { part =>
        if (part == PartialMergePlan.Base) valuesOf(base(mixedRows.baseRow(i))) else valuesOf(part, columns(part))
      }
      parts.reduceLeft((low, high) => over(high, low, mixing))
    }
    (whole ++ mixed).map(textOfValues).toVector.sorted
  }

  private def textOfValues(values: Map[String, String]): String = values.toVector.sorted.mkString

  private final case class Folded(high: Version, values: Map[String, String])

  /** The rows by merging one version after the other. */
  def foldRows(blocks: Vector[Mixable], base: Vector[BaseRow], rules: MergeRules): Vector[String] = {
    val logged = mutable.HashMap.empty[String, Folded]
    var record = 0
    for (block <- blocks; version <- block.versions) {
      val values = if (block.isDelete) Map.empty[String, String] else valuesOf(record, block.columns)
      if (!block.isDelete) record += 1
      val merged = logged.get(version.key).fold(Folded(version, values))(fold(_, Folded(version, values), rules))
      logged.put(version.key, merged)
    }
    val fromBase = base.flatMap { row =>
      logged.remove(row.key) match {
        case None      => Some(valuesOf(row))
        case Some(log) =>
          val wins = baseWins(row, log.high, rules.log)
          if (isDelete(log.high, rules.log)) (if (wins) Some(valuesOf(row)) else None)
          else if (wins && rules.winnersAsTheyAre) Some(valuesOf(row))
          else
            Some(
              if (wins) over(valuesOf(row), log.values, rules.mixing) else over(log.values, valuesOf(row), rules.mixing)
            )
      }
    }
    val fromLog = logged.values.filterNot(l => isDelete(l.high, rules.log)).map(_.values)
    (fromBase ++ fromLog).map(textOfValues).sorted
  }

  private def fold(older: Folded, newer: Folded, rules: MergeRules): Folded = {
    val olderStays = olderWins(older.high, newer.high, rules.log)
    val (high, low) = if (olderStays) (older, newer) else (newer, older)
    val replaces = rules.withBaseAlone || (olderStays && rules.winnersAsTheyAre)
    if (replaces || isDelete(older.high, rules.log) || isDelete(newer.high, rules.log)) high
    else Folded(high.high, over(high.values, low.values, rules.mixing))
  }

  /** Each mixed row: its row of the base file, and its parts. */
  def mixedRowsOf(rows: MergedRows): Seq[(Int, Seq[Int])] = (0 until rows.mixedRows.size).map { r =>
    (rows.mixedRows.baseRow(r), (0 until rows.mixedRows.partCount(r)).map(rows.mixedRows.part(r, _)))
  }

  def bits(set: java.util.BitSet): Set[Int] = set.stream.toArray.toSet

  def mergeBlocks(
      log: Vector[Version],
      base: Option[BaseKeyFile],
      rules: LogRules,
      options: MergeOptions
  ): MergedRows = {
    mergeFiles(log.grouped(1 << 14).map(fileOf).toVector, base, rules, options)
  }

  def mergeFiles(
      contents: Vector[Array[Byte]],
      base: Option[BaseKeyFile],
      rules: LogRules,
      options: MergeOptions
  ): MergedRows = mergeFiles(contents, base, MergeRules(rules), options)

  def mergeFiles(
      contents: Vector[Array[Byte]],
      base: Option[BaseKeyFile],
      rules: MergeRules,
      options: MergeOptions
  ): MergedRows = {
    val (storage, blocks) = counted(contents, rules)
    SliceMerge.rows(storage, blocks, rules, BlockReaders.AvroOnly, base, options)
  }

  private def counted(contents: Vector[Array[Byte]], rules: MergeRules) = {
    val files = contents.zipWithIndex.map { case (content, i) => f"f.log.$i%04d" -> content }
    val storage = new MemoryStorage(files.toMap)
    storage -> SliceLog.countedBlocks(storage, files.map(_._1), BlockRules(rules.log.format, None, _ => true))
  }

  /** As above of some keys; the base file shows their rows alone. */
  def mergeKeys(
      contents: Vector[Array[Byte]],
      wanted: String => Boolean,
      base: Vector[BaseRow],
      rules: MergeRules,
      options: MergeOptions
  ): MergedRows = {
    val (storage, blocks) = counted(contents, rules)
    val keys: KeySet = (bytes, from, length) => wanted(new String(bytes, from, length, UTF_8))
    val some = new BaseKeyFile {
      override def instant: String = ""
      override def open(keys: Boolean, ordering: Boolean): BaseKeys = {
        val rows = new CountedBase(base).open(keys, ordering)
        new BaseKeys {
          override def next(): Boolean = {
            var more = rows.next()
            while (more && !wanted(base(rows.row.toInt).key)) more = rows.next()
            more
          }
          override def row: Long = rows.row
          override def bytes: Array[Byte] = rows.bytes
          override def from: Int = rows.from
          override def length: Int = rows.length
          override def ordering: OrderingValue = rows.ordering
          override def close(): Unit = rows.close()
        }
      }
    }
    val parts = blocks.map(BlockPart(_, None))
    SliceMerge.rowsOfKeys(storage, parts, keys, rules, BlockReaders.AvroOnly, Some(some), options)
  }

  /** Rows of the base file that go, and versions of the log (by their number in it) that are rows. */
  def merge(log: Vector[Version], base: BaseKeyFile, rules: LogRules, options: MergeOptions): (Set[Int], Set[Int]) = {
    val merged = mergeBlocks(log, Some(base), rules, options)
    val records = log.indices.filter(log(_).kind != BlockDelete)
    (bits(merged.droppedBase), bits(merged.keptLog).map(records(_)))
  }

  def merge(log: Vector[Version], base: Vector[BaseRow], rules: LogRules, options: MergeOptions): (Set[Int], Set[Int]) =
    merge(log, new CountedBase(base), rules, options)

  def naive(log: Vector[Version], base: Vector[BaseRow], rules: LogRules): (Set[Int], Set[Int]) = {
    val last = mutable.HashMap.empty[String, Int]
    log.indices.foreach { i =>
      val older = last.get(log(i).key)
      if (!older.exists(o => olderWins(log(o), log(i), rules))) last.put(log(i).key, i)
    }
    val open = mutable.HashMap.empty[String, Int] ++ last
    val dropped, beaten = mutable.HashSet.empty[Int]
    base.indices.foreach { row =>
      open.remove(base(row).key).foreach { i =>
        if (baseWins(base(row), log(i), rules)) beaten += i else dropped += row
      }
    }
    val kept = last.values.filter(i => !isDelete(log(i), rules) && !beaten(i))
    (dropped.toSet, kept.toSet)
  }

  private def baseWins(base: BaseRow, logged: Version, rules: LogRules): Boolean = {
    val emptyPayload = rules.format.version == 6 && logged.kind == BlockDelete
    val compared =
      rules.mode == MergeMode.EventTime || (rules.mode == MergeMode.OrderedDeletes && isDelete(logged, rules))
    compared && !emptyPayload && base.ordering.exists(b => logged.ordering.exists(b > _))
  }
}
