package hudiidx.hfile

import hudiidx.TestSettings
import java.nio.charset.StandardCharsets.UTF_8
import org.apache.hadoop.hbase.util.ChecksumType
import org.scalatest.funsuite.AnyFunSuite

/** Ours against HBase's and Hudi's HFiles, both ways, staying inside what those can do (format notes §11.2). */
final class HFileOracleSuite extends AnyFunSuite {
  private val metas = Map("bloomFilter" -> Array.tabulate[Byte](5000)(_.toByte), "second" -> Array[Byte](9))
  private val metaVectors = metas.map { case (k, v) => k -> v.toVector }
  private val ours = Seq((128 << 10, Checksum.Crc32c), (2000, Checksum.Null), (1000, Checksum.Crc32c))
  private val sizes = TestSettings.some(2)(Seq(4 << 10, 64 << 10, 1 << 20))
  private val cellCount = TestSettings.upTo(3000, 1500)

  /** Every third key, and one beside it that is absent unless by chance; ascending. */
  private def asked(cells: HFiles.Cells): Vector[Array[Byte]] =
    cells.keysIterator.zipWithIndex
      .collect { case (k, i) if i % 3 == 0 => Seq(k.toArray, (k :+ '!'.toByte).toArray) }
      .flatten
      .toVector
      .sortWith(hudiidx.bytes.Bytes.compare(_, _) < 0)
  private def answers(cells: HFiles.Cells): Vector[Option[Vector[Byte]]] =
    asked(cells).map(k => cells.get(k.toVector).map(_.toVector))

  private def checkOurs(file: Array[Byte], cells: HFiles.Cells): Unit = {
    val reader = HFiles.open(file, tailBytes = 4096)
    assert(HFiles.drain(reader.scan()) === HFiles.plain(cells))
    assert(reader.entryCount === cells.size)
    assert(reader.getAll(asked(cells).toArray).map(HFiles.bytesOf).toVector === answers(cells))
    assert(asked(cells).map(k => HFiles.bytesOf(reader.get(k))) === answers(cells))
    metas.foreach { case (name, v) => assert(reader.meta(name).flatMap(HFiles.bytesOf) === Some(v.toVector), name) }
  }

  for (
    codec <- Seq(Codec.None, Codec.Gzip, Codec.Zstd(3)); block <- sizes
    if TestSettings.isLong || codec == Codec.None || block == sizes.head
  ) {
    test(s"we read what HBase writes: $codec, blocks of $block bytes") {
      val cells = HFiles.sample(block.toLong, cellCount, 300, 300)
      val ways = Seq((128 << 10, ChecksumType.CRC32C), (2000, ChecksumType.CRC32), (1000, ChecksumType.NULL))
      for ((indexBytes, checksum) <- ways)
        checkOurs(HBaseOracle.write(cells, codec, block, checksum, indexBytes, metas), cells)
    }

    test(s"HBase reads what we write: $codec, blocks of $block bytes") {
      val cells = HFiles.sample(block + 1L, cellCount, 300, 300)
      for ((indexBytes, checksum) <- ours) {
        val file = HFiles.write(cells, HFileOptions(codec, block, checksum, indexBytes), metas)
        val (all, found, blocks) = HBaseOracle.read(file, asked(cells), metas.keys)
        assert(all === HFiles.plain(cells))
        assert(found === answers(cells))
        assert(blocks === metaVectors)
      }
    }
  }

  for (codec <- Seq(Codec.None, Codec.Gzip); block <- sizes) {
    // Hudi 1.1.1 writes index keys of 126 bytes and more in a form that its own reader fails on; we read both.
    test(s"we read what Hudi writes, keys of 126 bytes and more included: $codec, blocks of $block bytes") {
      Seq(100, 300).foreach { longest =>
        val cells = HFiles.sample(block + 2L, cellCount, longest, 300)
        checkOurs(HudiIoOracle.write(cells, codec, block, metas), cells)
      }
    }

    test(s"Hudi reads what we write, long keys and several index levels included: $codec, blocks of $block bytes") {
      val cells = HFiles.sample(block + 3L, cellCount, 300, 300)
      for ((indexBytes, checksum) <- ours) {
        val file = HFiles.write(cells, HFileOptions(codec, block, checksum, indexBytes), metas)
        val (all, found, blocks) = HudiIoOracle.read(file, asked(cells), metas.keys)
        assert(all === HFiles.plain(cells))
        assert(found === answers(cells))
        assert(blocks === metaVectors)
      }
    }
  }

  test("files without cells are read by all") {
    val none = HFiles.cells(Nil)
    val ours = HFiles.write(none, HFileOptions(Codec.Gzip), metas)
    assert(HudiIoOracle.reader(ours).getNumKeyValueEntries === 0)
    assert(HBaseOracle.read(ours, Seq("a".getBytes(UTF_8)))._2 === Vector(None))
    checkOurs(HBaseOracle.write(none, Codec.Gzip, 4096, ChecksumType.CRC32C, 1 << 20, metas), none)
    checkOurs(HudiIoOracle.write(none, Codec.Gzip, 4096, metas), none)
  }

  test("encoded blocks and codecs that we do not have are refused by name") {
    val file = HFiles.write(HFiles.sample(1, 10, 10, 10), HFileOptions(Codec.None, 4096, Checksum.Null))
    "DATABLKE".getBytes(UTF_8).copyToArray(file, 0)
    val error = intercept[hudiidx.DamagedIndex](HFiles.drain(HFiles.open(file).scan()))
    assert(error.getMessage.contains("DATABLKE"))
  }
}
