package hudiidx.column.segment

import hudiidx.column.{ColumnCondition, IndexKind, LeafTest}
import scala.collection.mutable

/** Decides a condition's leaves against statistics: bounds of partitions first, then of pages, then pages column by column
  * as far as partitions are still possible.
  */
private[column] final class SelectionBuilder(index: ColumnIndex, mayHaveMore: String => Boolean) {
  private val segments = index.segments
  private val leaves = mutable.ArrayBuffer.empty[ColumnCondition.In]
  private val groups = mutable.ArrayBuffer.empty[EntryTest]
  private val unhelpful = mutable.ArrayBuffer.empty[LeafReport]

  def build(condition: ColumnCondition): ColumnSelection = {
    val tree = number(condition)
    val columns = leaves.map(l => new LeafColumns(l, index)).toVector
    val verdicts = new PartitionVerdicts(index, tree, leaves.size, mayHaveMore)
    columns.indices.foreach(l => verdicts.narrow(l, (s, p) => columns(l).mightMatch(s, p)))
    val states = columns.indices.toVector.map { l =>
      val bits = segments.indices.map(s => mark(s, columns(l), verdicts)).toArray
      verdicts.narrow(l, (s, p) => bits(s) == null || hasFile(bits(s), s, p))
      new LeafState(bits, columns(l).tests)
    }
    new ColumnSelection(index, tree, states, verdicts, reports(columns, states, verdicts))
  }

  private def hasFile(bits: FileBits, segment: Int, partition: Int): Boolean = {
    val starts = segments(segment).directory.starts
    bits.any(starts(partition), starts(partition + 1))
  }

  private def number(condition: ColumnCondition): ConditionTree = condition match {
    case ColumnCondition.Nothing       => ConditionTree.Fixed(false)
    case ColumnCondition.Anything(why) =>
      unhelpful += LeafReport("", Vector.empty, 0, 0, Some(why))
      ConditionTree.Fixed(true)
    case ColumnCondition.Or(any)  => ConditionTree.Or(any.map(number))
    case ColumnCondition.And(all) => and(all)
    case leaf: ColumnCondition.In => and(Vector(leaf))
  }

  private def and(all: Vector[ColumnCondition]): ConditionTree = {
    val said = all.collect { case in: ColumnCondition.In => in }
    val members = all.map {
      case in: ColumnCondition.In =>
        leaves += in
        ConditionTree.Leaf(leaves.size - 1)
      case other => number(other)
    }
    val tests = groupTests(said)
    groups ++= tests
    if (members.size == 1 && tests.isEmpty) members.head else ConditionTree.And(members, tests)
  }

  /** Tests on several columns together. Two leaves on one column: either may be taken, the first is. */
  private def groupTests(said: Vector[ColumnCondition.In]): Vector[EntryTest] = for {
    r <- index.records.indices.toVector
    entry <- said.map(_.path).distinct.flatMap(index.records(r).columns(_)).distinct
    if entry.columns.size > 1 && index.choice.has(entry.columns)
    wanted = entry.columns.map(c => said.find(_.path == c.path).map(LeafTest.of(_, c.columnType)))
    kind <- IndexKind.find(entry.columns.head.kind).toVector
    test <- kind.test(entry.columns, wanted).toVector
  } yield new EntryTest(index.records(r), segments.size + r, entry, test)

  /** The files of a segment that a leaf allows; null if the segment has nothing of the column. */
  private def mark(s: Int, leaf: LeafColumns, verdicts: PartitionVerdicts): FileBits = {
    val segment = segments(s)
    var bits: FileBits = null
    leaf.columns(s).foreach { column =>
      val found = new FileBits(segment.counts.files)
      val pages = verdicts.pages(s).filter(column.pages.get(_))
      if (pages.nonEmpty) {
        val cursor = segment.file.file.cursor()
        pages.foreach { p =>
          val at = p * segment.file.filesPerPage
          segment.pageAt(cursor, column.entry, p, null).mark(column.test, found, at)
        }
      }
      if (bits == null) bits = found else bits.retain(found)
    }
    bits
  }

  private def reports(
      columns: Vector[LeafColumns],
      states: Vector[LeafState],
      verdicts: PartitionVerdicts
  ): Vector[LeafReport] = {
    val ofLeaves = columns.indices.toVector.map { l =>
      val ranged = columns(l).columns.exists(_.nonEmpty)
      val kinds = (if (ranged) Vector(IndexKind.Range) else Vector.empty) ++ states(l).tests.map(_.kind).distinct
      val byStats = segments.indices.iterator
        .filter(s => states(l).bits(s) != null)
        .map(s => segments(s).counts.files.toLong - states(l).bits(s).countSet(0, segments(s).counts.files))
        .sum
      val files = byStats + states(l).tests.map(_.excluded.sum).sum
      report(leaves(l).path, kinds, files, verdicts.excludedBy(l), columns(l).why)
    }
    val ofGroups = groups.toVector.map(g => report(g.name, Vector(g.kind), g.excluded.sum, 0, None))
    ofLeaves ++ ofGroups ++ unhelpful
  }

  private def report(path: String, kinds: Vector[String], files: Long, partitions: Long, why: Option[String]) =
    LeafReport(
      path,
      kinds,
      files,
      partitions,
      why.orElse(if (files + partitions > 0) None else Some(SelectionBuilder.AllAllow))
    )
}

private[column] object SelectionBuilder {
  val AllAllow = "every file may have a value that is wanted"
}

/** A column of a segment that a leaf speaks of.
  *
  *  @param pages      pages with files that may have a wanted row
  *  @param partitions partitions likewise
  */
private[column] final case class LeafColumn(entry: ColumnEntry, test: LeafTest, pages: FileBits, partitions: FileBits)

private[column] object LeafColumn {
  def of(segment: Segment, entry: ColumnEntry, leaf: ColumnCondition.In): LeafColumn = {
    val test = LeafTest.of(leaf, entry.columns.head.columnType)
    val top = segment.top(entry)
    LeafColumn(entry, test, marked(top.pages, test), marked(top.partitions, test))
  }

  private def marked(page: StatsPage, test: LeafTest): FileBits = {
    val bits = new FileBits(page.count)
    page.mark(test, bits, 0)
    bits
  }
}

/** What all column files have of a leaf's column. */
private[column] final class LeafColumns(leaf: ColumnCondition.In, index: ColumnIndex) {

  /** By segment: a column for each type. */
  val columns: Vector[Vector[LeafColumn]] = index.segments.map { s =>
    s.columns(leaf.path).filter(e => index.choice.has(e.columns)).map(LeafColumn.of(s, _, leaf))
  }

  val tests: Vector[EntryTest] = for {
    r <- index.records.indices.toVector
    entry <- index.records(r).columns(leaf.path)
    if entry.columns.size == 1 && index.choice.has(entry.columns)
    kind <- IndexKind.find(entry.columns.head.kind).toVector
    test <- kind.test(entry.columns, Vector(Some(LeafTest.of(leaf, entry.columns.head.columnType)))).toVector
  } yield new EntryTest(index.records(r), index.segments.size + r, entry, test)

  /** Some file of a segment's partition may have a wanted row. */
  def mightMatch(segment: Int, partition: Int): Boolean =
    columns(segment).forall(_.partitions.get(partition))

  /** Why nothing can be ruled out by it, if so. */
  def why: Option[String] =
    if (columns.forall(_.isEmpty) && tests.isEmpty) Some(s"column ${leaf.path} has no index")
    else if (tests.isEmpty && columns.flatten.forall(c => c.test.values.isEmpty)) {
      val types = columns.flatten.map(_.entry.columns.head.columnType.text).distinct.mkString(", ")
      Some(s"bounds of ${leaf.path} as $types tell nothing of this condition")
    } else None
}

/** Which partitions are still possible, and by which leaves. */
private[column] final class PartitionVerdicts(
    index: ColumnIndex,
    tree: ConditionTree,
    leafCount: Int,
    mayHaveMore: String => Boolean
) {
  private val segments = index.segments
  private val partitions = index.partitions
  private val paths = partitions.paths
  private val allowed = Array.fill(leafCount)(new FileBits(paths.length))
  allowed.foreach(_.setAll(0, paths.length))
  private val alive = new FileBits(paths.length)
  if (tree.isTrueOfAll) alive.setAll(0, paths.length)

  /** Takes what a leaf says of the partitions of each segment that are still possible.
    *
    *  @param allows of a segment's partition: some file there may have a wanted row
    */
  def narrow(leaf: Int, allows: (Int, Int) => Boolean): Unit = {
    var i = 0
    while (i < paths.length) {
      if (alive.get(i) && allowed(leaf).get(i) && !anyAllows(partitions.members(i), allows)) {
        allowed(leaf).clear(i)
        if (!tree.mayHold(l => allowed(l).get(i))) alive.clear(i)
      }
      i += 1
    }
  }

  /** Segments that cover the same files of a partition can each rule them out; those that cover others must agree. */
  private def anyAllows(member: Array[Int], allows: (Int, Int) => Boolean): Boolean =
    if (member.length == 2) allows(member(0), member(1))
    else {
      val pairs = member.grouped(2).map(a => (a(0), a(1))).toVector
      pairs.groupBy { case (s, p) => segments(s).directory.fingerprints(p) }.values.exists(_.forall(allows.tupled))
    }

  def mightMatch(path: String): Boolean = {
    val at = partitions.find(path)
    tree.isTrueOfAll && (!isCovered(path) || alive.get(at))
  }

  /** Segments cover all files that the partition may have. */
  def isCovered(path: String): Boolean = index.isComplete && partitions.find(path) >= 0 && !mayHaveMore(path)

  /** Partitions that a leaf ruled out as a whole. */
  def excludedBy(leaf: Int): Long = paths.length.toLong - allowed(leaf).countSet(0, paths.length)

  /** Pages of a segment that have files of a partition which is still possible. */
  def pages(s: Int): Vector[Int] = {
    val segment = segments(s)
    val starts = segment.directory.starts
    val filesPerPage = segment.file.filesPerPage
    val found = Vector.newBuilder[Int]
    var next = 0
    var p = 0
    while (p < segment.directory.count) {
      if (starts(p) < starts(p + 1) && alive.get(partitions.of(s)(p))) {
        var page = math.max(next, starts(p) / filesPerPage)
        while (page.toLong * filesPerPage < starts(p + 1)) {
          found += page
          page += 1
        }
        next = math.max(next, page)
      }
      p += 1
    }
    found.result()
  }
}

/** The partitions of all segments. */
private[column] final class SegmentPartitions(segments: Vector[Segment]) {
  val paths: Array[String] = segments.flatMap(_.directory.paths).distinct.toArray
  private val places = {
    val map = new java.util.HashMap[String, Integer](paths.length * 2)
    paths.indices.foreach(i => map.put(paths(i), i))
    map
  }

  /** For each path the segments that have it, as segment and partition by turns. */
  val members: Array[Array[Int]] = paths.map { path =>
    segments.indices.toArray.flatMap { s =>
      val p = segments(s).directory.find(path)
      if (p < 0) Array.emptyIntArray else Array(s, p)
    }
  }

  /** By segment the place of each of its partitions among the paths. */
  val of: Array[Array[Int]] = segments.map(_.directory.paths.map(find)).toArray

  /** -1 for a path that no segment has. */
  def find(path: String): Int = {
    val found = places.get(path)
    if (found == null) -1 else found
  }
}
