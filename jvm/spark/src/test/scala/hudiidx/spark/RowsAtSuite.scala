package hudiidx.spark

import java.nio.file.{Files, Paths}

import scala.collection.JavaConverters._
import scala.util.Random

import hudiidx.Fixtures
import hudiidx.spark.read.{FileSliceSplit, ParquetReaders, RowsByNumber}
import org.apache.spark.sql.catalyst.{CatalystTypeConverters, InternalRow}
import org.apache.spark.sql.connector.read.PartitionReader
import org.apache.spark.sql.execution.datasources.PartitionedFile
import org.apache.spark.sql.types.{StringType, StructType}
import org.apache.spark.sql.vectorized.ColumnarBatch
import org.apache.spark.unsafe.types.UTF8String

/** Some rows of a Parquet file by their numbers, through its pages and out of all rows. */
final class RowsAtSuite extends SparkSuite {
  private val Rows = 6000

  /** Several row groups of many pages each; nulls, nested columns and values in a dictionary. */
  private lazy val file: String = {
    val folder = Fixtures.newFolder("rows").resolve("p")
    spark
      .range(0, Rows, 1, 1)
      .selectExpr(
        "id",
        "if(id % 3 = 0, null, md5(cast(id as string))) as text",
        "named_struct('a', id % 7, 'b', array(cast(id as string), null)) as nested",
        "concat('v', id % 5) as few"
      )
      .write
      .option("parquet.block.size", "60000")
      .option("parquet.page.size", "4096")
      .option("parquet.page.row.count.limit", "500")
      .parquet(folder.toString)
    Files.list(folder).iterator.asScala.map(_.toString).find(_.endsWith(".parquet")).get
  }

  private val constants = new StructType().add("c", StringType)

  private def piece: PartitionedFile =
    FileSliceSplit.wholeFile(
      InternalRow(UTF8String.fromString("x")),
      file,
      Files.size(Paths.get(file)),
      FileSliceSplit.OfBaseFile
    )

  private def readers(columns: StructType): ParquetReaders =
    ParquetReaders.of(spark, columns, constants, Array.empty)

  private lazy val footer = readers(constants).footer(piece)

  private def texts(batches: PartitionReader[ColumnarBatch], columns: StructType): Vector[String] = {
    val found = Vector.newBuilder[String]
    val toRow = CatalystTypeConverters.createToScalaConverter(StructType(columns ++ constants))
    try while (batches.next()) batches.get().rowIterator().asScala.foreach(r => found += toRow(r).toString)
    finally batches.close()
    found.result()
  }

  test("any rows, in files of several row groups, are those of the whole file") {
    val columns = spark.read.parquet(file).schema.add("gone", StringType)
    val all = texts(readers(columns).batches(piece, footer), columns)
    assert(all.length === Rows)
    val random = new Random(3)
    (1 to 12).foreach { n =>
      val wanted = Array.fill(n * n)(random.nextInt(Rows)).distinct.sorted
      val expected = wanted.toVector.map(all)
      same(texts(readers(columns).rowsAt(piece, footer, wanted), columns), expected)
      same(texts(new RowsByNumber(readers(columns).batches(piece, footer), wanted), columns), expected)
    }
    val edges = Array(0, 1, Rows / 2, Rows - 3, Rows - 2)
    same(texts(readers(columns).rowsAt(piece, footer, edges), columns), edges.toVector.map(all))
    val last = Array(7, Rows - 1)
    same(texts(readers(columns).rowsAt(piece, footer, last), columns), last.toVector.map(all))
    val every = Array.range(0, Rows)
    same(texts(readers(columns).rowsAt(piece, footer, every), columns), all)
  }

  private def same(found: Vector[String], expected: Vector[String]): Unit = {
    assert(found.length === expected.length)
    assert(found.zip(expected).find { case (a, b) => a != b } === None): Unit
  }
}
