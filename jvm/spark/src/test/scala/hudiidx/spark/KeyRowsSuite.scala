package hudiidx.spark

import java.nio.file.{Files, Paths}

import scala.collection.JavaConverters._
import scala.util.Random

import hudiidx.Fixtures
import hudiidx.slice.{FoundRows, StoredKeyRows}
import hudiidx.record.PackedKeys
import hudiidx.spark.read.{BaseFileReaderFactory, FileSliceSplit, ParquetReaders, ScanColumns}
import org.apache.parquet.hadoop.metadata.BlockMetaData
import org.apache.spark.sql.catalyst.{CatalystTypeConverters, InternalRow}
import org.apache.spark.sql.connector.read.PartitionReader
import org.apache.spark.sql.execution.datasources.PartitionedFile
import org.apache.spark.sql.sources.{Filter, In}
import org.apache.spark.sql.types.{LongType, StringType, StructType}
import org.apache.spark.sql.vectorized.ColumnarBatch
import org.scalacheck.Gen
import org.scalatestplus.scalacheck.ScalaCheckPropertyChecks

/** Rows of a base file by their stored record keys are those that a read of all rows has for them. */
final class KeyRowsSuite extends SparkSuite with ScalaCheckPropertyChecks {
  private val Rows = 1500

  /** Several row groups of many pages; `key` and `field` are SQL over `id`. */
  private def written(key: String, field: String = "null"): PartitionedFile = {
    val folder = Fixtures.newFolder("keys").resolve("p")
    spark
      .range(0, Rows, 1, 1)
      .selectExpr(
        s"$key as _hoodie_record_key",
        "id",
        s"cast($field as string) as field",
        "if(id % 3 = 0, null, md5(cast(id as string))) as text"
      )
      .write
      .option("parquet.block.size", "30000")
      .option("parquet.page.size", "4096")
      .option("parquet.page.row.count.limit", "150")
      .parquet(folder.toString)
    val file = Files.list(folder).iterator.asScala.map(_.toString).find(_.endsWith(".parquet")).get
    FileSliceSplit.wholeFile(InternalRow.empty, file, Files.size(Paths.get(file)), FileSliceSplit.OfBaseFile)
  }

  private val columns =
    new StructType().add("_hoodie_record_key", StringType).add("id", LongType).add("text", StringType)

  private val numbered = StructType(columns.reverse).add(ScanColumns.RowIndex, LongType)

  private val withField = columns.add("field", StringType)

  private def factory(
      of: StructType,
      keyField: Option[String] = None,
      filters: Array[Filter] = Array.empty
  ): BaseFileReaderFactory =
    new BaseFileReaderFactory(
      ParquetReaders.of(spark, of, new StructType(), filters),
      merging = None,
      names = None,
      keyField = keyField,
      labels = None
    )

  private def footerOf(piece: PartitionedFile) =
    ParquetReaders.of(spark, columns, new StructType(), Array.empty).footer(piece)

  private def asking(piece: PartitionedFile, keys: Seq[String]): PartitionedFile =
    FileSliceSplit.withSlice(piece, FileSliceSplit.OfBaseFile.copy(keys = Some(PackedKeys.of(keys))))

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

  /** Zeros in place of parts of each row group: where they begin, and their bytes. */
  private def overwrite(piece: PartitionedFile)(parts: BlockMetaData => Seq[(Int, Int)]): Unit = {
    val path = Paths.get(piece.filePath.toPath.toString.stripPrefix("file:"))
    val bytes = Files.readAllBytes(path)
    footerOf(piece).getBlocks.asScala.flatMap(parts).foreach { case (from, length) =>
      java.util.Arrays.fill(bytes, from, from + length, 0.toByte)
    }
    Files.write(path, bytes)
    Files.deleteIfExists(path.resolveSibling("." + path.getFileName + ".crc")): Unit
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

  private val asField = Vector(
    withField,
    StructType(withField.reverse),
    StructType(withField.drop(1)),
    StructType(Seq(withField("field"))),
    StructType(Seq(withField("_hoodie_record_key"), withField("field"))),
    StructType(numbered ++ Seq(withField("field")))
  )

  /** Rows, all and some, with the field that the keys are made of, are those that Spark reads. */
  private def expectFieldRows(piece: PartitionedFile, keys: Seq[String]): Unit = {
    val wanted = keys.toSet
    val isSame = StoredKeyRows.areKeys(footerOf(piece), "field")
    asField.foreach { of =>
      val plain = texts(factory(of).buildColumnarReader(piece), of)
      val keyOf = texts(factory(columns).buildColumnarReader(piece), columns).map(_.drop(1).takeWhile(_ != ','))
      val expected = plain.zip(keyOf).collect { case (row, key) if wanted(key) => row }
      val twice = factory(of, Some("field"))
      assert(texts(twice.buildColumnarReader(piece), of) === plain)
      assert(rowTexts(twice.buildReader(piece), of) === plain)
      assert(texts(twice.buildColumnarReader(asking(piece, keys)), of) === expected)
      assert(rowTexts(twice.buildReader(asking(piece, keys)), of) === expected)
      // The file's reader may pass rows over by a filter, but none that satisfy it.
      val named = if (isSame) Seq("field", "_hoodie_record_key") else Seq("_hoodie_record_key")
      named.filter(of.fieldNames.contains(_)).foreach { name =>
        val filtered = factory(of, Some("field"), Array(In(name, keys.toArray[Any])))
        val read = texts(filtered.buildColumnarReader(piece), of)
        assert(read.toSet.subsetOf(plain.toSet) && expected.toSet.subsetOf(read.toSet))
        assert(texts(filtered.buildColumnarReader(asking(piece, keys)), of) === expected)
      }
      val numbers = keyOf.indices.filter(i => wanted(keyOf(i))).toArray
      val base = twice.baseOf(piece)
      assert(texts(twice.rows(piece, FoundRows(numbers, None), base), of) === expected)
    }
  }

  (kinds.take(3).map(k => k -> k) :+ (s"if(id < 0, null, ${kinds.head})" -> kinds.head)).foreach { case (kind, field) =>
    test(s"keys $kind: the field $field that they are made of is not read beside them") {
      val piece = written(kind, field)
      assert(StoredKeyRows.areKeys(footerOf(piece), "field"))
      val plain = texts(factory(withField).buildColumnarReader(piece), withField)
      val keys = Vector(3, 700, 1499).map(plain(_).drop(1).takeWhile(_ != ','))
      expectFieldRows(piece, keys)
      overwrite(piece)(_.getColumns.asScala.toVector.filter(_.getPath.toDotString == "field").map { c =>
        (c.getStartingPos.toInt, c.getTotalSize.toInt)
      })
      val twice = factory(withField, Some("field"))
      assert(texts(twice.buildColumnarReader(piece), withField) === plain)
      assert(texts(twice.buildColumnarReader(asking(piece, keys)), withField).nonEmpty)
      assertThrows[Exception](texts(factory(withField).buildColumnarReader(piece), withField))
    }
  }

  test("a field that has other values than the keys, or nulls, is read") {
    Vector(
      "md5(cast(id as string))" -> "md5(cast(id + 1 as string))",
      "cast(id as string)" -> "cast(id + 1 as string)",
      "md5(cast(id as string))" -> "if(id = 7, null, md5(cast(id as string)))",
      "cast(id as string)" -> "null",
      "if(id = 5, null, cast(id as string))" -> "if(id = 5, null, cast(id as string))"
    ).foreach { case (key, field) =>
      val piece = written(key, field)
      assert(!StoredKeyRows.areKeys(footerOf(piece), "field"))
      if (!key.startsWith("if")) expectFieldRows(piece, Seq("1", "800"))
    }
    assert(!StoredKeyRows.areKeys(footerOf(written("id")), "gone"))
  }

  test("where rows lack a stored key, or many keys are asked for, all rows are read") {
    val keys = Seq.tabulate(5)(i => s"$i")
    Vector("if(id = 5, null, cast(id as string))", "id").foreach { kind =>
      val piece = written(kind)
      assert(!StoredKeyRows.hasKeyStatistics(footerOf(piece)))
    }
    val some = written("if(id = 5, null, cast(id as string))")
    assert(texts(factory(columns).buildColumnarReader(asking(some, keys)), columns).length === Rows)
    val piece = written("cast(id as string)")
    assert(StoredKeyRows.hasKeyStatistics(footerOf(piece)))
    assert(texts(factory(columns).buildColumnarReader(asking(piece, keys)), columns).length === 5)
    val many = new Random(1).shuffle((0 until Rows).toVector).take(Rows / 4).map(_.toString)
    assert(texts(factory(columns).buildColumnarReader(asking(piece, many)), columns).length === Rows)
  }

  test("of keys in order the pages of the others are not read") {
    val piece = written("lpad(cast(id as string), 9, '0')")
    val last = footerOf(piece).getBlocks.asScala.last
    assert(footerOf(piece).getBlocks.size > 1 && last.getRowCount > 1)
    // Row groups that hold no wanted key.
    overwrite(piece) { block =>
      if (block.getStartingPos == last.getStartingPos) Nil
      else Seq((block.getStartingPos.toInt, block.getCompressedSize.toInt))
    }
    val key = f"${Rows - 1}%09d"
    assert(texts(factory(columns).buildColumnarReader(asking(piece, Seq(key))), columns).length === 1)
  }
}
