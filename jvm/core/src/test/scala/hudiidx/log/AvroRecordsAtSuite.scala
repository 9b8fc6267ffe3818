package hudiidx.log

import hudiidx.DamagedTable
import java.io.{ByteArrayOutputStream, DataOutputStream}
import org.scalacheck.Gen
import org.scalatest.funsuite.AnyFunSuite
import org.scalatestplus.scalacheck.ScalaCheckPropertyChecks

/** Records by their offsets, against a walk over all. */
final class AvroRecordsAtSuite extends AnyFunSuite with ScalaCheckPropertyChecks {

  /** A log file of one block: records of these sizes, each of bytes that tell its number, and bytes after them. */
  private def file(sizes: Seq[Int]): Array[Byte] = {
    val content = new ByteArrayOutputStream
    val out = new DataOutputStream(content)
    out.writeInt(3)
    out.writeInt(sizes.size)
    sizes.zipWithIndex.foreach { case (size, i) =>
      out.writeInt(size)
      out.write(Array.fill(size)((i * 7 + size).toByte))
    }
    out.writeInt(-1)
    LogFiles.block(3, LogFiles.instant(1), content.toByteArray)
  }

  private def bytesOf(walk: AvroRecordWalk): Vector[(Long, Vector[Byte])] = {
    val found = Vector.newBuilder[(Long, Vector[Byte])]
    while (walk.next()) found += walk.recordOffset -> walk.cursor.take(walk.length, "record").toVector
    found.result()
  }

  test("any records of a block are those of a walk over all of it") {
    val size = Gen.frequency(6 -> Gen.choose(0, 300), 2 -> Gen.choose(300, 6000), 1 -> Gen.choose(6000, 40000))
    forAll(Gen.listOf(size), Gen.choose(1, 9), Gen.choose(0, 8), minSuccessful(60)) { (sizes, every, from) =>
      val reader = LogFiles.reader(file(sizes))
      val block = LogFile.blocks(reader).next()
      val all = bytesOf(new AvroRecords(reader, block))
      val wanted = all.indices.drop(from).by(every)
      val offsets = wanted.map(i => (all(i)._1 - 4).toInt).toArray
      assert(bytesOf(new AvroRecordsAt(reader, block, offsets)) === wanted.map(all).toVector)
    }
  }

  test("an offset past the block, or where no record begins, is damage or some bytes of the block") {
    val reader = LogFiles.reader(file(Seq(50, 60)))
    val block = LogFile.blocks(reader).next()
    for (offset <- 0 until block.contentLength.toInt + 20)
      try bytesOf(new AvroRecordsAt(reader, block, Array(offset))): Unit
      catch { case e: DamagedTable => assert(e.getMessage.contains("offset")) }
    intercept[DamagedTable](bytesOf(new AvroRecordsAt(reader, block, Array(block.contentLength.toInt))))
  }
}
