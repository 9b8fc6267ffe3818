package hudiidx.spark

import hudiidx.table.TableConfig
import org.apache.spark.sql.types._
import org.apache.spark.unsafe.types.UTF8String
import org.scalatest.funsuite.AnyFunSuite

final class PartitionValuesSuite extends AnyFunSuite {
  private def text(value: String): UTF8String = UTF8String.fromString(value)

  private def values(columns: Seq[(String, DataType)], properties: (String, String)*): PartitionValues = {
    val all = Map("hoodie.table.version" -> "9", "hoodie.table.name" -> "t") ++ properties.toMap +
      ("hoodie.table.partition.fields" -> columns.map(_._1).mkString(","))
    val config = TableConfig.of("t/hoodie.properties", all)
    new PartitionValues(config, columns.map { case (n, t) => StructField(n, t) }.toVector, "UTC")
  }

  private val simple = "hoodie.table.keygenerator.type" -> "SIMPLE"
  private val hive = "hoodie.datasource.write.hive_style_partitioning" -> "true"
  private val encoded = "hoodie.datasource.write.partitionpath.urlencode" -> "true"

  test("plain, hive-style and encoded paths give the column's value") {
    assert(values(Seq("c" -> StringType), simple).possible("oslo") === Vector(Some(Vector(text("oslo")))))
    assert(values(Seq("c" -> IntegerType), simple, hive).possible("c=7") === Vector(Some(Vector(7))))
    assert(values(Seq("c" -> StringType), simple, encoded).possible("a%2Fb%3d") === Vector(Some(Vector(text("a/b=")))))
    val two = values(Seq("a" -> LongType, "b" -> DateType), "hoodie.table.keygenerator.type" -> "COMPLEX", hive)
    assert(two.possible("a=-5/b=1970-01-03") === Vector(Some(Vector(-5L)), Some(Vector(2))))
  }

  test("a single column owns a path of several levels") {
    assert(values(Seq("c" -> StringType), simple).possible("2026/11/20") === Vector(Some(Vector(text("2026/11/20")))))
  }

  test("the folder of nulls holds nulls") {
    assert(values(Seq("c" -> StringType), simple).possible("__HIVE_DEFAULT_PARTITION__") === Vector(Some(Vector(null))))
    assert(values(Seq("c" -> IntegerType), simple, hive).nulls("c=__HIVE_DEFAULT_PARTITION__") === Vector("c"))
    assert(values(Seq("c" -> StringType), simple).nulls("oslo") === Vector.empty)
  }

  test("the old name of the folder of nulls may be a value too") {
    val found = values(Seq("c" -> StringType), simple).possible("default").head.get
    assert(found.contains(null) && found.contains(text("default")))
  }

  test("a path that cannot be split, read, or named tells nothing") {
    val two = values(Seq("a" -> StringType, "b" -> StringType), "hoodie.table.keygenerator.type" -> "COMPLEX")
    assert(two.possible("x/y/z") === Vector(None, None))
    assert(values(Seq("c" -> IntegerType), simple).possible("seven") === Vector(None))
    assert(values(Seq("c" -> DateType), simple).possible("19000") === Vector(None))
    assert(values(Seq("c" -> TimestampType), simple).possible("2026-11-20 00:00:00") === Vector(None))
    assert(values(Seq("c" -> StringType), simple, hive).possible("d=1") === Vector(None))
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
      assert(values(Seq("c" -> StringType), "hoodie.table.keygenerator.type" -> g).possible("2026") === Vector(None), g)
    }
    val names =
      Seq("SIMPLE_AVRO", "org.apache.hudi.keygen.SimpleAvroKeyGenerator", "org.apache.hudi.keygen.ComplexKeyGenerator")
    names.foreach { g =>
      assert(values(Seq("c" -> StringType), "hoodie.table.keygenerator.type" -> g).possible("2026").head.isDefined, g)
    }
  }

  test("columns that files do not hold are rebuilt with their types") {
    val two = values(Seq("a" -> IntegerType, "b" -> StringType), "hoodie.table.keygenerator.type" -> "COMPLEX", hive)
    assert(two.rebuilt("a=3/b=__HIVE_DEFAULT_PARTITION__") === Vector(3, null))
  }
}
