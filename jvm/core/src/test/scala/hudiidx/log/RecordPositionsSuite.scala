package hudiidx.log

import hudiidx.{DamagedTable, HudiIdxException}
import java.io.ByteArrayOutputStream
import java.nio.{ByteBuffer, ByteOrder}
import java.util.Base64
import org.scalatest.funsuite.AnyFunSuite
import scala.util.{Failure, Success, Try}

/** Positions of records, as stock Hudi wrote them and as made here. */
final class RecordPositionsSuite extends AnyFunSuite {
  import RecordPositionsSuite._

  test("blocks of stock Hudi have as many positions as records, ascending") {
    var blocks = 0
    for (table <- Seq("v8-mor-part", "v9-mor-part", "v9-mor-event", "v9-commit-time"); path <- LogFiles.of(table))
      LogFiles.using(path) { reader =>
        LogFile.blocks(reader).foreach { block =>
          block.header.get(LogHeaderKey.BaseFileInstantTime).foreach { instant =>
            val found = RecordPositions.of(block, instant, path)
            assert(RecordPositions.of(block, instant + "0", path) === None)
            found.foreach { positions =>
              blocks += 1
              val records =
                if (block.kind == LogBlockKind.AvroData) new AvroRecords(reader, block).count
                else DeleteRecords.decode(LogFile.content(reader, block), path, block.contentOffset).size
              assert(positions.length === records)
              assert(positions.toVector === positions.toVector.distinct.sorted && positions.forall(_ >= 0))
            }
          }
        }
      }
    assert(blocks > 4)
  }

  test("positions that no row has, that come twice or are more than a block has records are damage by block and file") {
    def told(kind: LogBlockKind, bytes: Long, positions: Long*): String = {
      val header =
        Map(LogHeaderKey.RecordPositions -> encoded(positions.toVector), LogHeaderKey.BaseFileInstantTime -> "1")
      intercept[DamagedTable](RecordPositions.of(LogBlock(kind, header, 7, 0, bytes, bytes), "1", "f.log")).getMessage
    }
    for (p <- Seq(Int.MaxValue.toLong, 1L << 40, Long.MinValue + 5, -1L)) {
      val message = told(LogBlockKind.AvroData, 100, p)
      assert(
        message.startsWith("f.log: record positions of the log block at offset 7") && message.contains(s"position $p")
      )
    }
    assert(told(LogBlockKind.ParquetData, 100, 3L, 3L).contains("position 3 behind 3"))
    assert(told(LogBlockKind.AvroData, 10, 1L, 2L, 3L).contains("more than 2 positions"))
    assert(told(LogBlockKind.Delete, 10, 1L, 2L, 3L, 4L).contains("more than 3 positions"))
  }

  test("damaged bitmaps give positions or an error that names the file") {
    val bytes = Base64.getDecoder.decode(encoded(Vector(1L, 2L, 70000L, Int.MaxValue - 1L)))
    assert(RecordPositions.decode(bytes, "f").toVector === Vector(1L, 2L, 70000L, Int.MaxValue - 1L))
    def check(damaged: Array[Byte]): Unit = Try(RecordPositions.decode(damaged, "f.log")) match {
      case Success(_)                   => ()
      case Failure(e: HudiIdxException) => assert(e.getMessage.startsWith("f.log"))
      case Failure(other)               => fail(other)
    }
    for (i <- bytes.indices; mask <- Seq(1, 0x80, 0xff)) check(bytes.updated(i, (bytes(i) ^ mask).toByte))
    bytes.indices.foreach(n => check(bytes.take(n)))
    val header = Map(LogHeaderKey.RecordPositions -> "*", LogHeaderKey.BaseFileInstantTime -> "1")
    val block = LogBlock(LogBlockKind.AvroData, header, 7, 0, 0, 0)
    assert(intercept[DamagedTable](RecordPositions.of(block, "1", "f.log")).getMessage.startsWith("f.log"))
  }
}

private[hudiidx] object RecordPositionsSuite {

  /** Base64 of a bitmap with array containers alone. */
  def encoded(positions: Vector[Long]): String = {
    val out = new ByteArrayOutputStream
    def put(bytes: Int)(fill: ByteBuffer => Unit): Unit = {
      val buffer = ByteBuffer.allocate(bytes).order(ByteOrder.LITTLE_ENDIAN)
      fill(buffer)
      out.write(buffer.array)
    }
    val words = positions.groupBy(_ >>> 32).toVector.sortBy(_._1)
    put(8)(_.putLong(words.size.toLong))
    words.foreach { case (high, inWord) =>
      val containers = inWord.groupBy(p => (p >>> 16) & 0xffff).toVector.sortBy(_._1)
      put(12)(_.putInt(high.toInt).putInt(12346).putInt(containers.size))
      containers.foreach { case (key, all) => put(4)(_.putShort(key.toShort).putShort((all.size - 1).toShort)) }
      put(4 * containers.size)(_ => ())
      containers.foreach(_._2.sorted.foreach(p => put(2)(_.putShort(p.toShort))))
    }
    Base64.getEncoder.encodeToString(out.toByteArray)
  }
}
