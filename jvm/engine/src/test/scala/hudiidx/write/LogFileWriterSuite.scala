package hudiidx.write

import hudiidx.bytes.PackedOutput
import hudiidx.{DamagedTable, TableFormat}
import hudiidx.log.LogKeysSuite
import hudiidx.log._
import hudiidx.logindex.LogLookup
import hudiidx.record.PackedKeys
import hudiidx.write.format.{DeleteBlock, EarlierFilters, LogFileWriter}
import java.io.ByteArrayOutputStream
import org.scalacheck.Gen
import org.scalatest.funsuite.AnyFunSuite
import org.scalatestplus.scalacheck.ScalaCheckPropertyChecks

/** Files of a slice's log, each of several blocks, as the readers of logs and of indexes have them. */
class LogFileWriterSuite extends AnyFunSuite with ScalaCheckPropertyChecks {
  private val all = BlockRules(TableFormat.V9, None, _ => true)
  private val folder = "/t/p/"

  private def name(n: Int): String = f".f-0_2026112000000000$n%02d.log.1_0-0-$n"

  private def add(files: Map[String, Array[Byte]], n: Int, keys: Seq[String], deleted: Seq[String], blockBytes: Int) = {
    val storage = new MemoryStorage(files)
    val lookup = new LogLookup(storage, counted(files))
    val earlier = EarlierFilters(lookup.chain(folder), lookup.load(folder))
    val out = new ByteArrayOutputStream
    val schema = LogKeysSuite.schema
    val log = new LogFileWriter(out, name(n), "p", f"2026112000000000$n%02d", schema.toString, earlier, blockBytes)
    keys.foreach { k =>
      val datum =
        LogBlocks.encode(schema, LogKeysSuite.record(LogKeysSuite.Version("1", k, LogKeysSuite.Row, Some(1L))))
      log.add(k.getBytes("UTF-8"), k.getBytes("UTF-8").length, datum, datum.length)
    }
    deleted.foreach(k => log.delete(k.getBytes("UTF-8"), OrderingValue.Default))
    log.finish()
    assert(log.written === out.size.toLong)
    files + (folder + name(n) -> out.toByteArray)
  }

  private def counted(files: Map[String, Array[Byte]]): Vector[CountedBlock] =
    SliceLog.countedBlocks(new MemoryStorage(files), files.keys.toVector.sorted, all)

  test("every key of every block is found through the tails, which are all whole") {
    val writes = Gen.listOfN(4, Gen.listOf(Gen.choose(0, 400)))
    forAll(writes, Gen.choose(1, 4000)) { (batches, blockBytes) =>
      val files = batches.zipWithIndex.foldLeft(Map.empty[String, Array[Byte]]) { case (f, (batch, n)) =>
        add(f, n, batch.map(k => s"key-$k"), batch.take(3).map(k => s"gone-$k"), blockBytes)
      }
      val asked = batches.flatten.distinct.map(k => s"key-$k")
      val found = new LogLookup(new MemoryStorage(files), counted(files)).find(PackedKeys.of(asked :+ "absent"))
      assert(found.counts.damaged === 0)
      val records = found.parts.flatMap(_.records).map(_.length).sum
      assert(records === batches.flatten.size)
      assert(counted(files).count(_.block.kind == LogBlockKind.Delete) === batches.count(_.nonEmpty))
    }
  }

  test("chains grow by level over hundreds of blocks of few files") {
    val files = (0 until 3).foldLeft(Map.empty[String, Array[Byte]]) { (f, n) =>
      add(f, n, (0 until 100).map(k => s"$n-$k"), Nil, 1)
    }
    val lookup = new LogLookup(new MemoryStorage(files), counted(files))
    val found = lookup.find(PackedKeys.of(Seq("0-5", "1-99", "2-0")))
    assert(found.parts.size === 3 && found.counts.damaged === 0)
    assert(found.counts.filters < 30 && counted(files).size === 300)
  }

  test("deletes are decoded as they were written") {
    val values = Vector(
      OrderingValue.Default,
      OrderingValue.ofInt(7),
      OrderingValue.ofLong(-7L),
      OrderingValue.ofDate(19000),
      OrderingValue.ofFloat(1.5f),
      OrderingValue.ofDouble(-2.25),
      OrderingValue.ofBoolean(true),
      OrderingValue.ofUtf8("é".getBytes("UTF-8"))
    )
    val block = new DeleteBlock
    values.zipWithIndex.foreach { case (v, i) => block.add(s"k$i".getBytes, "p/q", v) }
    val bytes = block.content.flatMap(p => p.bytes.take(p.length)).toArray
    val found = DeleteRecords.decode(bytes, "f", 0L)
    assert(found.map(_.recordKey) === values.indices.map(i => s"k$i"))
    assert(found.forall(_.partitionPath == "p/q"))
    found.zip(values).foreach { case (f, v) => assert(OrderingValue.ofDeleted(f).compare(v) === 0) }
    val none = new DeleteBlock().content.flatMap(p => p.bytes.take(p.length)).toArray
    assert(DeleteRecords.decode(none, "f", 0L) === Vector.empty)
  }

  test(
    "a delete ordered by a decimal of more digits than any number has is damage: its text takes the square of them"
  ) {
    def ofDecimal(digits: Int): Array[Byte] = {
      val list = new PackedOutput(1 << 10)
      list.zigzag(1L) // one key
      for (text <- Seq("k", "p")) {
        list.zigzag(1L)
        list.zigzag(1L)
        list.raw(text.getBytes, 0, 1)
      }
      list.zigzag(9L)
      val unscaled = new java.math.BigInteger("9" * digits).toByteArray
      list.zigzag(unscaled.length.toLong)
      list.raw(unscaled, 0, unscaled.length)
      list.byte(0)
      val head = java.nio.ByteBuffer.allocate(8).putInt(3).putInt(list.size).array
      head ++ list.array.take(list.size)
    }
    val found = DeleteRecords.decode(ofDecimal(40), "f", 0L).map(OrderingValue.ofDeleted)
    assert(found.map(_.value) === Vector(new java.math.BigDecimal("9" * 25 + "." + "9" * 15)))
    assert(intercept[DamagedTable](DeleteRecords.decode(ofDecimal(1100), "f", 0L)).getMessage.contains("a decimal of"))
  }
}
