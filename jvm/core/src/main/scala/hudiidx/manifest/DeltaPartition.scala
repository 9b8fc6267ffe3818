package hudiidx.manifest

import hudiidx.DamagedIndex
import hudiidx.bytes.{PackedInput, PackedOutput}
import hudiidx.table.FileEntry

/** A page of added entries with the number of its first one. */
final case class NumberedPage(firstNumber: Int, page: EncodedPage)

/** What happened to one partition since the master manifest was made. docs/format.md, "Delta manifest".
  *
  *  @param isNew   the master does not know the partition
  *  @param cleared all that the master lists for the partition is gone
  *  @param removed numbers of master entries that are gone or stand anew in `pages`, ascending
  */
final case class DeltaPartition(isNew: Boolean, cleared: Boolean, removed: Array[Int], pages: Vector[NumberedPage]) {
  def addedCount: Int = pages.foldLeft(0)(_ + _.page.entries)

  def added(partitionPath: String, where: => String): Array[FileEntry] =
    pages.iterator.flatMap(p => FilePage.decode(p.page.bytes, partitionPath, where).iterator).toArray

  /** Entries of the master, the first of which has number `firstNumber`, without those removed. */
  def remaining(master: Array[FileEntry], firstNumber: Int): Array[FileEntry] =
    if (cleared) Array.empty
    else if (removed.isEmpty) master
    else {
      val out = new Array[FileEntry](master.length)
      var (n, at) = (0, 0)
      var i = 0
      while (i < master.length) {
        while (at < removed.length && removed(at) < firstNumber + i) at += 1
        if (at == removed.length || removed(at) != firstNumber + i) {
          out(n) = master(i)
          n += 1
        }
        i += 1
      }
      java.util.Arrays.copyOf(out, n)
    }
}

object DeltaPartition {
  private val NewFlag = 1
  private val ClearedFlag = 2

  val Empty: DeltaPartition = DeltaPartition(isNew = false, cleared = false, Array.empty, Vector.empty)

  def encode(d: DeltaPartition): Array[Byte] = {
    val out = new PackedOutput(64 + d.pages.foldLeft(0)(_ + _.page.bytes.length + 8) + d.removed.length * 2)
    out.byte((if (d.isNew) NewFlag else 0) | (if (d.cleared) ClearedFlag else 0))
    out.varint(d.removed.length.toLong)
    var previous = 0
    d.removed.foreach { number =>
      out.varint((number - previous).toLong)
      previous = number
    }
    out.varint(d.pages.size.toLong)
    d.pages.foreach { p =>
      out.varint(p.firstNumber.toLong)
      out.varint(p.page.entries.toLong)
      out.bytes(p.page.bytes)
    }
    out.toBytes
  }

  def decode(bytes: Array[Byte], where: => String): DeltaPartition =
    try read(new PackedInput(bytes))
    catch {
      case e: IllegalArgumentException =>
        throw new DamagedIndex(
          s"$where: delta cannot be decoded: ${e.getMessage}; `hudiidx create` makes a new index",
          e
        )
    }

  private def read(in: PackedInput): DeltaPartition = {
    val flags = in.byte()
    val removed = new Array[Int](in.count(8))
    var previous = 0
    removed.indices.foreach { i =>
      previous = number(previous + in.varint())
      removed(i) = previous
    }
    val pages = Vector.fill(in.count(24)) {
      val first = number(in.varint())
      NumberedPage(first, EncodedPage(number(in.varint()), in.bytes()))
    }
    require(in.remaining == 0, s"${in.remaining} bytes after the pages")
    DeltaPartition((flags & NewFlag) != 0, (flags & ClearedFlag) != 0, removed, pages)
  }

  private def number(value: Long): Int = {
    require(value >= 0 && value <= Int.MaxValue, s"number $value")
    value.toInt
  }
}
