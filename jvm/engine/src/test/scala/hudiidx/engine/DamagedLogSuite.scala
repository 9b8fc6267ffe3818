package hudiidx.engine

import hudiidx.TestSettings.isLong
import hudiidx.parquet.ParquetBlockRows
import hudiidx.log._
import hudiidx.storage.{CountingStorage, LocalStorage, Storage}
import hudiidx.sync.{IndexOptions, TableSnapshot}
import hudiidx.table.{FileSlice, TableMergeRules}
import hudiidx.{DamagedTable, Figures, Fixtures, HudiIdxException}
import java.nio.file.{Files, Path, Paths}
import org.scalatest.funsuite.AnyFunSuite
import scala.util.{Failure, Random, Success, Try}

/** Damage inside log files that their sizes do not tell, in copies of stock Hudi's tables. */
final class DamagedLogSuite extends AnyFunSuite {
  import DamagedLogSuite._

  private val magic = "#HUDI#".getBytes

  for (name <- Seq("v6-no-mdt-mor", "v9-no-mdt-mor", "v9-mor-bucket-parquet")) {
    test(
      s"$name: a block length past the end, one that is too small, a wrong length behind, another magic are damage"
    ) {
      val log = new DamagedLog(name)
      val first = log.blocks.head
      val whole = log.whole
      def patched(at: Long, bytes: Byte*): Array[Byte] = {
        val bad = whole.clone()
        bytes.zipWithIndex.foreach { case (b, i) => bad(at.toInt + i) = b }
        bad
      }
      Seq(
        patched(6, 0, 0, 0, 0, 127),
        patched(6, 127, -1, -1, -1, -1, -1, -1, -1),
        patched(6, -1, -1, -1, -1, -1, -1, -1, -1),
        patched(12, 0, 3),
        patched(first.endOffset - 1, 99),
        patched(2, 0),
        patched(18, 0, 0, 0, 6),
        patched(18, 0, 0, 0, 0)
      ).foreach { bad =>
        val message = log.damage(bad)
        assert(message.contains(log.name) && message.contains("offset"), message)
      }
    }

    test(
      s"$name: bytes after what a completed write has left are nobody's, a torn block there too: no record is lost"
    ) {
      val log = new DamagedLog(name)
      Seq("junk", "x" * 5000, "#HUDI#", "#HU", "#HUDI#" + "\u0000" * 9).foreach { behind =>
        val found = log.records(log.whole ++ behind.getBytes)
        assert(found === log.expected, behind)
        val left = log.records(log.whole ++ behind.getBytes, asStock = true)
        // Stock Hudi drops the block in front of anything else than a block, if it is six bytes or more.
        val lost = behind.length >= 6 && !behind.startsWith("#HUDI#")
        assert((left.size < log.expected.size) === lost, behind)
      }
    }

    test(s"$name: a file cut at any place is damage where the cut took something away, as in stock Hudi if asked so") {
      val log = new DamagedLog(name)
      val whole = log.whole
      val ends = 0L +: log.blocks.map(_.endOffset)
      val cuts = ends.init.map(_.toInt) ++ Seq.fill(30)(new Random(7).nextInt(whole.length)) :+ (whole.length - 1)
      cuts.foreach { length =>
        assert(log.damage(whole.take(length)).contains(log.name), s"cut to $length")
        val left = log.records(whole.take(length), asStock = true)
        assert(left.size < log.expected.size || log.blocks.last.kind == LogBlockKind.Delete, s"cut to $length")
      }
    }
  }

  test("a file of version 9 in which a block bears another instant is damage") {
    val log = new DamagedLog("v9-no-mdt-mor")
    val instant = log.blocks.head.instantTime.get
    val at = new String(log.whole, "ISO-8859-1").indexOf(instant)
    val bad = log.whole.clone()
    bad(at) = '9'
    assert(log.damage(bad).contains("in a file of instant " + instant))
  }

  test(
    "a file of version 6 in which a block bears an instant that did not complete is damage, unless its write failed"
  ) {
    val log = new DamagedLog("v6-no-mdt-mor")
    val instant = log.blocks.head.instantTime.get
    val at = new String(log.whole, "ISO-8859-1").indexOf(instant)
    // Another instant after the first, and one behind the last.
    for ((place, digit) <- Seq((16, instant(16) ^ 1), (1, '9'.toInt))) {
      val bad = log.whole.clone()
      bad(at + place) = digit.toByte
      assert(log.damage(bad).contains("did not complete"))
    }
    val failed = LogFiles.block(3, Seq(0 -> (instant.init + "x"), 2 -> "\"int\""), Array[Byte](0, 0, 0, 3, 0, 0, 0, 0))
    assert(log.records(log.whole ++ failed) === log.expected)
  }

  test("remains of failed writes, however many, are judged by the timeline as it was read once") {
    val log = new DamagedLog("v6-no-mdt-mor")
    val instant = log.blocks.head.instantTime.get.init + "x"
    val failed = LogFiles.block(3, Seq(0 -> instant, 2 -> "\"int\""), Array[Byte](0, 0, 0, 3, 0, 0, 0, 0))
    def opened(remains: Int): Long = {
      val storage = new CountingStorage(LocalStorage)
      val behind = Vector.fill(remains)("#HUDI# and what a row may say ".getBytes ++ failed).flatten
      assert(log.records(log.whole ++ behind, storage = storage) === log.expected)
      storage.counts.open + storage.counts.readAll + storage.counts.list
    }
    assert(opened(1000) === opened(1))
  }

  test("any byte of a small log changed: a typed error, or all records, of which one at most has changed") {
    for (name <- Seq("v6-no-mdt-mor", "v9-no-mdt-mor", "v9-mor-event", "v9-mor-bucket-parquet")) {
      val log = new DamagedLog(name, smallest = true)
      val random = new Random(13)
      // Every byte of the frames, a sample of the rest: `make test-all` asks for all.
      val frames =
        log.blocks.flatMap(b => (b.offset until b.offset + 40) ++ (b.endOffset - 12 until b.endOffset)).map(_.toInt)
      val contents =
        log.blocks.flatMap(b => b.contentOffset until math.min(b.contentOffset + 16, b.endOffset)).map(_.toInt)
      val places =
        if (isLong) log.whole.indices
        else (frames ++ contents ++ Seq.fill(300)(random.nextInt(log.whole.length))).distinct
      Figures.add("bytes of logs changed", places.size.toLong)
      places.filter(_ < log.whole.length).foreach { at =>
        val bad = log.whole.clone()
        bad(at) = (bad(at) ^ (if (isLong) 1 + random.nextInt(255) else 1 << random.nextInt(8))).toByte
        Try(log.records(bad)) match {
          case Failure(_: HudiIdxException) => ()
          case Failure(other)               => fail(s"$name: byte $at became ${bad(at)}", other)
          case Success(found)               =>
            assert(found.size === log.expected.size, s"$name: byte $at became ${bad(at)}")
            // A schema, and a page of Parquet, say something of all records.
            val ofAll = log.blocks.exists { b =>
              b.offset <= at && at < (if (b.kind == LogBlockKind.ParquetData) b.endOffset else b.contentOffset)
            }
            if (!ofAll) assert(found.diff(log.expected).size <= 1, s"$name: byte $at became ${bad(at)}")
        }
      }
    }
  }

  test("lengths that no file can hold are refused before memory is asked for") {
    val huge = Array[Byte](127, -1, -1, -1)
    val content = Array[Byte](0, 0, 0, 3) ++ huge ++ Array[Byte](0, 0)
    val blocks = Seq(
      LogFiles.block(3, Seq(0 -> "1", 2 -> "\"string\""), content),
      LogFiles.block(3, Seq(0 -> "1", 2 -> "\"string\""), Array[Byte](0, 0, 0, 3, 0, 0, 0, 1) ++ huge),
      LogFiles.block(1, Seq(0 -> "1"), Array[Byte](0, 0, 0, 3) ++ huge),
      LogFiles.block(1, Seq(0 -> "1"), Array[Byte](0, 0, 0, 3, 0, 0, 0, 5, -1, -1, -1, -1, 15)),
      magic ++ Array[Byte](0, 0, 0, 0) ++ huge
    )
    blocks.foreach { bytes =>
      val reader = LogFiles.reader(bytes)
      Try(LogFile.blocks(reader).foreach(LogRecords.of(reader, _))) match {
        case Success(_) | Failure(_: DamagedTable) => ()
        case Failure(other)                        => fail(other)
      }
    }
  }
}

private object DamagedLogSuite {

  /** A copy of a table, and one log file of a latest slice. */
  final class DamagedLog(table: String, smallest: Boolean = false) {
    private val path = Fixtures.copy(table)
    private val snapshot = TableSnapshot.open(SliceKeysSuite.access, path, IndexOptions(enabled = false))
    private val slices: Vector[FileSlice] =
      snapshot.view.partitions.flatMap(p => snapshot.view.latestMergedFileSlices(p, None)).filter(_.logFiles.nonEmpty)

    private def candidates = slices.flatMap(s => s.logFiles.map(f => (s, Paths.get(path, s.partitionPath, f.fileName))))
    private val (slice, file): (FileSlice, Path) =
      if (smallest) candidates.minBy(c => Files.size(c._2)) else candidates.maxBy(c => Files.size(c._2))

    val name: String = file.getFileName.toString
    val whole: Array[Byte] = Files.readAllBytes(file)
    val blocks: Vector[LogBlock] = LogFile.blocks(LogFiles.reader(whole)).toVector
    val expected: Vector[String] = records(whole)

    /** Every record and delete of the slice's log that counts, as text, with the file's bytes exchanged. */
    def records(
        bytes: Array[Byte],
        asStock: Boolean = false,
        storage: Storage = LocalStorage
    ): Vector[String] = {
      Files.write(file, bytes)
      try {
        val rules = TableMergeRules.blocks(snapshot.config, snapshot.viewTimeline, None, asStock)
        val files = slice.logFiles.map(f => Paths.get(path, slice.partitionPath, f.fileName).toString)
        val written = slice.logFiles.map(f => Paths.get(path, slice.partitionPath, f.fileName).toString -> f.sizeBytes)
        val counted = SliceLog.countedBlocks(storage, files, rules, written.toMap)
        counted.flatMap(b => LogFiles.using(b.file)(LogRecords.of(_, b.block)))
      } finally Files.write(file, whole)
    }

    /** The error that reading the bytes ends with. */
    def damage(bytes: Array[Byte]): String =
      Try(records(bytes)) match {
        case Failure(e: HudiIdxException) => e.getMessage
        case Failure(other)               => throw other
        case Success(found) => throw new AssertionError(s"$name: ${found.size} records of ${expected.size}")
      }
  }

}

/** Records of log blocks as text, through the readers of the formats. */
private object LogRecords {

  def of(reader: hudiidx.storage.RandomReader, block: LogBlock): Vector[String] = block.kind match {
    case LogBlockKind.AvroData => avro(reader, block)
    case LogBlockKind.Delete   =>
      DeleteRecords
        .decode(LogFile.content(reader, block), reader.path, block.contentOffset)
        .map("delete " + _.recordKey)
    case LogBlockKind.ParquetData =>
      val found = Vector.newBuilder[String]
      ParquetBlockRows.foreach(LogFile.contentReader(reader, block), block, Vector("_hoodie_record_key")) { (_, row) =>
        val key = new hudiidx.bytes.ByteSlice
        if (row.isNull(0)) found += "row" else { row.utf8(0, key); found += "row " + key.text }
      }
      found.result()
    case _ => Vector.empty
  }

  private def avro(reader: hudiidx.storage.RandomReader, block: LogBlock): Vector[String] = {
    val fields = Vector("_hoodie_record_key")
    val plan = AvroFieldPlan.compile(block.schema.getOrElse("\"no schema\""), fields, reader.path)
    val row = plan.newRow()
    val records = new AvroRecords(reader, block)
    val found = Vector.newBuilder[String]
    while (records.next()) {
      plan.read(records.cursor, records.length, row)
      val bytes = java.util.Arrays.copyOfRange(records.bytes, records.offset, records.offset + records.length)
      found += "row " + new String(bytes, "ISO-8859-1")
    }
    found.result()
  }
}
