package hudiidx.spark

import java.nio.file.{Files, Paths}

import scala.collection.JavaConverters._
import scala.util.Random

import hudiidx.Fixtures
import hudiidx.hadoop.StoredKeyRows
import hudiidx.record.PackedKeys
import org.apache.spark.sql.catalyst.{CatalystTypeConverters, InternalRow}
import org.apache.spark.sql.connector.read.PartitionReader
import org.apache.spark.sql.execution.datasources.PartitionedFile
import org.apache.spark.sql.types.{LongType, StringType, StructType}
import org.apache.spark.sql.vectorized.ColumnarBatch
import org.scalacheck.Gen
import org.scalatestplus.scalacheck.ScalaCheckPropertyChecks

/** Rows of a base file by their stored record keys are those that a read of all rows has for them. */
final class KeyRowsSuite extends SparkSuite with ScalaCheckPropertyChecks {
  private val Rows = 1500

  /** Several row groups of many pages; `key` is SQL over `id`. */
  private def written(key: String): PartitionedFile = {
    val folder = Fixtures.newFolder("keys").resolve("p")
    spark
      .range(0, Rows, 1, 1)
      .selectExpr(s"$key as _hoodie_record_key", "id", "if(id % 3 = 0, null, md5(cast(id as string))) as text")
      .write
      .option("parquet.block.size", "30000")
      .option("parquet.page.size", "4096")
      .option("parquet.page.row.count.limit", "150")
      .parquet(folder.toString)
    val file = Files.list(folder).iterator.asScala.map(_.toString).find(_.endsWith(".parquet")).get
    Shims.wholeFile(InternalRow.empty, file, Files.size(Paths.get(file)), Map.empty)
  }

  private val columns =
    new StructType().add("_hoodie_record_key", StringType).add("id", LongType).add("text", StringType)

  private val numbered = StructType(columns.reverse).add(ScanColumns.RowIndex, LongType)

  private def factory(of: StructType): BaseFileReaderFactory =
    new BaseFileReaderFactory(
      ParquetReaders.of(spark, of, new StructType(), Array.empty),
      floatsByText = true,
      merging = None,
      names = None
    )

  private def footerOf(piece: PartitionedFile) =
    ParquetReaders.of(spark, columns, new StructType(), Array.empty).footer(piece)

  private def asking(piece: PartitionedFile, keys: Seq[String]): PartitionedFile =
    PieceOfFile.askedFor(piece, PackedKeys.of(keys))

  private def texts(batches: PartitionReader[ColumnarBatch], of: StructType): Vector[String] = {
    val found = Vector.newBuilder[String]
    val toRow = CatalystTypeConverters.createToScalaConverter(of)
    try while (batches.next()) batches.get().rowIterator().asScala.foreach(r => found += toRow(r).toString)
    finally batches.close()
    found.result()
  }

  private def rowTexts(rows: PartitionReader[InternalRow], of: StructType): Vector[String] = {
    val found = Vector.newBuilder[String]
    val toRow = CatalystTypeConverters.createToScalaConverter(of)
    try while (rows.next()) found += toRow(rows.get()).toString
    finally rows.close()
    found.result()
  }

  // Keys in no order, in order, several rows to a key, and few keys, which Parquet keeps in a dictionary.
  private val kinds = Vector(
    "md5(cast(id as string))",
    "lpad(cast(id as string), 9, '0')",
    "concat('k-', cast(id div 3 as string))",
    "concat('k', cast(id % 7 as string))"
  )

  kinds.foreach { kind =>
    test(s"keys $kind: some rows, as batches and as rows, with all columns, without keys and with nothing else") {
      val piece = written(kind)
      val keyOf = texts(factory(columns).buildColumnarReader(piece), columns).map(t => t.drop(1).takeWhile(_ != ','))
      assert(keyOf.length === Rows)
      Vector(columns, StructType(columns.drop(1)), StructType(columns.take(1)), columns.add("gone", LongType), numbered)
        .foreach { of =>
          val all = texts(factory(of).buildColumnarReader(piece), of)
          val sets = for {
            known <- Gen.resize(12, Gen.listOf(Gen.oneOf(keyOf)))
            absent <- Gen.resize(3, Gen.listOf(Gen.oneOf(Gen.asciiPrintableStr, Gen.const(""), Gen.const("k-1335"))))
          } yield known ++ absent
          forAll(sets, minSuccessful(6)) { keys =>
            val wanted = keys.toSet
            val expected = all.zip(keyOf).collect { case (row, key) if wanted(key) => row }
            val numbers = keyOf.indices.filter(i => wanted(keyOf(i)))
            val asked = asking(piece, keys.distinct)
            // Where one row in eight is wanted all are given.
            val found = texts(factory(of).buildColumnarReader(asked), of)
            assert(found === (if (numbers.length * 8 > Rows) all else expected))
            assert(rowTexts(factory(of).buildReader(asked), of) === found)
          }
        }
    }
  }

  test("where rows lack a stored key, or many keys are asked for, all rows are read") {
    val keys = Seq.tabulate(5)(i => s"$i")
    Vector("if(id = 5, null, cast(id as string))", "id").foreach { kind =>
      val piece = written(kind)
      assert(!StoredKeyRows.areTold(footerOf(piece)))
    }
    val some = written("if(id = 5, null, cast(id as string))")
    assert(texts(factory(columns).buildColumnarReader(asking(some, keys)), columns).length === Rows)
    val piece = written("cast(id as string)")
    assert(StoredKeyRows.areTold(footerOf(piece)))
    assert(texts(factory(columns).buildColumnarReader(asking(piece, keys)), columns).length === 5)
    val many = new Random(1).shuffle((0 until Rows).toVector).take(Rows / 4).map(_.toString)
    assert(texts(factory(columns).buildColumnarReader(asking(piece, many)), columns).length === Rows)
  }

  test("of keys in order the pages of the others are not read") {
    val piece = written("lpad(cast(id as string), 9, '0')")
    val path = Paths.get(piece.filePath.toPath.toString.stripPrefix("file:"))
    val footer = footerOf(piece)
    // Row groups that hold no wanted key are overwritten.
    val last = footer.getBlocks.asScala.last
    val bytes = Files.readAllBytes(path)
    footer.getBlocks.asScala.init.foreach { block =>
      val from = block.getStartingPos.toInt
      java.util.Arrays.fill(bytes, from, from + block.getCompressedSize.toInt, 0.toByte)
    }
    Files.write(path, bytes)
    assert(footer.getBlocks.size > 1 && last.getRowCount > 1)
    Files.deleteIfExists(path.resolveSibling("." + path.getFileName + ".crc"))
    val key = f"${Rows - 1}%09d"
    assert(texts(factory(columns).buildColumnarReader(asking(piece, Seq(key))), columns).length === 1)
  }
}
