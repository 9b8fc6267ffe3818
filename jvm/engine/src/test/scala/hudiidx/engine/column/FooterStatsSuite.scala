package hudiidx.engine.column

import java.math.BigInteger
import java.nio.charset.StandardCharsets.UTF_8

import hudiidx.column._
import hudiidx.parquet.{ParquetLayout, ParquetTables}
import hudiidx.storage.LocalStorage
import org.apache.parquet.column.ParquetProperties.WriterVersion
import org.apache.parquet.example.data.Group
import org.apache.parquet.hadoop.ParquetFileReader
import org.apache.parquet.hadoop.metadata.{
  BlockMetaData,
  ColumnChunkMetaData,
  CompressionCodecName,
  FileMetaData,
  ParquetMetadata
}
import org.apache.parquet.hadoop.util.HadoopInputFile
import org.apache.parquet.io.api.Binary
import org.scalacheck.Gen
import org.scalatest.funsuite.AnyFunSuite
import org.scalatestplus.scalacheck.ScalaCheckPropertyChecks
import scala.collection.JavaConverters._

/** Statistics from footers hold for every row, and say no more than is certain. */
class FooterStatsSuite extends AnyFunSuite with ScalaCheckPropertyChecks {
  import FooterStatsSuite._

  test("bounds of every type are those of the values, nulls are counted, whatever the row groups") {
    val doubles =
      Gen.frequency(8 -> Gen.double, 1 -> Gen.oneOf(-0.0, 0.0, Double.PositiveInfinity, Double.NegativeInfinity))
    val values = Gen.option(
      for {
        l <- Gen.long; i <- Gen.posNum[Int]; d <- doubles;
        s <- Gen.listOf(Gen.oneOf("a", "b", "é", "日", "\ud83d\ude00"))
      } yield Row(l, i, d, s.mkString)
    )
    forAll(Gen.listOf(values), Gen.oneOf(1L << 10, 1L << 27), minSuccessful(60)) { (rows, rowGroupBytes) =>
      val stats = of(write(Schema, rows.map(fill), rowGroupBytes))
      val there = rows.flatten
      assert(stats.rows === rows.size)
      def check(path: String, columnType: ColumnType, expected: Bounds): Unit = {
        assert(stats.columns(path).columnType === columnType, path)
        val bounds = if (there.isEmpty) Bounds.NoValues else expected
        assert(stats.columns(path).stats === ColumnStats(rows.size.toLong, rows.count(_.isEmpty).toLong, bounds), path)
      }
      def longs(of: Row => Long): Bounds = {
        val all = there.map(of)
        if (all.isEmpty) Bounds.NoValues else Bounds.LongRange(all.min, all.max, exact = true)
      }
      check("i", ColumnType.Int32, longs(_.i.toLong))
      check("l", ColumnType.Int64, longs(_.l))
      check("b", ColumnType.Bool, longs(r => if (r.l > 0) 1 else 0))
      check("d", ColumnType.Float64, longs(r => ColumnType.ofDouble(r.d)))
      check("f", ColumnType.Float32, longs(r => ColumnType.ofDouble(r.d.toFloat.toDouble)))
      check("day", ColumnType.Date, longs(_.i.toLong))
      check("ts", ColumnType.Timestamp, longs(r => r.i * 1000L))
      check("local", ColumnType.LocalTimestamp, longs(_.i.toLong))
      check("small", ColumnType.Decimal(9, 2), longs(_.i.toLong % 1000000000))
      check("mid", ColumnType.Decimal(18, 4), longs(_.l % 1000000000000000000L))
      check("s.x", ColumnType.Int64, longs(_.l))
      check("s.`p.q`", ColumnType.Int64, longs(_.l))
      check("wide", ColumnType.Decimal(38, 10), texts(there.map(r => ColumnType.ofDecimal(wide(r))), exact = true))
      check("t", ColumnType.Text, texts(there.map(_.s.getBytes(UTF_8)), exact = false))
      check("raw", ColumnType.Binary, texts(there.map(_.s.getBytes(UTF_8)), exact = false))
      assert(!stats.columns.keySet.exists(p => p.startsWith("list") || p == "old" || p == "unsigned" || p == "time"))
    }
  }

  test("a value that is no number leaves floats without bounds; a writer that may not say so has no upper one") {
    val plain = Seq(1.5, 2.5).map(v => (g: Group) => { g.add("d", v); g.add("f", v.toFloat) })
    val nan = (g: Group) => { g.add("d", Double.NaN); g.add("f", Float.NaN) }
    val schema = "message m { optional double d; optional float f; }"
    val marked = of(write(schema, plain :+ nan))
    val file = write(schema, plain)
    for (column <- Seq("d", "f")) {
      assert(marked.columns(column).stats === ColumnStats(3, 0, Bounds.Unknown))
      val known = Bounds.LongRange(ColumnType.ofDouble(1.5), ColumnType.ofDouble(2.5), exact = true)
      assert(of(file).columns(column).stats.bounds === known)
      for (other <- Seq("parquet-cpp version 1.5.1", "parquet-mr version 1.9.0 (build 0)", "parquet-mr", "", null))
        assert(
          createdBy(file, other).columns(column).stats.bounds ===
            Bounds.LongRange(ColumnType.ofDouble(1.5), ColumnType.NaN, exact = false)
        )
    }
  }

  test("a footer that has a column twice in a row group, or not in one, says nothing of it") {
    val rows = (1 to 3).map(v => (g: Group) => { g.add("a", v); g.add("b", v) })
    val footer = footerOf(write("message m { required int32 a; required int32 b; }", rows))
    val Seq(a, b) = footer.getBlocks.get(0).getColumns.asScala.toSeq
    def stats(blocks: Seq[ColumnChunkMetaData]*) = {
      val all = blocks.map { columns =>
        val block = new BlockMetaData
        block.setRowCount(3)
        columns.foreach(block.addColumn)
        block
      }
      val found = FooterStats.of(new ParquetMetadata(footer.getFileMetaData, all.asJava))
      val byPath = found.columns.map { case (path, of) => path.toString -> of.stats }
      Seq("a", "b").map(byPath)
    }
    val known = Bounds.LongRange(1, 3, exact = true)
    assert(stats(Seq(a, b)) === Seq(ColumnStats(3, 0, known), ColumnStats(3, 0, known)))
    assert(stats(Seq(b, a), Seq(a, b)) === Seq(ColumnStats(6, 0, known), ColumnStats(6, 0, known)))
    assert(stats(Seq(a), Seq(a, b)) === Seq(ColumnStats(6, 0, known), ColumnStats(6, -1, Bounds.Unknown)))
    assert(stats(Seq(a, b), Seq(b)) === Seq(ColumnStats(6, -1, Bounds.Unknown), ColumnStats(6, 0, known)))
    assert(stats(Seq(a, a, b), Seq(b)) === Seq(ColumnStats(6, -1, Bounds.Unknown), ColumnStats(6, 0, known)))
  }

  test("long texts are cut so that bounds hold, and so long ones have none") {
    def range(values: Array[Byte]*): Bounds =
      of(
        write(
          "message m { required binary t (STRING); }",
          values.map(v => (g: Group) => g.add("t", Binary.fromConstantByteArray(v)))
        )
      )
        .columns("t")
        .stats
        .bounds
    val long = ("x" * 63 + "é" * 20).getBytes(UTF_8)
    range(long, "a".getBytes) match {
      case Bounds.TextRange(min, max, exact) =>
        assert(new String(min, UTF_8) === "a" && !exact && max.length <= TextBounds.MaxBytes)
        assert(java.util.Arrays.compareUnsigned(max, long) > 0)
      case other => fail(other.toString)
    }
    range(long) match {
      case Bounds.TextRange(min, max, _) =>
        assert(java.util.Arrays.compareUnsigned(min, long) <= 0 && java.util.Arrays.compareUnsigned(max, long) >= 0)
      case other => fail(other.toString)
    }
    range(Array.fill[Byte](80)(-1)) match {
      case Bounds.TextRange(_, max, _) => assert(max === null)
      case other                       => fail(other.toString)
    }
    // Parquet writes no bounds of more than 4,096 bytes together.
    assert(range(("y" * 5000).getBytes) === Bounds.Unknown)
  }

  test("days and times of before the calendars agree have no lower bound") {
    val schema = "message m { required int32 day (DATE); required int64 ts (TIMESTAMP(MICROS,true)); }"
    def bounds(days: Seq[Int], micros: Seq[Long]): (Bounds, Bounds) = {
      val rows = days.zip(micros).map { case (d, m) => (g: Group) => { g.add("day", d); g.add("ts", m) } }
      val columns = of(write(schema, rows)).columns
      (columns("day").stats.bounds, columns("ts").stats.bounds)
    }
    bounds(Seq(-719162, 100), Seq(-62135596800000000L, 5L)) match {
      case (Bounds.LongRange(Long.MinValue, 100, false), Bounds.LongRange(Long.MinValue, 5, false)) => ()
      case other => fail(other.toString)
    }
    bounds(Seq(-719162, -719161), Seq(-62135596800000000L, -62135596700000000L)) match {
      case (Bounds.LongRange(_, day, _), Bounds.LongRange(_, micros, _)) =>
        assert(day >= -141427 && micros >= -2208988800000000L)
      case other => fail(other.toString)
    }
  }

  test("what a column holds besides is known: fields, in any case, and how far down they go") {
    val names = of(write(Schema, Seq.empty)).schema
    def present(parts: String*): Int = names.present(parts.toVector)
    assert(present("i") === 1 && present("I") === 1 && present("old") === 1 && present("list") === 1)
    assert(present("no") === 0 && present("s", "no") === 1 && present("S", "X") === 2 && present("list", "no") === 2)
  }
}

object FooterStatsSuite {
  final case class Row(l: Long, i: Int, d: Double, s: String)

  val Schema: String =
    """message m {
      |  optional int32 i; optional int64 l; optional boolean b; optional double d; optional float f;
      |  optional int32 day (DATE); optional int64 ts (TIMESTAMP(MILLIS,true)); optional int64 local (TIMESTAMP(MICROS,false));
      |  optional int32 small (DECIMAL(9,2)); optional int64 mid (DECIMAL(18,4)); optional fixed_len_byte_array(16) wide (DECIMAL(38,10));
      |  optional binary t (STRING); optional binary raw; optional int96 old; optional int32 unsigned (INTEGER(32,false));
      |  optional int64 time (TIME(MICROS,true));
      |  optional group s { optional int64 x; optional int64 p.q; }
      |  optional group list (LIST) { repeated group list { optional int64 element; } }
      |}""".stripMargin

  def wide(r: Row): BigInteger = BigInteger.valueOf(r.l).multiply(BigInteger.valueOf(r.i.toLong))

  def fill(row: Option[Row])(g: Group): Unit = row.foreach { r =>
    g.append("i", r.i).append("l", r.l).append("b", r.l > 0).append("d", r.d).append("f", r.d.toFloat)
    g.append("day", r.i).append("ts", r.i.toLong).append("local", r.i.toLong)
    g.append("small", r.i % 1000000000).append("mid", r.l % 1000000000000000000L)
    val bytes = new Array[Byte](16)
    val unscaled = wide(r).toByteArray
    java.util.Arrays.fill(bytes, (wide(r).signum >> 1).toByte)
    System.arraycopy(unscaled, 0, bytes, 16 - unscaled.length, unscaled.length)
    g.add("wide", Binary.fromConstantByteArray(bytes))
    g.append("t", r.s)
    g.add("raw", Binary.fromString(r.s))
    g.append("unsigned", r.i).append("time", r.i.toLong)
    g.addGroup("s").append("x", r.l).append("p.q", r.l)
    g.addGroup("list").addGroup("list").append("element", r.l): Unit
  }

  def texts(values: Seq[Array[Byte]], exact: Boolean): Bounds =
    if (values.isEmpty) Bounds.NoValues
    else {
      val sorted = values.sortWith(java.util.Arrays.compareUnsigned(_, _) < 0)
      TextBounds.of(sorted.head, sorted.last, exact)
    }

  def write(schema: String, rows: Seq[Group => Unit], rowGroupBytes: Long = 1L << 27): String =
    ParquetTables.write(
      schema,
      ParquetLayout(
        CompressionCodecName.UNCOMPRESSED,
        WriterVersion.PARQUET_1_0,
        dictionary = true,
        1 << 12,
        rowGroupBytes
      ),
      rows
    )

  def of(path: String): SourceStats = {
    val file = LocalStorage.open(path)
    try FooterStats.of(file)
    finally file.close()
  }

  /** As if another program had written it. */
  def createdBy(path: String, name: String): SourceStats = {
    val own = footerOf(path)
    val meta = new FileMetaData(own.getFileMetaData.getSchema, own.getFileMetaData.getKeyValueMetaData, name)
    FooterStats.of(new ParquetMetadata(meta, own.getBlocks))
  }

  def footerOf(path: String): ParquetMetadata = {
    val file =
      HadoopInputFile.fromPath(new org.apache.hadoop.fs.Path(path), new org.apache.hadoop.conf.Configuration(false))
    val reader = ParquetFileReader.open(file)
    try reader.getFooter
    finally reader.close()
  }
}
