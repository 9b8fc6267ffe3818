package hudiidx.hive

import hudiidx.parquet.{ParquetLayout, ParquetTables}
import hudiidx.parquet.StorageInputFile
import hudiidx.rows.{BatchRows, ParquetBatches, ValueType}
import hudiidx.storage.LocalStorage
import hudiidx.{DamagedTable, Fixtures, UnsupportedTable}
import java.nio.file.{Files, Paths}
import org.apache.parquet.column.ParquetProperties.WriterVersion
import org.apache.parquet.example.data.Group
import org.apache.parquet.hadoop.metadata.CompressionCodecName
import org.apache.parquet.io.api.Binary
import org.apache.spark.sql.Row

/** Parquet's types and its older forms of lists are read as Spark reads them. */
final class ParquetRowsSuite extends HiveSuite {
  private val layout =
    ParquetLayout(CompressionCodecName.GZIP, WriterVersion.PARQUET_1_0, dictionary = true, 512, 1 << 20)

  private def write(schema: String, rows: (Group => Unit)*): String = ParquetTables.write(schema, layout, rows)

  private def open(file: String, wanted: ValueType.Struct): ParquetBatches =
    new ParquetBatches(new StorageInputFile(LocalStorage, file), file, wanted, floatsByText = true, None)

  private def texts(file: String, columns: (String, ValueType)*): Vector[String] = {
    val wanted = ValueType.Struct(columns.toVector.map { case (n, t) => ValueType.Field(n, t) })
    BatchRows.all(open(file, wanted)).map(r => show(r, wanted))
  }

  private def show(value: Any, of: ValueType): String = (value, of) match {
    case (null, _)                                   => "null"
    case (all: Array[Any], ValueType.Struct(fields)) =>
      all.zip(fields).map { case (v, f) => show(v, f.valueType) }.mkString("[", ",", "]")
    case (all: Array[Any], ValueType.Items(element)) => all.map(show(_, element)).mkString("(", ", ", ")")
    case (all: Array[Any], ValueType.Entries(k, v))  =>
      all.map { case pair: Array[Any] => s"${show(pair(0), k)} -> ${show(pair(1), v)}" }.mkString("{", ", ", "}")
    case (bytes: Array[Byte], ValueType.Text) => new String(bytes, "UTF-8")
    case (bytes: Array[Byte], _)              => bytes.mkString("x", "", "")
    case (other, _)                           => other.toString
  }

  private def sparks(file: String): Vector[String] = spark.read.parquet(file).collect().map(showSpark).toVector

  private def showSpark(value: Any): String = value match {
    case null                            => "null"
    case row: Row                        => row.toSeq.map(showSpark).mkString("[", ",", "]")
    case all: Seq[_]                     => all.map(showSpark).mkString("(", ", ", ")")
    case map: scala.collection.Map[_, _] =>
      map.map { case (k, v) => s"${showSpark(k)} -> ${showSpark(v)}" }.mkString("{", ", ", "}")
    case bytes: Array[Byte]       => bytes.mkString("x", "", "")
    case date: java.sql.Date      => date.toLocalDate.toEpochDay.toString
    case time: java.sql.Timestamp => (time.getTime * 1000 + time.getNanos / 1000 % 1000).toString
    case other                    => other.toString
  }

  test("numbers, texts, decimals, dates and timestamps in every form that they are stored in") {
    val file = write(
      """message t { optional boolean b; optional int32 i; optional int64 l; optional float f; optional double d;
        | optional binary s (UTF8); optional binary raw; optional int32 day (DATE); optional int64 micros (TIMESTAMP_MICROS);
        | optional int64 millis (TIMESTAMP_MILLIS); optional int96 old; optional int32 d9 (DECIMAL(9,2)); optional int64 d18 (DECIMAL(18,3));
        | optional binary d38 (DECIMAL(38,10)); optional fixed_len_byte_array(5) fixed (DECIMAL(10,1)); }""".stripMargin,
      g => {
        g.append("b", true)
          .append("i", -5)
          .append("l", 1L << 40)
          .append("f", 1.5f)
          .append("d", -2.25)
          .append("s", "ä😀")
        g.append("raw", Binary.fromConstantByteArray(Array[Byte](0, -1))).append("day", -1).append("micros", -1500000L)
        g.append("millis", 1700000000123L).append("d9", -12345).append("d18", 123456789L)
        g.append("old", Binary.fromConstantByteArray(int96(1700000000L, 250000000L)))
        g.append("d38", Binary.fromConstantByteArray(BigInt("12345678901234567890").toByteArray))
        g.append("fixed", Binary.fromConstantByteArray(Array[Byte](-1, -1, -1, -1, -3))): Unit
      },
      _ => ()
    )
    val utc = ValueType.Timestamp(millis = false, local = false)
    val found = texts(
      file,
      "b" -> ValueType.Bool,
      "i" -> ValueType.Int32,
      "l" -> ValueType.Int64,
      "f" -> ValueType.Float32,
      "d" -> ValueType.Float64,
      "s" -> ValueType.Text,
      "raw" -> ValueType.Binary,
      "day" -> ValueType.Date,
      "micros" -> utc,
      "millis" -> utc,
      "old" -> utc,
      "d9" -> ValueType.Decimal(9, 2),
      "d18" -> ValueType.Decimal(18, 3),
      "d38" -> ValueType.Decimal(38, 10),
      "fixed" -> ValueType.Decimal(10, 1)
    )
    assert(found === sparks(file))
  }

  private def int96(seconds: Long, nanos: Long): Array[Byte] = {
    val bytes = java.nio.ByteBuffer.allocate(12).order(java.nio.ByteOrder.LITTLE_ENDIAN)
    bytes.putLong(seconds % 86400 * 1000000000L + nanos).putInt((seconds / 86400 + 2440588).toInt).array
  }

  test("lists of one, two and three levels, maps, and nulls and emptiness at each") {
    val file = write(
      """message t {
        | optional group two (LIST) { repeated int32 array; }
        | optional group tuple (LIST) { repeated group array { optional int32 x; } }
        | optional group pairs (LIST) { repeated group pairs_tuple { optional int32 x; optional binary y (UTF8); } }
        | optional group three (LIST) { repeated group list { optional int32 element; } }
        | optional group nested (LIST) { repeated group list { optional group element (LIST) { repeated group list { optional int64 element; } } } }
        | optional group m (MAP) { repeated group key_value { required binary key (UTF8); optional double value; } }
        | optional group s { optional int32 a; optional group b { optional int32 c; } }
        |}""".stripMargin,
      g => {
        g.addGroup("two").append("array", 1).append("array", 2)
        g.addGroup("tuple").addGroup("array").append("x", 3)
        g.getGroup("tuple", 0).addGroup("array")
        g.addGroup("pairs").addGroup("pairs_tuple").append("x", 4).append("y", "four")
        val three = g.addGroup("three")
        three.addGroup("list").append("element", 5)
        three.addGroup("list")
        val nested = g.addGroup("nested")
        nested.addGroup("list").addGroup("element").addGroup("list").append("element", 6L)
        nested.addGroup("list").addGroup("element")
        nested.addGroup("list")
        nested.addGroup("list").addGroup("element").addGroup("list").append("element", 7L)
        g.addGroup("m").addGroup("key_value").append("key", "k").append("value", 0.5)
        g.getGroup("m", 0).addGroup("key_value").append("key", "n")
        g.addGroup("s").addGroup("b").append("c", 8): Unit
      },
      g => Vector("two", "tuple", "pairs", "three", "nested", "m", "s").foreach(g.addGroup),
      _ => ()
    )
    val x = ValueType.Field("x", ValueType.Int32)
    val found = texts(
      file,
      "two" -> ValueType.Items(ValueType.Int32),
      "tuple" -> ValueType.Items(ValueType.Struct(Vector(x))),
      "pairs" -> ValueType.Items(ValueType.Struct(Vector(x, ValueType.Field("y", ValueType.Text)))),
      "three" -> ValueType.Items(ValueType.Int32),
      "nested" -> ValueType.Items(ValueType.Items(ValueType.Int64)),
      "m" -> ValueType.Entries(ValueType.Text, ValueType.Float64),
      "s" -> ValueType.Struct(
        Vector(
          ValueType.Field("a", ValueType.Int32),
          ValueType.Field("b", ValueType.Struct(Vector(ValueType.Field("c", ValueType.Int32))))
        )
      )
    )
    assert(found === sparks(file))
  }

  test("columns are found by name in any case, in any order; absent ones and absent fields are null") {
    val file = write(
      "message t { required int32 A; required int32 b; optional group S { required int32 Y; } }",
      g => g.append("A", 1).append("b", 2).addGroup("S").append("Y", 3): Unit
    )
    val s = ValueType.Struct(Vector(ValueType.Field("x", ValueType.Text), ValueType.Field("y", ValueType.Int64)))
    assert(
      texts(file, "S" -> s, "c" -> ValueType.Text, "B" -> ValueType.Int64, "a" -> ValueType.Text) === Vector(
        "[[null,3],null,2,1]"
      )
    )
    assert(texts(file) === Vector("[]"))
  }

  test("what is no Parquet, cut or of a form that Hudi does not write is an error that names the file") {
    val file =
      write("message t { required int64 n; }", (0 until 100).map(i => (g: Group) => g.append("n", i.toLong): Unit): _*)
    val bytes = Files.readAllBytes(Paths.get(file))
    val wanted = ValueType.Struct(Vector(ValueType.Field("n", ValueType.Int64)))
    (0 until bytes.length by 7).foreach { length =>
      val cut = Fixtures.newFolder("cut").resolve("cut.parquet")
      Files.write(cut, bytes.take(length))
      assert(intercept[DamagedTable](open(cut.toString, wanted)).getMessage.contains(cut.toString))
    }
    val repeated = write("message t { repeated int32 n; }", g => g.append("n", 1): Unit)
    assert(intercept[UnsupportedTable](open(repeated, wanted)).getMessage.contains(repeated))
  }
}
