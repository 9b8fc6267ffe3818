package hudiidx.engine.record

import hudiidx.DamagedIndex
import hudiidx.record.{FileGroupDictionary, GroupSegment, HashGroupWriter, RecordFileName, RecordPlan}
import hudiidx.storage.{BytesReader, RandomReader}
import hudiidx.store.{IndexFile, IndexStore}
import hudiidx.sync.IndexState
import hudiidx.table.FileGroup
import java.io.ByteArrayOutputStream

/** A dictionary of file groups that takes in new ones: they go into segments of their own.
  *
  *  @param isHeld new ones are held until `settle` writes them, so that a segment which is merged away at once is none
  */
private[record] final class GrowingDictionary(
    state: IndexState,
    writer: HashGroupWriter,
    start: Vector[IndexFile],
    isHeld: Boolean = false
) {
  private var files = start.sortBy(firstOrdinal)
  private var held = Vector.empty[FileGroup]
  private var grown = false
  private var next = reading(_.size)

  def segments: Vector[IndexFile] = files

  /** The ordinal that the next new file group takes. */
  def size: Int = next

  /** True if the last call of `ordinals` or `renew` wrote a segment. */
  def hasGrown: Boolean = grown

  /** Whether each has an ordinal. */
  def known(groups: Vector[FileGroup]): Vector[Boolean] =
    if (next == 0 || groups.isEmpty) groups.map(_ => false) else reading(d => groups.map(d.find(_).isDefined))

  /** Ordinals of file groups, those not known before taking new ones. */
  def ordinals(groups: Vector[FileGroup]): Vector[Int] = {
    val known = if (next == 0 || groups.isEmpty) groups.map(_ => None) else reading(d => groups.map(d.find))
    val fresh = groups.zip(known).collect { case (g, None) => g }
    val first = append(fresh)
    var n = first - 1
    known.map(_.getOrElse { n += 1; n })
  }

  /** Every file group with the newest of its ordinals. */
  def foreachCurrent(use: (Int, FileGroup) => Unit): Unit =
    reading(d => (0 until d.size).foreach(o => if (d.isCurrent(o)) use(o, d(o))))

  /** New ordinals for file groups, known or not: mappings of their former ordinals are no locations any more. */
  def renew(groups: Vector[FileGroup]): Vector[Int] = {
    val first = append(groups)
    groups.indices.map(first + _).toVector
  }

  /** Writes what is held, and merges segments as the plan has it. Those merged away that no version names are removed. */
  def settle(plan: RecordPlan): Unit =
    plan.mergeSegments(files.map(_.sizeBytes) ++ ofHeld.map(_.sizeBytes)) match {
      case Some(from)            => merge(from)
      case None if held.nonEmpty => write(files, next - held.size, held)
      case None                  => ()
    }

  /** All segments as one new file: those of a creation that was killed may be old enough to be removed meanwhile. */
  def rewrite(): Unit = if (files.nonEmpty) merge(0)

  private def merge(from: Int): Unit = {
    val (kept, merged) = files.splitAt(from)
    val first = firstOrdinal(merged.head)
    write(kept, first, reading(d => (first until d.size).map(d(_))))
    merged.filterNot(start.contains).foreach(state.store.delete)
  }

  private def write(before: Vector[IndexFile], first: Int, groups: IndexedSeq[FileGroup]): Unit = {
    files = before :+ writer.dictionary(first, groups)
    held = Vector.empty
  }

  /** What is held, as the file that it would be. */
  private def ofHeld: Option[RandomReader] =
    if (held.isEmpty) None
    else {
      val out = new ByteArrayOutputStream
      GroupSegment.write(out, next - held.size, held)
      Some(new BytesReader(s"${state.store.dir}/${IndexStore.newToken()}", out.toByteArray))
    }

  private def firstOrdinal(segment: IndexFile): Int = RecordFileName
    .firstOrdinal(segment.name)
    .getOrElse(
      throw new DamagedIndex(
        s"${state.store.dir}/${segment.name}: the name has no ordinal; `hudiidx create` makes a new index"
      )
    )

  /** The first ordinal that they take. */
  private def append(groups: Vector[FileGroup]): Int = {
    val first = next
    grown = groups.nonEmpty
    if (grown) {
      if (isHeld) held ++= groups else write(files, first, groups)
      next = Math.addExact(first, groups.size)
    }
    first
  }

  private def reading[A](use: FileGroupDictionary => A): A = {
    var readers = Vector.empty[RandomReader]
    try {
      files.foreach(f => readers :+= state.store.openWhole(f))
      readers ++= ofHeld
      val opened = readers.map(GroupSegment.open(_, state.table.access.cache))
      use(new FileGroupDictionary(opened.sortBy(s => (s.first, s.count))))
    } finally readers.foreach(_.close())
  }
}
