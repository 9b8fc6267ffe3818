package hudiidx.manifest

import hudiidx.DamagedIndex
import hudiidx.bytes.{PackedInput, PackedOutput}
import hudiidx.hfile.{BlockCache, HFileCursor, HFileReader, HFileWriter}
import hudiidx.storage.{BytesReader, Storage}
import hudiidx.table.FileEntry
import java.io.OutputStream
import java.nio.ByteBuffer
import scala.collection.mutable

/** Numbers of a partition's files in the master manifest: `count` consecutive ones from `firstNumber`. */
final case class PartitionRun(firstNumber: Int, count: Int)

/** Writes a master manifest and its partition index front to back. RFC-15, "File Format and Information";
  *  docs/format.md, "Master manifest" and "Partition index".
  */
final class MasterWriter(master: OutputStream, index: OutputStream, shape: ManifestShape) extends AutoCloseable {
  private val masterFile = new HFileWriter(master, shape.hfile)
  private val indexFile = new HFileWriter(index, shape.hfile)
  private var next = MasterManifest.FirstNumber
  private var partitionCount = 0L

  /** The number that the next file would get. */
  def nextNumber: Int = next

  def partitions: Long = partitionCount

  /** Partitions must come in the order of their keys. */
  def append(partition: EncodedPartition): Unit = {
    val first = next
    partition.pages.foreach { page =>
      masterFile.append(MasterManifest.pageKey(next), page.bytes)
      next = Math.addExact(next, page.entries)
    }
    val run = new PackedOutput(16)
    run.varint(first.toLong)
    run.varint((next - first).toLong)
    indexFile.append(PartitionKey.encode(partition.partitionPath), run.toBytes)
    partitionCount += 1
  }

  override def close(): Unit = {
    masterFile.close()
    indexFile.close()
  }
}

/** Reads a master manifest through its partition index. */
final class MasterManifest(master: HFileReader, index: HFileReader, name: String) {

  /** Partition paths in the order of their keys. */
  def partitions: Iterator[String] = runs.map(_._1)

  private def partitionAt(cursor: HFileCursor): String = {
    val path = PartitionKey.decode(cursor.key)
    if (Storage.leaves(path))
      throw new DamagedIndex(s"$name: partition '$path' leaves the table; `hudiidx create` makes a new index")
    path
  }

  def run(partitionPath: String): Option[PartitionRun] = {
    val value = index.get(PartitionKey.encode(partitionPath))
    if (value == null) None else Some(MasterManifest.decodeRun(value, name))
  }

  /** All partitions with their runs, in the order of their keys. DamagedIndex for a run that does not begin where the one before it ends. */
  def runs: Iterator[(String, PartitionRun)] = new Iterator[(String, PartitionRun)] {
    private val cursor = index.scan()
    private var more = cursor.next()
    private var number = MasterManifest.FirstNumber
    override def hasNext: Boolean = more
    override def next(): (String, PartitionRun) = {
      val found = partitionAt(cursor) -> MasterManifest.decodeRun(cursor.valueBuffer, name)
      check(found._2.firstNumber == number, found._2)
      number += found._2.count
      more = cursor.next()
      found
    }
  }

  /** Entries of a run, in order. How many it says that it has is believed as far as there are pages. */
  def entries(partitionPath: String, run: PartitionRun): Array[FileEntry] = {
    val pages = mutable.ArrayBuffer.empty[Array[FileEntry]]
    var at = 0
    eachPage(run) { cursor =>
      val page = FilePage.decode(pageOf(cursor), partitionPath, s"$name, files from ${run.firstNumber + at}")
      check(at + page.length <= run.count, run)
      pages += page
      at += page.length
      page.length
    }
    if (pages.size == 1) pages.head else Array.concat(pages.toSeq: _*)
  }

  /** Takes the groups of a run that are wanted. */
  private[manifest] def select(partitionPath: String, run: PartitionRun, wanted: WantedGroups): Unit = {
    var at = run.firstNumber
    eachPage(run) { cursor =>
      val count = FilePage.select(pageOf(cursor), partitionPath, wanted, at, s"$name, files from $at")
      at += count
      count
    }
  }

  /** Pages of a run as they stand in the file. */
  def pages(run: PartitionRun): Vector[EncodedPage] = {
    val out = Vector.newBuilder[EncodedPage]
    eachPage(run) { cursor =>
      val count = FilePage.entryCount(pageOf(cursor), name)
      val end = cursor.valueOffset + cursor.valueLength
      out += EncodedPage(count, java.util.Arrays.copyOfRange(cursor.valueBytes, cursor.valueOffset, end))
      count
    }
    out.result()
  }

  private def pageOf(cursor: HFileCursor): PackedInput =
    new PackedInput(cursor.valueBytes, cursor.valueOffset, cursor.valueOffset + cursor.valueLength)

  /** Walks the pages of a run; `use` gives the number of entries of each. */
  private def eachPage(run: PartitionRun)(use: HFileCursor => Int): Unit =
    if (run.count > 0) {
      val cursor: HFileCursor = master.cursor()
      var number = run.firstNumber
      val end = run.firstNumber + run.count
      var found = cursor.seek(MasterManifest.pageKey(number))
      check(found, run)
      while (found && number < end) {
        check(java.util.Arrays.equals(cursor.key, MasterManifest.pageKey(number)), run)
        val count = use(cursor)
        check(count > 0, run)
        number += count
        found = number >= end || cursor.next()
      }
      check(number == end, run)
    }

  private def check(holds: Boolean, run: PartitionRun): Unit =
    if (!holds)
      throw new DamagedIndex(
        s"$name: files ${run.firstNumber} to ${run.firstNumber + run.count - 1} do not stand on whole pages; `hudiidx create` makes a new index"
      )
}

object MasterManifest {
  val FirstNumber = 1

  /** Over files held in memory, for comparisons of layouts. */
  def inMemory(master: Array[Byte], index: Array[Byte], cache: BlockCache): MasterManifest =
    new MasterManifest(
      HFileReader.open(new BytesReader("memory:master", master), cache),
      HFileReader.open(new BytesReader("memory:index", index), cache),
      "memory"
    )

  /** Four bytes, big-endian: numbers ascend as keys do. */
  def pageKey(number: Int): Array[Byte] = ByteBuffer.allocate(4).putInt(number).array

  private def decodeRun(value: ByteBuffer, name: String): PartitionRun = {
    val bytes = new Array[Byte](value.remaining)
    value.get(bytes)
    try {
      val in = new PackedInput(bytes)
      val (first, count) = (in.varint(), in.varint())
      require(first >= FirstNumber && count >= 0 && first + count <= Int.MaxValue, s"run of $count from $first")
      PartitionRun(first.toInt, count.toInt)
    } catch {
      case e: IllegalArgumentException =>
        throw new DamagedIndex(
          s"$name: partition index cannot be decoded: ${e.getMessage}; `hudiidx create` makes a new index",
          e
        )
    }
  }
}
