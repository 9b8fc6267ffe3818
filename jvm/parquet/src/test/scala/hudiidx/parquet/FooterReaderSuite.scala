package hudiidx.parquet

import java.nio.file.{Files, Paths}

import scala.collection.JavaConverters._
import scala.util.{Success, Try}

import hudiidx.Fixtures
import hudiidx.TestSettings.isLong
import hudiidx.storage.{BytesReader, CountingStorage, LocalStorage, RandomReader}
import org.apache.parquet.ParquetReadOptions
import org.apache.parquet.column.ParquetProperties.WriterVersion
import org.apache.parquet.example.data.Group
import org.apache.parquet.hadoop.ParquetFileReader
import org.apache.parquet.hadoop.metadata.CompressionCodecName
import org.scalacheck.Gen
import org.scalatest.funsuite.AnyFunSuite
import org.scalatestplus.scalacheck.ScalaCheckPropertyChecks

/** What readers of keys and statistics ask a footer for, and how many key-value pairs it has. */
private final case class Said(rows: Long, schema: String, blocks: Seq[String], createdBy: String, pairs: Int)

/** Parquet's reader finds in a footer without key-value metadata what it finds with them. */
class FooterReaderSuite extends AnyFunSuite with ScalaCheckPropertyChecks {

  implicit override val generatorDrivenConfig: PropertyCheckConfiguration =
    PropertyCheckConfiguration(minSuccessful = 20)

  private val schema =
    "message m { optional binary _hoodie_commit_time (STRING); optional binary _hoodie_record_key (STRING); " +
      "optional int64 n; optional group s { optional group l (LIST) { repeated group list { optional boolean element; } } } }"

  private def said(file: RandomReader): Said = {
    val reader = ParquetFileReader.open(new ReaderInputFile(file), ParquetReadOptions.builder().build())
    try {
      val meta = reader.getFileMetaData
      val blocks = reader.getRowGroups.asScala.map { b =>
        s"${b.getRowCount} ${b.getTotalByteSize} ${b.getColumns.asScala.map(c => s"$c ${c.getStatistics}").mkString}"
      }
      Said(
        reader.getRecordCount,
        meta.getSchema.toString,
        blocks.toVector,
        meta.getCreatedBy,
        meta.getKeyValueMetaData.size
      )
    } finally reader.close()
  }

  private def written(rows: Int, pairs: Map[String, String], group: Long): Array[Byte] = {
    val file = Fixtures.newFolder("footer").resolve("f_1-0-1_20240101000000000.parquet")
    val layout =
      ParquetLayout(CompressionCodecName.GZIP, WriterVersion.PARQUET_1_0, dictionary = true, 300, group)
    val fills = (0 until rows).map(i =>
      (row: Group) => { row.append("_hoodie_record_key", s"key-$i").append("n", i.toLong): Unit }
    )
    ParquetTables.writeTo(file.toString, schema, layout, fills, pairs)
    Files.readAllBytes(file)
  }

  private val pairs: Gen[Map[String, String]] = Gen.mapOf(
    Gen.zip(
      Gen.alphaNumStr.map("k" + _),
      Gen.oneOf(Gen.const(""), Gen.alphaNumStr, Gen.choose(1000, 200000).map("b" * _))
    )
  )

  private def assertAlike(path: String, bytes: Array[Byte]): Unit = {
    val original = new BytesReader(path, bytes)
    val short = new FooterReader(original)
    val expected = said(original)
    assert(said(short) === expected.copy(pairs = 0), path)
    assert(short.sizeBytes <= original.sizeBytes)
  }

  test("schema, row groups, columns and their statistics are those of the whole footer") {
    forAll(Gen.choose(0, 400), pairs, Gen.oneOf(1000L, 1L << 20)) { (rows, pairs, group) =>
      assertAlike("written", written(rows, pairs, group))
    }
  }

  test("base files of the fixtures, all that Hudi's releases wrote") {
    val files = Fixtures.good.flatMap { name =>
      val table = Paths.get(Fixtures.table(name))
      // Empty ones are markers of writes under way.
      val all = Fixtures.filesBelow(table.toString).filter(_.endsWith(".parquet")).map(table.resolve)
      all.filter(f => !f.startsWith(table.resolve(".hoodie")) && Files.size(f) > 0).take(3)
    }
    assert(files.size > 50)
    files.foreach(f => assertAlike(f.toString, Files.readAllBytes(f)))
  }

  test("what stands before the footer is the file's own, wherever a read begins and ends") {
    val bytes = written(300, Map("bloom" -> "x" * 150000), 2000)
    val short = new FooterReader(new BytesReader("f", bytes))
    val footer = bytes.length - 8 - java.nio.ByteBuffer
      .wrap(bytes, bytes.length - 8, 4)
      .order(java.nio.ByteOrder.LITTLE_ENDIAN)
      .getInt
    forAll(Gen.choose(0, footer), Gen.choose(0, footer)) { (a, b) =>
      val (from, to) = (math.min(a, b), math.max(a, b))
      assert(short.read(from, to - from) === java.nio.ByteBuffer.wrap(bytes, from, to - from))
    }
    val all = short.read(0, short.sizeBytes.toInt)
    assert(said(new BytesReader("copy", hudiidx.bytes.Bytes.ofBuffer(all))) === said(short))
    intercept[java.io.EOFException](short.read(short.sizeBytes - 3, 4))
  }

  test(
    "wherever Parquet reads a footer with wrong bytes it reads the same of the short one; short files are left alone"
  ) {
    val good = written(30, Map("bloom" -> "x" * 500, "a" -> ""), 1 << 20)
    val footer = good.length - 3000 max 4
    forAll(Gen.choose(footer, good.length - 1), Gen.choose(1, 255), minSuccessful(if (isLong) 1500 else 250)) {
      (at, change) =>
        val bytes = good.clone()
        bytes(at) = (bytes(at) ^ change).toByte
        Try(said(new BytesReader("f", bytes))) match {
          case Success(expected) =>
            val short = said(new FooterReader(new BytesReader("f", bytes)))
            assert(short.copy(pairs = 0) === expected.copy(pairs = 0))
          case _ => Try(said(new FooterReader(new BytesReader("f", bytes)))): Unit
        }
    }
    (0 to 20).foreach { n =>
      val start = good.take(n)
      val short = new FooterReader(new BytesReader("f", start))
      assert(short.read(0, n) === java.nio.ByteBuffer.wrap(start))
    }
  }

  test("opening costs one request, two where a bloom filter makes the footer long, and does not read that") {
    val folder = Fixtures.newFolder("footer-requests")
    Seq(10 -> 1, 430000 -> 2).foreach { case (bloom, requests) =>
      val file = folder.resolve(s"f${bloom}_1-0-1_20240101000000000.parquet").toString
      Files.write(Paths.get(file), written(100, Map("bloom" -> "x" * bloom), 1 << 20))
      val storage = new CountingStorage(LocalStorage)
      BaseFileKeys.open(storage, file, KeyColumns(None, storedKeys = true)).close()
      assert(storage.counts.open === 1 && storage.counts.read === requests, s"bloom filter of $bloom bytes")
      assert(storage.counts.bytesRead <= (128 << 10))
    }
  }
}
