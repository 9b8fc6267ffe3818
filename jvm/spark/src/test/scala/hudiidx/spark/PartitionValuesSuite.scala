package hudiidx.spark

import hudiidx.spark.pinned.PartitionValues
import hudiidx.table.{PartitionReading, PartitionRule, TableConfig}
import org.apache.spark.sql.types._
import org.apache.spark.unsafe.types.UTF8String
import org.scalatest.funsuite.AnyFunSuite

final class PartitionValuesSuite extends AnyFunSuite {
  private def text(value: String): UTF8String = UTF8String.fromString(value)

  private def values(columns: Seq[(String, DataType)], properties: (String, String)*): PartitionValues =
    read(PartitionReading(), columns, properties: _*)

  private def read(
      reading: PartitionReading,
      columns: Seq[(String, DataType)],
      properties: (String, String)*
  ): PartitionValues = {
    val all = Map(
      "hoodie.table.version" -> "9",
      "hoodie.table.name" -> "t",
      "hoodie.table.partition.fields" -> columns.map(_._1).mkString(",")
    ) ++ properties.toMap
    val rule = PartitionRule(TableConfig.of("t/hoodie.properties", all), reading)
    new PartitionValues(rule, columns.map { case (n, t) => StructField(n, t) }.toVector, "UTC")
  }

  private val simple = "hoodie.table.keygenerator.type" -> "SIMPLE"
  private val hive = "hoodie.datasource.write.hive_style_partitioning" -> "true"
  private val encoded = "hoodie.datasource.write.partitionpath.urlencode" -> "true"

  test("plain, hive-style and encoded paths give the column's value") {
    assert(values(Seq("c" -> StringType), simple).of("oslo") === Vector(Some(text("oslo"))))
    assert(values(Seq("c" -> IntegerType), simple, hive).of("c=7") === Vector(Some(7)))
    assert(values(Seq("c" -> StringType), simple, encoded).of("a%2Fb%3d") === Vector(Some(text("a/b="))))
    val two = values(Seq("a" -> LongType, "b" -> DateType), "hoodie.table.keygenerator.type" -> "COMPLEX", hive)
    assert(two.of("a=-5/b=1970-01-03") === Vector(Some(-5L), Some(2)))
  }

  test("a single column owns a path of several levels") {
    assert(values(Seq("c" -> StringType), simple).of("2026/11/20") === Vector(Some(text("2026/11/20"))))
  }

  test("the folder of nulls holds nulls") {
    assert(values(Seq("c" -> StringType), simple).of("__HIVE_DEFAULT_PARTITION__") === Vector(Some(null)))
    assert(values(Seq("c" -> IntegerType), simple, hive).named("c=__HIVE_DEFAULT_PARTITION__") === Map("c" -> null))
  }

  test("the old name of the folder of nulls decides nothing, it may be a value too") {
    assert(values(Seq("c" -> StringType), simple).of("default") === Vector(None))
  }

  test("a path that cannot be split, read, or named tells nothing") {
    val two = values(Seq("a" -> StringType, "b" -> StringType), "hoodie.table.keygenerator.type" -> "COMPLEX")
    assert(two.of("x/y/z") === Vector(None, None))
    assert(values(Seq("c" -> IntegerType), simple).of("seven") === Vector(None))
    assert(values(Seq("c" -> DateType), simple).of("19000") === Vector(None))
    assert(values(Seq("c" -> TimestampType), simple).of("2026-11-20 00:00:00") === Vector(None))
    assert(values(Seq("c" -> StringType), simple, hive).of("d=1") === Vector(None))
  }

  test("what a timestamp key generator wrote is not the column's value") {
    val generators = Seq(
      "TIMESTAMP",
      "TIMESTAMP_AVRO",
      "USER_PROVIDED",
      "org.apache.hudi.keygen.TimestampBasedKeyGenerator",
      "com.acme.Mine"
    )
    generators.foreach { g =>
      assert(values(Seq("c" -> StringType), "hoodie.table.keygenerator.type" -> g).of("2026") === Vector(None), g)
    }
    val names =
      Seq("SIMPLE_AVRO", "org.apache.hudi.keygen.SimpleAvroKeyGenerator", "org.apache.hudi.keygen.ComplexKeyGenerator")
    names.foreach { g =>
      assert(values(Seq("c" -> StringType), "hoodie.table.keygenerator.type" -> g).of("2026").head.isDefined, g)
    }
  }

  test("texts that numbers and decimals have decide their values") {
    assert(values(Seq("c" -> DoubleType), simple).of("1.0E10") === Vector(Some(1e10)))
    assert(values(Seq("c" -> DoubleType), simple).of("-0.5") === Vector(Some(-0.5)))
    assert(values(Seq("c" -> DoubleType), simple).of("1d") === Vector(None))
    assert(values(Seq("c" -> DecimalType(6, 2)), simple).of("1.50") === Vector(Some(Decimal(150L, 6, 2))))
    assert(values(Seq("c" -> BooleanType), simple).of("true") === Vector(Some(true)))
    assert(values(Seq("c" -> BooleanType), simple).of("yes") === Vector(None))
    assert(values(Seq("c" -> LongType), simple).of("9999999999999999999") === Vector(None))
  }

  test("columns that files do not hold have the path's value, null where it cannot be read") {
    val dropped = "hoodie.datasource.write.drop.partition.columns" -> "true"
    val complex = "hoodie.table.keygenerator.type" -> "COMPLEX"
    val two = values(Seq("a" -> IntegerType, "b" -> StringType), complex, hive, dropped)
    assert(two.of("a=3/b=__HIVE_DEFAULT_PARTITION__") === Vector(Some(3), Some(null)))
    assert(two.of("a=x/b=default") === Vector(Some(null), Some(text("default"))))
    assert(two.of("a=3") === Vector(Some(null), Some(null)))
    val timed = "hoodie.table.keygenerator.type" -> "TIMESTAMP"
    assert(read(PartitionReading(fromPaths = true), Seq("c" -> LongType), timed).of("2026") === Vector(Some(2026L)))
  }

  test("a decimal in a path takes no time, whatever exponent its text has") {
    val dropped = "hoodie.datasource.write.drop.partition.columns" -> "true"
    val amounts = values(Seq("c" -> DecimalType(6, 2)), simple, dropped)
    assert(amounts.of(" 1.505 ") === Vector(Some(Decimal(151L, 6, 2))))
    assert(amounts.of("1E-2000000000") === Vector(Some(Decimal(0L, 6, 2))))
    assert(amounts.of("1E2000000000") === Vector(Some(null)))
    assert(amounts.of("12345") === Vector(Some(null)))
  }

  test("a column that orders records has the files' value, where stock reads it from them") {
    val c = Seq("c" -> StringType)
    val ordered = Seq(simple, "hoodie.table.ordering.fields" -> "c", "hoodie.table.precombine.field" -> "c")
    val merged = ordered :+ ("hoodie.table.type" -> "MERGE_ON_READ")
    def known(reading: PartitionReading, version: String, properties: Seq[(String, String)]) =
      read(reading, c, properties :+ ("hoodie.table.version" -> version): _*).of("oslo").head.isDefined
    assert(!known(PartitionReading(), "9", ordered) && !known(PartitionReading(), "8", ordered))
    assert(known(PartitionReading(), "6", ordered))
    assert(!known(PartitionReading(baseFilesOnly = true), "9", merged))
    assert(known(PartitionReading(baseFilesOnly = true), "8", merged))
  }

  test("incremental reads of version 6 take no value from paths, but of columns that files do not hold") {
    val rows = PartitionReading(incremental = true)
    val six = "hoodie.table.version" -> "6"
    val dropped = "hoodie.datasource.write.drop.partition.columns" -> "true"
    assert(read(rows, Seq("c" -> StringType), simple, six).of("oslo") === Vector(None))
    assert(read(rows, Seq("c" -> StringType), simple, six, dropped).of("oslo") === Vector(Some(text("oslo"))))
    assert(read(rows, Seq("c" -> StringType), simple).of("oslo") === Vector(Some(text("oslo"))))
  }
}
