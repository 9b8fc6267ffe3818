package hudiidx.parquet

import java.io.IOException
import java.math.{BigDecimal, BigInteger}
import java.nio.charset.StandardCharsets.UTF_8
import java.nio.file.{Files, Paths}
import java.time.LocalDate

import hudiidx.log.RecordKeyForm
import hudiidx.storage.LocalStorage
import hudiidx.{DamagedTable, Fixtures, UnsupportedTable}
import org.apache.parquet.column.ParquetProperties.WriterVersion
import org.apache.parquet.example.data.Group
import org.apache.parquet.hadoop.metadata.CompressionCodecName
import org.apache.parquet.io.api.Binary
import org.scalacheck.Gen
import org.scalatest.funsuite.AnyFunSuite
import org.scalatestplus.scalacheck.ScalaCheckPropertyChecks

/** Values of one row of many types. */
private final case class TypedRow(
    s: String,
    n: Long,
    x: Double,
    unscaled: BigInteger,
    raw: Vector[Byte],
    nested: Option[String]
)

/** Keys read from base files against what was written, whatever the layout. */
class BaseFileKeysSuite extends AnyFunSuite with ScalaCheckPropertyChecks {
  implicit override val generatorDrivenConfig: PropertyCheckConfiguration =
    PropertyCheckConfiguration(minSuccessful = 25)

  private val stored = KeyColumns(None, storedKeys = true, commitTimes = true)
  private val metaSchema =
    "message m { optional binary _hoodie_commit_time (STRING); optional binary _hoodie_record_key (STRING); " +
      "optional int64 n; }"

  private val layouts: Gen[ParquetLayout] = for {
    codec <- Gen.oneOf(CompressionCodecName.GZIP, CompressionCodecName.UNCOMPRESSED, CompressionCodecName.ZSTD)
    version <- Gen.oneOf(WriterVersion.values.toSeq)
    dictionary <- Gen.oneOf(true, false)
    page <- Gen.oneOf(64, 300, 1 << 20)
    group <- Gen.oneOf(1000L, 128L << 20)
  } yield ParquetLayout(codec, version, dictionary, page, group)

  private val plain =
    ParquetLayout(CompressionCodecName.GZIP, WriterVersion.PARQUET_1_0, dictionary = false, 1 << 20, 1 << 20)

  private val keys: Gen[String] = Gen.oneOf(
    Gen.choose(0, 9).map(n => s"k$n"),
    Gen.uuid.map(_.toString),
    Gen.alphaNumStr,
    Gen.listOf(Gen.oneOf("é€😀\u0000,".codePoints.toArray.toSeq)).map(p => new String(p.toArray, 0, p.size)),
    Gen.choose(300, 900).map("x" * _)
  )

  private def textOf(rows: KeyRows): String = new String(rows.bytes, rows.from, rows.length, UTF_8)

  private def read[A](file: String, columns: KeyColumns, groups: BaseFileKeys => Seq[Int])(
      row: KeyRows => A
  ): Vector[A] = {
    val open = BaseFileKeys.open(LocalStorage, file, columns)
    try {
      val rows = open.read(groups(open))
      val found = Vector.newBuilder[A]
      while (rows.next()) found += row(rows)
      rows.close()
      found.result()
    } finally open.close()
  }

  private def all(open: BaseFileKeys): Seq[Int] = open.rowGroups.map(_.ordinal)

  test("keys, commit times and row numbers are those written, in any encoding, page and row group") {
    val instants = Gen.oneOf("20240101000000000", "20240229123000000", "00000000000001", null)
    forAll(layouts, Gen.listOf(Gen.zip(instants, keys))) { (layout, written) =>
      val file = ParquetTables.write(
        metaSchema,
        layout,
        written.map { case (time, key) =>
          (row: Group) => {
            if (time != null) row.append("_hoodie_commit_time", time)
            row.append("_hoodie_record_key", key): Unit
          }
        }
      )
      val expected = written.toVector.zipWithIndex.map { case ((time, key), i) => (key, time, i.toLong) }
      assert(read(file, stored, all)(r => (textOf(r), r.commitTime, r.row)) === expected)
      val days = read(file, stored, all)(_.commitDay)
      assert(days === written.toVector.map { case (time, _) =>
        if (time == null || time.startsWith("0")) 0
        else
          LocalDate.parse(s"${time.substring(0, 4)}-${time.substring(4, 6)}-${time.substring(6, 8)}").toEpochDay.toInt
      })
    }
  }

  test("row groups are splits: each read alone gives its rows, and together they are the file") {
    val rows = (0 until 3000).map(i => (row: Group) => { row.append("_hoodie_record_key", f"key-$i%08d"): Unit })
    val file = ParquetTables.write(metaSchema, plain.copy(rowGroupBytes = 4000), rows)
    val open = BaseFileKeys.open(LocalStorage, file, stored)
    val groups = open.rowGroups
    open.close()
    assert(groups.size > 3 && groups.map(_.rows).sum === 3000)
    assert(groups.forall(g => g.keyBytes >= g.rows * 16 && g.sizeBytes > 0 && g.offset > 0))
    val parts = groups.map(g => read(file, stored, _ => Seq(g.ordinal))(r => (textOf(r), r.row)))
    assert(parts.map(_.size.toLong) === groups.map(_.rows))
    assert(parts.flatten === (0 until 3000).map(i => (f"key-$i%08d", i.toLong)))
  }

  test("rows of given instants alone are found, with and without a dictionary") {
    forAll(layouts, Gen.choose(0, 300).flatMap(Gen.listOfN(_, Gen.choose(0, 4)))) { (layout, times) =>
      val rows = times.zipWithIndex.map { case (t, i) =>
        (row: Group) => {
          row.append("_hoodie_commit_time", s"2024010100000000$t").append("_hoodie_record_key", s"k$i"): Unit
        }
      }
      val file = ParquetTables.write(metaSchema, layout, rows)
      val wanted = Set("20240101000000001", "20240101000000003")
      val open = BaseFileKeys.open(LocalStorage, file, stored)
      val found = Vector.newBuilder[String]
      val read = open.read()
      while (read.nextOf(wanted)) found += textOf(read)
      open.close()
      assert(found.result() === times.zipWithIndex.collect { case (t, i) if t == 1 || t == 3 => s"k$i" })
    }
  }

  private val typed =
    """message m {
      |  optional binary _hoodie_record_key (STRING);
      |  optional binary s (STRING); optional int32 i; optional int64 l; optional float f; optional double d;
      |  optional boolean b; optional int32 day (DATE); optional int64 ms (TIMESTAMP(MILLIS,true));
      |  optional int64 us (TIMESTAMP(MICROS,true)); optional int32 d9 (DECIMAL(9,2)); optional int64 d18 (DECIMAL(18,9));
      |  optional fixed_len_byte_array(9) d20 (DECIMAL(20,3)); optional binary raw;
      |  optional group g { optional group h { optional binary s (STRING); } }
      |}""".stripMargin

  private val typedRows: Gen[TypedRow] = for {
    s <- Gen.oneOf(Gen.const(null), Gen.const(""), Gen.alphaNumStr)
    n <- Gen.oneOf(Gen.long, Gen.choose(-5L, 5L))
    x <- Gen.oneOf(Gen.double, Gen.oneOf(1e10, 1e-7, -0.0, Double.NaN))
    u <- Gen.choose(-999999999999999999L, 999999999999999999L)
    raw <- Gen.listOf(Gen.choose(-128, 127).map(_.toByte))
    nested <- Gen.option(Gen.alphaStr)
  } yield TypedRow(s, n, x, BigInteger.valueOf(u), raw.toVector, nested)

  private def fixed(value: BigInteger, size: Int): Array[Byte] = {
    val bytes = value.toByteArray
    Array.fill[Byte](size - bytes.length)(if (value.signum < 0) -1 else 0) ++ bytes
  }

  private def fill(r: TypedRow)(row: Group): Unit = {
    if (r.s != null) row.append("s", r.s)
    row.append("i", r.n.toInt).append("l", r.n).append("f", r.x.toFloat).append("d", r.x).append("b", r.n > 0)
    row.append("day", (r.n % 100000).toInt).append("ms", r.n).append("us", r.n)
    row.append("d9", (r.n % 999999999).toInt).append("d18", r.unscaled.longValue)
    row.append("d20", Binary.fromConstantByteArray(fixed(r.unscaled, 9)))
    row.append("raw", Binary.fromConstantByteArray(r.raw.toArray))
    r.nested.foreach(s => row.addGroup("g").addGroup("h").append("s", s))
  }

  private def expectedKey(r: TypedRow): String = {
    def orWord(s: String) = if (s == null) "__null__" else if (s.isEmpty) "__empty__" else s
    Vector(
      "s" -> orWord(r.s),
      "i" -> r.n.toInt.toString,
      "l" -> r.n.toString,
      "f" -> r.x.toFloat.toString,
      "d" -> r.x.toString,
      "b" -> (r.n > 0).toString,
      "day" -> LocalDate.ofEpochDay((r.n % 100000).toInt.toLong).toString,
      "ms" -> r.n.toString,
      "us" -> r.n.toString,
      "d9" -> BigDecimal.valueOf((r.n % 999999999).toInt.toLong, 2).toString,
      "d18" -> new BigDecimal(r.unscaled, 9).toString,
      "d20" -> new BigDecimal(r.unscaled, 3).toString,
      "raw" -> orWord(r.raw.map(b => f"$b%02x").mkString),
      "g.h.s" -> orWord(r.nested.orNull)
    ).map { case (name, value) => s"$name:$value" }.mkString(",")
  }

  test("keys are made from fields of any type where none is stored, and a stored key goes first") {
    val fields = Vector("s", "i", "l", "f", "d", "b", "day", "ms", "us", "d9", "d18", "d20", "raw", "g.h.s")
    val columns = KeyColumns(Some(RecordKeyForm(fields, named = true, timestamps = false)), storedKeys = false)
    forAll(layouts, Gen.listOf(Gen.zip(typedRows, Gen.oneOf(true, false, false)))) { (layout, rows) =>
      val file = ParquetTables.write(
        typed,
        layout,
        rows.map { case (r, hasKey) =>
          (row: Group) => {
            if (hasKey) row.append("_hoodie_record_key", "stored")
            fill(r)(row)
          }
        }
      )
      assert(read(file, columns, all)(textOf) === rows.map { case (r, hasKey) =>
        if (hasKey) "stored" else expectedKey(r)
      })
    }
  }

  test("a dictionary that says it has more values than its bytes can hold is refused before memory is asked for") {
    for (size <- Seq(3, Int.MaxValue - 8, Int.MaxValue, -1))
      assert(intercept[IOException](new BytesDictionary(new Array[Byte](8), size)).getMessage.contains(s"$size"))
    assert(new BytesDictionary(new Array[Byte](8), 2).size === 2)
  }

  test("what cannot be read is a typed error that names the file") {
    val one = Seq((row: Group) => { row.append("n", 1L): Unit })
    val file = ParquetTables.write(metaSchema, plain, one)
    val noKey = intercept[DamagedTable](read(file, stored, all)(textOf))
    assert(noKey.getMessage.contains(file) && noKey.getMessage.contains("hoodie.table.recordkey.fields"))
    val wrongField =
      KeyColumns(Some(RecordKeyForm(Vector("absent"), named = false, timestamps = false)), storedKeys = false)
    assert(intercept[DamagedTable](read(file, wrongField, all)(textOf)).getMessage.contains("no column absent"))
    val nullField =
      wrongField.copy(form = Some(RecordKeyForm(Vector("_hoodie_commit_time"), named = false, timestamps = false)))
    assert(intercept[DamagedTable](read(file, nullField, all)(textOf)).getMessage.contains("row 0 has no record key"))
    assert(
      intercept[UnsupportedTable](BaseFileKeys.open(LocalStorage, "/x/f_1_2.orc", stored)).getMessage.contains(".orc")
    )
    intercept[DamagedTable](BaseFileKeys.open(LocalStorage, "/no/such/f_1_2.parquet", stored))
  }

  test("a file with any byte changed gives its keys or a typed error, never another exception") {
    val rows = (0 until 200).map(i => (row: Group) => { row.append("_hoodie_record_key", s"key-${i % 40}"): Unit })
    for (version <- WriterVersion.values) {
      val good = Files.readAllBytes(
        Paths.get(
          ParquetTables.write(
            metaSchema,
            plain.copy(dictionary = true, version = version, codec = CompressionCodecName.UNCOMPRESSED),
            rows
          )
        )
      )
      val file = Fixtures.newFolder("flipped").resolve("f_1-0-1_1.parquet")
      for (at <- good.indices by 7) {
        val bad = good.clone()
        bad(at) = (bad(at) ^ 0x55).toByte
        Files.write(file, bad)
        try read(file.toString, stored, all)(textOf): Unit
        catch { case _: DamagedTable => () }
      }
    }
  }
}
