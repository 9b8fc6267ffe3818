package hudiidx.logindex

import hudiidx.{DamagedIndex, TableFormat}
import hudiidx.bytes.{PackedInts, XxHash64}
import hudiidx.fuzz.FuzzTarget
import hudiidx.log.LogKeysSuite.{Row, Version}
import hudiidx.log.{BlockRules, CountedBlock}
import hudiidx.storage.BytesReader

/** An index tail: the last bytes of a block's content. */
object TailTarget extends FuzzTarget {
  import IndexedLogs._

  /** Contents of blocks of a log, most with tails that take in the filters of those before. */
  override def seeds: Vector[Array[Byte]] = {
    def versions(n: Int) = Vector.tabulate(n)(i => Version("1", s"key-${i * n}", Row, Some(i.toLong)))
    val rules = BlockRules(TableFormat.V9, None, _ => true)
    val pieces = (1 to 12).toVector.map(n => Data("1", versions(n * 7), if (n == 3) Without else With(0)))
    val files = write(pieces, rules)
    counted(files, rules).map { case CountedBlock(file, block) =>
      val bytes = files.find(_._1 == file).get._2
      bytes.slice(block.contentOffset.toInt, (block.contentOffset + block.contentLength).toInt)
    } :+ tail(hashes = 1 << 28, pageList = 0) :+ tail(hashes = 1, pageList = 1 << 28)
  }

  /** A tail whose checksums are right, and which says of its filter and its list of key pages that they are large. */
  private def tail(hashes: Int, pageList: Int): Array[Byte] = {
    val none = Array.emptyByteArray
    val place = BlockPlace(".f_1.log.1_0-1-2", 0L, "1")
    val (filter, shape) = HashFilter.encode(FilterEntries.of(place, Array(7L)), 0, none, none)
    val directory = TailFormat.directory(Vector.empty)
    val before = TailFormat.Head ++ filter ++ directory
    val summary = TailSummary(
      instant = "1",
      recordsEnd = 0L,
      keys = 1,
      min = none,
      max = none,
      directoryOffset = before.length - directory.length,
      directoryLength = directory.length + pageList,
      directorySum = XxHash64.hash(directory, 0, directory.length, 0L),
      filterOffset = TailFormat.Head.length,
      filter = shape.copy(entries = hashes),
      earlier = Vector.empty
    )
    before ++ TailFormat.end(summary, before.length)
  }

  /** As the bytes are, and with a checksum of the summary that is right. */
  override protected def read(bytes: Array[Byte]): Unit = {
    try readTail(bytes)
    catch { case _: DamagedIndex => () }
    withChecksum(bytes).foreach(readTail)
  }

  private def readTail(bytes: Array[Byte]): Unit = {
    val reader = new BytesReader("f", bytes)
    TailReader.read(reader, 0L, bytes.length.toLong).foreach { tail =>
      Seq[() => Any](() => tail.pages(reader)).foreach(attempt)
      tail.filters.filter(_.offset >= 0).foreach { filter =>
        attempt(() => TailReader.members(reader, filter))
        attempt(() => TailReader.entries(reader, filter))
      }
    }
  }

  private def attempt(read: () => Any): Unit =
    try read(): Unit
    catch { case _: DamagedIndex => () }

  private def withChecksum(bytes: Array[Byte]): Option[Array[Byte]] =
    TailFormat.trailer(bytes, bytes.length).collect {
      case (length, _) if length >= 0 && length <= bytes.length - TailFormat.TrailerBytes =>
        val right = bytes.clone()
        val end = bytes.length - TailFormat.TrailerBytes
        PackedInts.words(right).putLong(end + 8, XxHash64.hash(right, end - length, length + 8, 0L))
        right
    }
}
