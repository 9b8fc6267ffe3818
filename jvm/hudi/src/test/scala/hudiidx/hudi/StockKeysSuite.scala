package hudiidx.hudi

import scala.util.Try

import hudiidx.TableFormats
import hudiidx.log.KeyValueKind
import hudiidx.spark.read.RecordKeyFilter
import hudiidx.spark.read.{KeyColumnsOf, KeyReader}
import hudiidx.table.{KeyGenerator => OwnGenerator, KeyTexts, TableConfig}
import org.apache.hudi.AvroConversionUtils
import org.apache.hudi.common.config.TypedProperties
import org.apache.hudi.keygen.constant.KeyGeneratorType
import org.apache.hudi.keygen.{BaseKeyGenerator, SparkKeyGeneratorInterface}
import org.apache.spark.sql.catalyst.{CatalystTypeConverters, InternalRow}
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.expressions.{GenericRowWithSchema => RowOf}
import org.apache.spark.sql.types._
import org.apache.spark.unsafe.types.UTF8String
import org.scalatest.funsuite.AnyFunSuite

/** The texts that hudiidx makes of values are those of stock Hudi's own generators, by each way that a row takes: as an Avro
  * record (insert, upsert, delete), as Spark's inner row (bulk_insert, Spark's record mergers), and as an outer one.
  */
class StockKeysSuite extends AnyFunSuite {
  import StockKeysSuite._

  private val known = KeyGeneratorType.values.toVector.filter(t => OwnGenerator.named(t.getClassName).isDefined)

  test("every type of stock Hudi's stands on the list under its class, or is not known by either name") {
    val types = KeyGeneratorType.values.toVector
    types.foreach(t => assert(OwnGenerator.named(t.name) === OwnGenerator.named(t.getClassName), t.name))
    assert(known.map(_.name).toSet === OwnGenerator.All.flatMap(g => Seq(g.kind, g.kind + "_AVRO")).toSet)
    assert(
      types.filterNot(known.contains).map(_.name).toSet === Set(
        "AUTO_RECORD",
        "AUTO_RECORD_AVRO",
        "HOODIE_TABLE_METADATA",
        "SPARK_SQL",
        "SPARK_SQL_UUID",
        "SPARK_SQL_MERGE_INTO",
        "USER_PROVIDED"
      )
    )
  }

  KeyGeneratorType.values.toVector.filter(t => OwnGenerator.named(t.getClassName).isDefined).foreach { generator =>
    test(s"${generator.name}: keys of one and of several fields, by every way, setting and table version") {
      var compared = 0
      for {
        version <- TableFormats.versions
        newEncoding <- Vector("true", "false")
        (dataType, values) <- Kinds
        value <- values
        (fields, second) <- Vector(
          (Vector("id"), "x"),
          (Vector("id", "oth"), "x"),
          (Vector("id", "oth"), ""),
          (Vector("id", "oth"), null)
        )
      } {
        val settings = Map("hoodie.write.complex.keygen.new.encoding" -> newEncoding)
        val row = OneRow(dataType, value, second)
        val stock = stockKeys(generator.getClassName, fields, version, settings, row)
        val ours = ownKeys(generator.getClassName, fields, version, settings, row)
        val told = s"${generator.name}, $fields, version $version, $settings, $dataType $value, '$second'"
        stock.foreach { case (way, key) => assert(ours.contains(key), s"$told, $way") }
        if (!OwnGenerator.named(generator.name).get.mayName && stock.nonEmpty && fields.size == 1)
          assert(ours -- stock.map(_._2) -- daysOf(row) === Set.empty, told)
        compared += stock.size
        filtered(generator.getClassName, fields, version, settings, row).foreach { keys =>
          stock.foreach { case (way, key) => assert(keys(key), s"a filter of $told, $way") }
        }
      }
      info(s"$compared keys compared")
      assert(compared > 100)
    }
  }

  test("timestamps and binaries have several texts: no key is made of them") {
    Vector[(DataType, Any)](
      TimestampType -> java.sql.Timestamp.valueOf("2024-01-01 12:34:56.789123"),
      BinaryType -> Array[Byte](65, 66)
    ).foreach { case (dataType, value) =>
      val row = OneRow(dataType, value, "x")
      val name = OwnGenerator.Package + "SimpleKeyGenerator"
      assert(stockKeys(name, Vector("id"), 9, Map.empty, row).map(_._2).toSet.size > 1, dataType)
      assert(KeyReader.kindOf(dataType).doubt.isDefined && filtered(name, Vector("id"), 9, Map.empty, row) === None)
    }
  }

  test("a class of one's own with a name of Hudi's makes no key filter, and the reason names it") {
    val row = OneRow(StringType, "5", "x")
    val why = filterOf("com.example.SimpleKeyGenerator", Vector("id"), 9, Map.empty, row).left.toOption.get
    assert(why.contains("com.example.SimpleKeyGenerator"))
  }
}

private object StockKeysSuite {

  val Kinds: Vector[(DataType, Vector[Any])] = Vector(
    StringType -> Vector("5", "a,b:c", "é 日", "__null__"),
    ByteType -> Vector(5.toByte),
    ShortType -> Vector((-5).toShort),
    IntegerType -> Vector(5, Int.MinValue),
    LongType -> Vector(5L, Long.MinValue),
    BooleanType -> Vector(true, false),
    DecimalType(10, 2) -> Vector(new java.math.BigDecimal("5.00"), new java.math.BigDecimal("-1.25")),
    DecimalType(38, 18) -> Vector(new java.math.BigDecimal("0E-18"), new java.math.BigDecimal("1.500000000000000000")),
    DateType -> Vector(java.sql.Date.valueOf("2024-01-02"), java.sql.Date.valueOf("1960-12-31"))
  )

  /** A row with the value in `id`, a second text in `oth` and a partition. */
  final case class OneRow(dataType: DataType, value: Any, second: String) {
    val schema: StructType = new StructType().add("id", dataType).add("oth", StringType).add("p", StringType)
    val outer = new RowOf(Array[Any](value, second, "p1"), schema)
    val inner: InternalRow =
      UnsafeProjection
        .create(schema)(CatalystTypeConverters.createToCatalystConverter(schema)(outer).asInstanceOf[InternalRow])
        .copy()
    val avro: org.apache.avro.generic.GenericRecord = {
      val avroSchema = AvroConversionUtils.convertStructTypeToAvroSchema(schema, "row", "hudiidx")
      AvroConversionUtils.createInternalRowToAvroConverter(schema, avroSchema, nullable = false)(inner)
    }
  }

  /** What stock's generator makes, by each way that it has; without those that it refuses. */
  def stockKeys(
      className: String,
      fields: Vector[String],
      version: Int,
      settings: Map[String, String],
      row: OneRow
  ): Vector[(String, String)] = {
    val properties = new TypedProperties
    val partition = if (className.contains("Nonpart")) "" else if (className.contains("Custom")) "p:SIMPLE" else "p"
    (settings ++ Map(
      "hoodie.datasource.write.recordkey.field" -> fields.mkString(","),
      "hoodie.datasource.write.partitionpath.field" -> partition,
      "hoodie.write.table.version" -> version.toString,
      "hoodie.keygen.timebased.timestamp.type" -> "EPOCHMILLISECONDS",
      "hoodie.keygen.timebased.output.dateformat" -> "yyyy"
    )).foreach { case (k, v) => properties.setProperty(k, v) }
    Try(Class.forName(className).getConstructor(classOf[TypedProperties]).newInstance(properties)).toOption.toVector
      .flatMap { made =>
        def avro = Vector("avro" -> Try(made.asInstanceOf[BaseKeyGenerator].getRecordKey(row.avro)))
        def spark = made match {
          case s: SparkKeyGeneratorInterface =>
            Vector(
              "outer row" -> Try(s.getRecordKey(row.outer)),
              "inner row" -> Try(s.getRecordKey(row.inner, row.schema).toString)
            )
          case _ => Vector.empty
        }
        (avro ++ spark).flatMap { case (way, key) => key.toOption.map(way -> _) }
      }
  }

  def config(className: String, fields: Vector[String], version: Int, settings: Map[String, String]): TableConfig =
    TableConfig.of(
      "hoodie.properties",
      settings ++ Map(
        "hoodie.table.version" -> version.toString,
        "hoodie.table.keygenerator.class" -> className,
        "hoodie.table.recordkey.fields" -> fields.mkString(",")
      )
    )

  /** As a row of a DataFrame is looked up. */
  def ownKeys(
      className: String,
      fields: Vector[String],
      version: Int,
      settings: Map[String, String],
      row: OneRow
  ): Set[String] = {
    val texts = KeyTexts.of(config(className, fields, version, settings)).toOption.get
    val columns = fields.map(f => BoundReference(row.schema.fieldIndex(f), row.schema(f).dataType, nullable = true))
    val kinds = fields.zip(columns.map(c => KeyReader.kindOf(c.dataType)))
    val forms = texts.of(kinds).fold(why => throw new IllegalStateException(why), identity)
    KeyColumnsOf(columns, forms)
      .readers()
      .flatMap { r =>
        if (r.read(row.inner)) Some(new String(r.bytes, 0, r.length, "UTF-8")) else None
      }
      .toSet
  }

  /** Of a date also the text that Flink's writers make. */
  def daysOf(row: OneRow): Set[String] =
    if (KeyReader.kindOf(row.dataType) == KeyValueKind.Date) Set(row.inner.getInt(0).toString) else Set.empty

  def filterOf(
      className: String,
      fields: Vector[String],
      version: Int,
      settings: Map[String, String],
      row: OneRow
  ): Either[String, Set[String]] = {
    val id = AttributeReference("id", row.dataType)()
    val value = row.value match {
      case s: String => UTF8String.fromString(s)
      case other     => CatalystTypeConverters.convertToCatalyst(other)
    }
    RecordKeyFilter.keys(
      Seq(EqualTo(id, Literal(value, row.dataType))),
      config(className, fields, version, settings),
      row.schema
    )
  }

  def filtered(
      className: String,
      fields: Vector[String],
      version: Int,
      settings: Map[String, String],
      row: OneRow
  ): Option[Set[String]] = filterOf(className, fields, version, settings, row).toOption
}
