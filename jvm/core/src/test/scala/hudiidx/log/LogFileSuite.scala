package hudiidx.log

import hudiidx.{DamagedTable, Fixtures, HudiIdxException, UnsupportedTable}
import hudiidx.hfile.{BlockCache, HFileReader}
import java.nio.file.{Files, Paths}
import org.apache.avro.Schema
import org.apache.avro.generic.{GenericDatumReader, GenericRecord}
import org.apache.avro.io.DecoderFactory
import org.scalatest.funsuite.AnyFunSuite
import scala.util.{Failure, Success, Try}

final class LogFileSuite extends AnyFunSuite {
  import LogBlockKind._

  test("every log file of the undamaged fixtures is read block by block, and its records, keys and deletes decode") {
    val kinds = scala.collection.mutable.Map.empty[LogBlockKind, Int].withDefaultValue(0)
    for (table <- Fixtures.good; file <- LogFiles.of(table)) LogFiles.using(file) { reader =>
      val blocks = LogFile.blocks(reader).toVector
      assert(blocks.forall(_.kind != Corrupt), file)
      assert(blocks.isEmpty || blocks.last.endOffset == reader.sizeBytes, file)
      blocks.foreach { block =>
        kinds(block.kind) += 1
        decode(reader, block, file)
      }
      assert(LogFile.firstInstantTime(reader) === blocks.headOption.flatMap(_.instantTime), file)
    }
    assert(LogBlockKind.Written.forall(k => kinds(k) > 0), s"kinds seen: $kinds")
  }

  private def decode(reader: hudiidx.storage.RandomReader, block: LogBlock, file: String): Unit = {
    def content = LogFile.content(reader, block)
    block.kind match {
      case AvroData | CdcData =>
        val schema = new Schema.Parser().parse(block.schema.get)
        val datum = new GenericDatumReader[GenericRecord](schema)
        val records = new AvroRecords(reader, block, windowBytes = 64)
        var n = 0
        while (records.next()) {
          val decoder = DecoderFactory.get.binaryDecoder(records.bytes, records.offset, records.length, null)
          assert(datum.read(null, decoder) != null)
          assert(decoder.isEnd, file)
          n += 1
        }
        assert(n === records.count)
        assert(records.tailOffset === block.contentLength, file)
      case HFileData =>
        val hfile = HFileReader.open(LogFile.contentReader(reader, block), new BlockCache, new DamagedTable(_))
        val cursor = hfile.scan()
        var n = 0L
        while (cursor.next()) n += 1
        assert(n === hfile.entryCount, file)
      case Delete =>
        DeleteRecords.decode(content, file, block.contentOffset).foreach(k => assert(k.recordKey != null, file))
      case Command     => assert(block.isRollback && block.targetInstantTime.isDefined, file)
      case ParquetData => assert(content.take(4) === "PAR1".getBytes && content.takeRight(4) === "PAR1".getBytes)
      case Corrupt     => fail(file)
    }
  }

  test("of a file of long blocks little more is read than their headers, of one of short blocks no more often") {
    def counts(contentBytes: Int): (Vector[LogBlock], Long, Int) = {
      val schema = "x" * 1500
      val header = LogFiles.instant(1) :+ (LogHeaderKey.Schema -> schema)
      val file = Vector.fill(50)(LogFiles.block(3, header, new Array(contentBytes))).flatten.toArray
      val reader = new LogFiles.Counted(file)
      (LogFile.blocks(reader).toVector, reader.bytes, reader.reads)
    }
    val (long, longBytes, longReads) = counts(100000)
    assert(long.size === 50 && longBytes <= 50 * 1700 + 2 * Window.Bytes && longReads <= 51)
    val (short, _, shortReads) = counts(10)
    assert(short.size === 50 && shortReads <= 15)
  }

  test("delete blocks give the keys that were deleted, with their ordering values") {
    val keys = LogFiles
      .of("v9-mor-event")
      .flatMap { file =>
        LogFiles.using(file) { reader =>
          LogFile
            .blocks(reader)
            .filter(_.kind == Delete)
            .flatMap { b =>
              DeleteRecords.decode(LogFile.content(reader, b), file, b.contentOffset)
            }
            .toVector
        }
      }
      .filterNot(_.recordKey.isEmpty)
    assert(keys.nonEmpty)
    assert(keys.exists(_.ordering.isInstanceOf[Int]) || keys.exists(_.ordering.isInstanceOf[Long]))
  }

  test("delete blocks of before Hudi 0.14, in Kryo, are refused by their version, file and offset") {
    for (version <- Seq[Byte](1, 2)) {
      val e =
        intercept[UnsupportedTable](DeleteRecords.decode(Array[Byte](0, 0, 0, version, 0, 0, 0, 1, 1), "x.log.1", 40))
      for (told <- Seq("x.log.1", s"version $version", "offset 40", "compact the table"))
        assert(e.getMessage.contains(told))
    }
  }

  private val one =
    LogFiles.block(3, LogFiles.instant(1) :+ (LogHeaderKey.Schema -> "\"int\""), Array[Byte](0, 0, 0, 3, 0, 0, 0, 0))
  private val two =
    LogFiles.block(0, LogFiles.instant(2) ++ Seq(1 -> "20261120000000001", 3 -> "0"), Array.emptyByteArray)
  private val three = LogFiles.block(1, LogFiles.instant(3), Array[Byte](0, 0, 0, 3, 0, 0, 0, 1, 0))
  private val whole = one ++ two ++ three

  private def instants(bytes: Array[Byte]): Vector[Option[String]] =
    LogFile.blocks(LogFiles.reader(bytes)).map(_.instantTime).toVector
  private val all = (1 to 3).map(n => Option(s"2026112000000000$n")).toVector

  test("a file cut at any length gives the blocks before the cut, and one corrupt block for the rest") {
    val ends = Vector(0, one.length, one.length + two.length, whole.length)
    for (length <- 0 to whole.length) {
      val blocks = LogFile.blocks(LogFiles.reader(whole.take(length))).toVector
      val good = ends.count(_ <= length) - 1
      assert(blocks.take(good).map(_.instantTime) === all.take(good), s"cut at $length")
      val rest = if (length > ends(good)) Vector(Corrupt) else Vector.empty
      assert(blocks.drop(good).map(_.kind) === rest, s"cut at $length")
    }
  }

  test("a fixture's log file cut at any length gives the blocks before the cut") {
    val file = LogFiles.of("v6-mor-rollback").filterNot(_.contains(".hoodie")).minBy(f => Files.size(Paths.get(f)))
    val bytes = Files.readAllBytes(Paths.get(file))
    val good = LogFile.blocks(LogFiles.reader(bytes)).toVector
    for (length <- bytes.indices) {
      val blocks = LogFile.blocks(LogFiles.reader(bytes.take(length))).toVector
      assert(blocks.filter(_.kind != Corrupt) === good.filter(_.endOffset <= length), s"cut at $length")
    }
  }

  test("a torn block between two good ones is corrupt up to the next magic") {
    val torn = whole.take(one.length) ++ two.take(two.length - 20) ++ three
    val blocks = LogFile.blocks(LogFiles.reader(torn)).toVector
    assert(blocks.map(_.kind) === Vector(AvroData, Corrupt, Delete))
    assert(blocks(1).endOffset === one.length + two.length - 20)
    assert(LogFile.firstInstantTime(LogFiles.reader(two.take(30) ++ three)) === all(2))
  }

  test("a corrupt block larger than the scan window is skipped as well") {
    for (length <- Seq((1 << 20) - 9, 1 << 20, (2 << 20) + 3)) {
      val junk = "#HUDI#".getBytes ++ Array.fill[Byte](length)(0x7f)
      assert(instants(junk ++ one) === Vector(None, all(0)))
    }
  }

  test("with atomic writes lengths are trusted, and only a size past the end makes a corrupt block") {
    val mended = whole.clone()
    mended(one.length - 1) = 99 // trailing length
    assert(LogFile.blocks(LogFiles.reader(mended)).next().kind === Corrupt)
    assert(LogFile.blocks(LogFiles.reader(mended), atomicWrites = true).map(_.instantTime).toVector === all)
    assert(LogFile.blocks(LogFiles.reader(whole.dropRight(1)), atomicWrites = true).toVector.last.kind === Corrupt)
  }

  test("a flipped byte gives blocks, a corrupt block or a typed error, never anything else") {
    for (at <- whole.indices; mask <- Seq(1, 0x80, 0xff)) {
      val bad = whole.clone()
      bad(at) = (bad(at) ^ mask).toByte
      Try(LogFile.blocks(LogFiles.reader(bad)).foreach { b =>
        if (b.kind == Delete) DeleteRecords.decode(LogFile.content(LogFiles.reader(bad), b), "x", b.contentOffset)
        if (b.kind == AvroData) new AvroRecords(LogFiles.reader(bad), b).next()
      }) match {
        case Success(_) | Failure(_: HudiIdxException) => ()
        case Failure(other)                            => fail(s"byte $at ^ $mask", other)
      }
    }
  }

  test("an unknown block type, header key or format version is an error that says so") {
    def error(bytes: Array[Byte]): String = intercept[HudiIdxException](instants(bytes)).getMessage
    assert(error(LogFiles.block(7, LogFiles.instant(1), Array.emptyByteArray)).contains("block type 7"))
    assert(error(LogFiles.block(3, Seq(9 -> "x"), Array.emptyByteArray)).contains("header key 9"))
    val old = one.clone()
    old(17) = 0
    assert(intercept[UnsupportedTable](instants(old)).getMessage.contains("format version 0"))
    assert(error("not a log file".getBytes).contains("no log block begins"))
    assert(instants(Array.emptyByteArray).isEmpty)
  }

  test("a header longer than the read window is read whole") {
    val schema = "x" * 100000
    val block = LogFile
      .blocks(LogFiles.reader(LogFiles.block(3, LogFiles.instant(1) :+ (2 -> schema), Array.emptyByteArray)))
      .next()
    assert(block.schema === Some(schema))
    assert(block.instantTime === all(0))
  }

  test("finding the first instant reads a small part of a large file") {
    val large = LogFiles.block(3, LogFiles.instant(1), new Array[Byte](1 << 20)) ++ three
    val counting = new LogFiles.Counted(large)
    assert(LogFile.firstInstantTime(counting) === all(0))
    assert(counting.bytes < 40000)
  }

  test("a file of nothing but beginnings of blocks is read about once") {
    val counting = new LogFiles.Counted(("#HUDI#" * 500000).getBytes)
    val blocks = LogFile.blocks(counting)
    var found = 0
    while (blocks.hasNext) {
      assert(blocks.intactEnd(blocks.next().offset) === -1L)
      found += 1
    }
    assert(found === 500000)
    assert(counting.bytes < 4 * counting.sizeBytes && counting.reads < 1000)
  }

  test("of blocks within the headers of others, or whose content does not fit, no header is read for each") {
    val count = 20000
    for (content <- Seq(0L, -1L, Long.MaxValue)) {
      val bytes = LogFiles.nested(count, content)
      val scanned = new LogFiles.Counted(bytes)
      val blocks = LogFile.blocks(scanned)
      val ends = blocks.map(b => blocks.intactEnd(b.offset)).toVector
      assert(ends.count(_ > 0) === count)
      val anywhere = new LogFiles.Counted(bytes)
      val found = LogFile.anywhere(anywhere).toVector
      assert(found.map(_.endOffset) === (if (content == 0) Vector(ends.head) else Vector.empty))
      for (read <- Seq(scanned, anywhere)) assert(read.bytes < count * 5L * Window.Bytes, s"content of $content bytes")
    }
  }

  test("blocks are found behind what is no block, and behind others, but none within another") {
    val within = LogFiles.block(3, LogFiles.instant(1) :+ (LogHeaderKey.Schema -> "\"int\""), two)
    val found =
      LogFile.anywhere(LogFiles.reader("junk".getBytes ++ within ++ two.dropRight(9) ++ "#HUDI#".getBytes ++ three))
    assert(found.map(_.instantTime).toVector === Vector(all(0), all(2)))
  }
}
